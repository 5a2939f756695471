"""Tests that go on: random cases of a seed, compared with what must come of them, and made small where they fail.

`graphdask fuzz` runs them. A case is a list of whole numbers, each a choice below a bound
(`choices.py`); `shrinking.py` makes a list that fails shorter and its numbers smaller.
"""
