// Choosing some candidates of each of many groups: all alike, or in proportion to their biases, which are whole numbers
// or are made so for the group. The twins in selection.py say what the arguments are.
//
// A thread takes a group whose candidates are all alike; a warp one with biases, which it adds up, and goes through
// once more for every draw: the first candidate at which the sum so far is above a number below the total. Without
// replacement what is drawn leaves its group, so the next draw is in proportion among what is left.
//
// Sources: Pandey et al., c-saw, Section II-B (inverse transform sampling; updated sampling); J. Bentley, B. Floyd, "A
// sample of brilliance", CACM 30 (1987).
#include "common/common.cuh"
#include "common/search.cuh"
#include "choice/selection.cuh"
#include "choice/selection_pack.py"

#define GD_FULL 0xffffffffu
#define GD_FEW 32

// Where a place stands in a table, or is to be put.
__device__ __forceinline__ gd_i64 gd_slot_of(const gd_i64 *table, gd_i64 capacity, gd_i64 place) {
    gd_i64 slot = (gd_i64)__umul64hi((gd_u64)place * GD_GOLDEN, (gd_u64)capacity);
    while (table[slot] != -1 && table[slot] != place) slot = slot + 1 < capacity ? slot + 1 : 0;
    return slot;
}

extern "C" __global__ void selection_uniform(long long n, Selections a) {
    GD_FOR(g, n) {
        const gd_i64 size = a.sizes[g], out = a.starts[g], count = a.counts[g], begin = a.begins ? a.begins[g] : 0;
        for (gd_i64 s = 0; s < count; ++s) a.owner[out + s] = g;
        if (!a.replace && count == size) {
            for (gd_i64 s = 0; s < count; ++s) a.chosen[out + s] = begin + s;
            continue;
        }
        const gd_u64 key = gd_group_key(a.seed, (int)a.what, a.tags[g]);
        gd_u64 number, second = 0;
        for (gd_i64 s = 0; s < count; ++s) {
            if (s & 1) number = second;
            else gd_philox(key, (gd_u64)a.instances[g], (gd_u32)a.step, (gd_u32)(s >> 1), number, second);
            const gd_i64 last = a.replace ? size - 1 : size - count + s;
            gd_i64 place = (gd_i64)gd_digit(number, (gd_u64)last + 1);
            if (!a.replace && count > GD_FEW) {
                gd_i64 *const seen = a.table + 2 * out;
                gd_i64 slot = gd_slot_of(seen, 2 * count, place);
                if (seen[slot] == place) {
                    place = last;
                    slot = gd_slot_of(seen, 2 * count, place);
                }
                seen[slot] = place;
            } else {
                for (gd_i64 before = 0; !a.replace && before < s; ++before) {
                    if (a.chosen[out + before] == begin + place) {
                        place = last;
                        break;
                    }
                }
            }
            a.chosen[out + s] = begin + place;
        }
    }
}

// The greatest of all lanes, for all of them.
__device__ __forceinline__ gd_i64 gd_greatest_of_warp(gd_i64 value) {
    for (int step = 16; step; step >>= 1) {
        const gd_i64 other = __shfl_xor_sync(GD_FULL, value, step);
        value = other > value ? other : value;
    }
    return value;
}

extern "C" __global__ void selection_pick(long long n, Selections a) {
    const int lane = threadIdx.x & 31;
    const gd_i64 warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 g = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; g < n; g += warps) {
        const gd_i64 size = a.bounds[g + 1] - a.bounds[g], out = a.starts[g], count = a.counts[g];
        gd_i64 *const units = a.values + (a.bounds[g] - a.bounds[0]);
        gd_i64 made = a.done[g];
        if (!a.replace)
            for (gd_i64 s = lane; s < made; s += 32) units[a.chosen[out + s]] = 0;
        __syncwarp();
        gd_i64 greatest = 0, positive = 0;
        for (gd_i64 p = lane; p < size; p += 32) {
            const gd_i64 value = units[p];
            positive += value > 0;
            greatest = value > greatest ? value : greatest;
        }
        greatest = gd_greatest_of_warp(greatest);
        gd_u64 total = 0;
        int over = 0;
        for (gd_i64 p = lane; p < size; p += 32) {
            if (a.floating) units[p] = gd_units_of_float(units[p], greatest, size);
            total += (gd_u64)units[p];
            if (total >> 63) over = 1, total = 0;
        }
        for (int by = 16; by; by >>= 1) {
            positive += __shfl_xor_sync(GD_FULL, positive, by);
            total += __shfl_xor_sync(GD_FULL, total, by);
            if (total >> 63) over = 1, total = 0;
        }
        __syncwarp();
        if (__any_sync(GD_FULL, over)) {
            if (lane == 0) atomicCAS(a.failure, 0, GD_LARGE_SUM);
            total = 0;
            positive = 0;
        }
        if (!a.replace && made == 0 && positive <= count) {
            for (gd_i64 base = 0; base < size; base += 32) {
                const bool here = base + lane < size && positive && units[base + lane] > 0;
                const unsigned mask = __ballot_sync(GD_FULL, here);
                if (here) a.chosen[out + made + __popc(mask & ((1u << lane) - 1))] = base + lane;
                made += __popc(mask);
            }
            total = 0;
        }
        const gd_u64 key = gd_group_key(a.seed, (int)a.what, a.tags[g]);
        while (made < count && total) {
            gd_u64 digit, second, before = 0;
            gd_philox(key, (gd_u64)a.instances[g], (gd_u32)a.step, (gd_u32)made, digit, second);
            digit = gd_digit(digit, total);
            for (gd_i64 base = 0; base < size; base += 32) {
                const gd_u64 own = base + lane < size ? (gd_u64)units[base + lane] : 0;
                gd_u64 sum = own;
                for (int by = 1; by < 32; by <<= 1) {
                    const gd_u64 lower = __shfl_up_sync(GD_FULL, sum, by);
                    if (lane >= by) sum += lower;
                }
                const unsigned above = __ballot_sync(GD_FULL, before + sum > digit);
                if (above) {
                    const int leader = __ffs(above) - 1;
                    const gd_u64 taken = __shfl_sync(GD_FULL, own, leader);
                    if (lane == leader) {
                        a.chosen[out + made] = base + lane;
                        if (!a.replace) units[base + lane] = 0;
                    }
                    if (!a.replace) total -= taken;
                    break;
                }
                before += __shfl_sync(GD_FULL, sum, 31);
            }
            __syncwarp();
            ++made;
        }
        for (gd_i64 s = lane; s < count; s += 32) a.owner[out + s] = s < made ? a.labels[g] : -1;
    }
}

extern "C" __global__ void selection_sums(long long n, const gd_i64 *__restrict__ bounds, gd_i64 *values,
                                          gd_i64 floating, gd_i64 *__restrict__ positives, int *failure) {
    const int lane = threadIdx.x & 31;
    const gd_i64 warps = ((gd_i64)gridDim.x * blockDim.x) >> 5;
    for (gd_i64 g = ((gd_i64)blockIdx.x * blockDim.x + threadIdx.x) >> 5; g < n; g += warps) {
        const gd_i64 size = bounds[g + 1] - bounds[g];
        gd_i64 *const units = values + bounds[g];
        gd_i64 greatest = 0, positive = 0;
        for (gd_i64 p = lane; p < size; p += 32) {
            positive += units[p] > 0;
            greatest = units[p] > greatest ? units[p] : greatest;
        }
        greatest = gd_greatest_of_warp(greatest);
        for (int by = 16; by; by >>= 1) positive += __shfl_xor_sync(GD_FULL, positive, by);
        gd_u64 before = 0;
        bool over = false;
        for (gd_i64 base = 0; base < size && !over; base += 32) {
            const gd_i64 p = base + lane;
            const gd_i64 value = p < size ? units[p] : 0;
            gd_u64 sum = (gd_u64)(floating ? gd_units_of_float(value, greatest, size) : value);
            bool large = false;
            for (int by = 1; by < 32; by <<= 1) {
                const gd_u64 lower = __shfl_up_sync(GD_FULL, sum, by);
                if (lane >= by) sum += lower;
                large |= (sum >> 63) != 0;
                if (large) sum = 0;
            }
            sum += before;
            over = __any_sync(GD_FULL, large || (sum >> 63));
            if (p < size) units[p] = (gd_i64)sum;
            before = __shfl_sync(GD_FULL, sum, 31);
        }
        __syncwarp();
        if (over) {
            if (lane == 0) atomicCAS(failure, 0, GD_LARGE_SUM);
            for (gd_i64 p = lane; p < size; p += 32) units[p] = 0;
        }
        if (lane == 0) positives[g] = positive;
    }
}

extern "C" __global__ void selection_summed(long long n, Selections a) {
    GD_FOR(g, n) {
        const gd_i64 begin = a.bounds[a.rows[g]], end = a.bounds[a.rows[g] + 1], out = a.starts[g], count = a.counts[g];
        gd_i64 left = end > begin ? a.sums[end - 1] : 0, made = 0, taken[GD_FEW];
        if (!a.replace && left && a.positives[a.rows[g]] <= count) {
            gd_i64 before = 0;
            for (gd_i64 p = begin; p < end; ++p) {
                if (a.sums[p] > before) a.chosen[out + made++] = p - begin;
                before = a.sums[p];
            }
            left = 0;
        }
        const gd_u64 key = gd_group_key(a.seed, (int)a.what, a.tags[g]);
        for (; made < count && left; ++made) {
            gd_u64 first, second;
            gd_philox(key, (gd_u64)a.instances[g], (gd_u32)a.step, (gd_u32)made, first, second);
            gd_i64 digit = (gd_i64)gd_digit(first, (gd_u64)left);
            for (gd_i64 s = 0; !a.replace && s < made; ++s) {
                const gd_i64 p = taken[s], before = p > begin ? a.sums[p - 1] : 0;
                if (digit < before) break;
                digit += a.sums[p] - before;
            }
            gd_i64 low = begin, high = end - 1;
            while (low < high) {
                const gd_i64 middle = (low + high) >> 1;
                if (a.sums[middle] > digit) high = middle;
                else low = middle + 1;
            }
            a.chosen[out + made] = low - begin;
            if (!a.replace) {
                left -= a.sums[low] - (low > begin ? a.sums[low - 1] : 0);
                gd_i64 at = made;
                for (; at > 0 && taken[at - 1] > low; --at) taken[at] = taken[at - 1];
                taken[at] = low;
            }
        }
        for (gd_i64 s = 0; s < count; ++s) a.owner[out + s] = s < made ? g : -1;
    }
}

// The same where a group's candidates are those of some rows, one after the other, whose units are whole numbers.
extern "C" __global__ void selection_layered(long long n, Selections a) {
    GD_FOR(g, n) {
        const gd_i64 first = a.groups[g], end = a.groups[g + 1], out = a.starts[g], count = a.counts[g];
        gd_u64 left = 0, low[GD_FEW], width[GD_FEW];  // of what is chosen, in ascending order
        gd_i64 positive = 0, made = 0;
        bool over = false;
        for (gd_i64 i = first; i < end; ++i) {
            left += a.totals[i + 1] - a.totals[i];
            positive += a.positives[a.rows[i]];
            over |= (left >> 63) != 0;
            if (over) left = 0;
        }
        if (over) {
            atomicCAS(a.failure, 0, GD_LARGE_SUM);
            left = 0;
        }
        if (!a.replace && left && positive <= count) {
            for (gd_i64 i = first; i < end; ++i) {
                gd_i64 before = 0;
                for (gd_i64 p = a.bounds[a.rows[i]]; p < a.bounds[a.rows[i] + 1]; before = a.sums[p++])
                    if (a.sums[p] > before) a.chosen[out + made++] = a.at[i] - a.at[first] + p - a.bounds[a.rows[i]];
            }
            left = 0;
        }
        const gd_u64 key = gd_group_key(a.seed, (int)a.what, a.tags[g]);
        for (; made < count && left; ++made) {
            gd_u64 digit, second;
            gd_philox(key, (gd_u64)a.instances[g], (gd_u32)a.step, (gd_u32)made, digit, second);
            digit = gd_digit(digit, left);
            for (gd_i64 s = 0; !a.replace && s < made && digit >= low[s]; ++s) digit += width[s];
            gd_i64 item = first, last = end - 1;
            while (item < last) {
                const gd_i64 middle = (item + last) >> 1;
                if (a.totals[middle + 1] - a.totals[first] > digit) last = middle;
                else item = middle + 1;
            }
            const gd_u64 below = a.totals[item] - a.totals[first];
            const gd_i64 *const row = a.sums + a.bounds[a.rows[item]];
            const gd_i64 size = a.bounds[a.rows[item] + 1] - a.bounds[a.rows[item]];
            const gd_i64 place = gd_first_above(row, 0, size - 1, digit - below, (gd_u64)row[size - 1]);
            a.chosen[out + made] = a.at[item] - a.at[first] + place;
            if (a.replace) continue;
            const gd_u64 before = place ? (gd_u64)row[place - 1] : 0, own = (gd_u64)row[place] - before;
            left -= own;
            gd_i64 to = made;
            for (; to > 0 && low[to - 1] > below + before; --to) low[to] = low[to - 1], width[to] = width[to - 1];
            low[to] = below + before;
            width[to] = own;
        }
        for (gd_i64 s = 0; s < count; ++s) a.owner[out + s] = s < made ? g : -1;
    }
}
