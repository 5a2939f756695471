// How a thread chooses edges of a vertex by functions of the caller, as a drawer of hops.cuh: those that functions.cu and
// selection.cu choose.
//
// Source: Yang et al., KnightKing (SOSP 2019), Section 4, for rejection with a bound.
#pragma once
#include "neighbors/hops.cuh"
#include "choice/pick.cuh"
#include "neighbors/successive.cuh"
#include "functions/functions_biases.cuh"

#define GD_LOOKED_AT 256  // edges of a row that one thread looks through, as functions_hops.py has it

// Places of a row that were drawn by trials.
template <int HOW> struct Tried {};
template <> struct Tried<GD_TRIED> {
    gd_u32 places[GD_FEW];
};

// An edge, by its place in `indices`, and where it leads.
struct Picked {
    gd_i64 edge;
    index_t slot;
};

// The columns of the graph that functions read: of vertices, and of edges too.
struct VertexColumns {
    const vertex_column0_t *vertex_column0;
    const vertex_column1_t *vertex_column1;
    const vertex_column2_t *vertex_column2;
    const vertex_column3_t *vertex_column3;

    template <class Rows>
    __device__ __forceinline__ VertexColumns(const Rows &a)
        : vertex_column0(a.vertex_column0), vertex_column1(a.vertex_column1), vertex_column2(a.vertex_column2),
          vertex_column3(a.vertex_column3) {}
};
struct Columns : VertexColumns {
    const edge_column0_t *edge_column0;
    const edge_column1_t *edge_column1;
    const edge_column2_t *edge_column2;
    const edge_column3_t *edge_column3;

    template <class Rows>
    __device__ __forceinline__ Columns(const Rows &a)
        : VertexColumns(a), edge_column0(a.edge_column0), edge_column1(a.edge_column1), edge_column2(a.edge_column2),
          edge_column3(a.edge_column3) {}
};

// What the kernels are given.
struct Given : Columns {
    const gd_i64 *indptr;
    const index_t *indices;
    const weight_t *weights;
    const gd_i64 *degrees, *names;
    gd_i64 base;
    const gd_i64 *near_indptr;
    const index_t *near_indices;
    const gd_i64 *sums, *positives;
    const gd_u64 *totals;
    const int *other;
    bool floating;
    bias_t bound;
    int trials;
    gd_u64 seed, edge_0, edge_1;
    gd_i64 num_vertices;
    bool replace, revisit;
    int *failure, *failure_of_update, *gave_up;
    static constexpr gd_i64 mapped = 0;

    // `Rows` is a pack with the fields of AskedRows.
    template <class Rows>
    __device__ __forceinline__ Given(const Rows &a, bool revisit)
        : Columns(a), indptr(a.indptr), indices(a.indices), weights(a.weights), degrees(a.degrees), names(a.names),
          base(a.base), near_indptr(a.near_indptr), near_indices(a.near_indices), sums(a.sums),
          positives(a.positives), totals(a.totals), other(a.other), floating(a.floating != 0), bound(a.bound),
          trials((int)a.trials), seed(a.seed), edge_0(gd_key(a.seed, GD_DRAW_EDGE, 0)),
          edge_1(gd_key(a.seed, GD_DRAW_EDGE, 1)), num_vertices(a.num_vertices), replace(a.replace != 0),
          revisit(revisit), failure(a.failure), failure_of_update(a.failure_of_update), gave_up(a.gave_up) {}
};

template <int HOW> struct Asking : Given {
    static constexpr bool PUTS = GD_UPDATES, TRACES = gd_traces, ASKS = true;
    typedef Tried<HOW> Memo;

    __device__ __forceinline__ bool revisits() const { return revisit; }
    __device__ __forceinline__ gd_u64 key_of_edges(const Item &item) const {
        return gd_hash(edge_0, edge_1, (gd_u64)item.place);
    }
    __device__ __forceinline__ bias_t bias(const Item &item, gd_i64 edge, gd_i64 slot) const {
        return gd_checked(edge_bias(edge, item.vertex, slot, item.vertex, slot, item.source, item.source, item.hop,
                                    (gd_i64)item.instance, item.seed, failure, *this), failure);
    }
    __device__ __forceinline__ bias_t bias(const Item &item, gd_i64 place) const {
        return bias(item, item.row + place, indices[item.row + place]);
    }
    __device__ __forceinline__ bool is_taken(const gd_u32 *places, int made, gd_i64 place) const {
        bool taken = false;
        for (int s = 0; !replace && s < made; ++s) taken |= places[s] == (gd_u32)place;
        return taken;
    }
    // How many of up to `most` places of a row are drawn by trials and kept.
    __device__ __forceinline__ int tried(const Item &item, int most, gd_u32 *places) const {
        const gd_u64 key = gd_group_key(seed, GD_DRAW_TRIAL, item.place);
        int made = 0;
        for (bool found = true; found && made < most && (replace || most < item.degree);) {
            found = false;
            for (int trial = 0; !found && trial < trials; ++trial) {
                gd_u64 which, kept;
                gd_philox(key, item.instance, (gd_u32)item.hop, (gd_u32)(made * trials + trial), which, kept);
                const gd_i64 place = (gd_i64)gd_digit(which, (gd_u64)item.degree);
                const bias_t one = bias(item, place);
                if (one > bound) atomicCAS(failure, 0, GD_ABOVE_BOUND);
                if (gd_kept(kept, one, bound) && !is_taken(places, made, place)) {
                    places[made] = (gd_u32)place;
                    found = true;
                }
            }
            made += found;
        }
        return made;
    }
    // The others of `most` places, in proportion to the biases that are left; how many there are then.
    __device__ __attribute__((noinline)) int looked_for(const Item &item, int most, int made, gd_u32 *places) const {
        const gd_i64 size = item.degree;
        gd_i64 greatest = 0, positive = 0;
        for (gd_i64 place = 0; place < size; ++place) {
            if (is_taken(places, made, place)) continue;
            const gd_i64 bits = gd_bits_of(bias(item, place));
            positive += bits > 0;
            greatest = bits > greatest ? bits : greatest;
        }
        const auto units = [&](gd_i64 place) {
            if (is_taken(places, made, place)) return (gd_u64)0;
            const gd_i64 bits = gd_bits_of(bias(item, place));
            return (gd_u64)(floating ? gd_units_of_float(bits, greatest, size) : bits);
        };
        gd_u64 total = 0;
        bool over = false;
        for (gd_i64 place = 0; place < size; ++place) {
            total += units(place);
            if (total >> 63) over = true, total = 0;
        }
        if (over) {
            atomicCAS(failure, 0, GD_LARGE_SUM);
            return made;
        }
        if (!replace && made == 0 && positive <= most) {
            for (gd_i64 place = 0; place < size && made < (int)positive; ++place)
                if (bias(item, place) > 0) places[made++] = (gd_u32)place;
            return made;
        }
        while (made < most && total) {
            gd_u64 digit, second;
            gd_philox(key_of_edges(item), item.instance, (gd_u32)item.hop, (gd_u32)made, digit, second);
            digit = gd_digit(digit, total);
            gd_i64 place = 0;
            gd_u64 own;
            while (digit >= (own = units(place))) digit -= own, ++place;
            if (!replace) total -= own;
            places[made++] = (gd_u32)place;
        }
        return made;
    }

    __device__ __forceinline__ int count(const Item &item, gd_i64 fanout, Memo &memo) const {
        if (!item.degree) return 0;
        if (HOW == GD_ALIKE && !(bias(item, item.row, item.vertex) > 0)) return 0;
        const int most = (int)(replace || fanout < item.degree ? fanout : item.degree);
        if (HOW == GD_ALIASED) return totals[item.vertex] ? most : 0;
        if (HOW == GD_SUMMED) {
            const gd_i64 positive = positives[item.vertex];
            return positive && (replace || most < positive) ? most : (int)positive;
        }
        if constexpr (HOW == GD_TRIED) {
            if (item.degree >> 32) *gave_up = 1;
            const int made = tried(item, most, memo.places);
            if (made == most) return made;
            if (item.degree <= GD_LOOKED_AT) return looked_for(item, most, made, memo.places);
            *gave_up = 1;
            return made;
        }
        return most;
    }
    // What an edge puts into the pool, the `number`th of its item.
    __device__ __forceinline__ index_t put(const Item &item, const Picked &one, gd_i64 number) const {
        gd_u64 first, second;
        gd_philox(gd_group_key(seed, GD_DRAW_UPDATE, item.place), item.instance, (gd_u32)item.hop, (gd_u32)number, first,
                  second);
        const gd_i64 named = update(one.edge, item.vertex, one.slot, item.vertex, one.slot, item.source, item.source,
                                    item.hop, (gd_i64)item.instance, item.seed, gd_fraction(first), *this);
        const gd_i64 next = vertex_of(names, base, num_vertices, named);
        if (next >= -1) return (index_t)next;
        atomicCAS(failure_of_update, 0, GD_NO_VERTEX);
        return -1;
    }
    template <class Emit>
    __device__ __forceinline__ void draw(const Item &item, gd_i64 count, const Memo &memo, Emit emit) const {
        const auto read = [&](gd_i64 place) { return Picked{item.row + place, indices[item.row + place]}; };
        const auto give = [&](gd_i64 s, const Picked &one) {
            emit(s, one.slot, GD_UPDATES ? put(item, one, s) : one.slot);
        };
        const gd_u64 key = key_of_edges(item), instance = item.instance;
        const gd_u32 step = (gd_u32)item.hop;
        if constexpr (HOW == GD_ALIKE) {
            gd_draw_alike(key, instance, step, item.degree, count, replace, read, give);
        } else if constexpr (HOW == GD_TRIED) {
            gd_give(count, [&](gd_i64 s) { return (gd_i64)memo.places[s]; }, read, give);
        } else if constexpr (HOW == GD_ALIASED) {
            const auto place = [&](gd_i64 s) {
                gd_u64 first, second;
                gd_philox(key, instance, step, (gd_u32)s, first, second);
                return (gd_i64)gd_pick_alias((const gd_u64 *)sums + item.row, other + item.row, totals[item.vertex], 0,
                                             item.degree, first, second);
            };
            gd_give_drawn(count, place, read, give);
        } else {
            const Row row = {sums + item.row, item.degree};
            if (!replace && count == positives[item.vertex]) {  // all that there are
                gd_i64 at = 0;
                const auto next = [&](gd_i64) {
                    while (row.below(at + 1) == row.below(at)) ++at;
                    return at++;
                };
                gd_give_drawn(count, next, read, give);
                return;
            }
            gd_u64 left = row.total();
            gd_i64 chosen[GD_FEW];
            const auto place = [&](gd_i64 s) {
                gd_u64 digit, second;
                gd_philox(key, instance, step, (gd_u32)s, digit, second);
                digit = gd_digit(digit, left);
                if (replace) return row.find(digit);
                const gd_i64 found = gd_find_left(row, chosen, (int)s, digit);
                left -= row.below(found + 1) - row.below(found);
                gd_keep_in_order(chosen, (int)s, found);
                return found;
            };
            gd_give_drawn(count, place, read, give);
        }
    }
};
