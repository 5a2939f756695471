// Visiting all edges of many rows evenly: what every kernel that goes over a list of vertices needs.
//
// A block takes GD_ROWS rows at a time, scans their degrees in shared memory, and its threads then share the edges;
// the row of an edge is found by a search in the scan. A row of more than GD_HUB edges would keep one block busy while
// the others wait: it goes to a list, and a second launch (gd_for_hubs) deals such rows out among all blocks in chunks.
// After Davidson et al., Work-efficient parallel GPU methods for single-source shortest paths (2014).
#pragma once
#include "common.cuh"

#define GD_ROWS 256
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

// The r with scan[r] <= item < scan[r + 1].
__device__ __forceinline__ int gd_row_of(const int *scan, int item) {
    int low = 0, high = GD_ROWS - 1;
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
        for (int i = threadIdx.x; i < held; i += GD_ROWS) out[base + i] = staged[i];
        __syncthreads();
    }
};

// What a body without queues gives its loop.
struct NoQueue {
    __device__ __forceinline__ void flush(bool) const {}
};

// body(row, edge) for every edge of rows[0..n); rows == nullptr stands for 0, 1, 2, ...
template <typename Index, typename Body>
__device__ __forceinline__ void gd_for_edges(long long n, const Index *rows, const long long *indptr, Index *hubs,
                                             unsigned long long *hub_count, unsigned long long *edge_count,
                                             const Body &body) {
    __shared__ long long first[GD_ROWS];
    __shared__ int scan[GD_ROWS + 1];
    __shared__ Index row_of[GD_ROWS];
    const int t = threadIdx.x;
    for (long long base = (long long)blockIdx.x * GD_ROWS; base < n; base += (long long)gridDim.x * GD_ROWS) {
        int degree = 0;
        if (base + t < n) {
            const Index row = rows ? rows[base + t] : (Index)(base + t);
            const long long begin = indptr[row], length = indptr[row + 1] - begin;
            row_of[t] = row;
            first[t] = begin;
            if (length > GD_HUB) {
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
        for (int begin = 0; begin < total; begin += GD_ROWS) {
            const int e = begin + t;
            if (e < total) {
                const int r = gd_row_of(scan, e);
                body(row_of[r], first[r] + (e - scan[r]));
            }
            body.flush(false);
        }
        __syncthreads();
    }
    body.flush(true);
}

// body(row, edge) for every edge of the listed rows, in chunks of GD_CHUNK edges that the blocks deal out among themselves.
template <typename Index, typename Body>
__device__ __forceinline__ void gd_for_hubs(const Index *hubs, const unsigned long long *hub_count,
                                            const long long *indptr, const Body &body) {
    __shared__ int scan[GD_ROWS + 1];
    const long long count = (long long)*hub_count;
    const int t = threadIdx.x;
    long long dealt = 0;  // chunks of the rows before these
    for (long long base = 0; base < count; base += GD_ROWS) {
        int chunks = 0;
        if (base + t < count) {
            const Index row = hubs[base + t];
            chunks = (int)((indptr[row + 1] - indptr[row] + GD_CHUNK - 1) / GD_CHUNK);
        }
        scan[t + 1] = chunks;
        if (t == 0) scan[0] = 0;
        gd_scan(scan);
        const int total = scan[GD_ROWS];
        const int offset = (int)((blockIdx.x + gridDim.x - dealt % gridDim.x) % gridDim.x);
        for (int c = offset; c < total; c += gridDim.x) {
            const int h = gd_row_of(scan, c);
            const Index row = hubs[base + h];
            const long long begin = indptr[row] + (long long)(c - scan[h]) * GD_CHUNK;
            const long long end = min(begin + GD_CHUNK, indptr[row + 1]);
            for (long long e = begin; e < end; e += GD_ROWS) {
                if (e + t < end) body(row, e + t);
                body.flush(false);
            }
        }
        dealt += total;
        __syncthreads();
    }
    body.flush(true);
}
