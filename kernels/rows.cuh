// Visiting all edges of many rows evenly: what every kernel that goes over a list of vertices needs.
//
// A block takes GD_ROWS rows at a time, scans their degrees in shared memory, and its threads then share the edges;
// the row of an edge is found by a search in the scan. A row of more than GD_HUB edges would keep one block busy while
// the others wait: it goes to a list, and a second launch (gd_for_hubs) spreads each such row over the whole grid.
// After Davidson et al., Work-efficient parallel GPU methods for single-source shortest paths (2014).
#pragma once
#include "common.cuh"

#define GD_ROWS 256
#define GD_HUB 4096

// body(row, edge) for every edge of rows[0..n); rows == nullptr stands for 0, 1, 2, ...
template <typename Index, typename Body>
__device__ __forceinline__ void gd_for_edges(long long n, const Index *rows, const long long *indptr, Index *hubs,
                                             unsigned long long *hub_count, unsigned long long *edge_count,
                                             Body body) {
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
        __syncthreads();
        for (int step = 1; step < GD_ROWS; step <<= 1) {
            const int add = t + 1 > step ? scan[t + 1 - step] : 0;
            __syncthreads();
            scan[t + 1] += add;
            __syncthreads();
        }
        const int total = scan[GD_ROWS];
        if (t == 0 && total) atomicAdd(edge_count, (unsigned long long)total);
        for (int e = t; e < total; e += GD_ROWS) {
            int low = 0, high = GD_ROWS - 1;
            while (low < high) {
                const int middle = (low + high) >> 1;
                if (scan[middle + 1] <= e) low = middle + 1;
                else high = middle;
            }
            body(row_of[low], first[low] + (e - scan[low]));
        }
        __syncthreads();
    }
}

// body(row, edge) for every edge of the listed rows, each row spread over the whole grid.
template <typename Index, typename Body>
__device__ __forceinline__ void gd_for_hubs(const Index *hubs, const unsigned long long *hub_count,
                                            const long long *indptr, Body body) {
    const long long count = (long long)*hub_count;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long h = 0; h < count; ++h) {
        const Index row = hubs[h];
        for (long long e = indptr[row] + thread; e < indptr[row + 1]; e += threads) body(row, e);
    }
}
