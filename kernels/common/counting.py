"""How many bytes of an array of `length` are not 0, each of which is 0 or 1; added to `found`, one int64.

`n` is the number of threads of a GPU; a CPU uses NumPy.
"""

import numpy as np

from graphdask.kernels.common.twin import by_python

MACROS: list[dict[str, str]] = [{}]


@by_python
def counting_set(n, length, bytes, found):
    found[0] += np.count_nonzero(bytes[:length])
