// Sets of vertices as bits of 32-bit words, a bit for each slot.
#pragma once

// A plain read: bits may change between the phases of a launch.
template <class Word, class Slot> __device__ __forceinline__ bool gd_bit(const Word *bits, Slot slot) {
    return bits[slot >> 5] >> (slot & 31) & 1u;
}
// Bits that do not change during the launch.
template <class Slot> __device__ __forceinline__ bool gd_constant_bit(const unsigned int *bits, Slot slot) {
    return __ldg(bits + (slot >> 5)) >> (slot & 31) & 1u;
}
template <class Slot> __device__ __forceinline__ void gd_set_bit(unsigned int *bits, Slot slot) {
    atomicOr(bits + (slot >> 5), 1u << (slot & 31));
}
// Set a bit; whether it was not set before.
template <class Slot> __device__ __forceinline__ bool gd_choose_bit(unsigned int *bits, Slot slot) {
    const unsigned int bit = 1u << (slot & 31);
    return !(atomicOr(bits + (slot >> 5), bit) & bit);
}
// The first of the edges from `first` to last - 1 that leads to a set bit, or `last`. The first one often does; behind it
// several are scanned together, so that a row which leads nowhere does not wait for one after the other.
template <class Slot>
__device__ __forceinline__ long long gd_first_set(const Slot *indices, const unsigned int *bits, long long first,
                                                  long long last) {
    constexpr int many = 4;
    if (first < last && gd_bit(bits, indices[first])) return first;
    for (long long e = first + 1; e < last; e += many) {
        Slot v[many];
        unsigned int words[many];
#pragma unroll
        for (int k = 0; k < many; k++) v[k] = indices[min(e + k, last - 1)];
#pragma unroll
        for (int k = 0; k < many; k++) words[k] = bits[v[k] >> 5];
        int hit = many;
#pragma unroll
        for (int k = many - 1; k >= 0; k--)
            if (words[k] >> (v[k] & 31) & 1u) hit = k;
        if (hit < many) return e + hit;  // the last edge stands for those behind it, and comes before them
    }
    return last;
}
// Set the bits of word w of a bitmap of `universe` bits, of which bit i stands for slot `first` + i of `bits`.
__device__ __forceinline__ void gd_set_word(unsigned int *bits, long long first, long long universe,
                                            const unsigned int *words, long long w) {
    unsigned int *const out = bits + (first >> 5) + w;
    const int shift = (int)(first & 31);
    const long long left = universe - 32 * w;
    const unsigned int word = words[w] & (left < 32 ? (1u << left) - 1 : 0xffffffffu);
    const unsigned int low = word << shift, high = shift ? word >> (32 - shift) : 0;
    if (low) atomicOr(out, low);
    if (high) atomicOr(out + 1, high);
}
