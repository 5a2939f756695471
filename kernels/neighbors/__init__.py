"""Neighbours with and without replacement, hops, and minibatches."""
