// Traversal sampling by bias: neighbours in proportion to their biases among those that are left, by the paper's methods
// too. The twins in successive.py say what the arguments are.
#include "neighbors/successive.cuh"

extern "C" __global__ void successive_draw(long long n, const index_t *__restrict__ rows,
                                            const index_t *__restrict__ vertices,
                                            const gd_i64 *__restrict__ instances, const gd_i64 *__restrict__ tags,
                                            const gd_i64 *__restrict__ indptr, const index_t *__restrict__ indices,
                                            const gd_i64 *__restrict__ offsets, const gd_i64 *__restrict__ sums,
                                            gd_i64 replace, gd_i64 method, gd_u64 seed,
                                            const gd_i64 *__restrict__ rooms, gd_i64 *trees,
                                            index_t *__restrict__ src, index_t *__restrict__ dst,
                                            gd_i64 *__restrict__ tag) {
    GD_FOR(i, n) {
        const gd_i64 out = offsets[i], count = offsets[i + 1] - out;
        if (count == 0) continue;
        const index_t vertex = vertices[i];
        const gd_i64 begin = indptr[rows[i]], degree = indptr[rows[i] + 1] - begin, mark = tags[i];
        const Row row = {sums ? sums + begin : nullptr, degree};
        for (gd_i64 s = 0; s < count; ++s) {
            src[out + s] = vertex;
            tag[out + s] = mark;
        }
        const gd_u64 key = gd_key_of(seed, (gd_u64)vertex);
        if (replace || count == degree || count <= GD_FEW) {
            const auto read = [&](gd_i64 place) { return gd_entry(indices, begin + place); };
            const auto emit = [&](gd_i64 s, index_t found) { dst[out + s] = found; };
            const gd_u64 instance = (gd_u64)instances[i];
            if (method > GD_METHOD) gd_draw_by_bias<true>(key, instance, row, count, replace, method, read, emit);
            else gd_draw_by_bias<false>(key, instance, row, count, replace, method, read, emit);
            continue;
        }
        Words words(key, (gd_u64)instances[i], 0);
        gd_u64 left = row.total();
        if (method == GD_REPEATED || method == GD_BIPARTITE) {
            gd_i64 *const chosen = trees + rooms[i];
            Seen<false> seen(method, degree);
            for (gd_i64 s = 0; s < count; ++s) {
                const gd_i64 place = gd_next(row, seen, chosen, (int)s, left, method, words);
                dst[out + s] = gd_entry(indices, begin + place);
            }
            continue;
        }
        // sums of what is left in a tree (P. Fenwick, "A new data structure for cumulative frequency tables", 1994)
        gd_i64 *tree = trees + rooms[i] - 1;
        for (gd_i64 p = 1; p <= degree; ++p) tree[p] = (gd_i64)(row.below(p) - row.below(p - (p & -p)));
        for (gd_i64 s = 0; s < count; ++s) {
            gd_u64 word = words.take();
            gd_u64 number = gd_digit(word, left);
            gd_i64 place = 0;
            for (gd_i64 step = 1LL << (gd_bits((gd_u64)degree) - 1); step; step >>= 1) {
                if (place + step <= degree && (gd_u64)tree[place + step] <= number) {
                    place += step;
                    number -= (gd_u64)tree[place];
                }
            }
            const gd_u64 width = row.below(place + 1) - row.below(place);
            for (gd_i64 p = place + 1; p <= degree; p += p & -p) tree[p] -= (gd_i64)width;
            left -= width;
            dst[out + s] = gd_entry(indices, begin + place);
        }
    }
}
