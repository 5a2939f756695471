// Which entries go to which peer, and their payloads, for graphdask.comm.segments. Entries are numbered through all peers
// (ghosts by owner, or what peers mirror, one peer after the other). A bitmap marks those that are said; every peer's
// bits begin with a tile of their own, of GD_TILE words. Prefix sums of the bits of tiles, and of the words of a tile
// within a block, rank every marked entry (Jacobson 1989), so the sets come out ascending whatever the order of threads.
//
// plan: int64, read-only: for each of S peers and one more the first entry, and the first tile; then per peer what is
// taken off a number to have the peer's, and its universe; then for each of C columns the bytes of a vertex.
// layout: int64, three per peer: how many entries, where its payload begins, and whether the ids are a bitmap.
#include "common/scan.cuh"
#include "exchange/segments_pack.py"

#define GD_TILE GD_SCANNED
#define GD_TILE_BITS (32 * GD_TILE)
#define GD_MOST_PEERS 128

typedef unsigned short gd_place;

struct Plan {
    const gd_word *words;
    gd_word segments, columns;

    __device__ __forceinline__ gd_word entry(int k) const { return words[k]; }
    __device__ __forceinline__ gd_word tile(int k) const { return words[segments + 1 + k]; }
    __device__ __forceinline__ gd_word origin(int k) const { return words[2 * (segments + 1) + k]; }
    __device__ __forceinline__ gd_word universe(int k) const { return words[3 * segments + 2 + k]; }
    __device__ __forceinline__ gd_word row(gd_word c) const { return words[4 * segments + 2 + c]; }
    __device__ __forceinline__ gd_word width(int k) const { return universe(k) <= 1LL << 31 ? 4 : 8; }
    __device__ __forceinline__ gd_word bitmap_bytes(int k) const { return (universe(k) + 31) / 32 * 4; }

    // The last k with bounds[k] <= at; `at` lies below the last bound.
    __device__ __forceinline__ int last_from(const gd_word *bounds, gd_word at) const {
        int low = 0, high = (int)segments - 1;
        while (low < high) {
            const int middle = (low + high + 1) / 2;
            if (bounds[middle] <= at) low = middle;
            else high = middle - 1;
        }
        return low;
    }
    __device__ __forceinline__ int of_entry(gd_word e) const { return last_from(words, e); }
    __device__ __forceinline__ int of_tile(gd_word t) const { return last_from(words + segments + 1, t); }
};

__device__ __forceinline__ gd_word gd_padded(gd_word nbytes) { return (nbytes + 7) & ~7LL; }

// Bytes of the ids of a peer's payload.
__device__ __forceinline__ gd_word gd_head(const Plan &plan, int k, gd_word count, gd_word bitmap) {
    return gd_padded(bitmap ? plan.bitmap_bytes(k) : count * plan.width(k));
}

// Complete a layout of which the counts are there. Without columns the list is taken where it is shorter by more than
// `saves` bytes, with columns the bitmap; with saves < 0 always the list.
__device__ __forceinline__ void gd_lay_out(const Plan &plan, gd_word saves, gd_word *layout) {
    gd_word offset = 0;
    for (int k = 0; k < plan.segments; k++) {
        const gd_word count = layout[3 * k], shorter = plan.bitmap_bytes(k) - count * plan.width(k);
        const bool bitmap = saves >= 0 && count > 0 && (plan.columns ? -shorter > saves : shorter <= saves);
        gd_word nbytes = gd_head(plan, k, count, bitmap);
        for (gd_word c = 0; c < plan.columns; c++) nbytes += gd_padded(count * plan.row(c));
        layout[3 * k + 1] = offset;
        layout[3 * k + 2] = bitmap;
        offset += (nbytes + 255) & ~255LL;
    }
}

// Where a column of a peer's payload begins; that of the first peer at byte 0 of all payloads.
__device__ __forceinline__ gd_word gd_column(const Plan &plan, const gd_word *layout, int k, gd_word column) {
    const gd_word count = layout[3 * k];
    gd_word at = layout[3 * k + 1] + gd_head(plan, k, count, layout[3 * k + 2]);
    for (gd_word c = 0; c < column; c++) at += gd_padded(count * plan.row(c));
    return at;
}

template <class T>
__device__ __forceinline__ void gd_copy_row(unsigned char *to, const unsigned char *from, int units, int first,
                                            int stride) {
    for (int u = first; u < units; u += stride) ((T *)to)[u] = ((const T *)from)[u];
}

// How many numbers there are: n, or fewer where a kernel has counted them.
__device__ __forceinline__ long long gd_counted(long long n, const long long *counters, long long place) {
    return counters && counters[place] < n ? counters[place] : n;
}

// Mark the entries of distinct numbers, each `shift` above its entry.
extern "C" __global__ void segments_mark(long long n, const long long *counters, long long place,
                                     const index_t *numbers, long long shift, const long long *plan,
                                     long long segments, unsigned int *bits) {
    const Plan p{plan, segments, 0};
    const long long counted = gd_counted(n, counters, place);
    GD_FOR(i, counted) {
        const gd_word e = (gd_word)numbers[i] - shift;
        if (e < 0 || e >= p.entry((int)segments)) {
            gd_fail(2);
            continue;
        }
        const int k = p.of_entry(e);
        const gd_word bit = p.tile(k) * GD_TILE_BITS + e - p.entry(k);
        atomicOr(&bits[bit >> 5], 1u << (bit & 31));
    }
}

// Mark, for every peer, the entries at which its mirror has one of n distinct numbers; mirrors ascend for each peer.
extern "C" __global__ void segments_find(long long n, const long long *counters, long long place,
                                     const index_t *numbers, const index_t *mirror, const long long *plan,
                                     long long segments, unsigned int *bits) {
    const Plan p{plan, segments, 0};
    const long long counted = gd_counted(n, counters, place);
    GD_FOR(i, counted) {
        const index_t number = numbers[i];
        for (int k = 0; k < segments; k++) {
            gd_word low = p.entry(k), high = p.entry(k + 1);
            while (low < high) {
                const gd_word middle = (low + high) / 2;
                if (mirror[middle] < number) low = middle + 1;
                else high = middle;
            }
            if (low == p.entry(k + 1) || mirror[low] != number) continue;
            const gd_word bit = p.tile(k) * GD_TILE_BITS + low - p.entry(k);
            atomicOr(&bits[bit >> 5], 1u << (bit & 31));
        }
    }
}

// Set the bits of distinct numbers, or, where `clears` is not 0, clear the words in which they lie.
extern "C" __global__ void segments_note(long long n, const long long *counters, long long place,
                                     const index_t *numbers, long long universe, long long clears,
                                     unsigned int *marks) {
    const long long counted = gd_counted(n, counters, place);
    GD_FOR(i, counted) {
        const gd_word number = (gd_word)numbers[i];
        if (number < 0 || number >= universe) {
            if (!clears) gd_fail(2);
        } else if (clears) {
            marks[number >> 5] = 0;  // whoever writes it, writes 0
        } else {
            atomicOr(&marks[number >> 5], 1u << (number & 31));
        }
    }
}

// Count the bits of every tile, sum up, and lay out the payloads. With a mirror the bits are made first: set for the
// entries whose number is set in `marks`. The block that ends last (`ticket`, zero before and after) sums up: sums[t]
// becomes the number of bits before tile t, of one tile more too. n is the number of words.
extern "C" __global__ void segments_count(long long n, const index_t *mirror, const unsigned int *marks, unsigned int *bits,
                                      long long *sums, unsigned int *ticket, const long long *plan, long long segments,
                                      long long columns, long long saves, long long *layout) {
    __shared__ int is_last;
    const Plan p{plan, segments, columns};
    const gd_word tiles = n / GD_TILE;
    const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
    for (gd_word t = blockIdx.x; t < tiles; t += gridDim.x) {
        int mine = 0, all;
        if (mirror) {
            const int k = p.of_tile(t);
            const gd_word first = p.entry(k) + (t - p.tile(k)) * GD_TILE_BITS, end = p.entry(k + 1);
            for (int w = 4 * warp; w < GD_TILE; w += GD_TILE / 8) {
                bool set[4];
                for (int j = 0; j < 4; j++) {
                    const gd_word e = first + 32 * (w + j) + lane;
                    set[j] = false;
                    if (e < end) {
                        const index_t number = mirror[e];
                        set[j] = marks[number >> 5] >> (number & 31) & 1;
                    }
                }
                for (int j = 0; j < 4; j++) {
                    const unsigned int word = __ballot_sync(0xffffffffu, set[j]);
                    if (lane == j) {
                        bits[t * GD_TILE + w + j] = word;
                        mine += __popc(word);
                    }
                }
            }
        } else {
            mine = __popc(bits[t * GD_TILE + thread]);
        }
        gd_block_scan(mine, &all);
        if (thread == 0) sums[t] = all;
    }
    __threadfence();
    __syncthreads();
    if (thread == 0) is_last = atomicAdd(ticket, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    const int each = 8;
    gd_word before = 0;
    for (gd_word begin = 0; begin < tiles; begin += each * GD_TILE) {
        const gd_word at = begin + thread * each;
        gd_word counts[each], mine = 0, all;
        for (int j = 0; j < each; j++) {
            counts[j] = at + j < tiles ? *(volatile gd_word *)(sums + at + j) : 0;
            mine += counts[j];
        }
        gd_word sum = before + gd_block_scan(mine, &all);
        for (int j = 0; j < each; j++) {
            if (at + j < tiles) sums[at + j] = sum;
            sum += counts[j];
        }
        before += all;
    }
    if (thread == 0) {
        sums[tiles] = before;
        *ticket = 0;
    }
    __syncthreads();
    if (thread == 0) {
        for (int k = 0; k < segments; k++) layout[3 * k] = sums[p.tile(k + 1)] - sums[p.tile(k)];
        gd_lay_out(p, saves, layout);
    }
}

// Clear the first words of the payloads whose ids are a bitmap. n is the largest number of them.
extern "C" __global__ void segments_clear(long long n, const long long *plan, long long segments, const long long *layout,
                                      unsigned char *payload) {
    const Plan p{plan, segments, 0};
    GD_FOR(w, n) {
        for (int k = 0; k < segments; k++)
            if (layout[3 * k + 2] && 4 * w < p.bitmap_bytes(k)) ((unsigned int *)(payload + layout[3 * k + 1]))[w] = 0;
    }
}

// Write ids (with column 0) and one column of all marked entries into the payloads; with the last column the bits are
// cleared. `numbers` gives the numbers of entries, less the peer's origin; null: entries count from the peer's first.
// `mirror` gives the slot of an entry, null: it is the entry and `shift`. Values are of `item` bytes, 1, 4 or 8, as many
// as fill a row. n is the number of words.
extern "C" __global__ void segments_pack(long long n, SegmentParts a) {
    __shared__ gd_place marked[GD_TILE_BITS];
    const Plan p{a.plan, a.segments, a.columns};
    const gd_word tiles = n / GD_TILE;
    const int thread = threadIdx.x;
    for (gd_word t = blockIdx.x; t < tiles; t += gridDim.x) {
        const gd_word before = a.sums[t];
        const int count = (int)(a.sums[t + 1] - before);
        const bool aligned = a.column == 0 && !a.numbers;  // the bits of a tile are words of the peer's bitmap
        if (count == 0 && !aligned) continue;
        const int k = p.of_tile(t);
        const bool bitmap = a.layout[3 * k + 2] != 0;
        const gd_word tile_of_peer = t - p.tile(k), in_tile = tile_of_peer * GD_TILE_BITS, first = p.entry(k) + in_tile;
        unsigned char *const ids = a.payload + a.layout[3 * k + 1];
        const unsigned int word = count ? a.bits[t * GD_TILE + thread] : 0;
        const gd_word place_of_word = tile_of_peer * GD_TILE + thread;
        if (aligned && bitmap && 4 * place_of_word < p.bitmap_bytes(k)) ((unsigned int *)ids)[place_of_word] = word;
        if (count == 0) continue;
        if (a.column + 1 >= a.columns && word) a.bits[t * GD_TILE + thread] = 0;
        if (aligned && bitmap && a.columns == 0) continue;
        int all, at = gd_block_scan(__popc(word), &all);
        for (unsigned int rest = word; rest; rest &= rest - 1) marked[at++] = (gd_place)(32 * thread + __ffs(rest) - 1);
        __syncthreads();
        const gd_word place = before - a.sums[p.tile(k)];
        if (a.column == 0 && !(bitmap && aligned)) {
            const bool wide = p.width(k) == 8;
            for (int i = thread; i < count; i += GD_TILE) {
                const gd_word id = a.numbers ? (gd_word)a.numbers[first + marked[i]] - p.origin(k) : in_tile + marked[i];
                if (bitmap) atomicOr((unsigned int *)ids + (id >> 5), 1u << (id & 31));
                else if (wide) ((gd_word *)ids)[place + i] = id;
                else ((int *)ids)[place + i] = (int)id;
            }
        }
        if (a.columns == 0) continue;
        const gd_word row = p.row(a.column);
        const int units = (int)(row / a.item);
        unsigned char *const out = a.payload + gd_column(p, a.layout, k, a.column) + place * row;
        for (int j = thread; j < count * units; j += GD_TILE) {
            const int i = units == 1 ? j : j / units, u = j - i * units;
            const gd_word e = first + marked[i], from = (a.mirror ? (gd_word)a.mirror[e] : e + a.shift) * units + u;
            if (a.item == 8) ((gd_word *)out)[j] = ((const gd_word *)a.values)[from];
            else if (a.item == 4) ((int *)out)[j] = ((const int *)a.values)[from];
            else out[j] = a.values[from];
        }
    }
}

// Lists of n distinct numbers, few enough to rank each by counting those before it, with a warp for each: layout, ids
// (with column 0) and one column. As segments_pack where the numbers are given instead of bits. At most GD_MOST_PEERS peers.
// Where a kernel has counted more than n, the first count of the layout becomes -1, and nothing else is written.
extern "C" __global__ void segments_few(long long n, const index_t *given, FewParts a) {
    __shared__ int counts[GD_MOST_PEERS];
    __shared__ gd_word layouts[3 * GD_MOST_PEERS];
    const Plan p{a.plan, a.segments, a.columns};
    if (a.counters && a.counters[a.place] > n) {
        if (blockIdx.x == 0 && threadIdx.x == 0) a.layout[0] = -1;
        return;
    }
    n = gd_counted(n, a.counters, a.place);
    const gd_word entries = p.entry((int)a.segments);
    const int thread = threadIdx.x, lane = thread & 31;
    for (int k = thread; k < a.segments; k += blockDim.x) counts[k] = 0;
    __syncthreads();
    for (gd_word i = thread; i < n; i += blockDim.x) {
        const gd_word e = (gd_word)given[i] - a.shift;
        if (e < 0 || e >= entries) gd_fail(2);
        else atomicAdd(&counts[p.of_entry(e)], 1);
    }
    __syncthreads();
    if (thread == 0) {
        for (int k = 0; k < a.segments; k++) layouts[3 * k] = counts[k];
        gd_lay_out(p, -1, layouts);
    }
    __syncthreads();
    if (blockIdx.x == 0)
        for (int j = thread; j < 3 * a.segments; j += blockDim.x) a.layout[j] = layouts[j];
    const gd_word warps = (gd_word)gridDim.x * (blockDim.x / 32);
    for (gd_word i = ((gd_word)blockIdx.x * blockDim.x + thread) / 32; i < n; i += warps) {
        const gd_word e = (gd_word)given[i] - a.shift;
        if (e < 0 || e >= entries) continue;
        const int k = p.of_entry(e);
        const gd_word first = p.entry(k);
        int rank = 0;
        for (gd_word j = lane; j < n; j += 32) {
            const gd_word other = (gd_word)given[j] - a.shift;
            rank += other >= first && other < e;
        }
        for (int by = 16; by; by >>= 1) rank += __shfl_xor_sync(0xffffffffu, rank, by);
        if (a.column == 0 && lane == 0) {
            const gd_word id = a.numbers ? (gd_word)a.numbers[e] - p.origin(k) : e - first;
            unsigned char *const ids = a.payload + layouts[3 * k + 1];
            if (p.width(k) == 8) ((gd_word *)ids)[rank] = id;
            else ((int *)ids)[rank] = (int)id;
        }
        if (a.columns == 0) continue;
        const gd_word row = p.row(a.column);
        unsigned char *const out = a.payload + gd_column(p, layouts, k, a.column) + rank * row;
        const unsigned char *const from = a.values + (e + a.shift) * row;
        const int units = (int)(row / a.item);
        if (a.item == 8) gd_copy_row<gd_word>(out, from, units, lane, 32);
        else if (a.item == 4) gd_copy_row<int>(out, from, units, lane, 32);
        else gd_copy_row<unsigned char>(out, from, units, lane, 32);
    }
}

// Write one column of all entries into the payloads, from the slots that `mirror` gives. offsets[k * columns + c] says
// where column c of peer k begins. n is the number of entries.
extern "C" __global__ void segments_gather(long long n, const index_t *mirror, const long long *plan, long long segments,
                                       long long columns, long long column, const long long *offsets,
                                       const unsigned char *values, long long item, unsigned char *payload) {
    const Plan p{plan, segments, columns};
    const gd_word row = p.row(column), units = row / item;
    GD_FOR(j, n * units) {
        const gd_word e = units == 1 ? j : j / units, u = j - e * units;
        const int k = p.of_entry(e);
        const gd_word from = (gd_word)mirror[e] * units + u, to = (e - p.entry(k)) * units + u;
        unsigned char *const out = payload + offsets[k * columns + column];
        if (item == 8) ((gd_word *)out)[to] = ((const gd_word *)values)[from];
        else if (item == 4) ((int *)out)[to] = ((const int *)values)[from];
        else out[to] = values[from];
    }
}

// Join the lists of up to seven ranks: message k has the slots `first` + its ids, which are below its universe, and
// stands from the end of message k - 1 up to `end`. With `ids` null only the values are joined,
// of `row` bytes each. n is the number of all slots.
extern "C" __global__ void segments_join(long long n, Joined a) {
    GD_FOR(i, n) {
        const index_t *ids = a.ids0;
        const unsigned char *from = a.from0;
        long long begin = 0, first = a.first0, universe = a.universe0;
#define GD_MESSAGE(before, k)                                                                                         \
    if (i >= a.end##before) {                                                                                          \
        ids = a.ids##k;                                                                                                \
        from = a.from##k;                                                                                              \
        begin = a.end##before;                                                                                         \
        first = a.first##k;                                                                                            \
        universe = a.universe##k;                                                                                      \
    }
        GD_MESSAGE(0, 1)
        GD_MESSAGE(1, 2)
        GD_MESSAGE(2, 3)
        GD_MESSAGE(3, 4)
        GD_MESSAGE(4, 5)
        GD_MESSAGE(5, 6)
#undef GD_MESSAGE
        if (ids) {
            long long id = ids[i - begin];
            if (id < 0 || id >= universe) {
                gd_fail(2);
                id = 0;
            }
            a.slots[i] = (index_t)(first + id);
        }
        if (a.row == 4) ((int *)a.values)[i] = ((const int *)from)[i - begin];
        else if (a.row % 8 == 0)
            for (long long k = 0; k < a.row / 8; k++)
                ((gd_word *)a.values)[i * (a.row / 8) + k] = ((const gd_word *)from)[(i - begin) * (a.row / 8) + k];
        else
            for (long long k = 0; k < a.row; k++) a.values[i * a.row + k] = from[(i - begin) * a.row + k];
    }
}
