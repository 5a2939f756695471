// What a batch of edges changes of the rows of one rank: a thread takes an entry, and what is counted is counted by a scan
// between two launches, so that the host need not wait for anything. Twins and arguments: dynamic_batch.py.
#define GD_SCANNED 512
#include "common/common.cuh"
#include "common/grid.cuh"
#include "common/place.cuh"
#include "common/scan.cuh"
#include "dynamic/dynamic_batch_pack.py"

#define GD_TILE 2048
#define GD_NOTHING 18446744073709551615ull
#define GD_PIECE 4096  // as in dynamic_rows.cu

// Rows of one direction.
struct Rows {
    const long long *begin, *length;
    const index_t *indices;
};

// Look entry i up: whether its row holds it, where its weight is to be set, and its key; how many of its row are less.
__device__ __forceinline__ long long gd_look(long long i, long long half, const unsigned long long *edges,
                                             unsigned long long num_vertices, const index_t *slots, long long owned,
                                             unsigned long long capacity, bool directed, bool weighted,
                                             const Rows &out, const Rows &in, const index_t *names,
                                             unsigned char *found, long long *again, unsigned long long *keys) {
    const bool backward = i >= half, inward = backward && directed;
    const long long edge = backward ? i - half : i;
    const unsigned long long given = edges[edge], source = (given >> 1) / num_vertices;
    const unsigned long long destination = (given >> 1) - source * num_vertices;
    const long long local = (long long)slots[backward ? destination : source];
    const index_t column = (index_t)(backward ? source : destination);
    bool there = false;
    unsigned long long key = GD_NOTHING;
    long long where = -1, low = 0;
    if (local < owned && !(backward && !directed && source == destination)) {
        const Rows &rows = inward ? in : out;
        const long long begin = rows.begin[local], length = rows.length[local];
        low = gd_place(rows.indices, names, begin, length, column);
        there = low < length && names[rows.indices[begin + low]] == column;
        if (there != (bool)(given & 1))
            key = (unsigned long long)(inward ? owned + local : local) * capacity + (unsigned long long)column;
        else if (there) where = begin + low;
    }
    if (!backward) found[edge] = there;
    if (weighted) again[i] = where;
    keys[i] = key;
    return low;
}

extern "C" __global__ void dynamic_batch_look(long long n, BatchEntries a) {
    const Rows out = {a.out_begin, a.out_length, a.out_indices}, in = {a.in_begin, a.in_length, a.in_indices};
    GD_FOR(i, n) {
        gd_look(i, n / 2, a.edges, (unsigned long long)a.num_vertices, a.slots, a.owned, (unsigned long long)a.capacity,
                a.directed, a.weighted, out, in, a.names, a.found, a.again, a.keys);
    }
}

// Of which rows an entry is: 0 out-edges, 1 in-edges, 2 none.
__device__ __forceinline__ int gd_kind(unsigned long long key, unsigned long long inward) {
    return key == GD_NOTHING ? 2 : key >= inward;
}

// Of which rows sorted entry i is; how many there are of each kind is counted where the next one begins.
__device__ __forceinline__ int gd_counted(long long i, long long n, const unsigned long long *keys,
                                          unsigned long long inward, BatchCounts *counters) {
    const int kind = gd_kind(keys[i], inward), before = i ? gd_kind(keys[i - 1], inward) : 0;
    unsigned long long *const counted = &counters->outward;  // and then `needed`
    for (int k = before; k < kind; k++) counted[k] = (unsigned long long)i;
    if (i == n - 1)
        for (int k = kind; k < 2; k++) counted[k] = (unsigned long long)n;
    return kind;
}

extern "C" __global__ void dynamic_batch_place(long long n, BatchEntries a) {
    const Rows out = {a.out_begin, a.out_length, a.out_indices}, in = {a.in_begin, a.in_length, a.in_indices};
    const unsigned long long of_all = (unsigned long long)a.capacity;
    GD_FOR(i, n) {
        const int kind = gd_counted(i, n, a.keys, (unsigned long long)a.owned * of_all, a.counters);
        if (i == 0) a.steps[0] = 0;
        long long local = 0, low = 0, step = 0;
        index_t wanted = 0;
        if (kind < 2) {
            const unsigned long long of = a.keys[i] / of_all;
            wanted = (index_t)(a.keys[i] - of * of_all);
            local = (long long)of - (kind ? a.owned : 0);
            const Rows &rows = kind ? in : out;
            const long long begin = rows.begin[local], length = rows.length[local];
            low = gd_place(rows.indices, a.names, begin, length, wanted);
            step = low < length && a.names[rows.indices[begin + low]] == wanted ? 1ll << 32 : 1;
        }
        a.row[i] = (index_t)local;
        a.slot[i] = a.slots[wanted];
        a.place[i] = low;
        a.steps[i + 1] = step;
    }
}

// Note that the rank of the column of entry i needs to know of its row, and is to be notified again.
__device__ __forceinline__ void gd_note(long long i, const index_t *row, const index_t *slot, const long long *bounds,
                                        long long size, long long rank, long long owned, bool keeps_sent,
                                        unsigned char *held, double *sent) {
    const long long at = (long long)slot[i], v = (long long)row[i];
    long long step = 0;
    while (at >= bounds[step + 1]) step++;
    unsigned char *const needs = held + (rank + step) % size * owned + v;
    if (!*needs) *needs = 1;
    if (keeps_sent) sent[v] = -1.0;
}

extern "C" __global__ void dynamic_batch_note(long long n, BatchEntries a) {
    const long long outward = (long long)a.counters->outward;
    GD_FOR(i, n) {
        if (i < outward) gd_note(i, a.row, a.slot, a.bounds, a.size, a.rank, a.owned, a.keeps_sent, a.held, a.sent);
    }
}

// Where the rows of one direction are, and may go.
struct Slack {
    const long long *begin, *length, *capacity;
    long long used;
};

// What is to be done with the row whose first entry is entry i; nothing of others.
__device__ __forceinline__ void gd_plan(long long i, long long n, const unsigned long long *keys, long long owned,
                                        unsigned long long capacity, const long long *sums, long long most,
                                        const Slack &out, const Slack &in, long long hub, long long most_made,
                                        long long *pieces, long long *listed, long long *plan,
                                        BatchCounts *counters) {
    const long long outward = (long long)counters->outward, needed = (long long)counters->needed;
    if (i == 0) {
        counters->out_deleted = (unsigned long long)(sums[outward] >> 32);
        counters->in_deleted = (unsigned long long)((sums[needed] - sums[outward]) >> 32);
    }
    const unsigned long long of = i < needed ? keys[i] / capacity : 0;
    if (i >= needed || (i && keys[i - 1] / capacity == of)) {
        plan[i] = 0;
        return;
    }
    const unsigned long long bound = (of + 1) * capacity;
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
    const Slack &rows = inward ? in : out;
    const long long local = (long long)of - (inward ? owned : 0), length = rows.length[local];
    const long long step = sums[end] - sums[i], after = length + (step & 0xffffffffll) - (step >> 32);
    const long long size = max(length, after), stays = rows.begin[local];
    const bool moves = after > rows.capacity[local];
    unsigned long long *const claimed = inward ? &counters->in_claimed : &counters->out_claimed;
    const long long begin =
        moves ? rows.used + (long long)atomicAdd(claimed, (unsigned long long)(after + after / 4 + 2))
              : stays;
    plan[i] = end;
    plan[n + i] = begin;
    plan[2 * n + i] = local;
    if (size > hub && !moves) {
        const long long at = (long long)atomicAdd(&counters->taken, (unsigned long long)size);
        if (at + size <= most_made) {
            const long long many = (size + GD_PIECE - 1) / GD_PIECE;
            long long *piece = pieces + 4 * (long long)atomicAdd(&counters->pieces, (unsigned long long)many);
            for (long long k = 0; k < many; k++, piece += 4) {
                piece[0] = i;
                piece[1] = k * GD_PIECE;
                piece[2] = at;
                piece[3] = after;
            }
            return;
        }
    }
    if (size <= most) listed[gd_reserve(&counters->leading)] = i;
    else listed[n - 1 - gd_reserve(&counters->trailing)] = i;
}

extern "C" __global__ void dynamic_batch_plan(long long n, BatchEntries a) {
    const Slack out = {a.out_begin, a.out_length, a.out_capacity, a.out_used}, in = {a.in_begin, a.in_length, a.in_capacity, a.in_used};
    GD_FOR(i, n) {
        gd_plan(i, n, a.keys, a.owned, (unsigned long long)a.capacity, a.sums, a.most, out, in, a.hub, a.most_made, a.pieces, a.listed, a.plan,
                a.counters);
    }
}

// A block sorts GD_TILE keys, and with them which entries they are of.
__device__ __forceinline__ void gd_sort_tile(long long first, long long n, const unsigned long long *keys,
                                             unsigned long long *sorted, long long *of) {
    __shared__ unsigned long long key[GD_TILE];
    __shared__ int at[GD_TILE];
    for (int k = (int)threadIdx.x; k < GD_TILE; k += GD_SCANNED) {
        key[k] = first + k < n ? keys[first + k] : GD_NOTHING;
        at[k] = k;
    }
    for (int size = 2; size <= GD_TILE; size *= 2) {
        for (int apart = size / 2; apart; apart /= 2) {
            __syncthreads();
            for (int k = (int)threadIdx.x; k < GD_TILE / 2; k += GD_SCANNED) {
                const int low = 2 * k - (k & (apart - 1)), high = low + apart, held = at[low];
                const unsigned long long one = key[low], other = key[high];
                if (one == other || (one > other) != ((low & size) == 0)) continue;
                key[low] = other;
                key[high] = one;
                at[low] = at[high];
                at[high] = held;
            }
        }
    }
    __syncthreads();
    for (int k = (int)threadIdx.x; k < GD_TILE && first + k < n; k += GD_SCANNED) {
        sorted[first + k] = key[k];
        of[first + k] = first + at[k];
    }
    __syncthreads();
}

// How many keys of all tiles stand before key i of the tiles, equal ones in the order of their tiles.
__device__ __forceinline__ long long gd_rank(long long i, long long n, const unsigned long long *sorted) {
    const unsigned long long key = sorted[i];
    const long long mine = i / GD_TILE;
    long long rank = i % GD_TILE;
#pragma unroll 4
    for (long long tile = 0; tile < (n + GD_TILE - 1) / GD_TILE; tile++) {
        if (tile == mine) continue;
        const unsigned long long *const of = sorted + tile * GD_TILE;
        const int length = (int)min((long long)GD_TILE, n - tile * GD_TILE);
        int low = 0;
#pragma unroll
        for (int step = GD_TILE; step; step /= 2) {
            const int next = low + step;
            if (next <= length && (tile < mine ? of[next - 1] <= key : of[next - 1] < key)) low = next;
        }
        rank += low;
    }
    return rank;
}

// All of the above in one launch, whose blocks wait for each other: few entries are done with sooner than the host has
// launched a kernel for each step. What the plan takes is put to other use until then.
extern "C" __global__ void __launch_bounds__(512)
dynamic_batch_prepare(long long n, BatchEntries a) {
    const unsigned long long of_all = (unsigned long long)a.capacity, inward = (unsigned long long)a.owned * of_all;
    gd_count *const arrived = &a.counters->arrived;
    long long *const low = a.plan, *const of = a.plan + n, *const totals = a.listed;
    unsigned long long *const tiles = (unsigned long long *)(a.plan + 2 * n);
    const Rows out = {a.out_begin, a.out_length, a.out_indices}, in = {a.in_begin, a.in_length, a.in_indices};
    GD_FOR(i, n) {
        low[i] = gd_look(i, n / 2, a.edges, (unsigned long long)a.num_vertices, a.slots, a.owned, of_all, a.directed, a.weighted,
                         out, in, a.names, a.found, a.again, a.keys);
    }
    gd_grid_barrier(arrived);
    for (long long first = (long long)blockIdx.x * GD_TILE; first < n; first += (long long)gridDim.x * GD_TILE)
        gd_sort_tile(first, n, a.keys, tiles, of);
    gd_grid_barrier(arrived);
    GD_FOR(i, n) {
        const unsigned long long key = tiles[i], by = key / of_all;
        const bool some = key != GD_NOTHING;
        const long long to = gd_rank(i, n, tiles), entry = of[i];
        const index_t wanted = some ? (index_t)(key - by * of_all) : 0;
        a.keys[to] = key;
        a.order[to] = entry;
        a.row[to] = some ? (index_t)(key >= inward ? (long long)by - a.owned : (long long)by) : 0;
        a.slot[to] = a.slots[wanted];
        a.place[to] = some ? low[entry] : 0;
        a.sums[to + 1] = some ? (a.edges[entry % (n / 2)] & 1 ? 1 : 1ll << 32) : 0;
    }
    gd_grid_barrier(arrived);
    for (long long first = (long long)blockIdx.x * GD_SCANNED; first < n; first += (long long)gridDim.x * GD_SCANNED) {
        const long long i = first + threadIdx.x, step = i < n ? a.sums[i + 1] : 0;
        if (i < n) gd_counted(i, n, a.keys, inward, a.counters);
        long long all;
        const long long before = gd_block_scan(step, &all);
        if (i < n) a.sums[i + 1] = before + step;
        if (i == 0) a.sums[0] = 0;
        if (threadIdx.x == 0) totals[first / GD_SCANNED] = all;
    }
    gd_grid_barrier(arrived);
    for (long long first = (long long)blockIdx.x * GD_SCANNED; first < n; first += (long long)gridDim.x * GD_SCANNED) {
        long long before = 0, all;
        for (long long k = threadIdx.x; k < first / GD_SCANNED; k += GD_SCANNED) before += totals[k];
        gd_block_scan(before, &all);
        const long long i = first + threadIdx.x;
        if (i < n) a.sums[i + 1] += all;
    }
    gd_grid_barrier(arrived);
    const Slack to_out = {a.out_begin, a.out_length, a.out_capacity, a.out_used}, to_in = {a.in_begin, a.in_length, a.in_capacity, a.in_used};
    const long long outward = (long long)a.counters->outward;
    GD_FOR(i, n) {
        if (a.size > 1 && i < outward) gd_note(i, a.row, a.slot, a.bounds, a.size, a.rank, a.owned, a.keeps_sent, a.held, a.sent);
        gd_plan(i, n, a.keys, a.owned, of_all, a.sums, a.most, to_out, to_in, a.hub, a.most_made, a.pieces, a.listed, a.plan, a.counters);
    }
}
