// Choosing some candidates of groups by the sums of their biases, again until they are new. The twins in redrawn.py say
// what the arguments are. A thread takes a group.
//
// Source: Pandey et al., c-saw, Section IV-B (repeated sampling; bipartite region search, as successive.cuh makes it
// exact).
#include "choice/selection.cuh"
#include "neighbors/successive.cuh"

extern "C" __global__ void redrawn_choose(long long n, const gd_i64 *__restrict__ labels,
                                          const gd_i64 *__restrict__ rows, const gd_i64 *__restrict__ bounds,
                                          const gd_i64 *__restrict__ sums, const gd_i64 *__restrict__ positives,
                                          const gd_i64 *__restrict__ starts, const gd_i64 *__restrict__ counts,
                                          gd_i64 method, gd_u64 seed, gd_i64 what, const gd_i64 *__restrict__ tags,
                                          const gd_i64 *__restrict__ instances, gd_i64 step, gd_i64 *taken,
                                          gd_i64 *__restrict__ chosen, gd_i64 *__restrict__ owner) {
    GD_FOR(g, n) {
        const gd_i64 begin = bounds[rows[g]], out = starts[g], count = counts[g];
        const Row row = {sums + begin, bounds[rows[g] + 1] - begin};
        gd_u64 left = row.total();
        gd_i64 made = 0;
        if (left && positives[rows[g]] <= count) {
            for (gd_i64 p = 0; p < row.degree; ++p)
                if (row.below(p + 1) > row.below(p)) chosen[out + made++] = p;
        } else if (left) {
            Words words(gd_group_key(seed, (int)what, tags[g]), (gd_u64)instances[g], (gd_u32)step);
            Seen<false> seen(method, row.degree);
            for (; made < count; ++made)
                chosen[out + made] = gd_next(row, seen, taken + out, (int)made, left, method, words);
        }
        for (gd_i64 s = 0; s < count; ++s) owner[out + s] = s < made ? labels[g] : -1;
    }
}
