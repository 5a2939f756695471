// What a step of a spec does beside functions of the caller and draws. The twins in steps.py say what the arguments are.
#include "common/common.cuh"
#include "choice/selection.cuh"
#include "neighbors/steps_pack.py"

extern "C" __global__ void steps_items(long long n, const gd_i64 *__restrict__ instances,
                                       const gd_i64 *__restrict__ bounds, gd_i64 first,
                                       const index_t *__restrict__ seeds, const gd_i64 *__restrict__ begins,
                                       gd_i64 *__restrict__ places, index_t *__restrict__ of_items) {
    GD_FOR(i, n) {
        const gd_i64 mine = instances[i] - first;
        places[i] = i - bounds[mine];
        of_items[i] = seeds[begins[mine]];
    }
}

extern "C" __global__ void steps_rows(long long n, const index_t *__restrict__ rows, const gd_i64 *__restrict__ indptr,
                                      gd_i64 asked, gd_i64 replace, gd_i64 *__restrict__ begins,
                                      gd_i64 *__restrict__ degrees, gd_i64 *__restrict__ counts) {
    GD_FOR(i, n) {
        const gd_i64 row = rows[i], begin = indptr[row], degree = indptr[row + 1] - begin;
        begins[i] = begin;
        degrees[i] = degree;
        counts[i + 1] = gd_wanted(degree, asked, replace);
        if (i == 0) counts[0] = 0;
    }
}

extern "C" __global__ void steps_counts(long long n, const gd_i64 *__restrict__ bounds, gd_i64 asked, gd_i64 replace,
                                        gd_i64 *__restrict__ counts) {
    GD_FOR(i, n) {
        counts[i + 1] = gd_wanted(bounds[i + 1] - bounds[i], asked, replace);
        if (i == 0) counts[0] = 0;
    }
}

extern "C" __global__ void steps_places(long long n, const gd_i64 *__restrict__ owners,
                                        const gd_i64 *__restrict__ chosen, const gd_i64 *__restrict__ bounds,
                                        const gd_i64 *__restrict__ groups, const gd_i64 *__restrict__ at,
                                        gd_i64 *__restrict__ places, gd_i64 *__restrict__ items) {
    GD_FOR(i, n) {
        const gd_i64 group = owners[i], place = bounds[group] + chosen[i];
        gd_i64 low = groups[group], high = groups[group + 1];
        while (high - low > 1) {
            const gd_i64 middle = (low + high) >> 1;
            if (at[middle] <= place) low = middle;
            else high = middle;
        }
        places[i] = place;
        items[i] = low;
    }
}

extern "C" __global__ void steps_ordered(long long n, const gd_i64 *__restrict__ order,
                                         const gd_i64 *__restrict__ items, const gd_i64 *__restrict__ places,
                                         const gd_i64 *__restrict__ at, gd_i64 *__restrict__ owners,
                                         gd_i64 *__restrict__ of_row) {
    GD_FOR(i, n) {
        const gd_i64 from = order[i], item = items[from];
        owners[i] = item;
        of_row[i] = places[from] - at[item];
    }
}

extern "C" __global__ void steps_edges(long long n, StepEdges a) {
    GD_FOR(i, n) {
        const gd_i64 item = a.owners[i], edge = (a.begins ? a.begins[item] : 0) + a.chosen[i];
        const index_t slot = a.indices[edge];
        a.edges[i] = edge;
        a.src[i] = a.vertices[item];
        a.of_edges[i] = a.instances[item];
        a.dst[i] = a.mapped ? a.ids[slot] : slot;
    }
}
