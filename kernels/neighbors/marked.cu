// Neighbours that are drawn again until they are new, with a bit for each that says whether it is chosen. The twin in
// marked.py says what the arguments are.
//
// A warp takes an item, and each lane a draw, with a second one for a bipartite one: where they lead does not depend on
// what is chosen. Then the lanes' draws count one after the other, as if they were made so: what is accepted is told to
// the lanes after it, and only then are bits set, all at the same time.
//
// Source: Pandey et al., c-saw, Section IV-B (bitmaps, strided bitmaps).
#include "neighbors/successive.cuh"
#include "neighbors/marked_pack.py"

#define GD_FULL 0xffffffffu

// The bits of an item.
struct Marks {
    unsigned *words;
    gd_i64 count;  // of words
    bool strided;

    __device__ __forceinline__ gd_i64 word(gd_i64 place) const { return strided ? place % count : place >> 5; }
    __device__ __forceinline__ unsigned bit(gd_i64 place) const {
        return 1u << (int)(strided ? place / count : place & 31);
    }
    __device__ __forceinline__ bool has(gd_i64 place) const {
        return (((volatile unsigned *)words)[word(place)] & bit(place)) != 0;
    }
    __device__ __forceinline__ void add(gd_i64 place) const { atomicOr(&words[word(place)], bit(place)); }
};

// A place of what is not marked, by its bias.
__device__ __forceinline__ gd_i64 gd_find_left(const Row &row, const Marks &marks, gd_u64 word) {
    gd_u64 left = 0;
    for (gd_i64 place = 0; place < row.degree; ++place)
        if (!marks.has(place)) left += row.below(place + 1) - row.below(place);
    gd_u64 number = gd_digit(word, left);
    for (gd_i64 place = 0; place < row.degree; ++place) {
        if (marks.has(place)) continue;
        const gd_u64 width = row.below(place + 1) - row.below(place);
        if (number < width) return place;
        number -= width;
    }
    return -1;
}

extern "C" __global__ void marked_draw(long long n, MarkedDraws a) {
    const int lane = threadIdx.x & 31;
    const gd_i64 warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    const bool bipartite = a.method == GD_BIPARTITE;
    for (gd_i64 i = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; i < n; i += warps) {
        const gd_i64 out = a.offsets[i], count = a.offsets[i + 1] - out;
        if (count == 0) continue;
        const index_t vertex = a.vertices[i];
        const gd_i64 begin = a.indptr[a.rows[i]], degree = a.indptr[a.rows[i] + 1] - begin, mark = a.tags[i];
        const gd_u64 key = gd_key_of(a.seed, (gd_u64)vertex), instance = (gd_u64)a.instances[i];
        for (gd_i64 s = lane; s < count; s += 32) {
            a.src[out + s] = vertex;
            a.tag[out + s] = mark;
            if (count == degree) a.dst[out + s] = gd_entry(a.indices, begin + s);
        }
        if (count == degree) continue;
        const Row row = {a.sums ? a.sums + begin : nullptr, degree};
        const Marks chosen = {(unsigned *)a.marks + a.scratch_at[i], (degree + 31) >> 5, a.strided != 0};
        const gd_u64 total = row.total();
        gd_i64 made = 0;
        int failures = 0;
        for (gd_u32 draw = 0; made < count;) {
            gd_u64 word, second;
            if (bipartite) gd_philox(key, instance, 0, draw + lane, word, second);
            else word = gd_word_at(key, instance, draw + lane);
            const gd_u64 first = word;
            const gd_i64 one = row.find(gd_digit(word, total));
            const gd_i64 other = bipartite ? row.find_beside(one, total, second) : -1;
            bool has_one = chosen.has(one), has_other = !bipartite || chosen.has(other);
            gd_i64 mine = -1, at = 0;
            int taken = 0;
            for (; taken < 32 && made < count && failures < GD_MOST_REDRAWS; ++taken) {
                const gd_i64 place = __shfl_sync(GD_FULL, has_one ? (has_other ? -1 : other) : one, taken);
                if (place < 0) {
                    ++failures;
                    continue;
                }
                if (lane == taken) mine = place, at = made;
                has_one |= place == one;
                has_other |= place == other;
                ++made;
                failures = 0;
            }
            if (mine >= 0) {
                chosen.add(mine);
                a.dst[out + at] = gd_entry(a.indices, begin + mine);
            }
            __syncwarp();
            if (failures == GD_MOST_REDRAWS && taken < 32) {
                gd_u64 number = __shfl_sync(GD_FULL, first, taken);
                const gd_i64 place = gd_find_left(row, chosen, number);
                __syncwarp();
                if (lane == 0) {
                    chosen.add(place);
                    a.dst[out + made] = gd_entry(a.indices, begin + place);
                }
                __syncwarp();
                ++made;
                ++taken;
                failures = 0;
            }
            draw += taken;
        }
    }
}
