/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Which contacts stand at a measured state, what their forces cost and may be, and what tasks ask for
 * meanwhile, as control/servo/contact_schedule.py has it. */
#pragma once

#include "least_solution.c"
#include "uk_lanes_law.h"
#include "uk_standing.h"

/* At time t, with tracking errors in the memory. */
static void uk_stand(uk_memory *m, double t) {
  double planned[UK_ENTRIES] = {0.0}, closed[UK_ENTRIES] = {0.0}, share[UK_ENTRIES], lifted[UK_ENTRIES];
  int here[UK_CONTACTS];
  for (int p = 0; p < (int)(sizeof m->contact_plan / (3 * sizeof(double))); ++p) {
    const double *one = m->contact_plan + 3 * p;
    const int e = (int)one[0];
    double part;
    uk_planned_share(&t, one + 1, one + 2, m->contact_ramp + e, &part);
    if (part > planned[e]) planned[e] = part;
  }
  for (int k = 0; k < UK_CONTACTS; ++k)
    if (m->contact_closed[k] != 0.0) m->contact_told = 1.0;
  for (int k = 0; k < UK_CONTACTS; ++k) { /* until something tells, what touches is closed */
    here[k] = m->contact_told != 0.0 ? m->contact_closed[k] != 0.0 : m->tracking_error[3 * k] <= UK_TOUCHES;
    if (here[k]) closed[(int)m->contact_entry[k]] = 1.0;
  }
  for (int e = 0; e < UK_ENTRIES; ++e) {
    double past[UK_STOOD], left[2 + UK_STOOD];
    for (int i = 0; i < UK_STOOD; ++i) past[i] = m->stood[i * UK_ENTRIES + e];
    uk_standing_step(&t, planned + e, m->contact_detected + e, closed + e, &m->plan_begun, m->contact_ramp + e,
                     past, left);
    share[e] = left[0], lifted[e] = left[1];
    for (int i = 0; i < UK_STOOD; ++i) m->stood[i * UK_ENTRIES + e] = left[2 + i];
  }
  m->plan_begun = 1.0;
  for (int k = 0; k < UK_CONTACTS; ++k) {
    const int e = (int)m->contact_entry[k];
    const int stands = share[e] > UK_LEAST_SHARE && (m->contact_detected[e] == 0.0 || here[k]);
    const double ramped = share[e] < 1.0 ? share[e] * m->contact_ramped : INFINITY;
    m->contact_most[k] = m->contact_limit[k] < ramped ? m->contact_limit[k] : ramped;
    for (int i = 0; i < 3; ++i) {
      m->asked[3 * k + i] = stands, m->lifted[3 * k + i] = 1.0;
      m->weights[UK_MOTORS + 3 * k + i] = stands ? m->contact_cost / (share[e] * share[e]) : UK_NEVER;
    }
  }
  for (int r = UK_CONTACT_ROWS; r < UK_MT; ++r) {
    const int e = (int)m->lifted_by[r];
    m->asked[r] = e < 0 || !(share[e] > UK_LEAST_SHARE);
    m->lifted[r] = e < 0 ? 1.0 : lifted[e];
  }
}
