// Where random walks of random lengths end, a thread each. Twin and what the arguments are: walk_ends.py.
#include "common/common.cuh"
#include "common/philox.cuh"
#include "walks/walk_ends_pack.py"

extern "C" __global__ void walk_ends(long long n, EndingWalks a) {
    const gd_u64 key = gd_key(a.seed, GD_DRAW_END, 0);
    GD_FOR(i, n) {
        const long long walker = a.instance[i], source = walker / a.each;
        index_t v = a.at[i];
        int s = a.step[i];
        for (int count = 0; count < (int)a.budget; count++) {
            gd_u64 first, second;
            gd_philox(key, (gd_u64)walker, (gd_u32)s, 0, first, second);
            if ((second >> 1) < a.stop) {
                s = -1 - s;
                break;
            }
            const long long begin = a.indptr[v], degree = a.indptr[v + 1] - begin;
            v = degree ? a.indices[begin + (long long)gd_digit(first, (gd_u64)degree)] : a.homes[source];
            s++;
            if (v < 0 || v >= a.owned) break;
        }
        a.at[i] = v < 0 ? a.starts[source] : a.ids[v];
        a.step[i] = s;
    }
}
