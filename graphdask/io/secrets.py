"""Addresses as they may be shown."""

from __future__ import annotations

import re

_PASSWORD = re.compile(r"(?<=://)([^/@:]*):[^/@]*@")
_QUERY = re.compile(r"(https?://[^?#]*)\?.*", re.DOTALL)


def without_secrets(address: str) -> str:
    """An address without a password, and without the query, which holds the signature of a signed address."""
    return _QUERY.sub(r"\1", _PASSWORD.sub(r"\1:***@", address))
