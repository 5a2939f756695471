"""Graphdask as its users have it: `gd`, whose names are found when they are asked for."""

from importlib import import_module
from typing import Any

gd: Any = import_module("graphdask")
