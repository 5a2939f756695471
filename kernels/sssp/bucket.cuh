// The steps of the near-far search over one part. It works on a `Relaxing` (sssp_pack.py, which the .cu file includes
// before).
#pragma once
#include "sssp/sssp.cuh"

// The search of one rank over its part: what the steps of a kernel work on. Of three places that steps (or splits) take
// in turn, one is read, the next is filled, and the third is cleared for the step after: those who read or filled it last
// have passed a barrier since, and those who fill it next come after one. The fences of the barrier order what it parts,
// so that plain reads see it.
template <class Bounded> struct Bucket {
    Relaxing a;
    Bounded bounds;
    Queues *queues;
    long long step, split;
    dist_t bound;

    __device__ __forceinline__ index_t *near(long long at) const { return at % 2 ? a.odd_near : a.even_near; }
    __device__ __forceinline__ index_t *far(long long at) const { return at % 2 ? a.odd_far : a.even_far; }

    // What relaxes edges, or takes in labels that arrived, for the step `to` after this one (0 or 1).
    __device__ __forceinline__ Relax<Bounded> relax(int to, long long mark, double *mine) const {
        const long long at = step + to;
        return Relax<Bounded>{a.indices, a.weights, a.each, a.ids, a.labels, a.stamp, bounds, bound, a.owned, (int)at,
                              (int)mark, near(at), a.ghost_queue, far(split), a.counters->near + at % 3,
                              a.counters->ghosts + mark % 2, a.counters->far + split % 3, to != 0, queues, mine};
    }
    // Relax near vertices until none are left, or `enough` are after the first step, moving the bucket on until `last`,
    // and while the nearest far one is below `most`.
    template <class Barrier>
    __device__ __forceinline__ void advance(long long last, long long enough, double nearest, double delta, double most,
                                            long long mark, const Barrier &barrier) {
        const bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
        const long long begun = step;
        bool relaxed = false;
        if (first_thread) a.counters->ghosts[(mark + 1) % 2] = 0;
        for (;; step++) {
            const long long length = *(volatile long long *)(a.counters->near + step % 3);
            const double from = step == begun ? nearest : *(volatile double *)(a.least + split % 3);
            if (length == 0 && (split == last || !(from < most))) break;
            if (relaxed && length >= enough) break;
            if (first_thread) {
                a.counters->near[(step + 2) % 3] = a.counters->hubs[(step + 1) % 3] = 0;
                a.counters->acted += length;
            }
            const index_t *const waiting = far(split);
            const unsigned long long *const far_count = a.counters->far + split % 3;
            const dist_t before = bound;
            if (length == 0) {
                split++;
                bound = gd_next_limit(from, delta, most);
                if (first_thread) {
                    a.counters->far[(split + 1) % 3] = 0;
                    a.least[(split + 1) % 3] = Distance<double>::none();
                }
            }
            double mine = Distance<double>::none();
            const Relax<Bounded> body = relax(1, mark, &mine);
            if (length) {
                relaxed = true;
                unsigned long long *const hub_count = a.counters->hubs + step % 3;
                gd_for_edges(length, near(step), a.indptr, a.hubs, hub_count, &a.counters->edges, body);
                gd_least(mine, a.least + split % 3);
                barrier();
                if (*(volatile unsigned long long *)hub_count) {
                    gd_for_hubs(a.hubs, hub_count, a.indptr, body);
                    gd_least(mine, a.least + split % 3);
                    barrier();
                }
            } else {
                gd_for_list_at_once(*(volatile long long *)far_count, [&](const long long (&at)[RELAX_MANY]) {
                    index_t v[RELAX_MANY];
                    dist_t d[RELAX_MANY];
#pragma unroll
                    for (int k = 0; k < RELAX_MANY; k++) v[k] = waiting[max(at[k], 0LL)];
#pragma unroll
                    for (int k = 0; k < RELAX_MANY; k++) d[k] = Label::distance(a.labels[v[k]]);
#pragma unroll
                    for (int k = 0; k < RELAX_MANY; k++) {
                        if (at[k] < 0 || d[k] < before) continue;
                        if (!(d[k] < bound)) {
                            queues->far.push(v[k]);
                            mine = fmin(mine, (double)d[k]);
                        } else if (v[k] < a.owned) {
                            queues->near.push(v[k]);
                        } else {
                            a.stamp[v[k]] = (int)mark;
                            queues->ghosts.push(v[k]);
                        }
                    }
                }, [&](bool all) { body.flush(all); });
                gd_least(mine, a.least + split % 3);
                barrier();
            }
        }
    }
};
