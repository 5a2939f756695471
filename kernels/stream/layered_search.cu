// A search over the rows of a layered edge list in place, in page-locked host memory: no chunk is copied; a kernel
// reads the rows that it needs over the bus. A level is pushed along the rows of its vertices, and each of these is
// read once. If they have many edges, the level is pulled: each unreached vertex searches for its first neighbour of
// the level, most often in the first 32 bytes of its row. All levels run in one launch, whose blocks wait for each
// other. Adjacent rows are read as one. After Beamer, Asanovic, Patterson, Direction-optimizing breadth-first search
// (2012). Twin and arguments: layered_search.py.
#include "common/grid.cuh"
#include "stream/in_place.cuh"
#include "common/rows.cuh"

#include "stream/layered_search_pack.py"

#define NONE 0x7fffffffffffffffLL
#define AHEAD 4    // edges that a thread loads before it uses the first
#define PULL 4     // a level is pulled if its edges, so many times, are more than those of unreached vertices
#define ALONE 64   // edges from the line on in which a row begins, that a thread scans before a warp takes the row

// Rows and labels, and what a thread has counted.
struct Search {
    Rows rows;
    long long vertices;
    const index_t *ids;
    long long *labels;
    SearchCounts *counts;
    index_t *reached;  // where those that are reached are listed, if they are
    long long depth;
    number found, edges, worked, looked, sectors;

    // A label of a level before is seen by volatile reads only.
    __device__ __forceinline__ long long label(long long v) const { return *(volatile long long *)(labels + v); }
    __device__ __forceinline__ bool at_level(long long v) const { return label(v) >> 32 == depth; }
    __device__ __forceinline__ long long label_from(long long row) const {
        return (depth + 1) << 32 | (ids ? (long long)ids[row] : row);
    }
    __device__ __forceinline__ const index_t *where(long long row) const {
        return rows.where(row, counts->missing + depth % 3);
    }
    // Offer a label along an edge, if there is one; all lanes of a warp call it together.
    __device__ __forceinline__ void offer(index_t v, long long offered) {
        bool first = false;
        if (v >= 0 && offered < labels[v] && offered < label(v)) first = atomicMin(labels + v, offered) == NONE;
        if (reached) {
            const unsigned mask = __ballot_sync(0xffffffffu, first);
            if (!mask) return;
            const int lane = threadIdx.x & 31, leader = __ffs(mask) - 1;
            number base = 0;
            if (lane == leader) base = atomicAdd(counts->found + (depth + 1) % 3, (number)__popc(mask));
            base = __shfl_sync(0xffffffffu, base, leader);
            if (first) reached[base + __popc(mask & ((1u << lane) - 1))] = v;
        }
        if (first) {
            if (!reached) found++;
            edges += rows.degree(v);
        }
    }
    // Add part of the counts to the state, which all blocks see; all threads call it.
    __device__ __forceinline__ void add_counts() {
        gd_add(found, counts->found + (depth + 1) % 3);
        gd_add(edges, counts->edges + (depth + 1) % 3);
        found = edges = 0;
    }
};

// Push the rows at this level, of all positions or of a list. Rows of many edges go to `hubs`.
__device__ __forceinline__ void push(Search &s, long long n, const index_t *list, index_t *hubs) {
    __shared__ number first[GD_ROWS];  // addresses
    __shared__ int scan[GD_ROWS + 1];
    __shared__ int lead[GD_ROWS], degree[GD_ROWS];
    __shared__ long long label[GD_ROWS];
    const int t = threadIdx.x;
    for (long long base = (long long)blockIdx.x * GD_ROWS; base < n; base += (long long)gridDim.x * GD_ROWS) {
        degree[t] = 0;
        first[t] = 0;
        if (base + t < n) {
            const long long row = list ? (long long)((volatile const index_t *)list)[base + t] : base + t;
            const unsigned int length = s.rows.degree(row);
            if (length && (list || s.at_level(row))) {
                const index_t *const at = s.where(row);
                if (at && length > GD_HUB) {
                    hubs[gd_reserve(s.counts->hubs + s.depth % 3)] = (index_t)row;
                } else if (at) {
                    first[t] = (number)at;
                    degree[t] = (int)length;
                    label[t] = s.label_from(row);
                    s.worked++;
                    s.looked += length;
                }
            }
        }
        __syncthreads();
        int items = 0;
        if (degree[t]) {
            const index_t *const begin = (const index_t *)first[t], *const end = begin + degree[t];
            const bool before = t && degree[t - 1] && (const index_t *)first[t - 1] + degree[t - 1] == begin;
            const bool after = t + 1 < GD_ROWS && degree[t + 1] && (const index_t *)first[t + 1] == end;
            lead[t] = before ? 0 : place_in(begin, LINE);
            items = lead[t] + degree[t] + (after ? 0 : (LINE - place_in(end, LINE)) % LINE);
            s.sectors += sectors_of(begin, degree[t], before);
        }
        scan[t + 1] = items;
        if (t == 0) scan[0] = 0;
        gd_scan(scan);
        const int total = scan[GD_ROWS];  // whole lines, so that a warp reads one line at a time
        for (int begin = 0; begin < total; begin += AHEAD * GD_ROWS) {
            index_t v[AHEAD];
            int row[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                const int item = begin + k * GD_ROWS + t;
                v[k] = -1;
                row[k] = 0;
                if (item < total) {
                    row[k] = gd_row_of(scan, item);
                    const int edge = item - scan[row[k]] - lead[row[k]];
                    if (edge >= 0 && edge < degree[row[k]]) v[k] = ((const index_t *)first[row[k]])[edge];
                }
            }
#pragma unroll
            for (int k = 0; k < AHEAD; k++) s.offer(v[k], label[row[k]]);
        }
        __syncthreads();
    }
}

// Push the rows of many edges, which all blocks share.
__device__ __forceinline__ void push_hubs(Search &s, const index_t *hubs, long long count) {
    __shared__ int scan[GD_ROWS + 1];
    const int t = threadIdx.x;
    long long dealt = 0;
    for (long long base = 0; base < count; base += GD_ROWS) {
        int parts = 0;
        if (base + t < count) {
            const long long row = ((volatile const index_t *)hubs)[base + t], length = s.rows.degree(row);
            const index_t *const first = s.where(row);
            parts = (int)((place_in(first, LINE) + length + GD_CHUNK - 1) / GD_CHUNK);
            if (blockIdx.x == 0) {
                s.worked++;
                s.looked += (number)length;
                s.sectors += sectors_of(first, length, false);
            }
        }
        scan[t + 1] = parts;
        if (t == 0) scan[0] = 0;
        gd_scan(scan);
        const int total = scan[GD_ROWS];
        for (int c = (int)((blockIdx.x + gridDim.x - dealt % gridDim.x) % gridDim.x); c < total; c += gridDim.x) {
            const int h = gd_row_of(scan, c);
            const long long row = ((volatile const index_t *)hubs)[base + h], length = s.rows.degree(row);
            const long long label = s.label_from(row);
            const index_t *const first = s.where(row);
            const long long begin = (long long)(c - scan[h]) * GD_CHUNK - place_in(first, LINE);
            index_t v[GD_CHUNK / GD_ROWS];
#pragma unroll
            for (int k = 0; k < GD_CHUNK / GD_ROWS; k++) {
                const long long edge = begin + k * GD_ROWS + t;
                v[k] = edge >= 0 && edge < length ? first[edge] : -1;
            }
#pragma unroll
            for (int k = 0; k < GD_CHUNK / GD_ROWS; k++) s.offer(v[k], label);
        }
        dealt += total;
        __syncthreads();
    }
}

// Each unreached vertex searches for its first neighbour at this level; rows are in the order of vertex numbers.
__device__ __forceinline__ void pull(Search &s) {
    __shared__ number first[GD_ROWS];  // addresses
    __shared__ index_t waiting[GD_ROWS];
    __shared__ int count;
    const int t = threadIdx.x, lane = t & 31;
    for (long long base = (long long)blockIdx.x * GD_ROWS; base < s.vertices; base += (long long)gridDim.x * GD_ROWS) {
        if (t == 0) count = 0;
        __syncthreads();
        const long long u = base + t;
        const long long length = u < s.vertices && s.label(u) == NONE ? (long long)s.rows.degree(u) : 0;
        const index_t *const at = length ? s.where(u) : nullptr;
        if (at) {
            const long long alone = min(length, (long long)ALONE - place_in(at, LINE));
            long long next = 0, hit = -1;
            while (hit < 0 && next < alone) {
                const int begin = place_in(at + next, SECTOR);
                const int end = (int)min(alone - next + begin, (long long)SECTOR);
                Sector sector;
                bool here[SECTOR];
                sector.read(at + next, begin, end);
#pragma unroll
                for (int k = 0; k < SECTOR; k++) here[k] = k >= begin && k < end && s.at_level(sector[k]);
#pragma unroll
                for (int k = SECTOR - 1; k >= 0; k--)
                    if (here[k]) hit = sector[k];
                s.looked += (number)(end - begin);
                s.sectors++;
                next += end - begin;
            }
            s.worked++;
            if (hit >= 0) {
                s.labels[u] = s.label_from(hit);
                s.found++;
                s.edges += (number)length;
            } else if (next < length) {
                const int place = atomicAdd(&count, 1);
                first[place] = (number)at;
                waiting[place] = (index_t)u;
            }
        }
        __syncthreads();
        for (int k = t / 32; k < count; k += GD_ROWS / 32) {
            const long long v = waiting[k], degree = s.rows.degree(v);
            const index_t *const row = (const index_t *)first[k];
            for (long long next = ALONE - place_in(row, LINE); next < degree; next += LINE) {
                const index_t other = next + lane < degree ? row[next + lane] : -1;
                const unsigned hits = __ballot_sync(0xffffffffu, other >= 0 && s.at_level(other));
                if (lane == 0) {
                    s.looked += (number)min((long long)LINE, degree - next);
                    s.sectors += sectors_of(row + next, min((long long)LINE, degree - next), false);
                }
                if (!hits) continue;
                if (lane == __ffs(hits) - 1) {
                    s.labels[v] = s.label_from(other);
                    s.found++;
                    s.edges += (number)degree;
                }
                break;
            }
        }
        __syncthreads();
    }
}

// Each count has three places: one is in use, one is counted in, and the next is cleared; its readers have passed a
// barrier.
extern "C" __global__ void layered_search(long long n, SearchThere a) {
    const bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
    SearchCounts *const counts = a.counters;
    Search s{{a.chunks, a.firsts, a.begins, a.bases, a.ends, a.asked}, n, a.ids, a.labels, counts, nullptr,
             (long long)counts->depth, 0, 0, 0, 0, 0};
    bool listed = counts->listed != 0, stopped = false;
    number left = counts->left;
    gd_grid_barrier(&counts->arrived);
    while (!stopped) {
        const int now = s.depth % 3, after = (s.depth + 2) % 3;
        const long long found = *(volatile long long *)(counts->found + now);
        const number edges = *(volatile number *)(counts->edges + now), rest = left - edges;
        if (!found) break;
        if (first_thread)
            counts->found[after] = counts->edges[after] = counts->hubs[after] = counts->missing[after] = 0;
        const bool pulled = a.pulls && edges * PULL > rest, lists = !pulled && edges <= (number)a.capacity;
        s.reached = lists ? a.queues + (s.depth + 1) % 2 * a.capacity : nullptr;
        if (pulled) pull(s);
        else push(s, listed ? found : n, listed ? a.queues + s.depth % 2 * a.capacity : nullptr, a.hubs);
        s.add_counts();
        gd_grid_barrier(&counts->arrived);
        if (const long long many = *(volatile long long *)(counts->hubs + now)) {
            push_hubs(s, a.hubs, many);
            s.add_counts();
            gd_grid_barrier(&counts->arrived);
        }
        stopped = *(volatile number *)(counts->missing + now) != 0;
        if (stopped) break;
        left = rest;
        listed = lists;
        s.depth++;
    }
    if (first_thread) {
        counts->depth = (number)s.depth;
        counts->listed = listed;
        counts->left = left;
    }
    gd_add(s.worked, &counts->worked);
    gd_add(s.looked, &counts->looked);
    gd_add(s.sectors, &counts->sectors);
}
