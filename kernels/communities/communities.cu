// Moves of vertices to the neighbouring community of the largest gain. A warp compares the neighbours of a short row all
// with all, and adds up the weights of a longer one in a hash table in shared memory. A block does so for a chunk of a
// still longer row; if that has several chunks, it adds its sums to a table of the row in global memory. Where a
// community stands in a table depends on who comes first; sums of integers, and which one is picked, do not. Twins:
// communities.py.
#include "common/common.cuh"
#include "common/hash.cuh"
#include "communities/communities_pack.py"

#define ALL_LANES 0xffffffffu
#define FEW 30       // neighbours in a warp beside the own community and that of the own number
#define MIDDLE 126   // neighbours, with these two, in half the places of a warp's table
#define CHUNK 1022   // the same of a block's table
#define PLACES 2048
#define WARPS 8      // in a block
#define NONE 0x7fffffffffffffffLL
#define FREE ((index_t)-1)

__device__ __forceinline__ bool counts(const Moves &a, long long u, long long slot) {
    return slot != u && !(a.refining && (a.outer[slot] != a.outer[u] || a.leaving[slot]));
}

__device__ __forceinline__ double gain_of(double share, long long weight, long long others) {
    return __dsub_rn((double)weight, __dmul_rn(share, (double)others));
}

__device__ __forceinline__ double least_gain() { return __longlong_as_double(0xfff0000000000000LL); }

// What community and weight each lane has after lanes of the same community became one, which has the sum: -1 and 0
// where it is another lane's. Lanes that have none come with these, too.
__device__ __forceinline__ void combine(long long &community, long long &weight) {
    const int lane = threadIdx.x & 31;
    const unsigned same = __match_any_sync(ALL_LANES, community), has = __ballot_sync(ALL_LANES, community >= 0);
    if (!has || __all_sync(ALL_LANES, community < 0 || (same & (same - 1)) == 0)) return;
    const long long one = __shfl_sync(ALL_LANES, weight, __ffs(has) - 1);
    if (__all_sync(ALL_LANES, community < 0 || weight == one)) {
        weight = one * __popc(same);
    } else {
        long long sum = 0;
        for (int other = 0; other < 32; other++) {
            const long long its = __shfl_sync(ALL_LANES, weight, other);
            if (same >> other & 1) sum += its;
        }
        weight = sum;
    }
    if (community < 0 || lane != __ffs(same) - 1) {
        community = -1;
        weight = 0;
    }
}

__device__ __forceinline__ unsigned mixed(long long community) {
    return (unsigned)((unsigned long long)(community ^ (community >> 31)) * 2654435761ULL);
}

// A hash table in shared memory, of a power of two places, that a warp or a block works on.
struct Table {
    index_t *keys;
    unsigned long long *total;
    int places;

    __device__ __forceinline__ void clear(int first, int step) const {
        for (int place = first; place < places; place += step) {
            keys[place] = FREE;
            total[place] = 0;
        }
    }
    __device__ __forceinline__ void add(long long community, long long weight) const {
        int place = (int)(mixed(community) >> 16) & (places - 1);
        while (true) {
            index_t seen = *(volatile index_t *)(keys + place);
            if (seen == FREE) {
                seen = gd_atomic_cas(keys + place, FREE, (index_t)community);
                if (seen == FREE) seen = (index_t)community;
            }
            if (seen == (index_t)community) break;
            place = (place + 1) & (places - 1);
        }
        if (weight) atomicAdd(total + place, (unsigned long long)weight);
    }
};

struct Shared {
    index_t keys[PLACES];
    unsigned long long total[PLACES];
    double gain[WARPS];
    long long community[WARPS];
};

// The least power of two of places, from 64 on, of which so many entries take a half at most.
__device__ __forceinline__ int places_for(long long entries) {
    int places = 64;
    while (places < 2 * entries) places *= 2;
    return places;
}

// Add the neighbours from `begin` to `end` of u to a table; warps take `step` of them at a time, this lane from `first`.
__device__ __forceinline__ void add_neighbours(const Moves &a, const Table &table, long long u, long long begin,
                                               long long end, int first, int step) {
    const int lane = threadIdx.x & 31;
    for (long long e = begin + first; e - lane < end; e += step) {
        long long community = -1, weight = 0;
        if (e < end) {
            const long long slot = a.indices[e];
            if (counts(a, u, slot)) {
                community = a.label[slot];
                weight = a.weights[e];
            }
        }
        combine(community, weight);
        if (community >= 0) table.add(community, weight);
    }
}

__device__ __forceinline__ double gain_at(const Moves &a, double share, long long u, long long here,
                                          long long community, long long weight) {
    return gain_of(share, weight, a.sums[community] - (community == here ? a.degree[u] : 0));
}

// The better one of two communities; of equal gains the smaller one.
__device__ __forceinline__ void better(double &gain, long long &community, double other, long long its) {
    if (other > gain || (other == gain && its < community)) {
        gain = other;
        community = its;
    }
}

__device__ __forceinline__ void best_of_warp(double &gain, long long &community) {
    for (int step = 16; step; step >>= 1) {
        const double other = __shfl_xor_sync(ALL_LANES, gain, step);
        const long long its = __shfl_xor_sync(ALL_LANES, community, step);
        better(gain, community, other, its);
    }
}

// The best other community of a table, of the places that this thread looks at; the gain of the own one is written down.
__device__ __forceinline__ void best_in(const Moves &a, const Table &table, double scale, long long i, long long u,
                                        int first, int step, double &gain, long long &community) {
    const long long here = a.label[u];
    const double share = __dmul_rn((double)a.degree[u], scale);
    gain = least_gain();
    community = NONE;
    for (int place = first; place < table.places; place += step) {
        if (table.keys[place] == FREE) continue;
        const long long its = table.keys[place];
        const double of_it = gain_at(a, share, u, here, its, (long long)table.total[place]);
        if (its == here) {
            a.here[i] = of_it;
        } else {
            better(gain, community, of_it, its);
        }
    }
}

// Add to the table of a long row, and keep a list of its places that are taken.
__device__ __forceinline__ void add(const Moves &a, long long deferred, long long size, long long community,
                                    long long weight) {
    const long long base = a.start[deferred];
    long long place = base + (long long)(((unsigned long long)mixed(community) * (unsigned long long)size) >> 32);
    while (true) {
        long long seen = *(volatile long long *)(a.keys + place);
        if (seen == -1) {
            seen = gd_atomic_cas(a.keys + place, -1LL, community);
            if (seen == -1) {
                a.met[base / 2 + (long long)atomicAdd((unsigned long long *)a.met_count + deferred, 1ULL)] = place;
                seen = community;
            }
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

// Places of a row's table: twice what it can meet.
__device__ __forceinline__ long long table_size(long long length) { return 2 * (length + 2); }

// Leave a row to blocks.
__device__ __forceinline__ void defer(const Moves &a, long long i, long long length) {
    const int lane = threadIdx.x & 31;
    const long long chunks = (length + CHUNK - 1) / CHUNK;
    long long first = 0, place = 0;
    if (lane == 0) {
        place = (long long)atomicAdd(&a.counters->deferred, 1ULL);
        first = (long long)atomicAdd(&a.counters->chunks, (unsigned long long)chunks);
        a.long_rows[place] = i;
        a.first_chunk[place] = first;
        if (chunks > 1) {
            a.start[place] = (long long)atomicAdd(&a.counters->tables, (unsigned long long)table_size(length));
            a.met_count[place] = 0;
            a.bits[i] = 0;
            a.choice[i] = NONE;
        }
    }
    place = __shfl_sync(ALL_LANES, place, 0);
    first = __shfl_sync(ALL_LANES, first, 0);
    for (long long c = lane; c < chunks; c += 32) a.chunks[first + c] = place;
}

extern "C" __global__ void communities_turns(long long n, unsigned long long key, long long rounds,
                                             const unsigned char *active, const long long *numbers,
                                             unsigned char *turn, unsigned long long *counts) {
    __shared__ unsigned long long found[256];
    for (int k = threadIdx.x; k < rounds; k += blockDim.x) found[k] = 0;
    __syncthreads();
    GD_FOR(i, n) {
        unsigned long long its = rounds;
        if (active[i]) {
            its = (gd_mix((unsigned long long)numbers[i] * GD_GOLDEN + key) >> 32) * rounds >> 32;
            atomicAdd(found + its, 1ULL);
        }
        turn[i] = (unsigned char)its;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < rounds; k += blockDim.x) {
        if (found[k]) atomicAdd(counts + k, found[k]);
    }
}

extern "C" __global__ void communities_choose(long long n, double scale, Moves a) {
    __shared__ Shared shared;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const long long warps = ((long long)gridDim.x * blockDim.x) >> 5;
    for (long long i = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5; i < n >> 5; i += warps) {
        const long long u = a.rows[i], begin = a.indptr[u], length = a.indptr[u + 1] - begin;
        const long long here = a.label[u], own = a.own[u];
        if (length > MIDDLE) {
            defer(a, i, length);
            continue;
        }
        double gain;
        long long community;
        if (length > FEW) {
            const int place = warp * (PLACES / WARPS);
            const Table table = {shared.keys + place, shared.total + place, places_for(length + 2)};
            table.clear(lane, 32);
            __syncwarp();
            if (lane == 0) table.add(here, 0);
            if (lane == 1) table.add(own, 0);
            add_neighbours(a, table, u, begin, begin + length, lane, 32);
            __syncwarp();
            best_in(a, table, scale, i, u, lane, 32, gain, community);
            __syncwarp();
        } else {
            long long weight = 0;
            community = lane == length ? here : lane == length + 1 ? own : -1;
            if (lane < length) {
                const long long slot = a.indices[begin + lane];
                if (counts(a, u, slot)) {
                    community = a.label[slot];
                    weight = a.weights[begin + lane];
                }
            }
            combine(community, weight);
            gain = least_gain();
            if (community >= 0) {
                gain = gain_at(a, __dmul_rn((double)a.degree[u], scale), u, here, community, weight);
                if (community == here) a.here[i] = gain;
            }
            if (community < 0 || community == here) {
                gain = least_gain();
                community = NONE;
            }
        }
        best_of_warp(gain, community);
        if (lane == 0) {
            a.best[i] = gain;
            a.choice[i] = community;
        }
    }
}

// body(deferred row, chunk within it, chunks of it) for each chunk of the deferred rows, by a block.
template <typename Body> __device__ __forceinline__ void for_chunks(const Moves &a, const Body &body) {
    for (long long c = blockIdx.x; c < (long long)a.counters->chunks; c += gridDim.x) {
        const long long deferred = a.chunks[c], u = a.rows[a.long_rows[deferred]];
        body(deferred, c - a.first_chunk[deferred], (a.indptr[u + 1] - a.indptr[u] + CHUNK - 1) / CHUNK);
    }
}

// The best community of a row of one chunk, or what a chunk adds to the table of a longer one.
__device__ void add_up(const Moves &a, double scale, Shared &shared) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, first = (int)threadIdx.x, step = (int)blockDim.x;
    for_chunks(a, [&](long long deferred, long long chunk, long long chunks) {
        const long long i = a.long_rows[deferred], u = a.rows[i], begin = a.indptr[u], length = a.indptr[u + 1] - begin;
        const long long from = begin + chunk * CHUNK, to = min(from + CHUNK, begin + length);
        const Table table = {shared.keys, shared.total, places_for(to - from + 2)};
        table.clear(first, step);
        __syncthreads();
        if (chunk == 0 && first == 0) table.add(a.label[u], 0);
        if (chunk == 0 && first == 1) table.add(a.own[u], 0);
        add_neighbours(a, table, u, from, to, first, step);
        __syncthreads();
        if (chunks > 1) {
            for (int place = first; place < table.places; place += step) {
                if (table.keys[place] == FREE) continue;
                add(a, deferred, table_size(length), table.keys[place], (long long)table.total[place]);
            }
        } else {
            double gain;
            long long community;
            best_in(a, table, scale, i, u, first, step, gain, community);
            best_of_warp(gain, community);
            if (lane == 0) {
                shared.gain[warp] = gain;
                shared.community[warp] = community;
            }
            __syncthreads();
            if (first == 0) {
                for (int other = 1; other < step >> 5; other++) {
                    better(gain, community, shared.gain[other], shared.community[other]);
                }
                a.best[i] = gain;
                a.choice[i] = community;
            }
        }
        __syncthreads();
    });
}

// body(i, place, community, whether it is the own one, gain) for every community in the table of a row of chunks.
template <typename Body> __device__ __forceinline__ void for_gains(const Moves &a, double scale, const Body &body) {
    for_chunks(a, [&](long long deferred, long long chunk, long long chunks) {
        if (chunks == 1) return;
        const long long i = a.long_rows[deferred], u = a.rows[i], here = a.label[u], start = a.start[deferred];
        const long long met = a.met_count[deferred], end = chunk + 1 < chunks ? min((chunk + 1) * CHUNK, met) : met;
        const double share = __dmul_rn((double)a.degree[u], scale);
        for (long long k = chunk * CHUNK + threadIdx.x; k < end; k += blockDim.x) {
            const long long place = a.met[start / 2 + k], community = a.keys[place];
            body(i, place, community, community == here, gain_at(a, share, u, here, community, a.total[place]));
        }
    });
}

// In three launches: add up what leads to each community, find the largest gain, and the smallest community of it. The
// second and the third are for rows of several chunks.
extern "C" __global__ void communities_choose_hubs(long long n, double scale, long long stage, Moves a) {
    __shared__ Shared shared;
    if (stage == 0) {
        add_up(a, scale, shared);
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
