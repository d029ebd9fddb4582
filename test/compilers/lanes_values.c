/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Prints what functions of lanes make of pairs of numbers, which stand in neighbouring lanes. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lanes.c"

#define COUNT 64

static double results[9][COUNT];

static void keep(int function, int at, uk_lanes x) {
  for (int l = 0; l < UK_WIDTH; ++l) results[function][at + l] = x[l];
}

int main(void) {
  double x[COUNT], y[COUNT];
  for (int k = 0; k < COUNT; ++k)
    if (scanf("%lf %lf", &x[k], &y[k]) != 2) return 1;
  for (int at = 0; at < COUNT; at += UK_WIDTH) {
    uk_lanes a, b, sine, cosine;
    memcpy(&a, x + at, sizeof a);
    memcpy(&b, y + at, sizeof b);
    uk_lanes_sincos(a, &sine, &cosine);
    keep(0, at, uk_lanes_fabs(a));
    keep(1, at, sine);
    keep(2, at, cosine);
    keep(3, at, uk_lanes_atan2(a, b));
    keep(4, at, uk_lanes_atan(a));
    keep(5, at, uk_lanes_larger(a, b));
    keep(6, at, uk_lanes_sqrt(uk_lanes_fabs(a)));
    keep(7, at, uk_pick(uk_finite(a / (b * 0.0)), a, b)); /* infinite: b */
    keep(8, at, uk_lanes_exp(-uk_lanes_fabs(b)));
  }
  for (int f = 0; f < 9; ++f)
    for (int k = 0; k < COUNT; ++k) printf("%.17g\n", results[f][k]);
  return 0;
}
