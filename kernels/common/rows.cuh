// Visiting all edges of many rows evenly: what every kernel that goes over a list of vertices needs.
//
// A block takes GD_ROWS rows at a time, or fewer so that every block has some, scans their degrees in shared memory, and
// its threads then share the edges; the row of an edge is found by a search in the scan. A row of more than GD_HUB edges
// would keep one block busy while the others wait: it goes to a list, and a second launch (gd_for_hubs) deals such rows
// out among all blocks in chunks. A body that wants no more of an edge than its place may get many at once (gd_at_once).
// After Davidson et al., Work-efficient parallel GPU methods for single-source shortest paths (2014).
#pragma once
#include "common/common.cuh"

#define GD_ROWS 256
#define GD_LEAST_ROWS 8
#define GD_HUB 4096
#define GD_CHUNK 1024

// Inclusive sums of scan[1..GD_ROWS] in place; scan[0] is 0. All threads of the block call it.
__device__ __forceinline__ void gd_scan(int *scan) {
    const int t = threadIdx.x;
    __syncthreads();
    for (int step = 1; step < GD_ROWS; step <<= 1) {
        const int add = t + 1 > step ? scan[t + 1 - step] : 0;
        __syncthreads();
        scan[t + 1] += add;
        __syncthreads();
    }
}

// The r with scan[r] <= item < scan[r + 1], which is one from `low` to `high`.
__device__ __forceinline__ int gd_row_of(const int *scan, int item, int low = 0, int high = GD_ROWS - 1) {
    while (low < high) {
        const int middle = (low + high) >> 1;
        if (scan[middle + 1] <= item) low = middle + 1;
        else high = middle;
    }
    return low;
}

// A queue in global memory that a block fills through shared memory: one atomic for at least GD_ROWS entries, where one
// for each entry would make all of them wait at the counter.
template <typename Index> struct Queue {
    Index staged[2 * GD_ROWS];
    int count;
    unsigned long long base;

    __device__ __forceinline__ void open() {
        if (threadIdx.x == 0) count = 0;
        __syncthreads();
    }
    // At most one entry for each thread between two flushes.
    __device__ __forceinline__ void push(Index value) { staged[atomicAdd(&count, 1)] = value; }
    // All threads of the block call it together.
    __device__ __forceinline__ void flush(Index *out, unsigned long long *tail, bool all) {
        __syncthreads();
        const int held = count;
        __syncthreads();
        if (held < GD_ROWS && !(all && held)) return;
        if (threadIdx.x == 0) {
            base = atomicAdd(tail, (unsigned long long)held);
            count = 0;
        }
        __syncthreads();
#pragma unroll 1  // at most twice
        for (int i = threadIdx.x; i < held; i += GD_ROWS) out[base + i] = staged[i];
        __syncthreads();
    }
};

// Vertices that edges lead to: own ones in one queue, ghosts in another.
template <typename Index> struct SplitQueue {
    Queue<Index> own, ghosts;

    __device__ __forceinline__ void open() {
        own.open();
        ghosts.open();
    }
    __device__ __forceinline__ void push(Index v, long long owned) {
        if (v < owned) own.push(v);
        else ghosts.push(v);
    }
};

// A queue for each warp by itself, where blocks would wait for their slowest warp again and again: one atomic for at
// least GD_WARP_KEEPS entries.
#define GD_WARP_KEEPS 64
template <typename Index, int MANY = 1> struct WarpQueue {
    Index staged[GD_ROWS / 32][GD_WARP_KEEPS + 32 * MANY];
    int count[GD_ROWS / 32];

    __device__ __forceinline__ void open() {
        count[threadIdx.x >> 5] = 0;
        __syncwarp();
    }
    // At most MANY entries for each thread between two flushes.
    __device__ __forceinline__ void push(Index value) {
        const int warp = threadIdx.x >> 5;
        staged[warp][atomicAdd(count + warp, 1)] = value;
    }
    // All threads of a warp call it together.
    __device__ __forceinline__ void flush(Index *out, unsigned long long *tail, bool all) {
        const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
        __syncwarp();
        const int held = *(volatile int *)(count + warp);
        __syncwarp();
        if (held < (all ? 1 : GD_WARP_KEEPS)) return;
        unsigned long long base = 0;
        if (lane == 0) {
            base = atomicAdd(tail, (unsigned long long)held);
            count[warp] = 0;
        }
        base = __shfl_sync(0xffffffffu, base, 0);
        for (int i = lane; i < held; i += 32) out[base + i] = staged[warp][i];
        __syncwarp();
    }
};

// Queue the vertices below n that are `wanted`; a thread checks several together. All threads of the block call it.
template <class Index, class Wanted>
__device__ __forceinline__ void gd_list(long long n, const Wanted &wanted, Queue<Index> &queue, Index *out,
                                        unsigned long long *tail) {
    constexpr int many = 4;
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long begin = (long long)blockIdx.x * blockDim.x; begin < n; begin += many * threads) {
        unsigned found = 0;
#pragma unroll
        for (int k = 0; k < many; k++) {
            const long long v = begin + k * threads + threadIdx.x;
            if (v < n && wanted(v)) found |= 1u << k;
        }
#pragma unroll 1
        for (int k = 0; k < many; k++) {
            if (found >> k & 1) queue.push((Index)(begin + k * threads + threadIdx.x));
            queue.flush(out, tail, false);
        }
    }
    queue.flush(out, tail, true);
}

// visit(i) for every entry of a list, dealt out among all threads; flush(all) where those of a block are together.
template <typename Visit, typename Flush>
__device__ __forceinline__ void gd_for_list(long long n, const Visit &visit, const Flush &flush) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long begin = (long long)blockIdx.x * blockDim.x; begin < n; begin += threads) {
        if (begin + threadIdx.x < n) visit(begin + threadIdx.x);
        flush(false);
    }
    flush(true);
}

// What a body without queues gives its loop.
struct NoQueue {
    __device__ __forceinline__ void flush(bool) const {}
};

// How many edges a body takes at once, and how many a row has at most that is not deferred. A body that takes several
// gets arrays of them and of their rows, -1 for no edge, so that what it reads of one need not wait for what it read of
// another; it may queue an entry for each between two flushes.
template <typename Body> struct gd_at_once { static constexpr int edges = 1, longest = GD_HUB; };

// body(row, edge) for every edge of rows[0..n); rows == nullptr stands for 0, 1, 2, ...
template <typename Index, typename Body>
__device__ __forceinline__ void gd_for_edges(long long n, const Index *rows, const long long *indptr, Index *hubs,
                                             unsigned long long *hub_count, unsigned long long *edge_count,
                                             const Body &body) {
    __shared__ long long first[GD_ROWS];
    __shared__ int scan[GD_ROWS + 1];
    __shared__ Index row_of[GD_ROWS];
    constexpr int many = gd_at_once<Body>::edges, longest = gd_at_once<Body>::longest;
    const int t = threadIdx.x;
    const int tile = (int)min((long long)GD_ROWS, max((long long)GD_LEAST_ROWS, (n + gridDim.x - 1) / gridDim.x));
    for (long long base = (long long)blockIdx.x * tile; base < n; base += (long long)gridDim.x * tile) {
        int degree = 0;
        if (t < tile && base + t < n) {
            const Index row = rows ? rows[base + t] : (Index)(base + t);
            const long long begin = indptr[row], length = indptr[row + 1] - begin;
            row_of[t] = row;
            first[t] = begin;
            if (length > longest) {
                hubs[gd_reserve(hub_count)] = row;
                atomicAdd(edge_count, (unsigned long long)length);
            } else {
                degree = (int)length;
            }
        }
        scan[t + 1] = degree;
        if (t == 0) scan[0] = 0;
        gd_scan(scan);
        const int total = scan[GD_ROWS];
        if (t == 0 && total) atomicAdd(edge_count, (unsigned long long)total);
        if constexpr (many == 1) {
            for (int begin = 0; begin < total; begin += GD_ROWS) {
                const int e = begin + t;
                if (e < total) {
                    const int r = gd_row_of(scan, e);
                    body(row_of[r], first[r] + (e - scan[r]));
                }
                body.flush(false);
            }
        } else {  // each warp has edges that lie together, of few rows
            const int lane = t & 31;
            for (int begin = 0; begin < total; begin += many * GD_ROWS) {
                const int mine = begin + many * (t - lane), last = min(mine + many * 32, total) - 1;
                const int found = gd_row_of(scan, min(lane ? last : mine, total - 1));
                const int low = __shfl_sync(0xffffffffu, found, 0), high = __shfl_sync(0xffffffffu, found, 1);
                Index rows_of[many];
                long long edges[many];
#pragma unroll
                for (int k = 0; k < many; k++) {
                    const int e = mine + 32 * k + lane, r = gd_row_of(scan, min(e, max(last, 0)), low, high);
                    rows_of[k] = row_of[r];
                    edges[k] = e <= last ? first[r] + (e - scan[r]) : -1;
                }
                body(rows_of, edges);
                body.flush(false);
            }
        }
        __syncthreads();
    }
    body.flush(true);
}

// body(row, edge) for every edge of the listed rows, in chunks of GD_CHUNK edges or more that the blocks deal out among themselves.
template <typename Index, typename Body>
__device__ __forceinline__ void gd_for_hubs(const Index *hubs, const unsigned long long *hub_count,
                                            const long long *indptr, const Body &body) {
    __shared__ int scan[GD_ROWS + 1];
    constexpr int many = gd_at_once<Body>::edges, chunk = many * GD_ROWS > GD_CHUNK ? many * GD_ROWS : GD_CHUNK;
    const long long count = (long long)*hub_count;
    const int t = threadIdx.x;
    long long dealt = 0;  // chunks of the rows before these
    for (long long base = 0; base < count; base += GD_ROWS) {
        int chunks = 0;
        if (base + t < count) {
            const Index row = hubs[base + t];
            chunks = (int)((indptr[row + 1] - indptr[row] + chunk - 1) / chunk);
        }
        scan[t + 1] = chunks;
        if (t == 0) scan[0] = 0;
        gd_scan(scan);
        const int total = scan[GD_ROWS];
        const int offset = (int)((blockIdx.x + gridDim.x - dealt % gridDim.x) % gridDim.x);
        for (int c = offset; c < total; c += gridDim.x) {
            const int h = gd_row_of(scan, c);
            const Index row = hubs[base + h];
            const long long begin = indptr[row] + (long long)(c - scan[h]) * chunk;
            const long long end = min(begin + chunk, indptr[row + 1]);
            for (long long e = begin + t; e < end + t; e += many * GD_ROWS) {
                if constexpr (many == 1) {
                    if (e < end) body(row, e);
                } else {
                    Index rows_of[many];
                    long long edges[many];
#pragma unroll
                    for (int k = 0; k < many; k++) {
                        rows_of[k] = row;
                        edges[k] = e + k * GD_ROWS < end ? e + k * GD_ROWS : -1;
                    }
                    body(rows_of, edges);
                }
                body.flush(false);
            }
        }
        dealt += total;
        __syncthreads();
    }
    body.flush(true);
}

// body(row, edge) for every edge of rows[0..n) in one cooperative launch, whose blocks meet at `barrier` before the deferred
// rows and at the end.
template <typename Index, typename Body, typename Barrier>
__device__ __forceinline__ void gd_for_all_edges(long long n, const Index *rows, const long long *indptr, Index *hubs,
                                                 unsigned long long *hub_count, unsigned long long *edge_count,
                                                 const Body &body, const Barrier &barrier) {
    gd_for_edges(n, rows, indptr, hubs, hub_count, edge_count, body);
    barrier();
    if (!*(volatile unsigned long long *)hub_count) return;
    gd_for_hubs((const Index *)hubs, hub_count, indptr, body);
    barrier();
}

// body(is_edge, edge, value) for the edges of a frontier that is small and has no long rows, where blocks would wait for
// each other: a warp takes up to 32 rows, whose edges its lanes share; `value` is that of the edge's row. The lanes of a
// warp are together in `body`. Rows are read as other blocks have written them in this launch.
template <typename Index, typename Value, typename Body>
__device__ __forceinline__ void gd_for_few_edges(long long n, const Index *rows, const long long *indptr,
                                                 const Value *value_of, const Body &body) {
    const unsigned all = 0xffffffffu;
    const int lane = threadIdx.x & 31;
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    const long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const long long share = min((n + warps - 1) / warps, 32LL);
    for (long long base = warp * share; base < n; base += warps * share) {
        long long begin = 0;
        int degree = 0;
        Value value = 0;
        if (lane < share && base + lane < n) {
            const Index row = *(volatile const Index *)(rows + base + lane);
            begin = indptr[row];
            degree = (int)(indptr[row + 1] - begin);
            value = value_of[row];
        }
        int scan = degree;
        for (int step = 1; step < 32; step <<= 1) {
            const int before = __shfl_up_sync(all, scan, step);
            if (lane >= step) scan += before;
        }
        const int total = __shfl_sync(all, scan, 31);
        for (int chunk = 0; chunk < total; chunk += 32) {
            const int e = chunk + lane;
            int row = 0;
            for (int step = 16; step; step >>= 1) {
                const int until = __shfl_sync(all, scan, row + step - 1);
                if (until <= e) row += step;
            }
            const int offset = e - __shfl_sync(all, scan - degree, row);
            const long long edge = __shfl_sync(all, begin, row) + offset;
            body(e < total, edge, __shfl_sync(all, value, row));
        }
    }
}
