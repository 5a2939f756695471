// Meetings of several GPUs that write into each other's memory, in the middle of a kernel: all ranks of a host run one
// cooperative launch each, and go through supersteps without the host. Ranks that share a device run in one launch, a
// row of the grid (blockIdx.y) each. In a meeting all blocks of all ranks wait for each other, and what each rank voted
// is summed up.
//
// A rank has words of its own (`local`, zeros when the kernel starts) and a board, which the others map and write to:
// for each sender two slots of TEAM_WORDS, in turn, of which the last is a flag that has the number of the meeting. A
// sender writes a slot again two meetings later, when all have read it. Places in the words that describe a rank:
// team.py; what the host does: graphdask.comm.peers, graphdask.team.
//
// A family may be compiled for a rank that has the whole graph (team_alone=1): it sends nobody anything, which
// is a third of the code.
#pragma once
#include "common/bitmap.cuh"
#include "common/grid.cuh"

#define TEAM_RANKS 8
#define TEAM_SUMS 4
#define TEAM_LEAST TEAM_SUMS
#define TEAM_TO (TEAM_LEAST + 1)
#define TEAM_VOTES (TEAM_TO + TEAM_RANKS)
#define TEAM_WORDS 16
// Of a slot, behind the votes: what the sender has sent its peers since the last meeting (SENT_LISTS, SENT_BITS), and
// where that is at the receiver if hosts relay it, else 0.
enum { TEAM_MESSAGE = TEAM_VOTES, TEAM_AT };
// Of a rank's own words: those of the barrier, what the meetings are at, where that is which each rank sent, and what
// the meetings came to, in turn.
enum {
    TEAM_ARRIVED, TEAM_RELEASED, TEAM_FAILED, TEAM_MEETING, TEAM_CAME, TEAM_AGREED = TEAM_CAME + TEAM_RANKS,
    TEAM_LOCAL = TEAM_AGREED + 2 * TEAM_VOTES
};
// Of what describes a rank to the kernel.
enum {
    ROW_RANK, ROW_SIZE, ROW_LOCAL, ROW_LIMIT, ROW_ABORT, ROW_BOARD, ROW_BOARDS,
    ROW_OWNED = ROW_BOARDS + TEAM_RANKS, ROW_LOG, ROW_BOUNDS, ROW_MIRRORS = ROW_BOUNDS + TEAM_RANKS + 1,
    ROW_HELD = ROW_MIRRORS + TEAM_RANKS, ROW_OUT = ROW_HELD + TEAM_RANKS, ROW_IN = ROW_OUT + 2 * TEAM_RANKS,
    ROW_SHORT = ROW_IN + 2 * TEAM_RANKS, ROW_COMMON, ROW_OWN
};
// An entry of the log for each superstep; and before them, what the host reads first, of which each kernel has some.
enum { LOG_KIND, LOG_FRONTIER, LOG_EDGES, LOG_SENT, LOG_BYTES, LOG_COMPUTE, LOG_EXCHANGE, LOG_WAIT, LOG_WORDS };
enum { END_STEPS, END_DONE, END_MEETING, END_OWN, END_WORDS = 16 };
#define TEAM_LOOKS 1024
// Places that a thread looks up together where it sends bits.
#define TEAM_AHEAD 8
#define TEAM_FEW 4  // and where it takes in those of its own vertices
// A phase of a kernel that has many: apart, so that the registers of one do not weigh on the others.
#ifdef __CUDACC_RTC__
#define GD_PHASE __device__ __noinline__
#else
#define GD_PHASE __device__
#endif

__device__ __forceinline__ unsigned long long gd_nanoseconds() {
#ifdef __CUDACC_RTC__
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#else
    return emulator::nanoseconds();
#endif
}

// Entries of a list, a value and a place each, are in groups of TEAM_GROUP: first the values, then the places. So a list
// ends where its last group does.
#define TEAM_GROUP 32
template <class Index, class Value> struct Entries {
    char *begin;
    static constexpr long long bytes = TEAM_GROUP * (long long)(sizeof(Value) + sizeof(Index));

    __device__ __forceinline__ Value &value(long long i) const {
        return ((Value *)(begin + i / TEAM_GROUP * bytes))[i % TEAM_GROUP];
    }
    __device__ __forceinline__ Index &place(long long i) const {
        return ((Index *)(begin + i / TEAM_GROUP * bytes + TEAM_GROUP * (long long)sizeof(Value)))[i % TEAM_GROUP];
    }
};
// Kinds of messages: bits of the vertices that the receiver holds ghosts of, bits of its own, lists.
enum { SENT_NOTHING, SENT_BITS, SENT_OWNER_BITS, SENT_LISTS };
#define TEAM_SHORT 4096  // bytes up to which a message goes through memory of the host, if hosts carry it

struct Team {
    const long long *row;
    gd_count *local;
#if team_alone
    static constexpr int rank = 0, size = 1;
#else
    int rank, size;
#endif
    gd_count meeting;
    gd_count waited, exchanged, reported;  // nanoseconds, and bytes of bitmaps: known to the thread that leads
    gd_count message;  // since the last meeting: the kind, the area, and the bytes of a group of a list

    // `follows` where another kernel with the same rows ran just before: it goes on with the words behind the first's.
    __device__ __forceinline__ explicit Team(const long long *description, bool follows = false)
        : row(description), waited(0), exchanged(0), reported(0), message(0) {
#if !team_alone
        rank = (int)row[ROW_RANK];
        size = (int)row[ROW_SIZE];
#endif
        local = (gd_count *)row[ROW_LOCAL] + (follows ? TEAM_LOCAL : 0);
        meeting = follows ? ends()[END_MEETING] : *(volatile gd_count *)(local + TEAM_MEETING);
    }
    __device__ __forceinline__ bool leads() const { return blockIdx.x == 0 && threadIdx.x == 0; }
    // Wait for the blocks of this rank alone.
    __device__ __forceinline__ void barrier() const { gd_grid_barrier(local + TEAM_ARRIVED); }

    // A slot of a board, of a sender.
    __device__ __forceinline__ volatile gd_count *slot(long long board, int sender) const {
        return (volatile gd_count *)board + (2 * sender + (int)(meeting & 1)) * TEAM_WORDS;
    }
    GD_PHASE void lead(const gd_count *votes) {
        const volatile gd_count *const mine = votes;
        volatile gd_count *const agreed = local + TEAM_AGREED + (meeting & 1) * TEAM_VOTES;
        for (int q = 0; q < size; q++) {
            volatile gd_count *const there = slot(row[ROW_BOARDS + q], rank);
            for (int i = 0; i < TEAM_VOTES; i++) there[i] = mine[i];
            there[TEAM_MESSAGE] = message;
        }
        message = SENT_NOTHING;
        __threadfence_system();
        for (int q = 0; q < size; q++) slot(row[ROW_BOARDS + q], rank)[TEAM_WORDS - 1] = meeting;
        const gd_count began = gd_nanoseconds(), limit = (gd_count)row[ROW_LIMIT];
        const volatile int *const abort = (const volatile int *)row[ROW_ABORT];
        int looks = 0;
        for (int q = 0; q < size; q++) {
            volatile gd_count *const from = slot(row[ROW_BOARD], q);
            while (from[TEAM_WORDS - 1] != meeting) {
                if (++looks % TEAM_LOOKS == 0 && (gd_nanoseconds() - began > limit || (abort && *abort))) {
                    *(volatile gd_count *)(local + TEAM_FAILED) = 1;
                    return;
                }
                __nanosleep(20);
            }
        }
        __threadfence_system();
        gd_count sums[TEAM_SUMS] = {0, 0, 0, 0}, least = ~0ULL;
        for (int q = 0; q < size; q++) {
            volatile gd_count *const from = slot(row[ROW_BOARD], q);
            for (int i = 0; i < TEAM_SUMS; i++) sums[i] += from[i];
            least = min(least, (gd_count)from[TEAM_LEAST]);
            agreed[TEAM_TO + q] = from[TEAM_TO + rank];
            ((volatile gd_count *)local)[TEAM_CAME + q] = from[TEAM_AT];
        }
        for (int i = 0; i < TEAM_SUMS; i++) agreed[i] = sums[i];
        agreed[TEAM_LEAST] = least;
        waited += gd_nanoseconds() - began;
    }

    // All threads of all ranks come here with the same place of votes in their rank's memory: TEAM_SUMS numbers, of
    // which everyone gets the sums, one of which everyone gets the least, and one for each rank, which it alone gets. `agreed`, shared, has TEAM_VOTES. What a
    // thread wrote to memory of any rank before is seen by every thread after. False where it has failed: a rank did
    // not come within the limit, or the host said that it is to end.
    GD_PHASE bool meet(const gd_count *votes, gd_count *agreed) {
        meeting++;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence_system();
            const gd_count blocks = gridDim.x;
            const gd_count goal = (atomicAdd(local + TEAM_ARRIVED, (gd_count)1) / blocks + 1) * blocks;
            if (blockIdx.x == 0) {
                while (*(volatile gd_count *)(local + TEAM_ARRIVED) < goal) __nanosleep(20);
                __threadfence();
                lead(votes);
                __threadfence();
                *(volatile gd_count *)(local + TEAM_RELEASED) = meeting;
            } else {
                while (*(volatile gd_count *)(local + TEAM_RELEASED) != meeting) __nanosleep(20);
            }
            __threadfence_system();
        }
        __syncthreads();
        const volatile gd_count *const came_to = local + TEAM_AGREED + (meeting & 1) * TEAM_VOTES;
        if (threadIdx.x < TEAM_VOTES) agreed[threadIdx.x] = came_to[threadIdx.x];
        const bool fine = *(volatile gd_count *)(local + TEAM_FAILED) == 0;
        __syncthreads();
        return fine;
    }
    __device__ __forceinline__ gd_count read(const gd_count *counter) const { return *(const volatile gd_count *)counter; }
    // Whether hosts carry messages, so that a meeting takes as long as an exchange of theirs.
    __device__ __forceinline__ bool relayed() const { return size > 1 && row[ROW_SHORT] != 0; }
    // Where this rank writes bits that it sends a peer.
    __device__ __forceinline__ unsigned int *words_for(int area, int step, long long words) const {
        const bool few = relayed() && 4 * words <= TEAM_SHORT;
        return (unsigned int *)(few ? (char *)row[ROW_SHORT] + step * TEAM_SHORT : out(area, step));
    }
    // Where this rank writes what it sends a peer.
    __device__ __forceinline__ char *out(int area, int step) const {
        return (char *)row[ROW_OUT + area * TEAM_RANKS + step];
    }
    // Where it finds what the peer has sent it before the last meeting.
    __device__ __forceinline__ char *in(int area, int step) const {
        const gd_count came = ((const volatile gd_count *)local)[TEAM_CAME + (rank + step) % size];
        return (char *)(came ? (long long)came : row[ROW_IN + area * TEAM_RANKS + step]);
    }
    __device__ __forceinline__ void sends(int kind, int area, long long group = 0, bool few = false) {
        message = (gd_count)(kind + (area << 8) + (few << 15) + (group << 16));
    }

    // Tell owners of their ghosts: of each of so many slots its place among the owner's ghosts here, and value(slot). They
    // go to `area` of the peer's memory. Counts are added to those in `votes`: one of the sums, and those for each rank. All
    // threads of this rank call it.
    template <class Index, class Value, class Of>
    __device__ __forceinline__ void notify_owners(int area, long long count, const Index *slots, gd_count *votes, int sum,
                                                const Of &value) {
        constexpr long long group = Entries<Index, Value>::bytes;
        const bool few = relayed() && (count + TEAM_GROUP - 1) / TEAM_GROUP * group <= TEAM_SHORT;
        sends(SENT_LISTS, area, group, few);
        __shared__ int counts[TEAM_RANKS];
        __shared__ gd_count bases[TEAM_RANKS];
        const int t = threadIdx.x;
        const long long threads = (long long)gridDim.x * blockDim.x;
        for (long long begin = (long long)blockIdx.x * blockDim.x; begin < count; begin += threads) {
            if (t < TEAM_RANKS) counts[t] = 0;
            __syncthreads();
            int step = 0, place = 0;
            Index v = 0;
            if (begin + t < count) {
                v = slots[begin + t];
                step = 1;
                while (step + 1 < size && v >= row[ROW_BOUNDS + step + 1]) step++;
                place = atomicAdd(counts + step, 1);
            }
            __syncthreads();
            if (t > 0 && t < size && counts[t])
                bases[t] = atomicAdd(votes + TEAM_TO + (rank + t) % size, (gd_count)counts[t]);
            if (t == 0) atomicAdd(votes + sum, (gd_count)min((long long)blockDim.x, count - begin));
            __syncthreads();
            if (step) {
                const Entries<Index, Value> list{few ? (char *)row[ROW_SHORT] + step * TEAM_SHORT : out(area, step)};
                const long long at = (long long)bases[step] + place;
                list.value(at) = value(v);
                list.place(at) = (Index)(v - row[ROW_BOUNDS + step]);
            }
            __syncthreads();
        }
    }

    // take(i, slot, value) for all that was sent to this rank in `area`, once `agreed` says how much; flush(all) where all
    // threads of a block are together. All threads of this rank call it.
    template <class Index, class Value, class Take, class Flush>
    __device__ __forceinline__ void take_reported(int area, const gd_count *agreed, const Take &take, const Flush &flush) const {
        const long long threads = (long long)gridDim.x * blockDim.x;
        for (int step = 1; step < size; step++) {
            const long long count = (long long)agreed[TEAM_TO + (rank + step) % size];
            const Entries<Index, Value> list{in(area, step)};
            const Index *const mirror = (const Index *)row[ROW_MIRRORS + step];
            for (long long begin = (long long)blockIdx.x * blockDim.x; begin < count; begin += threads) {
                const long long i = begin + threadIdx.x;
                if (i < count) take(mirror ? mirror[list.place(i)] : list.place(i), list.value(i));
                flush(false);
            }
        }
        flush(true);
    }
    // Call body(), in which ranks exchange something, and count its time without that of waiting; returns what it returns.
    template <class Body> __device__ __forceinline__ auto exchange(const Body &body) {
        const gd_count began = gd_nanoseconds(), before = waited;
        const auto result = body();
        exchanged += gd_nanoseconds() - began - (waited - before);
        return result;
    }
    // Write to every rank the bits of the vertices that it holds ghosts of.
    template <class Index> GD_PHASE void send_bits(int area, const unsigned int *bits) {
        sends(SENT_BITS, area);
        const int lane = threadIdx.x & 31;
        for (int step = 1; step < size; step++) {
            const long long held = row[ROW_HELD + step], words = (held + 31) / 32;
            const Index *const mirror = (const Index *)row[ROW_MIRRORS + step];
            unsigned int *const words_out = words_for(area, step, words);
            reported += (gd_count)(4 * words);
            if (!mirror) {
                GD_FOR(w, words) words_out[w] = bits[w];
                continue;
            }
            const long long warps = (long long)gridDim.x * blockDim.x / 32;
            for (long long base = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32; 32 * base < words; base += warps) {
                unsigned int mine = 0;
#pragma unroll 1
                for (int j = 0; j < 32; j += TEAM_AHEAD) {
                    const long long first = 32 * (32 * base + j) + lane;
                    Index v[TEAM_AHEAD];
                    unsigned int words_of[TEAM_AHEAD];
#pragma unroll
                    for (int k = 0; k < TEAM_AHEAD; k++) v[k] = mirror[min(first + 32 * k, held - 1)];
#pragma unroll
                    for (int k = 0; k < TEAM_AHEAD; k++) words_of[k] = bits[v[k] >> 5];
#pragma unroll
                    for (int k = 0; k < TEAM_AHEAD; k++) {
                        const bool is_set = first + 32 * k < held && (words_of[k] >> (v[k] & 31) & 1u);
                        const unsigned int word = __ballot_sync(0xffffffffu, is_set);
                        if (lane == j + k) mine = word;
                    }
                }
                if (32 * base + lane < words) words_out[32 * base + lane] = mine;
            }
        }
    }
    // Set the bits of the ghosts whose owners sent them.
    GD_PHASE void take_bits(int area, unsigned int *bits) const {
        for (int step = 1; step < size; step++) {
            const long long first = row[ROW_BOUNDS + step], held = row[ROW_BOUNDS + step + 1] - first, words = (held + 31) / 32;
            const unsigned int *const words_in = (const unsigned int *)in(area, step);
            GD_FOR(w, words) gd_set_word(bits, first, held, words_in, w);
        }
        barrier();
    }
    // Write to every owner the bits of its vertices, as this rank has them.
    GD_PHASE void send_owner_bits(int area, const unsigned int *bits) {
        sends(SENT_OWNER_BITS, area);
        for (int step = 1; step < size; step++) {
            const long long first = row[ROW_BOUNDS + step], end = row[ROW_BOUNDS + step + 1], words = (end - first + 31) / 32;
            unsigned int *const words_out = words_for(area, step, words);
            const long long last = (end + 31) / 32 - 1;
            const int shift = (int)(first & 31);
            reported += (gd_count)(4 * words);
            GD_FOR(w, words) {
                const long long at = (first >> 5) + w;
                words_out[w] = bits[at] >> shift | (shift && at < last ? bits[at + 1] << (32 - shift) : 0);
            }
        }
    }
    // Set the bits of own vertices that other ranks have sent.
    template <class Index> GD_PHASE void take_owner_bits(int area, unsigned int *bits) const {
        for (int step = 1; step < size; step++) {
            const long long held = row[ROW_HELD + step];
            const Index *const mirror = (const Index *)row[ROW_MIRRORS + step];
            const unsigned int *const words_in = (const unsigned int *)in(area, step);
            const long long threads = (long long)gridDim.x * blockDim.x;
            for (long long begin = (long long)blockIdx.x * blockDim.x + threadIdx.x; begin < held;
                 begin += TEAM_FEW * threads) {
                Index v[TEAM_FEW];
                bool given[TEAM_FEW], known[TEAM_FEW];
#pragma unroll
                for (int k = 0; k < TEAM_FEW; k++) {
                    const long long i = min(begin + k * threads, held - 1);  // the last one may be taken in again
                    given[k] = gd_bit(words_in, i);
                    v[k] = mirror ? mirror[i] : (Index)i;
                }
#pragma unroll
                for (int k = 0; k < TEAM_FEW; k++) known[k] = gd_bit(bits, v[k]);
#pragma unroll
                for (int k = 0; k < TEAM_FEW; k++)
                    if (given[k] && !known[k]) gd_set_bit(bits, v[k]);
            }
        }
        barrier();
    }
    // Write down a superstep, `number` of this launch, that began then; one thread does.
    __device__ __forceinline__ void log(long long number, gd_count began, gd_count kind, gd_count frontier, gd_count edges,
                                        gd_count sent, gd_count bytes) {
        volatile gd_count *const entry = (gd_count *)row[ROW_LOG] + END_WORDS + number * LOG_WORDS;
        entry[LOG_KIND] = kind;
        entry[LOG_FRONTIER] = frontier;
        entry[LOG_EDGES] = edges;
        entry[LOG_SENT] = sent;
        entry[LOG_BYTES] = bytes + reported;
        entry[LOG_COMPUTE] = gd_nanoseconds() - began - exchanged - waited;
        entry[LOG_EXCHANGE] = exchanged;
        entry[LOG_WAIT] = waited;
        waited = exchanged = reported = 0;
    }
    __device__ __forceinline__ volatile gd_count *ends() const { return (volatile gd_count *)row[ROW_LOG]; }

    // At the end of the kernel, so that the next launch goes on from here.
    __device__ __forceinline__ void close() const {
        if (leads()) ends()[END_MEETING] = meeting;
    }
};
