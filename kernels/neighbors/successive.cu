// Traversal sampling by bias: neighbours in proportion to their biases among those that are left, by the paper's methods
// too. The twins in successive.py say what the arguments are.
#include "neighbors/successive.cuh"
#include "neighbors/successive_pack.py"

extern "C" __global__ void successive_draw(long long n, SuccessiveDraws a) {
    GD_FOR(i, n) {
        const gd_i64 out = a.offsets[i], count = a.offsets[i + 1] - out;
        if (count == 0) continue;
        const index_t vertex = a.vertices[i];
        const gd_i64 begin = a.indptr[a.rows[i]], degree = a.indptr[a.rows[i] + 1] - begin, mark = a.tags[i];
        const Row row = {a.sums ? a.sums + begin : nullptr, degree};
        for (gd_i64 s = 0; s < count; ++s) {
            a.src[out + s] = vertex;
            a.tag[out + s] = mark;
        }
        const gd_u64 key = gd_key_of(a.seed, (gd_u64)vertex);
        if (a.replace || count == degree || count <= GD_FEW) {
            const auto read = [&](gd_i64 place) { return gd_entry(a.indices, begin + place); };
            const auto emit = [&](gd_i64 s, index_t found) { a.dst[out + s] = found; };
            const gd_u64 instance = (gd_u64)a.instances[i];
            if (a.method > GD_METHOD) gd_draw_by_bias<true>(key, instance, row, count, a.replace, a.method, read, emit);
            else gd_draw_by_bias<false>(key, instance, row, count, a.replace, a.method, read, emit);
            continue;
        }
        Words words(key, (gd_u64)a.instances[i], 0);
        gd_u64 left = row.total();
        if (a.method == GD_REPEATED || a.method == GD_BIPARTITE) {
            gd_i64 *const chosen = a.trees + a.scratch_at[i];
            Seen<false> seen(a.method, degree);
            for (gd_i64 s = 0; s < count; ++s) {
                const gd_i64 place = gd_next(row, seen, chosen, (int)s, left, a.method, words);
                a.dst[out + s] = gd_entry(a.indices, begin + place);
            }
            continue;
        }
        // sums of what is left in a tree (P. Fenwick, "A new data structure for cumulative frequency tables", 1994)
        gd_i64 *tree = a.trees + a.scratch_at[i] - 1;
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
            a.dst[out + s] = gd_entry(a.indices, begin + place);
        }
    }
}
