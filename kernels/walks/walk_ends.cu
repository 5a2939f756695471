// Where random walks of random lengths end, a thread each. Twin and what the arguments are: walk_ends.py.
#include "common/common.cuh"
#include "common/philox.cuh"

extern "C" __global__ void walk_ends(long long n, const long long *__restrict__ instance, int *__restrict__ step,
                                     index_t *__restrict__ at, long long budget, long long each, gd_u64 seed,
                                     gd_u64 stop, const index_t *__restrict__ starts,
                                     const index_t *__restrict__ homes, const long long *__restrict__ indptr,
                                     const index_t *__restrict__ indices, const index_t *__restrict__ ids,
                                     long long owned) {
    const gd_u64 key = gd_key(seed, GD_DRAW_END, 0);
    GD_FOR(i, n) {
        const long long walker = instance[i], source = walker / each;
        index_t v = at[i];
        int s = step[i];
        for (int count = 0; count < (int)budget; count++) {
            gd_u64 first, second;
            gd_philox(key, (gd_u64)walker, (gd_u32)s, 0, first, second);
            if ((second >> 1) < stop) {
                s = -1 - s;
                break;
            }
            const long long begin = indptr[v], degree = indptr[v + 1] - begin;
            v = degree ? indices[begin + (long long)gd_digit(first, (gd_u64)degree)] : homes[source];
            s++;
            if (v < 0 || v >= owned) break;
        }
        at[i] = v < 0 ? starts[source] : ids[v];
        step[i] = s;
    }
}
