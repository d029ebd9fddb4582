/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* C as CUDA takes it, which is C++: one lane, and what headers have. NVRTC has none, but mathematics
 * and functions of memory built in. */
#pragma once

#define UK_WIDTH 1
#define UK_STATE_A_THREAD
#define restrict __restrict__
#ifdef UK_STAGE
#define UK_MOVES /* compiled in a third of the time that copies of all parts and turns of loops take */
#ifdef __CUDACC_RTC__
#define UK_EVALUATION static __noinline__
#endif
#define UK_EACH(i, n) _Pragma("unroll 1") for (int i = 0; i < (n); ++i)
#endif
#ifdef __CUDACC_RTC__
#define NAN nan("")
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
#define NULL 0
static inline int memcmp(const void *a, const void *b, size_t size) {
  const char *x = (const char *)a, *y = (const char *)b;
  for (size_t i = 0; i < size; ++i)
    if (x[i] != y[i]) return 1;
  return 0;
}
#endif
