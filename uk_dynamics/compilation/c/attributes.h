/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What functions are to compilers. */
#pragma once

#if defined(__clang__) /* it warns of functions of a file that this machine does not call and another one does */
#pragma clang diagnostic ignored "-Wunused-function"
#endif

/* a law on a GPU: in pieces, for which its assembler takes seconds, not minutes */
#if defined(__CUDACC_RTC__) && defined(UK_WHOLE_LAW)
#define UK_APART __noinline__
#define UK_EXPORT static UK_APART
#endif

#ifndef UK_EXPORT
#define UK_EXPORT
#endif

/* of libraries that move many states: others have no need of them */
#ifndef UK_OF_BATCHES
#define UK_OF_BATCHES UK_EXPORT
#endif

/* parts of evaluations and steps: on a GPU functions of their own where many places call them */
#ifndef UK_EVALUATION
#define UK_EVALUATION static
#endif

/* functions that are apart because together they would be too long; that not every program calls */
#if defined(__GNUC__)
#define UK_APART __attribute__((noinline))
#define UK_INLINE static inline __attribute__((always_inline))
#define UK_OPTIONAL __attribute__((unused))
#define UK_TOGETHER __attribute__((hot))
#else
#ifndef UK_APART
#define UK_APART
#endif
#define UK_INLINE static inline
#define UK_OPTIONAL
#define UK_TOGETHER
#endif

/* pieces of such functions, which stand together: other code between them cost up to a fifth of an evaluation;
 * of several compilers, each says by UK_IN_UNIT which of them it makes */
#if defined(UK_IN_UNIT)
#define UK_PIECE
#else
#define UK_IN_UNIT(k) 1
#define UK_PIECE static UK_APART UK_TOGETHER
#endif
