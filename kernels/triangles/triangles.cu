// Triangles over rows of higher neighbours. A block takes GD_ROWS edges u -> v at a time, scans the lengths of the rows
// of v, and its threads share the candidates w in them evenly; each looks w up in the row of u by a binary search.
// Orienting edges keeps every row below about the square root of twice the number of edges, so a scan fits an int.
// After Chiba and Nishizeki (1985) and Green, Yalamanchili and Munguia, Fast triangle counting on the GPU (2014).
// Twin: triangles.py.
#include "common/rows.cuh"
#include "triangles/triangles_pack.py"

extern "C" __global__ void triangles_count(long long n, TriangleRows a) {
    __shared__ int scan[GD_ROWS + 1];
    __shared__ long long first[GD_ROWS], low[GD_ROWS], high[GD_ROWS];
    __shared__ unsigned at_u[GD_ROWS], at_v[GD_ROWS];
    __shared__ unsigned long long sums[3];
    const int t = threadIdx.x;
    if (t < 3) sums[t] = 0;
    unsigned long long triangles = 0, candidates = 0, added = 0;
    for (long long base = (long long)blockIdx.x * GD_ROWS; base < n; base += (long long)gridDim.x * GD_ROWS) {
        int length = 0;
        index_t u = 0, v = 0;
        at_u[t] = at_v[t] = 0;
        if (base + t < n) {
            u = a.source[base + t];
            v = a.indices[base + t];
            first[t] = a.ptr[v];
            length = (int)(a.ptr[v + 1] - first[t]);
            low[t] = a.indptr[u];
            high[t] = a.indptr[u + 1];
        }
        scan[t + 1] = length;
        if (t == 0) scan[0] = 0;
        gd_scan(scan);
        const int total = scan[GD_ROWS];
        if (t == 0) candidates += total;
        for (int item = t; item < total; item += GD_ROWS) {
            const int r = gd_row_of(scan, item);
            const long long place = first[r] + (item - scan[r]);
            const index_t w = a.others[place];
            long long from = low[r], to = high[r];
            while (from < to) {
                const long long middle = (from + to) >> 1;
                if (a.indices[middle] < w) from = middle + 1;
                else to = middle;
            }
            if (from == high[r] || a.indices[from] != w) continue;
            const unsigned uv = a.ties[base + r], uw = a.ties[from], vw = a.other_ties[place];
            atomicAdd(at_u + r, vw);
            atomicAdd(at_v + r, uw);
            atomicAdd(a.links + w, (unsigned long long)uv);
            triangles++;
            added += uv + uw + vw;
        }
        __syncthreads();
        if (at_u[t]) {
            atomicAdd(a.links + u, (unsigned long long)at_u[t]);
            atomicAdd(a.links + v, (unsigned long long)at_v[t]);
        }
        __syncthreads();
    }
    __syncthreads();
    if (triangles) {
        atomicAdd(sums, triangles);
        atomicAdd(sums + 2, added);
    }
    if (candidates) atomicAdd(sums + 1, candidates);
    __syncthreads();
    if (t < 3 && sums[t]) atomicAdd(&a.counters->triangles + t, sums[t]);
}
