"""Ranks of one host that exchange through shared memory."""
