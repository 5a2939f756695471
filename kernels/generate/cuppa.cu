// The copy model with waiting queues (cuPPA): the schedule is described in cuppa.py, what a target is in copy_model.py.
//
// One kernel, launched cooperatively, makes all segments; its blocks meet at a barrier of the grid after phase one and
// after every pass, so no thread waits for another inside a pass: it looks, and keeps the vertex if a target is unknown.
// In every pass the smallest waiting vertex gets its targets, since those before it are complete, so the passes end.
//
// `out` holds a negative number where a target is not known yet. Each entry is written with its target once, by the
// thread that owns the vertex; others read it with a volatile load, which is one access that no cache of theirs answers,
// and use nothing but the value read, so no fence is needed inside a pass.
//
// The row that a thread works on is staged in shared memory up to CUPPA_STAGED targets, as each new one is compared with
// all of them. A thread's queue is CUPPA_QUEUE vertices of shared memory. What does not fit spills to global memory, in a list through
// the rows of the waiting vertices themselves: the last entry of a spilled row holds -2 - (next vertex), or -1 at the
// end, until it holds its target.
#include "common/common.cuh"
#include "common/grid.cuh"
#include "common/hash.cuh"
#include "generate/cuppa_pack.py"

#ifndef CUPPA_THREADS
#define CUPPA_THREADS 256
#endif
#define CUPPA_QUEUE ((int)(64 / sizeof(index_t)))
#define CUPPA_STAGED 8
#define CUPPA_FAR 2147483648

// Columns of the log, places in the state: as in cuppa.py.
enum { FIRST, STOP, PASS, VERTICES, WAITING, HELD, FINISHED, MOST, COLUMNS };
enum { PASSES = 4, SEGMENTS = 5 };

// Vertices and degree are 32 bits wide where the ids fit.
template <class T> struct cuppa_unsigned { typedef gd_u64 type; };
template <> struct cuppa_unsigned<int> { typedef gd_u32 type; };
typedef cuppa_unsigned<index_t>::type cuppa_vertex;

// The targets of one vertex, `stride` entries apart.
struct cuppa_row {
    index_t *entries;
    int stride;

    __device__ __forceinline__ bool is_free(gd_u64 taken, index_t target) const {
        for (gd_u64 i = 0; i < taken; i++)
            if (entries[i * stride] == target) return false;
        return true;
    }
};

struct cuppa_model {
    gd_u64 key_0, key_1, far_0, far_1, again_0, again_1;
    // The coin is below threshold * 2 of 2^64 values, which for p = 1 is all of them and does not fit.
    gd_u64 limit;
    bool always;
    cuppa_vertex degree;
    long long attempts;
    index_t *out;

    __device__ __forceinline__ cuppa_model(long long d, gd_u64 threshold, gd_u64 seed, long long most, index_t *rows)
        : key_0(gd_key(seed, GD_DRAW_TARGET, 0)), key_1(gd_key(seed, GD_DRAW_TARGET, 1)),
          far_0(gd_key(seed, GD_DRAW_FRACTION, 0)), far_1(gd_key(seed, GD_DRAW_FRACTION, 1)),
          again_0(gd_key(seed, GD_DRAW_AGAIN, 0)), again_1(gd_key(seed, GD_DRAW_AGAIN, 1)), limit(threshold << 1),
          always(threshold >> 63), degree((cuppa_vertex)d), attempts(most), out(rows) {}

    __device__ __forceinline__ gd_u64 number_drawn(gd_u64 slot, long long attempt) const {
        if (attempt == 0) return slot;
        return gd_hash(again_0, again_1, slot) + (gd_u64)attempt * GD_GOLDEN;
    }

    // What one attempt for a slot of vertex v finds; negative if it copies a target that is not known.
    __device__ __forceinline__ index_t candidate(gd_u64 slot, long long attempt, cuppa_vertex v) const {
        const gd_u64 number = number_drawn(slot, attempt);
        gd_u64 fraction = gd_hash(key_0, key_1, number);
        const cuppa_vertex u = gd_digit(fraction, v);
        if (sizeof(index_t) > 4 && v >= CUPPA_FAR) fraction = gd_hash(far_0, far_1, number);
        const cuppa_vertex k = gd_digit(fraction, degree);
        if (u < degree || always || fraction < limit) return (index_t)u;
        return *(volatile index_t *)(out + ((gd_u64)(u - degree) * degree + k));
    }

    // The target of a slot of vertex v whose first `taken` targets are known; negative while it must wait.
    __device__ index_t target(cuppa_row row, gd_u64 taken, cuppa_vertex v) const {
        const gd_u64 slot = (gd_u64)v * degree + taken;
        for (long long attempt = 0; attempt < attempts; attempt++) {
            const index_t found = candidate(slot, attempt, v);
            if (found < 0 || row.is_free(taken, found)) return found;
        }
        gd_u64 number = gd_hash(key_0, key_1, number_drawn(slot, attempts));
        cuppa_vertex found = gd_digit(number, v);
        while (!row.is_free(taken, (index_t)found))
            if (++found == v) found = 0;
        return (index_t)found;
    }

    // Give a vertex (counted from the clique's end) its targets from `edge` on; return the edge that must wait.
    __device__ gd_u64 visit(gd_u64 vertex, gd_u64 edge, index_t *staging) const {
        index_t *const stored = out + vertex * degree;
        const bool staged = degree <= CUPPA_STAGED;
        const cuppa_row row = {staged ? staging : stored, staged ? CUPPA_THREADS : 1};
        if (staged)
            for (gd_u64 i = 0; i < edge; i++) row.entries[i * CUPPA_THREADS] = stored[i];
        for (; edge < degree; edge++) {
            const index_t found = target(row, edge, (cuppa_vertex)vertex + degree);
            if (found < 0) break;
            if (staged) row.entries[edge * CUPPA_THREADS] = found;
            *(volatile index_t *)(stored + edge) = found;
        }
        return edge;
    }

    __device__ __forceinline__ gd_u64 next_edge(gd_u64 vertex) const {
        gd_u64 edge = 0;
        while (edge < degree && out[vertex * degree + edge] >= 0) edge++;
        return edge;
    }
};

// The waiting vertices of one thread.
struct cuppa_queue {
    index_t *shared;   // entries CUPPA_THREADS apart
    index_t *staging;  // the row in work, likewise
    int shared_capacity, held;
    index_t spilled;  // the first vertex of the list, or -1
    gd_count length;

    __device__ __forceinline__ void push(gd_u64 vertex, const cuppa_model &model) {
        length++;
        if (held < shared_capacity) {
            shared[held++ * CUPPA_THREADS] = (index_t)vertex;
        } else {
            *(volatile index_t *)(model.out + (vertex + 1) * model.degree - 1) = -2 - spilled;
            spilled = (index_t)vertex;
        }
    }
};

// What one thread adds to a row of the log.
struct cuppa_tally {
    gd_count vertices = 0, waiting = 0, held = 0, finished = 0;

    __device__ void add(const cuppa_model &model, gd_u64 vertex, gd_u64 edge) {
        vertices++;
        waiting++;
        const cuppa_vertex v = (cuppa_vertex)vertex + model.degree;
        for (gd_u64 later = edge + 1; later < model.degree; later++) {
            const bool waits = model.candidate((gd_u64)v * model.degree + later, 0, v) < 0;
            waiting += waits;
            held += !waits;
        }
    }

    __device__ void write(gd_count *row, gd_u64 first, gd_u64 stop, gd_u64 pass) const {
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            row[FIRST] = first;
            row[STOP] = stop;
            row[PASS] = pass;
        }
        if (vertices) {
            atomicAdd(row + VERTICES, vertices);
            atomicAdd(row + WAITING, waiting);
            atomicAdd(row + HELD, held);
            atomicMax(row + MOST, waiting);
        }
        if (finished) atomicAdd(row + FINISHED, finished);
    }
};

// Try a vertex from `edge` on; queue it if it must wait still.
__device__ __forceinline__ void cuppa_try(const cuppa_model &model, cuppa_queue &queue, cuppa_tally &tally, bool logged,
                                          gd_u64 vertex, gd_u64 edge) {
    const gd_u64 reached = model.visit(vertex, edge, queue.staging);
    tally.finished += reached - edge;
    if (reached < model.degree) {
        if (logged) tally.add(model, vertex, reached);
        queue.push(vertex, model);
    }
}

extern "C" __global__ void __launch_bounds__(CUPPA_THREADS)
cuppa_targets(long long n, long long threads, long long segment, long long factor, long long capacity, long long rows,
              CopyTargets a) {
    __shared__ index_t queues[CUPPA_QUEUE * CUPPA_THREADS];
    __shared__ index_t staged_rows[CUPPA_STAGED * CUPPA_THREADS];
    const cuppa_model model(a.degree, a.threshold, a.seed, a.attempts, a.out);
    const long long launched = (long long)gridDim.x * CUPPA_THREADS;
    const long long me = (long long)blockIdx.x * CUPPA_THREADS + threadIdx.x;
    if (threads <= 0 || threads > launched) threads = launched;
    cuppa_queue queue;
    queue.shared = queues + threadIdx.x;
    queue.staging = staged_rows + threadIdx.x;
    queue.shared_capacity = capacity < CUPPA_QUEUE ? (int)capacity : CUPPA_QUEUE;

    long long size = segment > 0 ? segment : factor > 1 ? threads : queue.shared_capacity * threads;
    gd_count round = 0, row = 0, segments = 0;
    for (long long first = 0; first < n; segments++) {
        const long long stop = n - first < size ? n : first + size;
        queue.held = 0;
        queue.spilled = -1;
        queue.length = 0;
        cuppa_tally tally;
        if (me < threads)
            for (long long vertex = first + me; vertex < stop; vertex += threads)
                cuppa_try(model, queue, tally, row < (gd_count)rows, vertex, 0);
        if (row < (gd_count)rows) tally.write(a.log + row * COLUMNS, first, stop, 0);
        row++;
        const gd_count longest = gd_grid_max(queue.length, a.state, round++);

        gd_count left = longest;
        for (gd_u64 pass = 1; left; pass++) {
            if (pass > (gd_u64)(stop - first)) {  // so all threads leave together
                gd_fail(3);
                return;
            }
            const int held = queue.held;
            index_t next = queue.spilled;
            queue.held = 0;
            queue.spilled = -1;
            queue.length = 0;
            tally = cuppa_tally();
            for (int i = 0; i < held; i++) {
                const gd_u64 vertex = queue.shared[i * CUPPA_THREADS];
                cuppa_try(model, queue, tally, row < (gd_count)rows, vertex, model.next_edge(vertex));
            }
            while (next >= 0) {
                const gd_u64 vertex = next;
                next = -2 - a.out[(vertex + 1) * a.degree - 1];
                cuppa_try(model, queue, tally, row < (gd_count)rows, vertex, model.next_edge(vertex));
            }
            if (row < (gd_count)rows) tally.write(a.log + row * COLUMNS, first, stop, pass);
            row++;
            left = gd_grid_max(queue.length, a.state, round++);
        }
        first = stop;
        if (factor > 1 && longest * factor <= (gd_count)queue.shared_capacity) size = size > n / factor ? n : size * factor;
    }
    if (me == 0) {
        a.state[PASSES] = row;
        a.state[SEGMENTS] = segments;
    }
}

extern "C" __global__ void __launch_bounds__(CUPPA_THREADS)
cuppa_check(long long n, long long degree, gd_u64 threshold, gd_u64 seed, long long attempts, index_t *out,
            long long *first_bad) {
    const cuppa_model model(degree, threshold, seed, attempts, out);
    GD_FOR(vertex, n) {
        const cuppa_row row = {out + vertex * model.degree, 1};
        for (gd_u64 edge = 0; edge < model.degree; edge++) {
            const index_t found = model.target(row, edge, (cuppa_vertex)vertex + model.degree);
            if (found != row.entries[edge] || found < 0) {
                gd_atomic_min(first_bad, (long long)(vertex * model.degree + edge));
                break;
            }
        }
    }
}
