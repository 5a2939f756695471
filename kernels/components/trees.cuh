// Trees of slots that are hooked together. Roots point to themselves and a slot points to a smaller one, so hooking cannot
// make a cycle; whoever wins a compare-and-swap, the trees end with the same members. After Jaiganesh and Burtscher, A
// high-performance connected components implementation for GPUs (2018).
#pragma once
#include "common/rows.cuh"

__device__ __forceinline__ index_t find_root(index_t v, index_t *link) {
    index_t at = link[v];
    if (at == v) return v;
    index_t before = v, next;
    while (at > (next = *(volatile index_t *)(link + at))) {
        link[before] = next;  // path halving: any ancestor is a valid link
        before = at;
        at = next;
    }
    return at;
}

__device__ __forceinline__ index_t hook(index_t a, index_t b, index_t *link) {
    a = find_root(a, link);
    b = find_root(b, link);
    while (a != b) {
        if (a < b) {
            const index_t keep = a;
            a = b;
            b = keep;
        }
        const index_t seen = gd_atomic_cas(link + a, a, b);
        if (seen == a) break;
        a = find_root(seen, link);
        b = find_root(b, link);
    }
    return b;
}
