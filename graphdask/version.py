"""The version of graphdask, which all processes of a cluster must share."""

VERSION = "0.1.0"
