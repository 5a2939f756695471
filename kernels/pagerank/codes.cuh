// Weights as codes of one or two bytes: whole numbers of a unit that is a power of two, so that a product gives the
// weight again to the last bit. Floats are weights themselves.
#pragma once

template <typename Code> __device__ __forceinline__ double gd_weight(Code code, double unit) {
    return sizeof(Code) < 4 ? __dmul_rn((double)code, unit) : (double)code;
}
