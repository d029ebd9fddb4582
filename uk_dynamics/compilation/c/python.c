/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Functions of Python on the memory of a mechanism; see python_calls.c. */
#pragma once

#include "python_calls.c"
#include "uk_evaluation.h"
#include "uk_mechanism.h"

#ifdef UK_PYTHON

static uk_bound uk_bound_to(void *data) {
  uk_memory *m = data;
  const npy_intp answered = offsetof(uk_memory, residual) / sizeof(double);
  return (uk_bound){&m->t, &m->stabilize, m->q, m->v, m->tau, m->qdd, UK_NQ, UK_NV, answered};
}

static int uk_bound_answer(void *data, int forces) { return uk_answer(data, forces); }

#endif
