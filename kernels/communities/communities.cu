// Moves of vertices to the neighbouring community of the largest gain. A warp compares the neighbours of a short row all
// with all. Weights of long rows are added up in hash tables in global memory, one for each row, to which warps bring a
// chunk of the row at a time: where a community stands depends on who comes first; sums of integers, and which one is
// picked, do not. Twins: communities.py.
#include "common/common.cuh"
#include "communities/communities_pack.py"

#define ALL_LANES 0xffffffffu
#define CHUNK 256
#define FEW 30  // neighbours in a warp beside the own community and that of the own number
#define NONE 0x7fffffffffffffffLL

__device__ __forceinline__ bool counts(const Moves &a, long long u, long long slot) {
    return slot != u && !(a.refining && (a.outer[slot] != a.outer[u] || a.leaving[slot]));
}

__device__ __forceinline__ double gain_of(double share, long long weight, long long others) {
    return __dsub_rn((double)weight, __dmul_rn(share, (double)others));
}

// The weights of all lanes below `end` that have the same community as this one.
__device__ __forceinline__ long long sum_of_same(long long community, long long weight, int end) {
    const unsigned same = __match_any_sync(ALL_LANES, community);
    long long sum = 0;
    for (int other = 0; other < end; other++) {
        const long long its = __shfl_sync(ALL_LANES, weight, other);
        if (same >> other & 1) sum += its;
    }
    return sum;
}

__device__ __forceinline__ void add(const Moves &a, long long base, long long size, long long community,
                                    long long weight) {
    const unsigned mixed = (unsigned)((unsigned long long)(community ^ (community >> 31)) * 2654435761ULL);
    long long place = base + (long long)(((unsigned long long)mixed * (unsigned long long)size) >> 32);
    while (true) {
        long long seen = *(volatile long long *)(a.keys + place);
        if (seen == -1) {
            seen = gd_atomic_cas(a.keys + place, -1LL, community);
            if (seen == -1) seen = community;
        }
        if (seen == community) break;
        if (++place == base + size) place = base;
    }
    if (weight) atomicAdd((unsigned long long *)a.total + place, (unsigned long long)weight);
}

// Doubles as integers of the same order, above 0.
__device__ __forceinline__ unsigned long long ordered(double x) {
    const long long bits = __double_as_longlong(x);
    return bits < 0 ? (unsigned long long)~bits : (unsigned long long)bits ^ (1ULL << 63);
}

extern "C" __global__ void communities_choose(long long n, double scale, Moves a) {
    const int lane = threadIdx.x & 31;
    const double least = __longlong_as_double(0xfff0000000000000LL);
    const long long warps = ((long long)gridDim.x * blockDim.x) >> 5;
    for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; i < n >> 5; i += warps) {
        const long long u = a.rows[i], begin = a.indptr[u], length = a.indptr[u + 1] - begin;
        const long long here = a.label[u], own = a.own[u];
        if (length > FEW) {
            const long long chunks = (length + CHUNK - 1) / CHUNK;
            long long first = 0;
            long long place = 0;
            if (lane == 0) {
                place = (long long)atomicAdd(&a.counters->deferred, 1ULL);
                first = (long long)atomicAdd(&a.counters->chunks, (unsigned long long)chunks);
                const long long start = (long long)atomicAdd(&a.counters->room, (unsigned long long)(2 * length));
                a.long_rows[place] = i;
                a.start[place] = start;
                a.first_chunk[place] = first;
                a.bits[i] = 0;
                a.choice[i] = NONE;
                add(a, start, 2 * length, here, 0);
                add(a, start, 2 * length, own, 0);
            }
            place = __shfl_sync(ALL_LANES, place, 0);
            first = __shfl_sync(ALL_LANES, first, 0);
            for (long long c = lane; c < chunks; c += 32) a.chunks[first + c] = place;
            continue;
        }
        long long community = lane == length ? here : lane == length + 1 ? own : -1, weight = 0;
        if (lane < length) {
            const long long slot = a.indices[begin + lane];
            if (counts(a, u, slot)) {
                community = a.label[slot];
                weight = a.weights[begin + lane];
            }
        }
        weight = sum_of_same(community, weight, (int)length);
        const double share = __dmul_rn((double)a.degree[u], scale);
        double gain = least;
        if (community >= 0) {
            const long long others = a.sums[community] - (community == here ? a.degree[u] : 0);
            gain = gain_of(share, weight, others);
        }
        const double stays = __shfl_sync(ALL_LANES, gain, (int)length);
        if (community < 0 || community == here) {
            gain = least;
            community = NONE;
        }
        for (int step = 16; step; step >>= 1) {
            const double other = __shfl_xor_sync(ALL_LANES, gain, step);
            const long long its = __shfl_xor_sync(ALL_LANES, community, step);
            if (other > gain || (other == gain && its < community)) {
                gain = other;
                community = its;
            }
        }
        if (lane == 0) {
            a.here[i] = stays;
            a.best[i] = gain;
            a.choice[i] = community;
        }
    }
}

// body(place, chunk within the row) for each chunk of the deferred rows, by a warp.
template <typename Body> __device__ __forceinline__ void for_chunks(const Moves &a, const Body &body) {
    const long long warps = ((long long)gridDim.x * blockDim.x) >> 5, chunks = (long long)a.counters->chunks;
    for (long long c = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; c < chunks; c += warps) {
        const long long place = a.chunks[c];
        body(place, c - a.first_chunk[place]);
    }
}

__device__ void add_up(const Moves &a) {
    const int lane = threadIdx.x & 31;
    for_chunks(a, [&](long long place, long long chunk) {
        const long long u = a.rows[a.long_rows[place]], begin = a.indptr[u], length = a.indptr[u + 1] - begin;
        const long long end = min((chunk + 1) * CHUNK, length);
        for (long long k = chunk * CHUNK + lane; k - lane < end; k += 32) {
            long long community = -1, weight = 0;
            if (k < end) {
                const long long slot = a.indices[begin + k];
                if (counts(a, u, slot)) {
                    community = a.label[slot];
                    weight = a.weights[begin + k];
                }
            }
            const unsigned same = __match_any_sync(ALL_LANES, community);
            if (!__all_sync(ALL_LANES, (same & (same - 1)) == 0)) weight = sum_of_same(community, weight, 32);
            if (community >= 0 && lane == __ffs(same) - 1) add(a, a.start[place], 2 * length, community, weight);
        }
    });
}

// body(i, place in the tables, community, gain) for every community of a chunk of the tables.
template <typename Body> __device__ __forceinline__ void for_gains(const Moves &a, double scale, const Body &body) {
    const int lane = threadIdx.x & 31;
    for_chunks(a, [&](long long deferred, long long chunk) {
        const long long i = a.long_rows[deferred], u = a.rows[i], here = a.label[u];
        const long long size = 2 * (a.indptr[u + 1] - a.indptr[u]), end = min((chunk + 1) * 2 * CHUNK, size);
        const double share = __dmul_rn((double)a.degree[u], scale);
        for (long long k = chunk * 2 * CHUNK + lane; k < end; k += 32) {
            const long long place = a.start[deferred] + k, community = a.keys[place];
            if (community < 0) continue;
            const long long others = a.sums[community] - (community == here ? a.degree[u] : 0);
            body(i, place, community, community == here, gain_of(share, a.total[place], others));
        }
    });
}

// In three launches: add up what leads to each community, find the largest gain, and the smallest community of it.
extern "C" __global__ void communities_choose_hubs(long long n, double scale, long long stage, Moves a) {
    if (stage == 0) {
        add_up(a);
    } else if (stage == 1) {
        for_gains(a, scale, [&](long long i, long long, long long, bool stays, double gain) {
            if (stays) {
                a.here[i] = gain;
            } else {
                const unsigned long long bits = ordered(gain);
                if (bits > *(volatile unsigned long long *)(a.bits + i)) atomicMax(a.bits + i, bits);
            }
        });
    } else {
        for_gains(a, scale, [&](long long i, long long place, long long community, bool stays, double gain) {
            if (!stays && ordered(gain) == a.bits[i]) {
                a.best[i] = gain;
                atomicMin(a.choice + i, community);
            }
            a.keys[place] = -1;
            a.total[place] = 0;
        });
    }
}

extern "C" __global__ void communities_move(long long n, double least, Moves a) {
    unsigned long long moved = 0;
    GD_FOR(i, n) {
        const long long choice = a.choice[i];
        if (choice == NONE) continue;
        const long long u = a.rows[i], degree = a.degree[u];
        const double enough = __dadd_rn(a.here[i], __dmul_rn((double)degree, least));
        if (!(a.refining ? a.best[i] >= a.here[i] : a.best[i] > enough)) continue;
        atomicAdd((unsigned long long *)a.change + choice, (unsigned long long)degree);
        atomicAdd((unsigned long long *)a.change + a.label[u], (unsigned long long)-degree);
        a.label[u] = choice;
        a.changed[u] = 1;
        moved++;
    }
    gd_add(moved, &a.counters->moved);
}

extern "C" __global__ void communities_settle(long long n, Moves a) {
    unsigned long long inside = 0;
    GD_FOR(e, n) {
        const long long row = a.row_of[e], slot = a.indices[e];
        if (a.label[row] == a.label[slot]) inside += (unsigned long long)a.weights[e];
        if (a.changed[slot]) a.active[row] = 1;
    }
    gd_add(inside, &a.counters->inside);
}
