// Choosing some candidates of groups by the sums of their biases, again until they are new. The twins in redrawn.py say
// what the arguments are. A thread takes a group.
//
// Source: Pandey et al., c-saw, Section IV-B (repeated sampling; bipartite region search, as successive.cuh makes it
// exact).
#include "choice/selection.cuh"
#include "neighbors/successive.cuh"
#include "neighbors/redrawn_pack.py"

extern "C" __global__ void redrawn_choose(long long n, Redrawn a) {
    GD_FOR(g, n) {
        const gd_i64 begin = a.bounds[a.rows[g]], out = a.starts[g], count = a.counts[g];
        const Row row = {a.sums + begin, a.bounds[a.rows[g] + 1] - begin};
        gd_u64 left = row.total();
        gd_i64 made = 0;
        if (left && a.positives[a.rows[g]] <= count) {
            for (gd_i64 p = 0; p < row.degree; ++p)
                if (row.below(p + 1) > row.below(p)) a.chosen[out + made++] = p;
        } else if (left) {
            Words words(gd_group_key(a.seed, (int)a.what, a.tags[g]), (gd_u64)a.instances[g], (gd_u32)a.step);
            Seen<false> seen(a.method, row.degree);
            for (; made < count; ++made)
                a.chosen[out + made] = gd_next(row, seen, a.taken + out, (int)made, left, a.method, words);
        }
        for (gd_i64 s = 0; s < count; ++s) a.owner[out + s] = s < made ? a.labels[g] : -1;
    }
}
