// Choosing edges of many vertices by alias tables of their biases. The twin in aliases.py says what the arguments are.
#include "common/common.cuh"
#include "choice/pick.cuh"
#include "choice/selection.cuh"
#include "choice/aliases_pack.py"

extern "C" __global__ void aliases_draw(long long n, AliasDraws a) {
    GD_FOR(i, n) {
        const gd_i64 row = a.rows[i], out = a.starts[i], count = a.counts[i], begin = a.indptr[row], end = a.indptr[row + 1];
        const gd_u64 key = gd_group_key(a.seed, (int)a.what, a.tags[i]);
        for (gd_i64 s = 0; s < count; ++s) {
            gd_u64 first, second;
            gd_philox(key, (gd_u64)a.instances[i], (gd_u32)a.step, (gd_u32)s, first, second);
            const gd_i64 edge = gd_pick_alias(a.share, a.other, a.totals[row], begin, end, first, second);
            a.chosen[out + s] = edge - begin;
            a.owner[out + s] = edge < 0 ? -1 : i;
        }
    }
}
