// Second-order random walks: node2vec (A. Grover, J. Leskovec, KDD 2016). Twins and what the arguments are:
// second_order.py.
//
// A candidate is drawn as a first-order walk draws it, and taken with a probability that depends on the predecessor:
// `back` if it is that vertex, `common` if it is a neighbour of it, else `distant`; each is the factor of node2vec over
// the greatest of the three, a multiple of 2^-63. What is refused is drawn anew (Yang et al., KnightKing, SOSP 2019,
// Section 4.1). Whether it is a neighbour is asked only if the coin lies between `common` and `distant`.
#include "walks/walk.cuh"
#include "walks/second_order_pack.py"

struct Factors {
    gd_u64 back, common, distant;

    __device__ __forceinline__ bool takes_any(gd_u64 coin) const { return coin < min(common, distant); }
    __device__ __forceinline__ bool takes_none(gd_u64 coin) const { return coin >= max(common, distant); }
};

// Whether a row, in ascending order of ids, has a vertex; `ids` is null where slots are ids.
__device__ __forceinline__ bool has_neighbor(const index_t *indices, const index_t *ids, long long begin,
                                             long long length, index_t id) {
    while (length > 0) {
        const long long half = length >> 1;
        const index_t slot = indices[begin + half], found = ids ? ids[slot] : slot;
        if (found == id) return true;
        if (found < id) {
            begin += half + 1;
            length -= half + 1;
        } else {
            length = half;
        }
    }
    return false;
}

// Store what is held of the steps up to `step`, which stands at `place`.
__device__ __forceinline__ void store_some(index_t *walk, const Steps &held, int begin, int step, int place) {
#pragma unroll
    for (int k = 0; k < GD_WALK_CHUNK; k++)
        if (k <= place && step - place + k > begin) walk[step - place + k] = held.at[k];
}

// A lane, or all of a reservoir's threads, draws one candidate after the other, and is not held up by those of its warp
// that are refused more often.
template <int METHOD, class Threads>
__device__ __forceinline__ void second_all(Threads threads, long long n, long long first, int begin, int end,
                                           const Rows rows, const WholeSecondWalks &a) {
    const Factors factors{a.back, a.common, a.distant};
    const bool undirected = a.undirected != 0;
    const bool writes = threads.writes();
    for (long long i = threads.first(); i < n; i += threads.stride()) {
        index_t *const walk = a.walks + i * (a.length + 1);
        index_t v = begin ? walk[begin] : a.starts[i], before = begin ? walk[begin - 1] : (index_t)-1;
        if (!begin && writes) {
            walk[0] = v;
            a.lengths[i] = (int)a.length;
        }
        const int phase = (int)(((size_t)walk / sizeof(index_t)) % GD_WALK_CHUNK);
        long long row_before = 0, degree_before = 0, row = 0, degree = 0;
        if (before >= 0) {
            row_before = rows.indptr[before];
            degree_before = rows.indptr[before + 1] - row_before;
        }
        if (v >= 0) {
            row = rows.indptr[v];
            degree = rows.indptr[v + 1] - row;
        }
        gd_u32 draw = 0;
        Steps held;
        int step = begin + 1;
        while (v >= 0 && step <= end) {
            if (rows.dead<METHOD>(v, degree)) {
                if (writes) a.lengths[i] = step - 1;
                break;
            }
            gd_u64 coin;
            long long taken;
            const index_t u = rows.end_of(rows.pick<METHOD>(threads, v, row, degree, (gd_u64)(first + i), (gd_u32)step, draw, coin), taken);
            coin >>= 1;
            if (before >= 0 && degree > 1) {
                if (u == before) {
                    if (coin >= factors.back) continue;
                } else if (!factors.takes_any(coin)) {
                    if (factors.takes_none(coin)) continue;
                    const long long row_u = undirected ? rows.indptr[u] : 0;
                    const long long degree_u = undirected ? rows.indptr[u + 1] - row_u : 0;
                    const bool shorter = undirected && degree_u < degree_before;
                    const bool common = has_neighbor(rows.indices, nullptr, shorter ? row_u : row_before,
                                                     shorter ? degree_u : degree_before, shorter ? before : u);
                    if (coin >= (common ? factors.common : factors.distant)) continue;
                }
            }
            if (GD_GIVES_EDGES && writes) a.edges[i * a.length + step - 1] = taken;
            const int place = (step + phase) % GD_WALK_CHUNK;
#pragma unroll
            for (int k = 0; k < GD_WALK_CHUNK; k++)
                if (k == place) held.at[k] = u;
            if (writes) {
                if (place == GD_WALK_CHUNK - 1 && step - place > begin) gd_store(walk + step - place, held.at);
                else if (place == GD_WALK_CHUNK - 1 || step == end) store_some(walk, held, begin, step, place);
            }
            before = v;
            row_before = row;
            degree_before = degree;
            v = u;
            row = rows.indptr[v];
            degree = rows.indptr[v + 1] - row;
            draw = 0;
            step++;
        }
        if (step > end || !writes) continue;
        const int place = (step - 1 + phase) % GD_WALK_CHUNK;
        if (place < GD_WALK_CHUNK - 1) store_some(walk, held, begin, step - 1, place);
        for (; step <= end; step++) {
            walk[step] = -1;
            if (GD_GIVES_EDGES) a.edges[i * a.length + step - 1] = -1;
        }
    }
}

// Walkers that walk, and questions that walkers of other ranks ask: whether `candidate` is a neighbour of `previous`.
// A walker that cannot find out here becomes such a question; one that is answered walks on if it is taken, and where it
// arrived if that is here, or returns to draw anew.
template <int METHOD, class Threads>
__device__ __forceinline__ void second_here(Threads threads, long long n, const Rows rows,
                                            const PartSecondWalks &a) {
    const Factors factors{a.back, a.common, a.distant};
    const bool undirected = a.undirected != 0;
    const int budget = (int)a.budget, length = (int)a.length;
    const bool writes = threads.writes();
    for (long long i = threads.first(); i < n; i += threads.stride()) {
        const gd_u64 walker = (gd_u64)a.instance[i];
        index_t v = a.at[i], before = a.previous[i], slot_before = a.previous_slot[i], asked = a.candidate[i], goal = -1;
        index_t id = asked >= 0 ? a.here[i] : a.ids[v];
        gd_u32 trial = (gd_u32)a.draw[i];
        int s = a.step[i], count = 0;
        bool stays = true;
        if (asked >= 0) {
            const long long begin = rows.indptr[v];
            const bool common = has_neighbor(rows.indices, a.ids, begin, rows.indptr[v + 1] - begin,
                                             undirected ? before : asked);
            const gd_u64 coin = rows.coin<METHOD>(walker, (gd_u32)(s + 1), trial) >> 1;
            if (coin < (common ? factors.common : factors.distant)) {
                if (writes) a.path[i * budget + count] = asked;
                if (GD_GIVES_EDGES && writes) a.edges[i * budget + count] = a.taken[i];
                count++;
                s++;
                before = id;
                slot_before = -1;
                id = asked;
                trial = 0;
                stays = undirected;
            } else {
                stays = false;
            }
            goal = id;
            asked = -1;
        }
        while (stays && count < budget && s < length) {
            const long long begin = rows.indptr[v], degree = rows.indptr[v + 1] - begin;
            goal = -1;
            if (rows.dead<METHOD>(v, degree)) break;
            index_t u, to;
            long long taken;
            for (;;) {
                gd_u64 coin;
                u = rows.end_of(rows.pick<METHOD>(threads, v, begin, degree, walker, (gd_u32)(s + 1), trial, coin), taken);
                to = a.ids[u];
                if (before < 0 || degree == 1) break;
                coin >>= 1;
                if (to == before) {
                    if (coin < factors.back) break;
                    continue;
                }
                if (factors.takes_any(coin)) break;
                if (factors.takes_none(coin)) continue;
                const bool other_way = slot_before < 0;
                if (other_way && !(undirected && u < a.owned)) {
                    asked = to;
                    break;
                }
                const index_t row = other_way ? u : slot_before;
                const long long first = rows.indptr[row];
                const bool common = has_neighbor(rows.indices, a.ids, first, rows.indptr[row + 1] - first,
                                                 other_way ? before : to);
                if (coin < (common ? factors.common : factors.distant)) break;
            }
            if (asked >= 0) {
                goal = undirected ? asked : before;
                if (GD_GIVES_EDGES && writes) a.taken[i] = taken;  // read above, if a.at all, by this thread
                break;
            }
            if (writes) a.path[i * budget + count] = to;
            if (GD_GIVES_EDGES && writes) a.edges[i * budget + count] = taken;
            count++;
            s++;
            before = id;
            slot_before = v;
            v = u;
            id = goal = to;
            trial = 0;
            stays = u < a.owned;
        }
        threads.sync();  // before, all have read what it came with
        if (!writes) continue;
        a.step[i] = s;
        a.draw[i] = (int)trial;
        a.previous[i] = before;
        a.here[i] = id;
        a.candidate[i] = asked;
        a.made[i] = count;
        a.target[i] = s < length ? goal : (index_t)-1;
    }
}

extern "C" __global__ void second_order(long long n, long long first, long long begin, long long end,
                                        WholeSecondWalks a) {
    const Rows rows = rows_of(a);
    const Single alone{};
    if (a.method == GD_UNIFORM)
        second_all<GD_UNIFORM>(alone, n, first, (int)begin, (int)end, rows, a);
    else if (a.method == GD_REJECTION)
        second_all<GD_REJECTION>(alone, n, first, (int)begin, (int)end, rows, a);
    else if (a.method == GD_INVERSE)
        second_all<GD_INVERSE>(alone, n, first, (int)begin, (int)end, rows, a);
    else
        second_all<GD_ALIAS>(alone, n, first, (int)begin, (int)end, rows, a);
}

extern "C" __global__ void __launch_bounds__(256, 3) second_order_reservoir(
    long long n, long long first, long long begin, long long end, WholeSecondWalks a) {
    __shared__ double keys[2 * GD_TOGETHER];
    __shared__ gd_u32 places[2 * GD_TOGETHER];
    const Rows rows = rows_of(a);
    second_all<GD_RESERVOIR>(Together{keys, places, 0}, n, first, (int)begin, (int)end, rows, a);
}

extern "C" __global__ void second_order_part(long long n, PartSecondWalks a) {
    const Rows rows = rows_of(a);
    const Single alone{};
    if (a.method == GD_UNIFORM)
        second_here<GD_UNIFORM>(alone, n, rows, a);
    else if (a.method == GD_REJECTION)
        second_here<GD_REJECTION>(alone, n, rows, a);
    else if (a.method == GD_INVERSE)
        second_here<GD_INVERSE>(alone, n, rows, a);
    else
        second_here<GD_ALIAS>(alone, n, rows, a);
}

extern "C" __global__ void __launch_bounds__(256, 3) second_order_part_reservoir(long long n, PartSecondWalks a) {
    __shared__ double keys[2 * GD_TOGETHER];
    __shared__ gd_u32 places[2 * GD_TOGETHER];
    const Rows rows = rows_of(a);
    second_here<GD_RESERVOIR>(Together{keys, places, 0}, n, rows, a);
}
