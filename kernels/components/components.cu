// Connected components of one partition by hooking trees of slots, and the labels that travel between partitions.
// Twins and arguments: components.py.
#include "components/trees.cuh"
#include "components/components_pack.py"

struct Hook : NoQueue {
    const index_t *indices;
    index_t *link;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const { hook(row, indices[edge], link); }
};

extern "C" __global__ void components_sample(long long n, const long long *indptr, const index_t *indices,
                                             index_t *link, long long few) {
    GD_FOR(u, n) {
        const long long first = indptr[u], last = min(first + few, indptr[u + 1]);
        index_t a = (index_t)u;
        for (long long e = first; e < last; e++) a = hook(a, indices[e], link);
    }
}

extern "C" __global__ void components_hook(long long n, const index_t *rows, Trees a) {
    gd_for_edges(n, rows, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges, Hook{{}, a.indices, a.link});
}

extern "C" __global__ void components_hook_hubs(long long n, Trees a) {
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, Hook{{}, a.indices, a.link});
}

extern "C" __global__ void components_outside(long long n, Outside a) {
    __shared__ Queue<index_t> outside;
    outside.open();
    gd_for_list(n, [&](long long v) {
        if (a.link[v] != a.root &&
            (a.indptr[v + 1] > a.indptr[v] || a.other_indptr[v + 1] > a.other_indptr[v]))
            outside.push((index_t)v);
    }, [&](bool all) { outside.flush(a.rows, &a.counters->rows, all); });
}

extern "C" __global__ void components_meet(long long n, Meetings a) {
    GD_FOR(i, n) {
        const index_t ghost = (index_t)(a.owned + i), root = a.link[ghost];
        if (root == ghost) continue;
        const index_t mine = a.label[root], theirs = a.reported[i];
        if (mine == theirs) continue;
        int step = 1;
        while (ghost >= a.bounds[step + 1]) step++;
        if (mine == a.giants[0] && theirs == a.giants[step]) {
            if (!*(volatile int *)(a.found + step)) a.found[step] = 1;
        } else {
            const long long at = gd_reserve(&a.counters->pairs);
            a.here[at] = mine;
            a.there[at] = theirs;
        }
    }
}

extern "C" __global__ void components_rename(long long n, const index_t *link, index_t *label, const index_t *names,
                                             const index_t *place, long long count) {
    GD_FOR(v, n) {
        if (link[v] != v) continue;
        const index_t mine = label[v];
        long long low = 0, high = count;
        while (low < high) {
            const long long middle = (low + high) >> 1;
            if (names[middle] < mine) low = middle + 1;
            else high = middle;
        }
        if (low < count && names[low] == mine) label[v] = names[place[low]];
    }
}

extern "C" __global__ void components_pairs(long long n, const index_t *a, const index_t *b, index_t *link) {
    GD_FOR(i, n) hook(a[i], b[i], link);
}

// Plain reads: what a cache kept of a link is an older ancestor, and roots stay what they are. Nearly all slots have one
// root, and reads of it that go past the caches would wait in line.
extern "C" __global__ void components_compress(long long n, index_t *link) {
    GD_FOR(v, n) {
        const index_t first = link[v];
        index_t at = first, next;
        while (at != (next = link[at])) at = next;
        if (at != first) link[v] = at;  // others may follow the old link or this one: both lead to the root
    }
}

// A thread keeps the smallest id while the root stays the same, as it nearly always does.
extern "C" __global__ void components_label(long long n, const index_t *ids, const index_t *link, index_t *label) {
    index_t root = -1, least = 0;
    const auto lower = [&] {
        if (root >= 0 && least < *(volatile index_t *)(label + root)) gd_atomic_min(label + root, least);
    };
    GD_FOR(v, n) {
        if (link[v] == root) {
            least = min(least, ids[v]);
        } else {
            lower();
            root = link[v];
            least = ids[v];
        }
    }
    lower();
}

extern "C" __global__ void components_witness(long long n, const index_t *rows, const long long *indptr,
                                              const index_t *indices, const index_t *link, long long root,
                                              long long owned, const index_t *reported, const long long *bounds,
                                              const index_t *wanted, int *found) {
    const long long warps = (long long)gridDim.x * blockDim.x / 32;
    const int lane = threadIdx.x & 31;
    for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; i < n; i += warps) {
        const index_t v = rows[i];
        if (link[v] != root) continue;
        for (long long e = indptr[v] + lane; e < indptr[v + 1]; e += 32) {
            const index_t ghost = indices[e];
            if (ghost < owned) continue;
            int step = 1;
            while (ghost >= bounds[step + 1]) step++;
            if (reported[ghost - owned] == wanted[step] && !*(volatile int *)(found + step)) found[step] = 1;
        }
    }
}

struct Check : NoQueue {
    const index_t *indices, *label;
    unsigned long long *first_bad;

    __device__ __forceinline__ void operator()(index_t row, long long edge) const {
        if (label[row] != label[indices[edge]]) atomicMin(first_bad, (unsigned long long)edge);
    }
};

extern "C" __global__ void components_check(long long n, const index_t *label, unsigned long long *first_bad, Trees a) {
    gd_for_edges(n, (const index_t *)nullptr, a.indptr, a.hubs, &a.counters->hubs, &a.counters->edges,
                 Check{{}, a.indices, label, first_bad});
}

extern "C" __global__ void components_check_hubs(long long n, const index_t *label, unsigned long long *first_bad,
                                                 Trees a) {
    gd_for_hubs((const index_t *)a.hubs, &a.counters->hubs, a.indptr, Check{{}, a.indices, label, first_bad});
}
