"""A walk of the copy model by hashing (cuPPA-Hash): the twin of pa_walk.cuh, and its definition.
 Edge k of vertex v is slot v*degree + k. A step from it reads a 64-bit hash of (seed, v, k) as a fraction: u =
floor(fraction * v) is uniform in [0, v), and the rest of that product, cut to 32 bits and multiplied by the
degree, gives the next edge, uniform in [0, degree), and the coin. The walk ends at u if u is an initial vertex
(u < degree) or the coin says "direct"; otherwise it goes on at the drawn edge of u. Since u < v it ends, and
since nothing but (seed, v, k) is read, a slot has the same target wherever it is computed.
 With p the probability of a direct edge, a walk from v takes 1/p - (1-p)/p * (degree/v)^p steps on average,
and 1 + ln(v/degree) at p = 0: 2 at p = 1/2 however large v is, 13 at p = 0.05 and 19.6 at p = 0 for v = 500
million and degree 4. The longest of all is about e * ln(n) steps even at p = 0, the height of a random recursive
tree (B. Pittel, Random Structures and Algorithms 5, 1994): 54 there.
 From vertex FAR on the fraction is a hash of the slot, and k and the coin have a second one, since u leaves too
little of the first. A second hash is also taken throughout where 32 bits are too coarse for an edge and a coin:
for degrees above 256, and where p or 1 - p is below degree / 2^16 but not 0.
 Source: M. Alam, K. Perumalla, P. Sanders, "Novel parallel algorithms for fast multi-GPU-based generation of
massive scale-free networks", Data Science and Engineering 4 (2019), Section 4, Algorithm 2.
"""

import numpy as np

from graphdask.kernels.common.hash import DRAW_FRACTION, DRAW_TARGET, hashed, hashed_pair, inlined, key, multiply_high
from graphdask.kernels.common.tuning import FAR_VERTEX, PLAIN_DEGREE, PLAIN_SHARE

FAR, _PLAIN_DEGREE, _PLAIN_SHARE = np.uint64(FAR_VERTEX), np.uint64(PLAIN_DEGREE), np.uint64(PLAIN_SHARE)
_0, _1, _31, _32 = np.uint64(0), np.uint64(1), np.uint64(31), np.uint64(32)
_HALF, _ALL, _LOW = np.uint64(1 << 30), np.uint64(1 << 63), np.uint64(0xFFFFFFFF)
_NEVER = np.uint64((1 << 64) - 1)


@inlined
def model(degree, threshold, seed):
    """What every step needs: (degree, threshold, stop, limit, careful, keys); all of uint64 but `careful`."""
    rest, least = _ALL - threshold, degree * _PLAIN_SHARE
    careful = (
        degree > _PLAIN_DEGREE
        or (threshold > _0 and threshold < least)
        or (rest > _0 and rest < least)
    )  # fmt: skip
    stop = _NEVER if threshold == _ALL else degree
    limit = (threshold + _HALF) >> _31
    keys = (
        key(seed, DRAW_TARGET, 0),
        key(seed, DRAW_TARGET, 1),
        key(seed, DRAW_FRACTION, 0),
        key(seed, DRAW_FRACTION, 1),
    )
    return degree, threshold, stop, limit, careful, keys


@inlined
def step(model, v, k):
    """Return u, the drawn edge of u, and whether the walk goes on there."""
    degree, threshold, stop, limit, careful, keys = model
    far = v >= FAR
    fraction = hashed(keys[0], keys[1], v * degree + k) if far else hashed_pair(keys[0], v, k)
    u = multiply_high(fraction, v)
    if far or careful:
        fraction = hashed(keys[2], keys[3], v * degree + k)
        edge = multiply_high(fraction, degree)
        copied = (fraction * degree) >> _1 >= threshold
    else:
        rest = ((fraction * v) >> _32) * degree
        edge = rest >> _32
        copied = (rest & _LOW) >= limit
    return u, edge, (u >= stop) & copied


@inlined
def steps(n, model, vertex, edge, walking):
    """Take one step of each of n walks in place; `walking` says which go on."""
    for i in range(n):
        vertex[i], edge[i], walking[i] = step(model, vertex[i], edge[i])


@inlined
def plain_steps(n, model, vertex, edge, walking):
    """The same where every vertex is below FAR and the model is not careful: nothing but vector instructions."""
    degree, _, stop, limit, _, keys = model
    for i in range(n):
        v = vertex[i]
        fraction = hashed_pair(keys[0], v, edge[i])
        product = (fraction >> _32) * v + (((fraction & _LOW) * v) >> _32)
        rest = (product & _LOW) * degree
        u = product >> _32
        vertex[i] = u
        edge[i] = rest >> _32
        walking[i] = (u >= stop) & ((rest & _LOW) >= limit)


@inlined
def follow(model, v, k):
    """Return the end of the walk that begins at edge k of v."""
    walking = True
    while walking:
        v, k, walking = step(model, v, k)
    return v
