/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Vectors of doubles, one state per lane: what the terms and the solver need of them. */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "number_of_lanes.h"

#if UK_WIDTH > 1 && defined(__AVX__)
#include <immintrin.h>
#elif UK_WIDTH > 1 && defined(__SSE2__)
#include <emmintrin.h>
#endif

#if UK_WIDTH == 1
#include "one_lane.c"
#else

typedef double uk_lanes __attribute__((vector_size(8 * UK_WIDTH)));
typedef long long uk_mask __attribute__((vector_size(8 * UK_WIDTH))); /* all bits, or none */

/* All bits of a number but its sign. An integer: compilers that need not tell zeros by their signs
 * (-fno-signed-zeros) may make 0.0 of the mask that -0.0 is. */
#define UK_BUT_SIGN 0x7fffffffffffffffLL

static inline uk_lanes uk_all(double x) {
  uk_lanes y = {0.0};
  for (int l = 0; l < UK_WIDTH; ++l) y[l] = x;
  return y;
}

#define UK_PART(x, lane) ((x)[lane])

static inline uk_mask uk_none(void) {
  const uk_mask none = {0};
  return none;
}

static inline uk_mask uk_not(uk_mask mask) { return ~mask; }

/* yes where the mask is set, else no. */
static inline uk_lanes uk_pick(uk_mask mask, uk_lanes yes, uk_lanes no) {
#if UK_WIDTH == 8
  return (uk_lanes)_mm512_mask_blend_pd(_mm512_movepi64_mask((__m512i)mask), (__m512d)no,
                                        (__m512d)yes);
#elif UK_WIDTH == 4
  return (uk_lanes)_mm256_blendv_pd((__m256d)no, (__m256d)yes, (__m256d)mask);
#elif defined(__SSE2__) /* GCC 12 fails on the same in terms of masks where there is no SSE4 */
  const __m128d all = (__m128d)mask;
  return (uk_lanes)_mm_or_pd(_mm_and_pd(all, (__m128d)yes), _mm_andnot_pd(all, (__m128d)no));
#else
  return (uk_lanes)((mask & (uk_mask)yes) | (~mask & (uk_mask)no));
#endif
}

static inline int uk_any(uk_mask mask) {
#if UK_WIDTH == 8
  return _mm512_movepi64_mask((__m512i)mask) != 0;
#elif UK_WIDTH == 4
  return _mm256_movemask_pd((__m256d)mask) != 0;
#else
  return (mask[0] | mask[1]) != 0;
#endif
}

/* Set in one lane. */
static inline uk_mask uk_lane(int lane) {
  uk_mask mask = {0};
  mask[lane] = -1;
  return mask;
}

static inline uk_lanes uk_lanes_sqrt(uk_lanes x) {
#if UK_WIDTH == 8
  return (uk_lanes)_mm512_sqrt_pd((__m512d)x);
#elif UK_WIDTH == 4
  return (uk_lanes)_mm256_sqrt_pd((__m256d)x);
#else
  for (int l = 0; l < UK_WIDTH; ++l) x[l] = sqrt(x[l]);
  return x;
#endif
}

static inline uk_lanes uk_lanes_fabs(uk_lanes x) {
  return (uk_lanes)((uk_mask)x & UK_BUT_SIGN);
}

#if UK_WIDTH > 2
/* Two entries of every second state; a state is `stride` / 2 doubles behind the one before. */
static inline uk_lanes uk_pairs(const double *from, int stride) {
#if UK_WIDTH == 8
  __m512d x = _mm512_castpd128_pd512(_mm_loadu_pd(from));
  x = _mm512_insertf64x2(x, _mm_loadu_pd(from + stride), 1);
  x = _mm512_insertf64x2(x, _mm_loadu_pd(from + 2 * stride), 2);
  return (uk_lanes)_mm512_insertf64x2(x, _mm_loadu_pd(from + 3 * stride), 3);
#else
  const __m256d x = _mm256_castpd128_pd256(_mm_loadu_pd(from));
  return (uk_lanes)_mm256_insertf128_pd(x, _mm_loadu_pd(from + stride), 1);
#endif
}

static inline void uk_store_pairs(double *to, int stride, uk_lanes x) {
#if UK_WIDTH == 8
  _mm_storeu_pd(to, _mm512_castpd512_pd128((__m512d)x));
  _mm_storeu_pd(to + stride, _mm512_extractf64x2_pd((__m512d)x, 1));
  _mm_storeu_pd(to + 2 * stride, _mm512_extractf64x2_pd((__m512d)x, 2));
  _mm_storeu_pd(to + 3 * stride, _mm512_extractf64x2_pd((__m512d)x, 3));
#else
  _mm_storeu_pd(to, _mm256_castpd256_pd128((__m256d)x));
  _mm_storeu_pd(to + stride, _mm256_extractf128_pd((__m256d)x, 1));
#endif
}

/* Pairs of even and of odd states to vectors of the first and of the second entry; and back. */
static inline void uk_interleave(uk_lanes even, uk_lanes odd, uk_lanes *first, uk_lanes *second) {
#if UK_WIDTH == 8
  *first = (uk_lanes)_mm512_unpacklo_pd((__m512d)even, (__m512d)odd);
  *second = (uk_lanes)_mm512_unpackhi_pd((__m512d)even, (__m512d)odd);
#else
  *first = (uk_lanes)_mm256_unpacklo_pd((__m256d)even, (__m256d)odd);
  *second = (uk_lanes)_mm256_unpackhi_pd((__m256d)even, (__m256d)odd);
#endif
}
#endif

/* Finite: x - x is zero. Not left to arithmetic, which a compiler may rearrange. */
static inline uk_mask uk_finite(uk_lanes x) {
  return ((uk_mask)x & 0x7ff0000000000000LL) != 0x7ff0000000000000LL;
}

/* Sine and cosine. Turns of a quarter are taken off in two parts of pi/2, exactly thanks to fused
 * multiplication; what is left within pi/4 goes into the polynomials of fdlibm (Sun, 1993), which
 * err by less than one unit in the last place. There is no other way for large angles: a call that
 * may be made takes all registers from the code around it. Beyond 1e12, where neighbouring numbers
 * are 1e-4 apart, there is no answer. */
static inline void uk_lanes_sincos(uk_lanes x, uk_lanes *sine, uk_lanes *cosine) {
#if UK_WIDTH > 2 && defined(__FMA__)
  const double quarter = 0.63661977236758134, high = 1.5707963267948966,
               low = 6.123233995736766e-17;
#if UK_WIDTH == 8
  const __m512d n = _mm512_roundscale_pd((__m512d)(x * quarter), 8);
  const __m512d near = _mm512_fnmadd_pd(n, _mm512_set1_pd(high), (__m512d)x);
  const uk_lanes left = (uk_lanes)_mm512_fnmadd_pd(n, _mm512_set1_pd(low), near);
#else
  const __m256d n = _mm256_round_pd((__m256d)(x * quarter), 8);
  const __m256d near = _mm256_fnmadd_pd(n, _mm256_set1_pd(high), (__m256d)x);
  const uk_lanes left = (uk_lanes)_mm256_fnmadd_pd(n, _mm256_set1_pd(low), near);
#endif
  const uk_lanes r = uk_pick(uk_lanes_fabs(x) < 1e12, left, uk_all(NAN));
  /* the last bits of n + 1.5 2^52 count the quarters; one sum, which no compiler can rearrange */
  const uk_mask turns = (uk_mask)((uk_lanes)n + 6755399441055744.0);
  const uk_lanes z = r * r;
  const uk_lanes s =
      r + r * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03
      + z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06
      + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
  const uk_lanes c =
      1.0 - (0.5 * z - z * z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03
      + z * (2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07
      + z * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11))))));
  const uk_mask odd = -(turns & 1);
  *sine = (uk_lanes)((uk_mask)uk_pick(odd, c, s) ^ ((turns & 2) << 62));
  *cosine = (uk_lanes)((uk_mask)uk_pick(odd, s, c) ^ (((turns + 1) & 2) << 62));
#else
  for (int l = 0; l < UK_WIDTH; ++l) {
    (*sine)[l] = sin(x[l]);
    (*cosine)[l] = cos(x[l]);
  }
#endif
}

/* The angle whose tangent is y / x, in the quadrant of (x, y): within pi/8 of an axis or of a
 * diagonal, the polynomial of fdlibm. Not for infinite numbers. */
static inline uk_lanes uk_lanes_atan2(uk_lanes y, uk_lanes x) {
  const uk_lanes zero = uk_all(0.0), high = uk_lanes_fabs(y), wide = uk_lanes_fabs(x);
  const uk_mask steep = high > wide;
  const uk_lanes less = uk_pick(steep, wide, high), more = uk_pick(steep, high, wide);
  const uk_mask diagonal = less > 0.41421356237309503 * more, origin = more == zero;
  const uk_lanes over = uk_pick(diagonal, less - more, less);
  const uk_lanes under = uk_pick(origin, uk_all(1.0), uk_pick(diagonal, less + more, more));
  const uk_lanes r = over / under, z = r * r, w = z * z;
  const uk_lanes even =
      3.33333333333329318027e-01 + w * (1.42857142725034663711e-01
      + w * (9.09088713343650656196e-02 + w * (6.66107313738753120669e-02
      + w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02))));
  const uk_lanes odd =
      -1.99999999998764832476e-01 + w * (-1.11111104054623557880e-01
      + w * (-7.69187620504482999495e-02 + w * (-5.83357013379057348645e-02
      + w * -3.65315727442169155270e-02)));
  uk_lanes angle = uk_pick(diagonal, uk_all(0.78539816339744831), zero) + (r - r * z * (even + z * odd));
  angle = uk_pick(steep, 1.5707963267948966 - angle, angle);
  angle = uk_pick(x < 0.0, 3.1415926535897931 - angle, angle);
  return uk_pick(y < 0.0, -angle, angle);
}

#endif

#include "lane_functions.c"
