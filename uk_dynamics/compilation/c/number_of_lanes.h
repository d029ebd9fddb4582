/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* How many lanes: as the processor has them, 1 for compilers without vectors. Code for any number of
 * lanes takes what is true in a lane as a mask, and its logic from `&`, `|` and uk_not. */
#pragma once

#if !defined(UK_WIDTH)
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define UK_WIDTH 8
#elif defined(__AVX__)
#define UK_WIDTH 4
#elif defined(__GNUC__)
#define UK_WIDTH 2
#else
#define UK_WIDTH 1
#endif
#endif
