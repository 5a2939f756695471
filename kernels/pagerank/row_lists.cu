// Lists of the rows of a Csr as a GPU sums them: pieces of the rows of many edges, whole rows of few, by their lengths,
// and where what rows gather stands. Tiles of rows are counted first, so that the lists have the order of rows. The
// sorts between these kernels are the caller's (graphdask.engine.row_lists). Arguments: row_lists.py.
#include "common/scan.cuh"

#define GD_FEW 8
#define GD_CHUNK 256
#define GD_SPAN 512
#define GD_EACH 8
#define GD_MOST 65535

// Loops are not unrolled: each of these kernels runs once for a graph, and is compiled in half the time.
#define GD_ROLLED(i, n) _Pragma("unroll 1") GD_FOR(i, n)

// How many rows there are of more than one piece, of one, and of few edges; and how many pieces of the first.
enum { MANY, ONE, FEW, PIECES, KINDS };

// Those of the rows of a thread of a tile.
__device__ __forceinline__ void gd_kinds(long long first, long long rows, const long long *indptr, long long *mine) {
    for (int kind = 0; kind < KINDS; kind++) mine[kind] = 0;
#pragma unroll 1
    for (long long row = first; row < min(first + GD_EACH, rows); row++) {
        const long long degree = indptr[row + 1] - indptr[row];
        if (degree > GD_CHUNK) mine[PIECES] += (degree + GD_CHUNK - 1) / GD_CHUNK;
        if (degree > 0) mine[degree > GD_CHUNK ? MANY : degree > GD_FEW ? ONE : FEW]++;
    }
}

extern "C" __global__ void row_lists_totals(long long n, const long long *indptr, unsigned long long *totals) {
    unsigned long long few = 0, few_edges = 0, longer = 0, pieces = 0, steps = 0;
    GD_ROLLED(row, n) {
        const long long degree = indptr[row + 1] - indptr[row];
        if (degree > GD_FEW) {
            longer++;
            pieces += (degree + GD_CHUNK - 1) / GD_CHUNK;
            steps += (degree + GD_EACH - 1) / GD_EACH;
        } else if (degree > 0) {
            few++;
            few_edges += degree;
        }
    }
    gd_add(few, totals);
    gd_add(few_edges, totals + 1);
    gd_add(longer, totals + 2);
    gd_add(pieces, totals + 3);
    gd_add(steps, totals + 4);
}

extern "C" __global__ void row_lists_count(long long n, long long rows, const long long *indptr, long long *sums) {
    const long long tiles = n / GD_SCANNED;
    for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        long long mine[KINDS], all;
        gd_kinds((tile * GD_SCANNED + threadIdx.x) * GD_EACH, rows, indptr, mine);
#pragma unroll 1
        for (int kind = 0; kind < KINDS; kind++) {
            gd_block_scan(mine[kind], &all);
            if (threadIdx.x == 0) sums[KINDS * tile + kind] = all;
        }
    }
}

// One block: what there is before each tile, and in all.
extern "C" __global__ void row_lists_sum(long long n, long long tiles, long long *sums) {
#pragma unroll 1
    for (int kind = 0; kind < KINDS; kind++) {
        long long before = 0, all;
#pragma unroll 1
        for (long long base = 0; base < tiles; base += GD_SCANNED) {
            const long long at = KINDS * (base + threadIdx.x) + kind;
            const long long mine = base + threadIdx.x < tiles ? sums[at] : 0, place = gd_block_scan(mine, &all);
            if (base + threadIdx.x < tiles) sums[at] = before + place;
            before += all;
        }
        if (threadIdx.x == 0) sums[KINDS * tiles + kind] = before;
    }
}

extern "C" __global__ void row_lists_write(long long n, long long rows, const long long *indptr, const index_t *goes,
                                           const long long *sums, long long *items, unsigned short *keys,
                                           index_t *targets, index_t *many, long long *first_chunk, index_t *few) {
    const long long tiles = n / GD_SCANNED, *const in_all = sums + KINDS * tiles;
    if (blockIdx.x == 0 && threadIdx.x < 4 && in_all[MANY] + threadIdx.x < (in_all[MANY] + 3) / 4 * 4)
        many[in_all[MANY] + threadIdx.x] = -1;
    if (blockIdx.x == 0 && threadIdx.x == 0) first_chunk[0] = 0;
    for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const long long first = (tile * GD_SCANNED + threadIdx.x) * GD_EACH;
        long long at[KINDS], all;
        gd_kinds(first, rows, indptr, at);
#pragma unroll 1
        for (int kind = 0; kind < KINDS; kind++)
            at[kind] = sums[KINDS * tile + kind] + gd_block_scan(at[kind], &all);
        at[ONE] += in_all[PIECES];
#pragma unroll 1
        for (long long row = first; row < min(first + GD_EACH, rows); row++) {
            const long long begin = indptr[row], degree = indptr[row + 1] - begin;
            const index_t to = goes ? goes[row] : (index_t)row;
            if (degree > 0 && degree <= GD_FEW) few[at[FEW]++] = (index_t)row;
            if (degree <= GD_FEW) continue;
            const bool whole = degree <= GD_CHUNK;
#pragma unroll 1
            for (long long done = 0; done < degree; done += GD_CHUNK) {
                const long long length = min(degree - done, (long long)GD_CHUNK), place = at[whole ? ONE : PIECES]++;
                items[place] = (begin + done) * GD_SPAN + length;
                keys[place] = (unsigned short)(GD_CHUNK - length);
                targets[place] = whole ? to : (index_t)(-1 - place);
            }
            if (whole) continue;
            many[at[MANY]++] = to;
            first_chunk[at[MANY]] = at[PIECES];
        }
    }
}

extern "C" __global__ void row_lists_gather(long long n, long long count, const long long *order,
                                            const long long *items, const index_t *targets, long long *items_out,
                                            index_t *targets_out) {
    GD_ROLLED(i, n) {
        items_out[i] = i < count ? items[order[i]] : 0;
        targets_out[i] = i < count ? targets[order[i]] : 0;
    }
}

extern "C" __global__ void row_lists_named(long long n, const index_t *rows, const index_t *goes, index_t *out) {
    GD_ROLLED(i, n) out[i] = goes[rows[i]];
}

extern "C" __global__ void row_lists_lengths(long long n, const long long *order, const index_t *rows,
                                             const long long *indptr, index_t *rows_out, unsigned char *keys) {
    GD_ROLLED(i, n) {
        const index_t row = rows[order ? order[i] : i];
        rows_out[i] = row;
        keys[i] = (unsigned char)(GD_FEW - (indptr[row + 1] - indptr[row]));
    }
}

extern "C" __global__ void row_lists_few(long long n, const long long *order, const index_t *rows,
                                         const long long *indptr, const index_t *goes, long long *items,
                                         index_t *targets) {
    GD_ROLLED(i, n) {
        const index_t row = rows[order[i]];
        const long long begin = indptr[row];
        items[i] = begin * GD_SPAN + indptr[row + 1] - begin;
        targets[i] = goes ? goes[row] : row;
    }
}

extern "C" __global__ void row_lists_steps(long long n, const long long *items, long long together, long long lanes,
                                           long long base, long long *steps) {
    GD_ROLLED(i, n) {
        const long long length = i ? items[(i - 1) * together] % GD_SPAN : 0;
        steps[i] = i ? 32 * ((length + lanes - 1) / lanes) : base;
    }
}

extern "C" __global__ void row_lists_degrees(long long n, const long long *indptr, index_t *degrees) {
    GD_ROLLED(row, n) degrees[row] = (index_t)(indptr[row + 1] - indptr[row]);
}

extern "C" __global__ void row_lists_fewest(long long n, const index_t *counts, unsigned short *keys) {
    GD_ROLLED(i, n) keys[i] = (unsigned short)(GD_MOST - min((long long)counts[i], (long long)GD_MOST));
}

extern "C" __global__ void row_lists_places(long long n, const long long *order, index_t *place, index_t *slots) {
    GD_ROLLED(i, n) {
        slots[i] = (index_t)order[i];
        place[order[i]] = (index_t)i;
    }
}

extern "C" __global__ void row_lists_inverse(long long n, const long long *indptr, const index_t *slots,
                                             const unsigned char *extra, double *inverse) {
    GD_ROLLED(i, n) {
        const long long edges = indptr[slots[i] + 1] - indptr[slots[i]] + (extra ? extra[i] : 0);
        inverse[i] = edges ? 1.0 / (double)edges : 0.0;
    }
}
