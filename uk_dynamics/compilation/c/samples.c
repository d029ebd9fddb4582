/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What single evaluations leave in the memory, up to the rates of the rows, for many states. */
#pragma once

#include <string.h>

#include "attributes.h"
#include "references.c"
#include "uk_evaluation.h"
#include "uk_following.h"
#include "uk_mechanism.h"

typedef struct {
  long long count;
  double stabilize;
  const double *t, *q, *v, *tau; /* (count), (count, UK_NQ), (count, UK_NV), (count, UK_NV) */
  const double *active;          /* (UK_M): 1 for rows that act */
  double *followed;              /* table of what structural rows follow; null: zero */
  double *answers;               /* (count, doubles of the memory up to the rates) */
  double *failed;                /* (count): what uk_evaluate returns, 3: a reference has no value */
} uk_samples;

UK_EXPORT void uk_evaluate_samples(uk_memory *m, const uk_samples *c) {
  const size_t size = offsetof(uk_memory, bias);
  m->stabilize = c->stabilize;
  for (int r = 0; r < UK_M; ++r) m->active[r] = c->active[r];
  for (long long k = 0; k < c->count; ++k) {
    m->t = c->t[k];
    memcpy(m->q, c->q + k * UK_NQ, sizeof m->q);
    memcpy(m->v, c->v + k * UK_NV, sizeof m->v);
    memcpy(m->tau, c->tau + k * UK_NV, sizeof m->tau);
    c->failed[k] = 0.0;
#if UK_FOLLOWS
    if (uk_follow(c->followed, m->t, UK_M, m->followed)) c->failed[k] = 3.0;
#endif
    if (c->failed[k] == 0.0) c->failed[k] = uk_evaluate(m);
    memcpy((char *)c->answers + k * size, m, size);
  }
}
