"""Communicators: how the ranks of a run exchange messages. See `protocol` for what all of them promise."""
