"""PURE: from signals to a decision."""
