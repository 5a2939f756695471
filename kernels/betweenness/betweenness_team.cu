// Betweenness by the GPUs of a host together: one launch on each takes a batch of sources forward through all levels
// and back again (team.cuh). Levels, sums and their order are those of betweenness.cuh: a vertex only reads its
// neighbours, so what remains is to send to the ranks that hold ghosts of a level that its vertices are in the
// frontier, and what they give. Owners write values, and masks where there are several lanes, straight into the peers'
// tables, at the slots of the ghosts; and bits beside them, which each rank then puts into the bitmap of its frontier.
//
// A step reads the frontier, finds and sums, and the ranks meet: nobody reads the frontier any more, and all know what
// was found. Then they exchange it, and meet again. Where few edges lead out of the frontier, owners are first notified
// of the ghosts at their ends, as in graphdask.engine.candidates, with one more meeting.
//
// Hosts that carry messages (graphdask.comm.relay) carry lists of vertices and values instead, of one lane.
//
// Levels have two bitmaps in turn, of which the other is cleared while nobody looks; steps have two rows of counters.
// What the next launch has to know of a level stands in the table of levels.
#include "betweenness/betweenness_pack.py"
#include "betweenness/betweenness.cuh"
#include "common/team.cuh"
#include "betweenness/betweenness_step.cuh"

struct Batch {
    Team team;
    const long long *row;
    Queue<index_t> *own, *others;
    gd_count *agreed;
    long long lanes, hub;

    __device__ __forceinline__ index_t *ids_at(int field) const { return (index_t *)row[field]; }
    __device__ __forceinline__ const long long *indptr_at(int field) const { return (const long long *)row[field]; }
    __device__ __forceinline__ double *table(int field) const { return (double *)row[field]; }
    __device__ __forceinline__ mask_t *masks_at(int field) const { return (mask_t *)row[field]; }
    __device__ __forceinline__ unsigned int *bits(long long level) const {
        return (unsigned int *)row[BITS + (int)(level & 1)];
    }
    __device__ __forceinline__ StepCounts *counters(long long level) const {
        return (StepCounts *)((gd_count *)row[COUNTERS] + (level & 1) * BC_ROW);
    }
    __device__ __forceinline__ gd_count *votes() const { return (gd_count *)row[VOTES]; }
    __device__ __forceinline__ volatile gd_count *entry(long long level) const {
        return (volatile gd_count *)row[LEVELS] + level * LEVEL_WORDS;
    }
    __device__ __forceinline__ long long begin(long long level) const {
        return level ? (long long)entry(level - 1)[ENDS] : 0;
    }
    __device__ __forceinline__ long long count(long long level) const {
        return (long long)entry(level)[ENDS] - begin(level);
    }
    __device__ __forceinline__ index_t *rows(long long level) const { return ids_at(ROWS) + begin(level); }
    __device__ __forceinline__ mask_t *masks(long long level) const { return masks_at(MASKS) + begin(level); }
    // Vertices that are left after so many looks at all of them.
    __device__ __forceinline__ index_t *left(long long looks) const {
        return ids_at(LEFTS + (looks ? 1 + (int)(looks & 1) : 0));
    }
    // The thread that leads says what this rank has in a level.
    __device__ __forceinline__ void vote(gd_count found, gd_count edges, gd_count waiting, gd_count of_lanes) const {
        volatile gd_count *const mine = votes();
        mine[FOUND] = found;
        mine[OUT_EDGES] = edges;
        mine[LEFT] = waiting;
        for (int q = 0; q < team.size; q++) mine[TEAM_TO + q] = of_lanes;
    }
    // The lanes of all ranks, once they have met.
    __device__ __forceinline__ gd_count all_lanes() const {
        gd_count of_all = 0;
        for (int q = 0; q < team.size; q++) of_all |= agreed[TEAM_TO + q];
        return of_all;
    }

    // The leader has the votes of what ranks send ready for the next time.
    __device__ __forceinline__ void forget_reported() const {
        if (team.leads())
            for (int i = 0; i < TEAM_WORDS; i++) ((volatile gd_count *)row[REPORTED])[i] = 0;
    }

    // Find who is at the ends of the edges out of the frontier, with the help of all.
    GD_PHASE bool push(long long level, unsigned long long alive, StepCounts *next) {
        const long long *const indptr = indptr_at(INDPTR);
        gd_count *const reported = (gd_count *)row[REPORTED];
        const Ends ends{ids_at(INDICES), masks_at(SEEN), {bits(level), masks_at(FRONTIER), nullptr, (lanes_t)alive, 0},
                        row[ROW_OWNED], (unsigned int *)row[CHOSEN], ids_at(CANDIDATES), ids_at(GHOST_QUEUE), next, own,
                        others};
        gd_for_all_edges(count(level), (const index_t *)rows(level), indptr, ids_at(LONG_ROWS), &next->long_rows,
                         &next->edges, ends, [&] { team.barrier(); });
        team.notify_owners<index_t, Nothing>(LISTS, (long long)team.read(&next->ghosts), ids_at(GHOST_QUEUE), reported,
                                           TEAM_SENT, [](index_t) { return Nothing{}; });
        if (!team.meet(reported, agreed)) return false;
        if (agreed[TEAM_SENT])
            team.take_reported<index_t, Nothing>(LISTS, agreed, [&](index_t v, Nothing) { ends.take(v); },
                                             [&](bool all) { ends.flush(all); });
        team.barrier();
        forget_reported();
        return true;
    }
    __device__ __forceinline__ void forget(const index_t *listed, long long count) const {
        unsigned int *const chosen = (unsigned int *)row[CHOSEN];
        GD_FOR(i, count) chosen[listed[i] >> 5] = 0;  // whoever else writes there writes the same
    }
    // The rows that are in the next level. What all threads are given stands in shared memory, for want of registers.
    __device__ __forceinline__ Reach reached(long long level, long long n, const index_t *looking, long long looks,
                                             unsigned long long alive, StepCounts *next) const {
        const long long at = (long long)entry(level)[ENDS];
        return Reach{n, looking, indptr_at(IN_INDPTR), ids_at(IN_INDICES), indptr_at(INDPTR),
                     {bits(level), masks_at(FRONTIER), nullptr, (lanes_t)alive, 0}, masks_at(SEEN), ids_at(ROWS) + at,
                     masks_at(MASKS) + at, left(looks + 1), hub, ids_at(HUB_ROWS), next};
    }
    GD_PHASE void reach(long long level, long long n, const index_t *looking, long long looks, unsigned long long alive,
                        StepCounts *next) const {
        __shared__ Reach work;
        if (threadIdx.x == 0) work = reached(level, n, looking, looks, alive, next);
        __syncthreads();
        work.find();
        team.barrier();
        if (!team.read(&next->hubs)) return;
        work.find_hubs();
        team.barrier();
    }
    // Sum what a frontier gives to n rows over edges from `edges` on: INDPTR or IN_INDPTR.
    __device__ __forceinline__ Gather gather(long long n, const index_t *rows, const mask_t *masks, int edges,
                                             long long frontier, unsigned long long shown, int out, StepCounts *next) const {
        return Gather{n, rows, masks, indptr_at(edges), ids_at(edges + 1),
                      {bits(frontier), masks_at(FRONTIER), table(VALUE), (lanes_t)shown, __popcll(shown)}, lanes, table(out),
                      hub, ids_at(CHUNKS), table(PARTIAL), next};
    }
    template <bool one> GD_PHASE void sum_rows(const Gather &work) const { work.sum<one>(); }
    GD_PHASE void sum_chunks(const Gather &work) const {
        work.sum_chunks();
        team.barrier();
        work.add_chunks();
        team.barrier();
    }
    __device__ __forceinline__ void sum(long long n, const index_t *rows, const mask_t *masks, int edges,
                                        long long frontier, unsigned long long shown, int out, StepCounts *next) const {
        __shared__ Gather work;
        if (threadIdx.x == 0) work = gather(n, rows, masks, edges, frontier, shown, out, next);
        __syncthreads();
        if (shown & (shown - 1)) sum_rows<false>(work);
        else sum_rows<true>(work);
        team.barrier();
        if (team.read(&next->chunks)) sum_chunks(work);
    }
    GD_PHASE void show_paths(long long n, const index_t *rows, const mask_t *masks, long long level,
                             unsigned long long shown) const {
        bc_put_paths(n, rows, masks, table(SIGMA), lanes, shown, bits(level), masks_at(FRONTIER), table(VALUE));
    }
    GD_PHASE void show_dependencies(long long level, bool last) const {
        bc_put_dependencies(count(level), rows(level), masks(level), table(SIGMA), table(DELTA), lanes,
                            entry(level)[LEVEL_LANES], last, table(SCORE), bits(level), masks_at(FRONTIER), table(VALUE));
    }

    // Make the counters of a step ready that comes, once nobody has to read what the last but one left there.
    __device__ __forceinline__ void clear(long long level) const {
        if (blockIdx.x == 0 && threadIdx.x < BC_ROW) ((volatile gd_count *)counters(level))[threadIdx.x] = 0;
    }
    // Write to who holds ghosts of this level what these have to show.
    GD_PHASE void send_values(long long level, unsigned long long shown, StepCounts *next) {
        const unsigned int *const mine = bits(level);
        const mask_t *const frontier = masks_at(FRONTIER);
        const double *const value = table(VALUE);
        const int lane = threadIdx.x & 31, columns = __popcll(shown);
        const long long warps = (long long)gridDim.x * blockDim.x / 32;
        const long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
        gd_count sent = 0;
        for (int step = 1; step < team.size; step++) {
            const long long held = row[ROW_HELD + step], words = (held + 31) / 32;
            const index_t *const mirror = ids_at(ROW_MIRRORS + step);
            unsigned int *const out = (unsigned int *)row[ROW_OUT + WORDS * TEAM_RANKS + step];
            double *const values = table(VALUES_OUT + step) + row[FIRST_OUT + step] * columns;
            mask_t *const frontiers = masks_at(FRONTIERS_OUT + step);
            team.reported += (gd_count)(4 * words);
            for (long long base = warp; 32 * base < words; base += warps) {
                unsigned int kept = 0;
                for (int j = 0; j < 32; j += BC_AT_ONCE) {
                    index_t v[BC_AT_ONCE];
#pragma unroll
                    for (int k = 0; k < BC_AT_ONCE; k++) {
                        const long long i = 32 * (32 * base + j + k) + lane;
                        v[k] = i < held ? (mirror ? mirror[i] : (index_t)i) : -1;
                    }
#pragma unroll
                    for (int k = 0; k < BC_AT_ONCE; k++) {
                        const long long first = 32 * (32 * base + j + k);
                        const bool there = v[k] >= 0 && gd_bit(mine, v[k]);
                        const unsigned int word = __ballot_sync(BC_WARP, there);
                        if (lane == j + k) kept = word;
                        sent += there;
                        if (columns == 1) {
                            if (there) values[first + lane] = value[v[k]];
                            continue;
                        }
                        if (there) frontiers[first + lane] = frontier[v[k]];
                        for (unsigned int rest = word; rest; rest &= rest - 1) {
                            const int from = __ffs((int)rest) - 1;
                            const index_t u = __shfl_sync(BC_WARP, v[k], from);
                            for (int c = lane; c < columns; c += 32)
                                values[(first + from) * columns + c] = value[(long long)u * columns + c];
                        }
                    }
                }
                if (32 * base + lane < words) out[32 * base + lane] = kept;
            }
        }
        gd_add(sent, &next->sent);
        clear(level + 1);
    }
    // The same where hosts carry it, for one lane: a list of the vertices of this level, by their places among the ghosts
    // of the receiver, and of their values. A warp takes 1,024 places at a time.
    GD_PHASE void send_list(long long level, StepCounts *next) {
        const unsigned int *const mine = bits(level);
        const double *const value = table(VALUE);
        gd_count *const reported = (gd_count *)row[REPORTED];
        const int lane = threadIdx.x & 31;
        const long long warps = (long long)gridDim.x * blockDim.x / 32;
        const long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
        gd_count sent = 0;
        team.sends(SENT_LISTS, WORDS, Entries<index_t, double>::bytes);
        for (int step = 1; step < team.size; step++) {
            const long long held = row[ROW_HELD + step], words = (held + 31) / 32;
            const index_t *const mirror = ids_at(ROW_MIRRORS + step);
            const Entries<index_t, double> list{team.out(WORDS, step)};
            for (long long base = warp; 32 * base < words; base += warps) {
                const long long first = 32 * 32 * base;
                unsigned int kept = 0;
                for (int j = 0; j < 32; j++) {
                    const long long i = first + 32 * j + lane;
                    const bool there = i < held && gd_bit(mine, mirror ? mirror[i] : (index_t)i);
                    const unsigned int word = __ballot_sync(BC_WARP, there);
                    if (lane == j) kept = word;
                }
                const int own = __popc(kept);
                int before = own;  // of the lanes before this one, and its own
                for (int d = 1; d < 32; d *= 2) {
                    const int of_them = __shfl_up_sync(BC_WARP, before, d);
                    if (lane >= d) before += of_them;
                }
                const int total = __shfl_sync(BC_WARP, before, 31);
                if (!total) continue;
                gd_count at = 0;
                if (lane == 0) at = atomicAdd(reported + TEAM_TO + (team.rank + step) % team.size, (gd_count)total);
                at = __shfl_sync(BC_WARP, at, 0);
                before -= own;
                for (int j = 0; j < 32; j++) {
                    const unsigned int word = __shfl_sync(BC_WARP, kept, j);
                    const int begin = __shfl_sync(BC_WARP, before, j);
                    if (!(word >> lane & 1u)) continue;
                    const long long i = first + 32 * j + lane;
                    const long long place = (long long)at + begin + __popc(word & ((1u << lane) - 1));
                    list.value(place) = value[mirror ? mirror[i] : (index_t)i];
                    list.place(place) = (index_t)i;
                    sent++;
                }
            }
        }
        gd_add(sent, &next->sent);
        clear(level + 1);
    }
    // Take it in.
    GD_PHASE void take_list(long long level) {
        unsigned int *const frontier = bits(level);
        double *const value = table(VALUE);
        for (int step = 1; step < team.size; step++) {
            const long long first = row[ROW_BOUNDS + step];
            const long long count = (long long)agreed[TEAM_TO + (team.rank + step) % team.size];
            const Entries<index_t, double> list{team.in(WORDS, step)};
            GD_FOR(i, count) {
                const index_t v = (index_t)(first + list.place(i));
                value[v] = list.value(i);
                gd_set_bit(frontier, v);
            }
        }
        forget_reported();
        forget_other(level);
    }
    // Nobody is in the other bitmap.
    __device__ __forceinline__ void forget_other(long long level) {
        unsigned int *const other = bits(level + 1);
        const long long words = (row[ROW_BOUNDS + team.size] + 31) / 32;
        GD_FOR(w, words) other[w] = 0;
        team.barrier();
    }
    // Put the ghosts that this rank was notified of into the bitmap, and nobody into the other one.
    GD_PHASE void take(long long level) {
        for (int step = 1; step < team.size; step++) {
            const long long first = row[ROW_BOUNDS + step], held = row[ROW_BOUNDS + step + 1] - first;
            const unsigned int *const in = (const unsigned int *)row[ROW_IN + WORDS * TEAM_RANKS + step];
            unsigned int *const out = bits(level);
            GD_FOR(w, (held + 31) / 32) gd_set_word(out, first, held, in, w);
        }
        forget_other(level);
    }
    // Vote what a level has, and notify the ranks that hold ghosts of it.
    __device__ __forceinline__ bool send_found(long long level, StepCounts *next) {
        return team.exchange([&] {
            if (team.leads())
                for (int i = FOUND; i <= LEFT; i++) ((volatile gd_count *)row[REPORTED])[i] = votes()[i];
            send_list(level, next);
            if (!team.meet((const gd_count *)row[REPORTED], agreed)) return false;
            if (agreed[FOUND] == 0) forget_reported();
            return true;
        });
    }
    __device__ __forceinline__ bool share(long long level, unsigned long long shown, StepCounts *next) {
        return team.exchange([&] {
            if (team.relayed()) {
                send_list(level, next);
                if (!team.meet((const gd_count *)row[REPORTED], agreed)) return false;
                take_list(level);
                return true;
            }
            send_values(level, shown, next);
            if (!team.meet(votes(), agreed)) return false;
            take(level);
            return true;
        });
    }
};

extern "C" __global__ void __launch_bounds__(256, 4)
betweenness_team(long long n, const long long *rows, long long row_words, long long level, long long back,
                 long long looks, long long most, long long lanes, unsigned long long all, long long push,
                 long long many, long long hub) {
    __shared__ Queue<index_t> own, others;
    __shared__ gd_count agreed[TEAM_VOTES];
    own.open();
    others.open();
    const long long *const row = rows + blockIdx.y * row_words;
    Batch batch{Team(row), row, &own, &others, agreed, lanes, hub};
    Team &team = batch.team;
    const bool leads = team.leads(), begins = level == 0 && back < 0;
    if (begins) batch.show_paths(batch.count(0), batch.rows(0), batch.masks(0), 0, all);
    if (leads)
        batch.vote((gd_count)batch.count(level), batch.entry(level)[LEVEL_EDGES], batch.entry(level)[LEVEL_LEFT], 0);
    bool fine = team.meet(batch.votes(), agreed), done = false;
    gd_count out_edges = agreed[OUT_EDGES], waiting = agreed[LEFT];  // of the frontier of all ranks
    if (fine && begins) fine = batch.share(0, all, batch.counters(0));
    long long steps = 0;
    while (fine && !done && steps < most) {
        const gd_count began = gd_nanoseconds();
        const long long here = back < 0 ? level : back;  // what is in the frontier, or comes into it on the way back
        StepCounts *const next = batch.counters(back < 0 ? level + 1 : back);
        unsigned long long shown;
        if (back < 0) {
            const unsigned long long before = level ? batch.entry(level - 1)[LEVEL_LANES] : all;
            const long long at = (long long)batch.entry(level)[ENDS];
            const bool pushes = out_edges * (gd_count)push <= waiting && waiting >= (gd_count)many;
            const index_t *looking = batch.left(looks);
            long long count = (long long)batch.entry(level)[LEVEL_LEFT];
            shown = batch.entry(level)[LEVEL_LANES];
            if (pushes) {
                fine = batch.push(level, shown, next);
                if (!fine) break;
                looking = batch.ids_at(CANDIDATES);
                count = (long long)team.read(&next->chosen);
            }
            batch.reach(level, count, looking, looks, shown, next);
            const long long found = (long long)team.read(&next->found);
            const index_t *const reached = batch.ids_at(ROWS) + at;
            const mask_t *const masks = batch.masks_at(MASKS) + at;
            batch.sum(found, reached, masks, IN_INDPTR, level, before, SIGMA, next);
            batch.show_paths(found, reached, masks, level + 1, shown);
            const gd_count left = pushes ? batch.entry(level)[LEVEL_LEFT] : team.read(&next->left);
            if (pushes) {
                batch.forget(looking, count);
                batch.forget(batch.ids_at(GHOST_QUEUE), (long long)team.read(&next->ghosts));
            } else {
                looks++;
            }
            if (leads) batch.vote((gd_count)found, team.read(&next->out_edges), left, team.read(&next->lanes));
            if (team.relayed()) {  // votes and values go together
                team.barrier();
                fine = batch.send_found(level + 1, next);
            } else {
                fine = team.meet(batch.votes(), agreed);
            }
            if (!fine) break;
            if (agreed[FOUND] == 0) {
                back = level;
                done = level == 0;
                batch.clear(level);
            } else {
                out_edges = agreed[OUT_EDGES];
                waiting = agreed[LEFT];
                const gd_count lanes_of_it = team.relayed() ? (gd_count)all : batch.all_lanes();
                level++;
                if (leads) {
                    volatile gd_count *const entry = batch.entry(level);
                    entry[ENDS] = (gd_count)(at + found);
                    entry[LEVEL_EDGES] = team.read(&next->out_edges);
                    entry[LEVEL_LEFT] = left;
                    entry[LEVEL_LANES] = lanes_of_it;
                }
                if (team.relayed()) batch.take_list(level);
                else fine = batch.share(level, shown, next);
            }
        } else {
            shown = batch.entry(back)[LEVEL_LANES];
            if (back < level) {
                batch.sum(batch.count(back), batch.rows(back), batch.masks(back), INDPTR, back + 1,
                              batch.entry(back + 1)[LEVEL_LANES], DELTA, next);
                if (leads) *(volatile gd_count *)&next->edges = batch.entry(back)[LEVEL_EDGES];
            }
            batch.show_dependencies(back, back == level);
            done = back == 1;  // the sources, which come next, do not score
            if (!done && team.relayed()) {  // what arrives is in nobody's way
                team.barrier();
                fine = batch.share(back, shown, next);
            } else if (!done) {
                fine = team.meet(batch.votes(), agreed) && batch.share(back, shown, next);
            }
            back--;
        }
        if (leads) {
            const gd_count sent = team.read(&next->sent), ghosts = team.read(&next->ghosts), columns = __popcll(shown);
            team.log(steps, began, 0, (gd_count)batch.count(here), team.read(&next->edges), sent + ghosts,
                     sent * (8 * columns + (columns > 1) * sizeof(mask_t)) + ghosts * sizeof(index_t));
        }
        steps++;
    }
    if (leads) {
        volatile gd_count *const ends = team.ends();
        ends[END_STEPS] = (gd_count)steps;
        ends[END_DONE] = fine ? done : 2;
        ends[END_LEVEL] = (gd_count)level;
        ends[END_BACK] = (gd_count)back;
        ends[END_PULLS] = (gd_count)looks;
    }
    team.close();
}
