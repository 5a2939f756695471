// Triangles through each edge. A block takes GD_ROWS edges u -> v at a time, scans the lengths of the rows of v, and its
// threads share the candidates w in them evenly; each looks w up in the row of u by a binary search, and counts the
// triangle for the three edges. It takes up to WINDOW candidates of each row at a time, so that a scan fits an int.
// After Green, Yalamanchili and Munguia, Fast triangle counting on the GPU (2014).
// Twin: support.py.
#include "common/rows.cuh"
#include "triangles/support_pack.py"

#define WINDOW (1 << 22)

extern "C" __global__ void support_count(long long n, SupportRows a) {
    __shared__ int scan[GD_ROWS + 1];
    __shared__ long long first[GD_ROWS], low[GD_ROWS], high[GD_ROWS];
    __shared__ unsigned hits[GD_ROWS];
    __shared__ unsigned long long sums[2];
    const int t = threadIdx.x;
    if (t < 2) sums[t] = 0;
    unsigned long long triangles = 0, candidates = 0;
    for (long long base = (long long)blockIdx.x * GD_ROWS; base < n; base += (long long)gridDim.x * GD_ROWS) {
        long long left = 0;
        hits[t] = 0;
        if (base + t < n) {
            const index_t u = a.source[base + t], v = a.indices[base + t];
            first[t] = a.ptr[v];
            left = a.ptr[v + 1] - first[t];
            low[t] = a.indptr[u];
            high[t] = a.indptr[u + 1];
        }
        int total = 0;
        do {
            const int length = left < WINDOW ? (int)left : WINDOW;
            left -= length;
            scan[t + 1] = length;
            if (t == 0) scan[0] = 0;
            gd_scan(scan);
            total = scan[GD_ROWS];
            if (t == 0) candidates += total;
            for (int item = t; item < total; item += GD_ROWS) {
                const int r = gd_row_of(scan, item);
                const long long place = first[r] + (item - scan[r]);
                const index_t w = a.others[place], wanted = a.number[w];
                long long from = low[r], to = high[r];
                while (from < to) {
                    const long long middle = (from + to) >> 1;
                    if (a.number[a.indices[middle]] < wanted) from = middle + 1;
                    else to = middle;
                }
                if (from == high[r] || a.indices[from] != w) continue;
                atomicAdd(hits + r, 1u);
                atomicAdd(a.support + from, 1u);
                atomicAdd(a.other_support + place, 1u);
                triangles++;
            }
            __syncthreads();
            first[t] += length;
            __syncthreads();
        } while (total >= WINDOW);  // below it, no row was cut
        if (hits[t]) atomicAdd(a.support + base + t, hits[t]);
        __syncthreads();
    }
    __syncthreads();
    if (triangles) atomicAdd(sums, triangles);
    if (candidates) atomicAdd(sums + 1, candidates);
    __syncthreads();
    if (t < 2 && sums[t]) atomicAdd(&a.counters->triangles + t, sums[t]);
}
