// One step of a random walk: where it goes, from 128 random bits or more of (key, instance, step).
//
// Draws of a step. Block 0 names the neighbour, or with its first word the vertex to jump to; biases take as many blocks
// as they refuse candidates (pick.cuh). What else is decided (restart or jump, Metropolis-Hastings, and in
// second_order.cu acceptance, which depends on the predecessor) takes the second word of a block whose first named an
// edge uniformly; of a biased one, whose second word may be used, the first word of a block of its own, GD_WALK_COIN |
// the next draw.
#pragma once

#include "common/common.cuh"
#include "choice/pick.cuh"
#include "walks/together.cuh"

// Besides the methods of pick.cuh.
#define GD_METROPOLIS 4
#define GD_CELLS 5  // the alias table with the neighbours in it, for tables that are far: one read a step

#define GD_WALK_COIN 0x80000000u
#define GD_WALK_ONE (1ULL << 63)  // the probability 1

// A thread stores so many steps at once.
#define GD_WALK_CHUNK (16 / (int)sizeof(index_t))
struct alignas(16) Steps {
    index_t at[GD_WALK_CHUNK];
};

// Store the steps of an aligned 16 bytes: one access, of which the compiler makes four where it copies the struct.
__device__ __forceinline__ void gd_store(int *to, const int *at) {
#ifdef __CUDA_ARCH__
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
                 : "memory");
#else
    *(Steps *)to = *(const Steps *)at;
#endif
}
__device__ __forceinline__ void gd_store(long long *to, const long long *at) {
#ifdef __CUDA_ARCH__
    asm volatile("st.global.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(at[0]), "l"(at[1]) : "memory");
#else
    *(Steps *)to = *(const Steps *)at;
#endif
}

// A cell of an alias table: the share of its own edge, and the neighbours along that and the other one. One access.
__device__ __forceinline__ void gd_cell(const gd_u64 *table, long long edge, gd_u64 &share, int &own, int &other) {
    gd_u64 both;
#ifdef __CUDA_ARCH__
    asm("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(share), "=l"(both) : "l"(table + 2 * edge));
#else
    share = table[2 * edge], both = table[2 * edge + 1];
#endif
    own = (int)(both & 0xffffffffu), other = (int)(both >> 32);
}
__device__ __forceinline__ void gd_cell(const gd_u64 *table, long long edge, gd_u64 &share, long long &own,
                                        long long &other) {
    share = table[3 * edge], own = (long long)table[3 * edge + 1], other = (long long)table[3 * edge + 2];
}

// An edge: the slot that it leads to, and its row in what the caller gave. Where arc_t says their type, kernels read
// these instead of `indices`, in one access, and tell the row of each edge that is taken.
#ifdef arc_t
#define GD_GIVES_EDGES 1
#else
#define GD_GIVES_EDGES 0
#define arc_t index_t
#endif
__device__ __forceinline__ void gd_arc(const int *arcs, long long edge, int &slot, int &row) {
#ifdef __CUDA_ARCH__
    asm("ld.global.v2.b32 {%0, %1}, [%2];" : "=r"(slot), "=r"(row) : "l"(arcs + 2 * edge));
#else
    slot = arcs[2 * edge], row = arcs[2 * edge + 1];
#endif
}
__device__ __forceinline__ void gd_arc(const long long *arcs, long long edge, long long &slot, long long &row) {
#ifdef __CUDA_ARCH__
    asm("ld.global.v2.b64 {%0, %1}, [%2];" : "=l"(slot), "=l"(row) : "l"(arcs + 2 * edge));
#else
    slot = arcs[2 * edge], row = arcs[2 * edge + 1];
#endif
}

// Rows to walk over.
struct Rows {
    gd_u64 key;
    const long long *indptr;
    const index_t *indices;
    gd_biases<bias_t> biases;
    const arc_t *arcs;

    // Where an edge leads, and its row where that is told.
    __device__ __forceinline__ index_t end_of(long long edge, long long &taken) const {
        if (GD_GIVES_EDGES) {
            arc_t slot, row;
            gd_arc(arcs, edge, slot, row);
            taken = (long long)row;
            return (index_t)slot;
        }
        return indices[edge];
    }

    // Whether no edge of a row can be drawn.
    template <int METHOD> __device__ __forceinline__ bool dead(long long row, long long degree) const {
        return degree == 0 || (METHOD != GD_UNIFORM && METHOD != GD_METROPOLIS && biases.totals[row] == 0);
    }

    // The 64 bits that did not choose an edge; `draw` is the one after it.
    template <int METHOD>
    __device__ __forceinline__ gd_u64 coin(gd_u64 instance, gd_u32 step, gd_u32 draw) const {
        gd_u64 first, second;
        const bool plain = METHOD == GD_UNIFORM || METHOD == GD_METROPOLIS;
        gd_philox(key, instance, step, plain ? draw - 1 : GD_WALK_COIN | draw, first, second);
        return plain ? second : first;
    }

    // An edge of a row that is not dead, and its coin; `draw` is counted up.
    template <int METHOD, class Threads>
    __device__ __forceinline__ long long pick(Threads &threads, long long row, long long begin, long long degree,
                                              gd_u64 instance, gd_u32 step, gd_u32 &draw, gd_u64 &coin) const {
        if (METHOD == GD_UNIFORM || METHOD == GD_METROPOLIS) {
            gd_u64 first;
            gd_philox(key, instance, step, draw++, first, coin);
            return gd_pick_uniform(begin, begin + degree, first);
        }
        const long long edge =
            threads.template pick<METHOD>(biases, row, begin, begin + degree, key, instance, step, draw);
        coin = this->coin<METHOD>(instance, step, draw);
        return edge;
    }

    // The neighbour along an edge of a row that is not dead, by the cells of its alias table.
    __device__ __forceinline__ index_t neighbour(long long row, long long begin, long long degree, gd_u64 instance,
                                                 gd_u32 step) const {
        gd_u64 first, second, share;
        index_t own, other;
        gd_philox(key, instance, step, 0, first, second);
        gd_cell(biases.table, begin + (long long)gd_digit(first, (gd_u64)degree), share, own, other);
        return gd_digit(second, biases.totals[row]) < share ? own : other;
    }
};

template <class Pack> __device__ __forceinline__ Rows rows_of(const Pack &a) {
    return {gd_key(a.seed, GD_DRAW_WALK, 0), a.indptr, a.indices,
            {a.values, a.greatest, a.totals, a.shifts, a.table, a.other}, a.arcs};
}
