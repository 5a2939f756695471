"""What tests that trace memory have to know of the rest of the process."""

from __future__ import annotations

OTHERS = 1 << 20
"""Bytes that other threads may take while a test traces memory: those of the clusters that tests share, for one."""
