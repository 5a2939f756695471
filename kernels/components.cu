// Connected components of one partition by hooking trees of slots, and the labels that travel between partitions.
// Roots point to themselves and a slot points to a smaller one, so hooking cannot make a cycle; whoever wins a
// compare-and-swap, the trees end with the same members. After Jaiganesh and Burtscher, A high-performance connected
// components implementation for GPUs (2018). Twins and arguments: components.py.
#include "rows.cuh"

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

struct Hook : NoQueue {
    const index_t *indices;
    index_t *link;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        index_t a = find_root(row, link), b = find_root(indices[edge], link);
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
    }
};

extern "C" __global__ void components_hook(long long n, const long long *indptr, const index_t *indices,
                                           index_t *link, index_t *hubs, unsigned long long *counters) {
    gd_for_edges(n, (const index_t *)nullptr, indptr, hubs, counters, counters + 1, Hook{{}, indices, link});
}

extern "C" __global__ void components_hook_hubs(long long n, const long long *indptr, const index_t *indices,
                                                index_t *link, const index_t *hubs, unsigned long long *counters) {
    gd_for_hubs(hubs, counters, indptr, Hook{{}, indices, link});
}

extern "C" __global__ void components_compress(long long n, const index_t *link, index_t *root) {
    GD_FOR(v, n) {
        index_t at = link[v];
        while (at != link[at]) at = link[at];
        root[v] = at;
    }
}

extern "C" __global__ void components_label(long long n, const index_t *ids, const index_t *root, index_t *label) {
    GD_FOR(v, n) gd_atomic_min(label + root[v], ids[v]);
}

extern "C" __global__ void components_fold(long long n, const index_t *slots, const index_t *labels,
                                           const index_t *root, index_t *label, int *changed_in, long long step,
                                           index_t *changed, unsigned long long *counters) {
    GD_FOR(i, n) {
        const index_t r = root[slots[i]];
        // most labels change nothing: looking first keeps them from queueing at the label of the largest component
        if (labels[i] >= *(volatile index_t *)(label + r)) continue;
        if (labels[i] < gd_atomic_min(label + r, labels[i]) && atomicExch(changed_in + r, (int)step) != (int)step)
            changed[gd_reserve(counters)] = r;
    }
}

struct Spread {
    const index_t *grouped, *label;
    index_t *value, *ghost_queue;
    unsigned long long *counters;
    Queue<index_t> *ghosts;

    __device__ __forceinline__ void operator()(index_t root, long long place) const {
        const index_t ghost = grouped[place];
        value[ghost] = label[root];
        ghosts->push(ghost);
    }
    __device__ __forceinline__ void flush(bool all) const { ghosts->flush(ghost_queue, counters + 1, all); }
};

extern "C" __global__ void components_spread(long long n, const index_t *changed, const long long *group_start,
                                             const index_t *grouped, const index_t *label, index_t *value,
                                             index_t *ghost_queue, index_t *hubs, unsigned long long *counters) {
    __shared__ Queue<index_t> ghosts;
    ghosts.open();
    const Spread spread{grouped, label, value, ghost_queue, counters, &ghosts};
    gd_for_edges(n, changed, group_start, hubs, counters + 2, counters + 3, spread);
}

extern "C" __global__ void components_spread_hubs(long long n, const long long *group_start, const index_t *grouped,
                                                  const index_t *label, index_t *value, index_t *ghost_queue,
                                                  const index_t *hubs, unsigned long long *counters) {
    __shared__ Queue<index_t> ghosts;
    ghosts.open();
    const Spread spread{grouped, label, value, ghost_queue, counters, &ghosts};
    gd_for_hubs(hubs, counters + 2, group_start, spread);
}

struct Check : NoQueue {
    const index_t *indices, *label;
    unsigned long long *first_bad;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (label[row] != label[indices[edge]]) atomicMin(first_bad, (unsigned long long)edge);
    }
};

extern "C" __global__ void components_check(long long n, const long long *indptr, const index_t *indices,
                                            const index_t *label, unsigned long long *first_bad, index_t *hubs,
                                            unsigned long long *counters) {
    gd_for_edges(n, (const index_t *)nullptr, indptr, hubs, counters, counters + 1, Check{{}, indices, label, first_bad});
}

extern "C" __global__ void components_check_hubs(long long n, const long long *indptr, const index_t *indices,
                                                 const index_t *label, unsigned long long *first_bad,
                                                 const index_t *hubs, unsigned long long *counters) {
    gd_for_hubs(hubs, counters, indptr, Check{{}, indices, label, first_bad});
}
