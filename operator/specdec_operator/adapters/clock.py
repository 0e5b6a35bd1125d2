"""The system clock."""
