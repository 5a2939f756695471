// What a batch of edges changes of the rows of one rank: a thread takes an entry, and what is counted is counted by a scan
// between two launches, so that the host need not wait for anything. Twins and arguments: dynamic_batch.py.
#include "common.cuh"
#include "place.cuh"

#define GD_NOTHING 18446744073709551615ull
#define GD_PIECE 4096  // as in dynamic_rows.cu

extern "C" __global__ void dynamic_batch_ends(long long n, const unsigned long long *edges, long long num_vertices,
                                              const index_t *slots, index_t *ids, index_t *at,
                                              unsigned long long *counters) {
    GD_FOR(i, n) {
        const unsigned long long edge = edges[i] >> 1, source = edge / (unsigned long long)num_vertices;
        const unsigned long long destination = edge - source * (unsigned long long)num_vertices;
        ids[i] = (index_t)source;
        ids[n + i] = (index_t)destination;
        at[i] = slots[source];
        at[n + i] = slots[destination];
        if (i == 0)
            for (int k = 0; k < 10; k++) counters[k] = 0;
    }
}

extern "C" __global__ void dynamic_batch_look(long long n, const unsigned long long *edges, const index_t *ids,
                                              const index_t *at, long long owned, long long capacity,
                                              long long directed, long long weighted, const long long *out_begin,
                                              const long long *out_length, const index_t *out_indices,
                                              const long long *in_begin, const long long *in_length,
                                              const index_t *in_indices, const index_t *names, unsigned char *found,
                                              long long *again, unsigned long long *keys) {
    const long long half = n / 2;
    GD_FOR(i, n) {
        const bool backward = i >= half;
        const long long edge = backward ? i - half : i, local = (long long)at[i];
        const index_t column = ids[backward ? edge : half + edge];
        const bool inserts = edges[edge] & 1;
        bool there = false;
        unsigned long long key = GD_NOTHING;
        long long where = -1;
        if (local < owned && !(backward && !directed && ids[i] == column)) {
            const bool inward = backward && directed;
            const index_t *indices = inward ? in_indices : out_indices;
            const long long begin = (inward ? in_begin : out_begin)[local];
            const long long length = (inward ? in_length : out_length)[local];
            const long long low = gd_place(indices, names, begin, length, column);
            there = low < length && names[indices[begin + low]] == column;
            if (there != inserts)
                key = (unsigned long long)(inward ? owned + local : local) * (unsigned long long)capacity +
                      (unsigned long long)column;
            else if (there) where = begin + low;
        }
        if (!backward) found[edge] = there;
        if (weighted) again[i] = where;
        keys[i] = key;
    }
}

// Of which rows an entry is: 0 out-edges, 1 in-edges, 2 none.
__device__ __forceinline__ int gd_kind(unsigned long long key, unsigned long long inward) {
    return key == GD_NOTHING ? 2 : key >= inward;
}

extern "C" __global__ void dynamic_batch_place(long long n, const unsigned long long *keys, long long owned,
                                               long long capacity, const long long *out_begin,
                                               const long long *out_length, const index_t *out_indices,
                                               const long long *in_begin, const long long *in_length,
                                               const index_t *in_indices, const index_t *names,
                                               const index_t *slots, index_t *row, index_t *slot, long long *place,
                                               long long *steps, unsigned long long *counters) {
    const unsigned long long inward = (unsigned long long)owned * (unsigned long long)capacity;
    GD_FOR(i, n) {
        const unsigned long long key = keys[i];
        const int kind = gd_kind(key, inward), before = i ? gd_kind(keys[i - 1], inward) : 0;
        for (int k = before; k < kind; k++) counters[k] = (unsigned long long)i;
        if (i == n - 1)
            for (int k = kind; k < 2; k++) counters[k] = (unsigned long long)n;
        if (i == 0) steps[0] = 0;
        long long local = 0, low = 0, step = 0;
        index_t wanted = 0;
        if (kind < 2) {
            const unsigned long long of = key / (unsigned long long)capacity;
            wanted = (index_t)(key - of * (unsigned long long)capacity);
            local = (long long)of - (kind ? owned : 0);
            const index_t *indices = kind ? in_indices : out_indices;
            const long long begin = (kind ? in_begin : out_begin)[local];
            const long long length = (kind ? in_length : out_length)[local];
            low = gd_place(indices, names, begin, length, wanted);
            step = low < length && names[indices[begin + low]] == wanted ? 1ll << 32 : 1;
        }
        row[i] = (index_t)local;
        slot[i] = slots[wanted];
        place[i] = low;
        steps[i + 1] = step;
    }
}

extern "C" __global__ void dynamic_batch_note(long long n, const unsigned long long *counters, const index_t *row,
                                              const index_t *slot, const long long *bounds, long long size,
                                              long long rank, long long owned, long long says, unsigned char *held,
                                              double *said) {
    const long long outward = (long long)counters[0];
    GD_FOR(i, n) {
        if (i >= outward) continue;
        const long long at = (long long)slot[i], v = (long long)row[i];
        long long step = 0;
        while (at >= bounds[step + 1]) step++;
        unsigned char *const needs = held + (rank + step) % size * owned + v;
        if (!*needs) *needs = 1;
        if (says) said[v] = -1.0;
    }
}

extern "C" __global__ void dynamic_batch_plan(long long n, const unsigned long long *keys, long long owned,
                                              long long capacity, const long long *sums, long long most,
                                              const long long *out_begin, const long long *out_length,
                                              const long long *out_room, long long out_used, const long long *in_begin,
                                              const long long *in_length, const long long *in_room, long long in_used,
                                              long long hub, long long room, long long *pieces, long long *listed,
                                              long long *plan, unsigned long long *counters) {
    const long long outward = (long long)counters[0], needed = (long long)counters[1];
    GD_FOR(i, n) {
        if (i == 0) {
            counters[2] = (unsigned long long)(sums[outward] >> 32);
            counters[3] = (unsigned long long)((sums[needed] - sums[outward]) >> 32);
        }
        const unsigned long long of = i < needed ? keys[i] / (unsigned long long)capacity : 0;
        if (i >= needed || (i && keys[i - 1] / (unsigned long long)capacity == of)) {
            plan[i] = 0;
            continue;
        }
        const unsigned long long bound = (of + 1) * (unsigned long long)capacity;
        long long end = i + 1, high = needed;
        for (long long step = 1; end < high; step *= 2) {  // most rows have few entries
            const long long probe = min(end + step, high) - 1;
            if (keys[probe] >= bound) {
                high = probe;
                break;
            }
            end = probe + 1;
        }
        while (end < high) {
            const long long middle = (end + high) >> 1;
            if (keys[middle] < bound) end = middle + 1;
            else high = middle;
        }
        const bool inward = i >= outward;
        const long long local = (long long)of - (inward ? owned : 0);
        const long long length = (inward ? in_length : out_length)[local];
        const long long step = sums[end] - sums[i], after = length + (step & 0xffffffffll) - (step >> 32);
        long long begin = (inward ? in_begin : out_begin)[local];
        if (after > (inward ? in_room : out_room)[local])
            begin = (inward ? in_used : out_used) +
                    (long long)atomicAdd(counters + 4 + inward, (unsigned long long)(after + after / 4 + 2));
        plan[i] = end;
        plan[n + i] = begin;
        plan[2 * n + i] = local;
        const long long size = max(length, after);
        if (size > hub && begin == (inward ? in_begin : out_begin)[local]) {
            const long long at = (long long)atomicAdd(counters + 9, (unsigned long long)size);
            if (at + size <= room) {
                const long long many = (size + GD_PIECE - 1) / GD_PIECE;
                long long *piece = pieces + 4 * (long long)atomicAdd(counters + 8, (unsigned long long)many);
                for (long long k = 0; k < many; k++, piece += 4) {
                    piece[0] = i;
                    piece[1] = k * GD_PIECE;
                    piece[2] = at;
                    piece[3] = after;
                }
                continue;
            }
        }
        if (size <= most) listed[gd_reserve(counters + 6)] = i;
        else listed[n - 1 - gd_reserve(counters + 7)] = i;
    }
}
