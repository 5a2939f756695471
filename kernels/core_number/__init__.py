"""Core numbers."""
