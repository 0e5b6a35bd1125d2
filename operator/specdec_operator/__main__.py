"""Configuration and wiring of the operator process."""
