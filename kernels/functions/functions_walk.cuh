// Walks whose edges are chosen by functions of the caller, as functions_walk.cu makes them.
//
// Whether a vertex is a neighbour of the one before takes a search, and often makes no difference to whether a number
// keeps an edge: a function that asks for it is called with both answers first, as the twin does.
#pragma once

#include "walks/together.cuh"
#include "walks/walk.cuh"

#define GD_MOST_THREADS 256

// Whether entries in ascending order have a value.
__device__ __forceinline__ bool gd_among(const index_t *indices, gd_i64 begin, gd_i64 size, gd_i64 value) {
    while (size > 0) {
        const gd_i64 half = size >> 1, found = indices[begin + half];
        if (found == value) return true;
        if (found < value) {
            begin += half + 1;
            size -= half + 1;
        } else {
            size = half;
        }
    }
    return false;
}

// What a walk has come to and not yet stored, steps of an aligned 16 bytes at most.
struct Kept {
    index_t *row;
    int begin;
    Steps held;

    __device__ __forceinline__ int place(int step) const {
        return (int)((size_t)(row + step) / sizeof(index_t) % GD_WALK_CHUNK);
    }
    __device__ __forceinline__ void store(int step, int last) const {
#pragma unroll
        for (int k = 0; k < GD_WALK_CHUNK; k++)
            if (k <= last && step - last + k >= begin) row[step - last + k] = held.at[k];
    }
    __device__ __forceinline__ void keep(int step, index_t value) {
        const int at = place(step);
#pragma unroll
        for (int k = 0; k < GD_WALK_CHUNK; k++)
            if (k == at) held.at[k] = value;
        if (at < GD_WALK_CHUNK - 1) return;
        if (step - at >= begin) gd_store(row + step - at, held.at);
        else store(step, at);
    }
    // All steps before this one have been kept.
    __device__ __forceinline__ void end(int step) const {
        if (step == begin) return;
        const int last = place(step - 1);
        if (last < GD_WALK_CHUNK - 1) store(step - 1, last);
    }
};

// Where a walk is, and the row of that vertex and of the one before.
struct Walker {
    gd_i64 instance;
    index_t start, v, previous;
    gd_i64 at, size, at_before, size_before;
};

// What the kernels are given, and the keys of their random numbers.
struct Walks {
    const FunctionWalks &a;
    gd_u64 of_edge, of_trial, of_update;
    int *unsure;

    __device__ __forceinline__ Walks(const FunctionWalks &a, int *unsure)
        : a(a), of_edge(gd_group_key(a.seed, GD_DRAW_EDGE, 0)), of_trial(gd_group_key(a.seed, GD_DRAW_TRIAL, 0)),
          of_update(gd_group_key(a.seed, GD_DRAW_UPDATE, 0)), unsure(unsure) {}
    __device__ __forceinline__ void enter(Walker &w, index_t v) const {
        w.previous = w.v;
        w.at_before = w.at;
        w.size_before = w.size;
        w.v = v;
        if (v < 0) return;
        w.at = a.indptr[v];
        w.size = a.indptr[v + 1] - w.at;
    }
    // The same where the row of another vertex is known, too.
    __device__ __forceinline__ void enter(Walker &w, index_t v, index_t known, gd_i64 at, gd_i64 size) const {
        const index_t from = w.v;
        w.previous = from;
        w.at_before = w.at;
        w.size_before = w.size;
        w.v = v;
        if (v == known) {
            w.at = at;
            w.size = size;
        } else if (v != from && v >= 0) {
            w.at = a.indptr[v];
            w.size = a.indptr[v + 1] - w.at;
        }
    }
    // What the function says of an edge.
    __device__ __forceinline__ auto returned(const Walker &w, gd_i64 edge, gd_i64 slot, int step, int *failed) const {
        return edge_bias(edge, w.v, slot, w.v, slot, w.previous, w.previous, step, w.instance, w.start, failed, a);
    }
    __device__ __forceinline__ bias_t bias(const Walker &w, gd_i64 edge, gd_i64 slot, int step) const {
        return gd_checked(returned(w, edge, slot, step, a.failure), a.failure);
    }
    // The same where it is said whether the edge leads to a neighbour of the predecessor; whether a number keeps it.
    __device__ __forceinline__ bool keeps_if(const Walker &w, gd_i64 edge, gd_i64 slot, int step, bool near,
                                             gd_u64 number, int *failed) const {
        const bias_t one = gd_checked(edge_bias_if(edge, w.v, slot, w.v, slot, w.previous, step, w.instance, w.start,
                                                   near, failed, a), failed);
        if (one > a.bound) atomicCAS(failed, 0, GD_ABOVE_BOUND);
        return gd_kept(number, one, a.bound);
    }
    // Whether a number keeps an edge, without a word of what the function does wrong; `odd` then, and it is to be called
    // again. No branch, so that what two edges are looked up for is on its way at the same time.
    __device__ __forceinline__ bool keeps_quietly(const Walker &w, gd_i64 edge, int step, gd_u64 number, bool &odd) const {
        const auto one = returned(w, edge, a.indices[edge], step, unsure);
        odd |= !(one >= 0) | !(one <= a.bound);
        return gd_kept(number, (bias_t)one, a.bound);
    }
    // Whether a number keeps an edge that is tried.
    __device__ __forceinline__ bool keeps(const Walker &w, gd_i64 edge, int step, gd_u64 number) const {
        const gd_i64 slot = a.indices[edge];
        if (GD_ASKS_NEAR && w.previous >= 0) {
            const bool if_not = keeps_if(w, edge, slot, step, false, number, unsure);
            const bool if_so = keeps_if(w, edge, slot, step, true, number, unsure);
            if (if_not == if_so && *unsure == 0) return if_so;
            *unsure = 0;
            gd_i64 begin = w.at_before, size = w.size_before, wanted = slot;
            if (a.undirected) {  // either row says it
                const gd_i64 at = a.indptr[slot], length = a.indptr[slot + 1] - at;
                if (length < size) begin = at, size = length, wanted = w.previous;
            }
            return keeps_if(w, edge, slot, step, gd_among(a.indices, begin, size, wanted), number, a.failure);
        }
        const bias_t one = bias(w, edge, slot, step);
        if (one > a.bound) atomicCAS(a.failure, 0, GD_ABOVE_BOUND);
        return gd_kept(number, one, a.bound);
    }
    // An edge chosen among all of the row: by the greatest bias, the sum of their units, and the one of a number.
    __device__ __forceinline__ gd_i64 among_all(const Walker &w, int step) const {
        const gd_i64 end = w.at + w.size;
        gd_i64 greatest = 0, edge = -1;
        for (gd_i64 e = w.at; e < end; ++e) {
            const gd_i64 bits = gd_bits_of(bias(w, e, a.indices[e], step));
            greatest = bits > greatest ? bits : greatest;
        }
        const auto units = [&](gd_i64 e) {
            const gd_i64 bits = gd_bits_of(bias(w, e, a.indices[e], step));
            return (gd_u64)(a.floating ? gd_units_of_float(bits, greatest, w.size) : bits);
        };
        gd_u64 total = 0, number, second;
        bool over = false;
        for (gd_i64 e = w.at; e < end; ++e) {
            total += units(e);
            if (total >> 63) over = true, total = 0;
        }
        if (over) {
            atomicCAS(a.failure, 0, GD_LARGE_SUM);
        } else if (total) {
            gd_philox(of_edge, (gd_u64)w.instance, (gd_u32)step, 0, number, second);
            gd_u64 digit = gd_digit(number, total);
            for (edge = w.at; edge < end - 1; ++edge) {
                const gd_u64 own = units(edge);
                if (digit < own) break;
                digit -= own;
            }
        }
        return edge;
    }
    // An edge of a row that has some; -1 for none.
    template <int HOW>
    __device__ __forceinline__ gd_i64 choose(const Walker &w, int step, gd_u64 number, gd_u64 second) const {
        if (HOW == GD_ALIASED)
            return gd_pick_alias((const gd_u64 *)a.sums, a.other, a.totals[w.v], w.at, w.at + w.size, number, second);
        if (HOW == GD_SUMMED) return gd_pick_inverse((const gd_u64 *)a.sums, w.at, w.at + w.size, number);
        return bias(w, w.at, w.v, step) > 0 ? gd_pick_uniform(w.at, w.at + w.size, number) : -1;
    }
    // The number that decides with others what an edge puts into the pool.
    __device__ __forceinline__ gd_u64 number_of_put(const Walker &w, int step) const {
        gd_u64 number, second;
        gd_philox(of_update, (gd_u64)w.instance, (gd_u32)step, 0, number, second);
        return number;
    }
    // What an edge puts into the pool.
    __device__ __forceinline__ index_t put(const Walker &w, gd_i64 edge, gd_i64 slot, int step, gd_u64 number) const {
        const gd_i64 named = update(edge, w.v, slot, w.v, slot, w.previous, w.previous, step, w.instance, w.start,
                                    gd_fraction(number), a);
        const gd_i64 next = vertex_of(a.names, a.base, a.num_vertices, named);
        if (next >= -1) return (index_t)next;
        atomicCAS(a.failure_of_update, 0, GD_NO_VERTEX);
        return -1;
    }

    // The biases of the edges of a walk's row, as the function says.
    struct OfRow {
        const Walks &of;
        const Walker &w;
        int step;

        __device__ __forceinline__ bias_t operator[](gd_u32 place) const {
            return (bias_t)of.returned(w, w.at + place, of.a.indices[w.at + place], step, of.a.failure);
        }
        friend __device__ __forceinline__ bool gd_unfit(const OfRow &, bias_t one) {
            return !(one >= 0) | (one - one != 0);
        }
        friend __device__ __forceinline__ void gd_refuse(const OfRow &row) {
            atomicCAS(row.of.a.failure, 0, GD_NO_BIAS);
        }
    };

    // The same as below, by exponential keys of all edges of a row, for which threads look together.
    __device__ __forceinline__ int walk_together(Walker &w, int begin, int end, gd_u64 key, Together &team, index_t *led,
                                                 index_t *went) const {
        int step = begin;
        for (; w.v >= 0 && step < end; step++) {
            const gd_u32 place = w.size ? team.least<bias_t>(OfRow{*this, w, step}, (gd_u32)w.size, key,
                                                             (gd_u64)w.instance, (gd_u32)step) : GD_NO_EDGE;
            if (place == GD_NO_EDGE) {
                w.v = -1;
                break;
            }
            const gd_i64 edge = w.at + place;
            const index_t slot = a.indices[edge];
            index_t next = slot;
            if (team.writes()) led[step] = slot;
            if (GD_UPDATES) {
                next = put(w, edge, slot, step, number_of_put(w, step));
                if (team.writes()) went[step] = next;
            }
            enter(w, next);
        }
        return step;
    }

    // Steps `begin` to `end` - 1 of a walk that has not ended; returns how many it has made then. Where a try may take a
    // search, a thread is not held up by those of its warp whose edges are refused more often. Numbers are made while what
    // memory holds is on its way: with an update, which may ask for the row of the next vertex, those of the step after.
    template <int HOW>
    __device__ __forceinline__ int walk(Walker &w, int begin, int end, index_t *led, index_t *went) const {
        Kept dst{led, begin, {}}, pool{went, begin, {}};
        const int trials = (int)a.trials;
        int step = begin, trial = 0;
        gd_u64 number, second;
        const bool ahead = GD_UPDATES && HOW != GD_TRIED;
        if (ahead) gd_philox(of_edge, (gd_u64)w.instance, (gd_u32)step, 0, number, second);
        while (w.v >= 0 && step < end) {
            if (HOW == GD_TRIED) gd_philox(of_trial, (gd_u64)w.instance, (gd_u32)step, (gd_u32)trial, number, second);
            else if (!ahead) gd_philox(of_edge, (gd_u64)w.instance, (gd_u32)step, 0, number, second);
#ifdef __CUDA_ARCH__
            asm volatile("" : "+l"(number), "+l"(second));  // while the row is on its way
#endif
            gd_i64 edge = -1;
            if (HOW != GD_TRIED) {
                if (w.size) edge = choose<HOW>(w, step, number, second);
            } else if (w.size && !GD_ASKS_NEAR) {
                for (; edge < 0 && trial < trials; trial += 2) {  // two at once
                    gd_u64 another, kept;
                    if (trial) gd_philox(of_trial, (gd_u64)w.instance, (gd_u32)step, (gd_u32)trial, number, second);
                    gd_philox(of_trial, (gd_u64)w.instance, (gd_u32)step, (gd_u32)trial + 1, another, kept);
                    const gd_i64 one = gd_pick_uniform(w.at, w.at + w.size, number);
                    const gd_i64 two = gd_pick_uniform(w.at, w.at + w.size, another);
                    bool odd = false;
                    bool keeps_one = keeps_quietly(w, one, step, second, odd);
                    bool keeps_two = keeps_quietly(w, two, step, kept, odd);
                    if (odd || *unsure) {
                        *unsure = 0;
                        keeps_one = keeps(w, one, step, second);
                        keeps_two = !keeps_one && trial + 1 < trials && keeps(w, two, step, kept);
                    }
                    if (keeps_one) edge = one;
                    else if (keeps_two && trial + 1 < trials) edge = two;
                }
                if (edge < 0) edge = among_all(w, step);
            } else if (w.size && trial < trials) {
                const gd_i64 tried = gd_pick_uniform(w.at, w.at + w.size, number);
                if (!keeps(w, tried, step, second)) {
                    trial++;
                    continue;
                }
                edge = tried;
            } else if (w.size) {
                edge = among_all(w, step);
            }
            if (edge < 0) {
                w.v = -1;
                break;
            }
            const index_t slot = __ldg(a.indices + edge);
            if (GD_UPDATES) {
                const gd_u64 of_put = number_of_put(w, step);
                if (ahead) gd_philox(of_edge, (gd_u64)w.instance, (gd_u32)step + 1, 0, number, second);
#ifdef __CUDA_ARCH__
                if (ahead) asm volatile("" : "+l"(number), "+l"(second));
#endif
                const gd_i64 at = a.indptr[slot], size = a.indptr[slot + 1] - at;
                const index_t next = put(w, edge, slot, step, of_put);
                dst.keep(step, slot);
                pool.keep(step, next);
                enter(w, next, slot, at, size);
            } else {
                dst.keep(step, slot);
                enter(w, slot);
            }
            trial = 0;
            step++;
        }
        dst.end(step);
        if (GD_UPDATES) pool.end(step);
        return step;
    }
};
