"""The specdec command."""
