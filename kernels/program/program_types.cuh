// Types of the fields that a program does not have, and how the weight of an edge is read.
#pragma once

#include "functions/column_types.cuh"

#ifndef GD_WEIGHT
#define GD_WEIGHT(a, e) __ldcs((a).weights + (e))  // no cache need keep it
#endif

#ifndef weight_t
#define weight_t double
#endif
#ifndef state0_t
#define state0_t signed char
#endif
#ifndef state1_t
#define state1_t signed char
#endif
#ifndef state2_t
#define state2_t signed char
#endif
#ifndef state3_t
#define state3_t signed char
#endif
#ifndef state4_t
#define state4_t signed char
#endif
#ifndef state5_t
#define state5_t signed char
#endif
#ifndef state6_t
#define state6_t signed char
#endif
#ifndef state7_t
#define state7_t signed char
#endif
#ifndef message0_t
#define message0_t signed char
#endif
#ifndef message1_t
#define message1_t signed char
#endif
#ifndef message2_t
#define message2_t signed char
#endif
#ifndef message3_t
#define message3_t signed char
#endif
