// Frontier sampling (B. Ribeiro, D. Towsley, "Estimating and sampling graphs with multidimensional random walks", IMC
// 2010, Algorithm 1): a warp for each instance, whose lanes share the pool. Twins and what the arguments are: frontier.py.
#include "common/common.cuh"
#include "common/philox.cuh"
#include "walks/frontier_pack.py"

extern "C" __global__ void frontier(long long n, FrontierDraws a) {
    const unsigned all = 0xffffffffu;
    const int lane = threadIdx.x & 31;
    const gd_u64 key = gd_key(a.seed, GD_DRAW_FRONTIER, 0);
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += warps) {
        index_t *const mine = a.pool + i * a.size, *const from = a.src + i * a.length, *const to = a.dst + i * a.length;
        long long *const edges = a.degrees + i * a.size;
        long long total = 0;
        for (long long place = lane; place < a.size; place += 32) {
            if (a.begin == 0) {
                const index_t v = a.starts[i * a.size + place];
                mine[place] = v;
                edges[place] = a.indptr[v + 1] - a.indptr[v];
            }
            total += edges[place];
        }
        for (int by = 16; by; by >>= 1) total += __shfl_xor_sync(all, total, by);
        long long step = a.begin + 1;
        for (; step <= a.end && total > 0; step++) {
            __syncwarp();
            gd_u64 number, unused;
            gd_philox(key, (gd_u64)(a.first + i), (gd_u32)step, 0, number, unused);
            long long left = (long long)gd_digit(number, (gd_u64)total);
            for (long long base = 0; base < a.size; base += 32) {
                const long long place = base + lane, degree = place < a.size ? edges[place] : 0;
                long long sum = degree;
                for (int by = 1; by < 32; by <<= 1) {
                    const long long before = __shfl_up_sync(all, sum, by);
                    if (lane >= by) sum += before;
                }
                const unsigned above = __ballot_sync(all, left < sum);
                if (!above) {
                    left -= __shfl_sync(all, sum, 31);
                    continue;
                }
                const int winner = __ffs((int)above) - 1;
                long long change = 0;
                if (lane == winner) {
                    const index_t u = mine[place];
                    const long long edge = a.indptr[u] + left - (sum - degree);
                    const index_t v = a.indices[edge];
                    if (a.places) a.places[i * a.length + step - 1] = edge;
                    from[step - 1] = u;
                    to[step - 1] = v;
                    mine[place] = v;
                    edges[place] = a.indptr[v + 1] - a.indptr[v];
                    change = edges[place] - degree;
                }
                total += __shfl_sync(all, change, winner);
                break;
            }
        }
        if (lane == 0) {
            if (a.begin == 0) a.lengths[i] = (int)a.length;
            if (step <= a.end && a.lengths[i] > step - 1) a.lengths[i] = (int)(step - 1);
        }
        for (step += lane; step <= a.end; step += 32) from[step - 1] = to[step - 1] = -1;
        __syncwarp();
    }
}

extern "C" __global__ void frontier_choose(long long n, long long first, long long size, long long step, gd_u64 seed,
                                           const long long *degrees, const long long *totals, int *place,
                                           long long *offset) {
    const gd_u64 key = gd_key(seed, GD_DRAW_FRONTIER, 0);
    GD_FOR(i, n) {
        int at = 0;
        long long left = -1;
        if (totals[i] > 0) {
            const long long *const edges = degrees + i * size;
            gd_u64 number, unused;
            gd_philox(key, (gd_u64)(first + i), (gd_u32)step, 0, number, unused);
            left = (long long)gd_digit(number, (gd_u64)totals[i]);
            while (left >= edges[at]) left -= edges[at++];
        }
        place[i] = at;
        offset[i] = left;
    }
}
