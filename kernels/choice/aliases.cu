// Choosing edges of many vertices by alias tables of their biases. The twin in aliases.py says what the arguments are.
#include "common/common.cuh"
#include "choice/pick.cuh"
#include "choice/selection.cuh"

extern "C" __global__ void aliases_draw(long long n, const index_t *__restrict__ rows,
                                        const gd_i64 *__restrict__ indptr, const gd_u64 *__restrict__ totals,
                                        const gd_u64 *__restrict__ share, const int *__restrict__ other,
                                        const gd_i64 *__restrict__ starts, const gd_i64 *__restrict__ counts,
                                        gd_u64 seed, gd_i64 what, const gd_i64 *__restrict__ tags,
                                        const gd_i64 *__restrict__ instances, gd_i64 step,
                                        gd_i64 *__restrict__ chosen, gd_i64 *__restrict__ owner) {
    GD_FOR(i, n) {
        const gd_i64 row = rows[i], out = starts[i], count = counts[i], begin = indptr[row], end = indptr[row + 1];
        const gd_u64 key = gd_group_key(seed, (int)what, tags[i]);
        for (gd_i64 s = 0; s < count; ++s) {
            gd_u64 first, second;
            gd_philox(key, (gd_u64)instances[i], (gd_u32)step, (gd_u32)s, first, second);
            const gd_i64 edge = gd_pick_alias(share, other, totals[row], begin, end, first, second);
            chosen[out + s] = edge - begin;
            owner[out + s] = edge < 0 ? -1 : i;
        }
    }
}
