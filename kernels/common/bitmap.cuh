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
