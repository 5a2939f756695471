// Triangles over rows of higher neighbours, each at its middle vertex v: for an edge u -> v from a lower vertex, the
// candidates w are what stands behind v in the row of u, and a w is found if it is in the row of v. The row of v is a
// hash table in shared memory, for as many u as a job has. A warp does a job by itself where the row is short; of a
// longer one a block does it, a part of the row after the other. The table also counts what is added at each w.
// Over all jobs these are the pairs within the rows of higher neighbours, fewer than those of any other corner.
// After Chiba and Nishizeki (1985), and Pandey et al., TRUST: Triangle counting reloaded on GPUs (2021), for the table.
// Twin: triangles.py.
#include "common/common.cuh"
#include "triangles/triangles_pack.py"

#define THREADS 256
#define SLOTS (16384 / (int)sizeof(index_t))
#define WARP_SLOTS (SLOTS / (THREADS / 32))
#define TWICE 0x80000000u  // in the count of a slot: v and w are joined in two directions

template <int SIZE> __device__ __forceinline__ void wait_for_all() {
    if (SIZE == 32) __syncwarp();
    else __syncthreads();
}

__device__ __forceinline__ unsigned hash_of(index_t w) { return ((unsigned)w * 2654435761u) >> 12; }

// The edge u -> v of a row whose turn it is counts for v if both have more than the other needs.
__device__ __forceinline__ bool counts(const TriangleRows &a, long long e, index_t *v) {
    *v = a.slot_of[a.others[e]];
    return *v < a.owned && e + 1 < a.ptr[a.source[e] + 1] && a.indptr[*v] < a.indptr[*v + 1];
}

extern "C" __global__ void triangles_tally(long long n, TriangleRows a) {
    GD_FOR(e, n) {
        index_t v;
        if (counts(a, e, &v)) atomicAdd(a.ends + v, 1ULL);
    }
}

extern "C" __global__ void triangles_list(long long n, TriangleRows a) {
    GD_FOR(e, n) {
        index_t v;
        if (counts(a, e, &v)) a.edge[atomicAdd(a.ends + v, 1ULL)] = e;
    }
}

struct Sums {
    unsigned long long triangles, candidates, added;
};

// The job of number j, by SIZE threads that call it together; `key` and `count` are theirs, of `slots` each.
template <int SIZE, bool TIES>
__device__ void do_job(const TriangleRows &a, long long j, index_t *key, unsigned *count, int slots, Sums *sums) {
    const int t = threadIdx.x % SIZE, lane = threadIdx.x & 31;
    const index_t v = a.jobs[j];
    const long long first = a.edge_ptr[v] + (j - a.job_ptr[v]) * a.share, last = min(first + a.share, a.edge_ptr[v + 1]);
    const long long row_end = a.indptr[v + 1];
    unsigned long long at_v = 0;
    for (long long low = a.indptr[v]; low < row_end; low += slots / 2) {
        const int length = (int)min((long long)(slots / 2), row_end - low);
        int mask = 31;
        while (mask + 1 < 4 * length && mask + 1 < slots) mask = 2 * mask + 1;
        for (int i = t; i <= mask; i += SIZE) {
            key[i] = -1;
            count[i] = 0;
        }
        wait_for_all<SIZE>();
        for (int i = t; i < length; i += SIZE) {
            const index_t w = a.indices[low + i];
            int p = hash_of(w) & mask;
            while (gd_atomic_cas(key + p, (index_t)-1, w) != -1) p = (p + 1) & mask;
            if (TIES && a.ties[low + i] == 2) count[p] = TWICE;
        }
        wait_for_all<SIZE>();
        for (long long base = first + 32 * (t / 32); base < last; base += SIZE) {
            const int many = (int)min(32LL, last - base);
            long long begin = 0, end = 0;
            index_t u = 0;
            unsigned tie = 1;
            if (lane < many) {
                const long long e = a.edge[base + lane];
                u = a.source[e];
                begin = e + 1;
                end = a.ptr[u + 1];
                if (TIES) tie = a.other_ties[e];
            }
            if (low == a.indptr[v]) sums->candidates += end - begin;
            for (int k = 0; k < many; k++) {
                const long long to = __shfl_sync(0xffffffffu, end, k);
                const unsigned uv = TIES ? __shfl_sync(0xffffffffu, tie, k) : 1;
                unsigned at_u = 0;
                for (long long x = __shfl_sync(0xffffffffu, begin, k) + lane; x < to; x += 32) {
                    const index_t w = a.others[x];
                    int p = hash_of(w) & mask;
                    index_t seen = key[p];
                    while (seen != w && seen != -1) {
                        p = (p + 1) & mask;
                        seen = key[p];
                    }
                    if (seen != w) continue;
                    sums->triangles++;
                    if (TIES) {
                        const unsigned uw = a.other_ties[x], vw = 1 + (atomicAdd(count + p, uv) >> 31);
                        at_v += uw;
                        at_u += vw;
                    } else {
                        atomicAdd(count + p, 1u);
                        at_u++;
                    }
                }
                for (int step = 16; step; step >>= 1) at_u += __shfl_down_sync(0xffffffffu, at_u, step);
                const index_t of = __shfl_sync(0xffffffffu, u, k);
                if (lane == 0 && at_u) {
                    atomicAdd(a.links + of, (unsigned long long)at_u);
                    sums->added += at_u;
                    if (!TIES) at_v += at_u;
                }
            }
        }
        wait_for_all<SIZE>();
        for (int i = t; i <= mask; i += SIZE) {
            const unsigned found = count[i] & ~TWICE;
            if (!found) continue;
            atomicAdd(a.links + a.slot_of[key[i]], (unsigned long long)found);
            sums->added += found;
        }
        wait_for_all<SIZE>();
    }
    sums->added += at_v;
    gd_add(at_v, a.links + v);
}

template <bool TIES>
__device__ __forceinline__ void do_jobs(long long n, const TriangleRows &a, index_t *key, unsigned *count, Sums *sums) {
    for (long long j = a.of_warps + blockIdx.x; j < n; j += gridDim.x) do_job<THREADS, TIES>(a, j, key, count, SLOTS, sums);
    const int warp = threadIdx.x / 32, warps = THREADS / 32;
    for (long long j = (long long)blockIdx.x * warps + warp; j < a.of_warps; j += (long long)gridDim.x * warps) {
        do_job<32, TIES>(a, j, key + warp * WARP_SLOTS, count + warp * WARP_SLOTS, WARP_SLOTS, sums);
    }
}

// Blocks of THREADS threads.
extern "C" __global__ void triangles_count(long long n, TriangleRows a) {
    __shared__ index_t key[SLOTS];
    __shared__ unsigned count[SLOTS];
    Sums sums = {0, 0, 0};
    if (a.ties) do_jobs<true>(n, a, key, count, &sums);
    else do_jobs<false>(n, a, key, count, &sums);
    gd_add(sums.triangles, &a.counters->triangles);
    gd_add(sums.candidates, &a.counters->candidates);
    gd_add(sums.added, &a.counters->added);
}
