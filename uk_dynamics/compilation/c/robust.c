/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The robust term of a law that has its efforts: what has to be added against s = e' + k e of the tasks;
 * see core/servo/robust_rule.py. A lane is a state. Laws are linear in what they are asked for, so that
 * efforts for s of size one, found as those of the law were, give those for any size. */
#pragma once

#include "servo_law.c"
#include "uk_robust.h"

#if UK_ROBUST

#if UK_ADAPTIVE
#define UK_LEARN_FROM , crossed, w->added, w->lacking, w->estimate, &w->adapts
#define UK_LEARN_INTO , w->regressor, w->explaining, w->push
#else
#define UK_LEARN_FROM
#define UK_LEARN_INTO
#endif

typedef struct { /* of the law without the term */
  uk_lanes wanted[UK_MT], efforts[UK_NU], preload[UK_NU], largest;
} uk_nominal_law;

/* Ask the law for s of size one, without its preload. */
static void uk_ask_against(uk_lanes_law *w, uk_law_rows *x, uk_nominal_law *k) {
  k->largest = uk_all(0.0);
  memcpy(k->wanted, w->wanted, sizeof k->wanted);
  memcpy(k->efforts, w->efforts, sizeof k->efforts);
  memcpy(k->preload, w->preload, sizeof k->preload);
  UK_EACH(r, UK_MT) k->largest = uk_lanes_larger(k->largest, uk_lanes_fabs(w->surface[r]));
  const uk_lanes size = uk_pick(k->largest > 0.0, k->largest, uk_all(1.0));
  UK_EACH(r, UK_MT) w->wanted[r] = w->surface[r] / size;
  UK_EACH(j, UK_NU) w->preload[j] = uk_all(0.0);
  UK_EACH(r, UK_MT) UK_EACH(j, UK_NU) x->C[r][j] = w->map[r * UK_NU + j] * w->inverse_root[j];
}

/* Efforts for that by rows in the order that they stand in; the lanes where they are right. */
UK_INLINE uk_mask uk_solve_against(uk_lanes_law *w, uk_law_rows *x) {
#if UK_CLOSED
  return uk_reflect_in_order(w, x);
#else
  (void)w, (void)x;
  return uk_none();
#endif
}


/* Efforts with the term, where those in the memory are for s of size one; what it is. */
static void uk_answer_against(const uk_lanes_memory *m, uk_lanes_law *w, const uk_nominal_law *k, int n) {
  uk_lanes nominal[UK_NV], against[UK_NV], sums[2] = {uk_all(0.0), uk_all(0.0)}, motion[UK_UNCERTAIN];
  uk_lanes products[UK_UNCERTAIN * UK_UNCERTAIN], gram[UK_MT * UK_MT];
  const uk_lanes known[] = {w->robust_gain,  w->robust_turn,          w->robust_cubic, w->robust_learning,
                            w->robust_least, w->robust_size_learning, w->robust_scale, k->largest};
  UK_EACH(i, n) nominal[i] = against[i] = uk_all(0.0);
  UK_EACH(j, UK_NU) {
    const uk_lanes *part = w->motor_part + j * n;
    const uk_lanes u = w->root[j] * k->efforts[j], s = w->root[j] * w->efforts[j];
    UK_EACH(i, n) nominal[i] += part[i] * u, against[i] += part[i] * s;
    sums[1] += uk_motor_loss[j] * uk_lanes_fabs(s) * uk_lanes_sqrt(uk_dot(part, part, n));
  }
  sums[0] = uk_dot(against, against, n);
  UK_EACH(c, UK_UNCERTAIN)
    motion[c] = uk_dot(w->uncertain_part + c * n, nominal, n) + uk_dot(w->uncertain + c * UK_NV, m->qdd, UK_NV);
  UK_EACH(p, UK_PAIRS) { /* those alone that sizes contain */
    const int one = uk_pair[2 * p], other = uk_pair[2 * p + 1];
    products[one * UK_UNCERTAIN + other] = uk_dot(w->uncertain_part + one * n, w->uncertain_part + other * n, n);
  }
  UK_EACH(k, UK_MT) for (int l = 0; l < UK_MT; ++l)
    gram[k * UK_MT + l] = l < k ? gram[l * UK_MT + k] : uk_dot(w->task_part + k * n, w->task_part + l * n, n);
#if UK_ADAPTIVE
  uk_lanes crossed[UK_MT * UK_UNCERTAIN];
  UK_EACH(r, UK_MT) UK_EACH(c, UK_UNCERTAIN)
    crossed[r * UK_UNCERTAIN + c] = uk_dot(w->task_part + r * n, w->uncertain_part + c * n, n);
  UK_EACH(r, UK_MT) w->reached[r] = uk_dot(w->map + r * UK_NU, k->efforts, UK_NU);
#endif
  uk_lanes_robust_term(m->q, m->v, motion, k->efforts, products, gram, w->wanted, sums, known UK_LEARN_FROM,
                       w->robust_term UK_LEARN_INTO);
  const uk_lanes factor = w->robust * w->robust_term[0], size = factor * k->largest;
  UK_EACH(j, UK_NU) w->efforts[j] = k->efforts[j] - size * w->efforts[j], w->preload[j] = k->preload[j];
  UK_EACH(r, UK_MT) {
    w->wanted[r] = k->wanted[r] - factor * w->surface[r];
    w->shortfall[r] = w->wanted[r] - uk_dot(w->map + r * UK_NU, w->efforts, UK_NU);
  }
}

#endif
