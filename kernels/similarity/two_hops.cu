// Pairs of vertices that share a neighbour. A block takes a source u at a time: it scans the lengths of the rows of its
// neighbours w, its threads share the paths u, w, v evenly, and count them by v in a hash table, in shared memory if the
// paths are few and there are no weights. Counts and sums are integers, so they do not depend on the order of the
// threads. Of a source of which only the best pairs are listed, the score of the last of them is found eight bits at a
// time, and among equal scores its vertex (radix selection). Pairs are listed in any order. After Nagasaka, Nukada and
// Matsuoka, High-performance and memory-saving sparse general matrix-matrix multiplication for NVIDIA Pascal GPU (2017).
// Twin: two_hops.py.
#include "common/rows.cuh"
#include "similarity/two_hops_pack.py"

#define SMALL 2048
#define PATH 4
#define END 1

__device__ __forceinline__ double score_of(long long measure, long long common, long long both, long long a,
                                           long long b) {
    if (measure == JACCARD) return (double)common / (double)max(a + b - both, 1LL);
    if (measure == OVERLAP) return (double)common / (double)max(min(a, b), 1LL);
    if (measure == COSINE) return fmin((double)common / sqrt(fmax((double)a * (double)b, 1.0)), 1.0);
    return (double)(2 * common) / (double)max(a + b, 1LL);
}

// Where the numbers above u begin in an ascending row.
__device__ __forceinline__ long long first_above(const index_t *entries, long long begin, long long end, index_t u) {
    while (begin < end) {
        const long long middle = (begin + end) >> 1;
        if (entries[middle] > u) end = middle;
        else begin = middle + 1;
    }
    return begin;
}

// Where a row begins for a source, and whether its w is reached by a path over the edge from w to itself.
__device__ __forceinline__ long long begin_of(const TwoHopRows &a, long long e, index_t u) {
    return a.onward ? first_above(a.entries, a.first[e], a.last[e], u) : a.first[e];
}
__device__ __forceinline__ bool ends_at_middle(const TwoHopRows &a, long long e, index_t u) {
    return a.looped[e] && a.middle[e] != u && !(a.onward && a.middle[e] < u);
}

// What a path is worth, of the values of its middle for its two ends.
__device__ __forceinline__ long long worth(long long value, long long other) { return min(value, other); }
__device__ __forceinline__ long long worth(double value, double other) {
    return (long long)rint(value * other * (double)(1LL << 62));
}
__device__ __forceinline__ void add_to(long long *sum, long long more) {
    atomicAdd((unsigned long long *)sum, (unsigned long long)more);
}

// The vertices that paths from a source lead to, in slots; their number is a power of 2.
struct Table {
    index_t *vertices;
    count_t *tallies;
    long long *sums, *own;  // null without weights
    long long slots;

    // Return the slot of v.
    __device__ __forceinline__ long long add(index_t v, count_t more) const {
        const unsigned long long mixed = (unsigned long long)v * 0x9E3779B97F4A7C15ULL;
        long long place = (long long)(mixed >> 32) & (slots - 1);
        while (true) {
            index_t seen = *(volatile index_t *)(vertices + place);
            if (seen == -1) {
                seen = gd_atomic_cas(vertices + place, (index_t)-1, v);
                if (seen == -1) seen = v;
            }
            if (seen == v) break;
            place = (place + 1) & (slots - 1);
        }
        atomicAdd(tallies + place, more);
        return place;
    }
    // The score in a slot, -1 if it has no pair.
    __device__ __forceinline__ double score(const TwoHopRows &a, long long place, long long size,
                                            long long *common) const {
        if (vertices[place] == -1) return -1;
        const long long both = (long long)(tallies[place] >> 2);
        *common = both - (long long)(tallies[place] & 3);
        if (!*common) return -1;
        const long long its = a.size[vertices[place]];
        if (!sums) return score_of(a.measure, *common, both, size, its);
        return score_of(a.measure, sums[place] - own[place], sums[place], size, its);
    }
    // A number that is smaller for a better score: scores are from 0 to 1. -1 if the slot has no pair.
    __device__ __forceinline__ long long rank(const TwoHopRows &a, long long place, long long size) const {
        long long common;
        const double found = score(a, place, size, &common);
        return found < 0 ? -1 : (1LL << 62) - __double_as_longlong(found);
    }
};

// The last of the pairs of a source that are listed: its rank, and if several have that one, its vertex.
struct Last {
    long long rank = 0x7fffffffffffffffLL, vertex = 0x7fffffffffffffffLL;

    __device__ __forceinline__ bool before(long long other, long long v) const {
        return other > rank || (other == rank && v > vertex);
    }
};

// Find the largest of the `wanted` smallest numbers in the slots, -1 being none, eight bits at a time. It is any number
// between that and the next one if this is known early. Return how many of those equal to it are wanted, or 0 if all are.
template <class Number>
__device__ long long select_smallest(long long slots, long long wanted, int shift, int *scan, long long *last,
                                     Number number) {
    const int t = threadIdx.x;
    for (long long prefix = 0;; shift -= 8) {
        __syncthreads();
        scan[t + 1] = 0;
        if (t == 0) scan[0] = 0;
        __syncthreads();
        for (long long place = t; place < slots; place += GD_ROWS) {
            const long long its = number(place);
            if (its >= 0 && its >> shift >> 8 == prefix) atomicAdd(scan + 1 + (its >> shift & 255), 1);
        }
        gd_scan(scan);
        if (wanted >= scan[GD_ROWS]) return 0;  // of the first bits only: there are no more
        const int digit = gd_row_of(scan, (int)wanted - 1);
        wanted -= scan[digit];
        prefix = prefix << 8 | digit;
        const bool all = wanted == scan[digit + 1] - scan[digit];
        if (!all && shift > 0) continue;
        *last = ((prefix + 1) << shift) - 1;
        return all ? 0 : wanted;
    }
}

// All threads of the block call it.
__device__ __forceinline__ Last last_of(const Table &table, const TwoHopRows &a, long long size, int *scan) {
    Last last;
    const long long wanted = select_smallest(table.slots, a.keep, 56, scan, &last.rank, [&](long long place) {
        return table.rank(a, place, size);
    });
    if (wanted) {
        select_smallest(table.slots, wanted, 8 * (int)sizeof(index_t) - 8, scan, &last.vertex, [&](long long place) {
            return table.rank(a, place, size) == last.rank ? (long long)table.vertices[place] : -1LL;
        });
    }
    __syncthreads();
    return last;
}

extern "C" __global__ void two_hops_list(long long n, TwoHopRows a) {
    __shared__ int scan[GD_ROWS + 1];
    __shared__ long long begins[GD_ROWS];
    __shared__ index_t small_vertices[SMALL];
    __shared__ count_t small_tallies[SMALL];
    const int t = threadIdx.x;
    for (int place = t; place < SMALL; place += GD_ROWS) {
        small_vertices[place] = -1;
        small_tallies[place] = 0;
    }
    __syncthreads();
    for (long long i = blockIdx.x; i < n; i += gridDim.x) {
        const index_t u = a.source[i];
        const long long size = a.size[u], large = a.begins[i + 1] - a.begins[i];
        Table table{small_vertices, small_tallies, nullptr, nullptr, SMALL};
        if (large) table = Table{a.table + a.begins[i], a.tallies + a.begins[i], nullptr, nullptr, large};
        if (a.value) {
            table.sums = a.table_sums + a.begins[i];
            table.own = a.table_own + a.begins[i];
        }
        for (long long base = a.begin[i]; base < a.begin[i + 1]; base += GD_ROWS) {
            const long long e = base + t;
            int length = 0;
            if (e < a.begin[i + 1]) {
                begins[t] = begin_of(a, e, u);
                length = (int)(a.last[e] - begins[t]);
                if (ends_at_middle(a, e, u)) table.add(a.middle[e], END);
            }
            scan[t + 1] = length;
            if (t == 0) scan[0] = 0;
            gd_scan(scan);
            const int total = scan[GD_ROWS];
            for (int item = t; item < total; item += GD_ROWS) {
                const int r = gd_row_of(scan, item);
                const long long j = begins[r] + (item - scan[r]);
                const index_t v = a.entries[j], w = a.middle[base + r];
                if (v == u) continue;
                const long long place = table.add(v, w == u ? PATH + END : PATH);
                if (!a.value) continue;
                const long long more = worth(a.value[base + r], a.values[j]);
                add_to(table.sums + place, more);
                if (w == u || w == v) add_to(table.own + place, more);
            }
            __syncthreads();
        }
        Last last;
        if (a.keep) last = last_of(table, a, size, scan);
        for (long long place = t; place < table.slots; place += GD_ROWS) {
            const index_t v = table.vertices[place];
            if (v == -1) continue;
            long long common = 0;
            const double score = table.score(a, place, size, &common);
            table.vertices[place] = -1;
            table.tallies[place] = 0;
            if (a.value) table.sums[place] = table.own[place] = 0;
            if (score < 0 || score < a.least) continue;
            if (score == a.least && (u > a.least_first || (u == a.least_first && v > a.least_second))) continue;
            if (a.keep && last.before((1LL << 62) - __double_as_longlong(score), v)) continue;
            const long long pair = gd_reserve(&a.counters->pairs);
            a.out_first[pair] = u;
            a.out_second[pair] = v;
            a.out_score[pair] = score;
            a.out_common[pair] = common;
        }
        __syncthreads();
    }
}

// A block takes an edge u -> w of one source at a time; all count in one array.
extern "C" __global__ void two_hops_add(long long n, long long u, TwoHopRows a) {
    for (long long e = blockIdx.x; e < n; e += gridDim.x) {
        const long long begin = begin_of(a, e, (index_t)u);
        const index_t w = a.middle[e];
        for (long long j = begin + threadIdx.x; j < a.last[e]; j += blockDim.x) {
            const index_t v = a.entries[j];
            atomicAdd(a.count + v, (count_t)(w == u ? PATH + END : PATH));
            if (!a.value) continue;
            const long long more = worth(a.value[e], a.values[j]);
            add_to(a.sums + v, more);
            if (w == u || w == v) add_to(a.own + v, more);
        }
        if (threadIdx.x == 0 && ends_at_middle(a, e, (index_t)u)) atomicAdd(a.count + a.middle[e], (count_t)END);
    }
}
