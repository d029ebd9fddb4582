/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The law of tasks in lanes: the steps of control_period.c. What motions remember is in lanes too; it goes
 * to the memory of a motion, and comes back, where a period is left to that motion alone. */
#pragma once

#include "control_period.c"
#include "loop_group.c"
#include "projection.c"
#include "robust.c"

/* Fields of one motion from its memory into its lane, and back. */
#define UK_TO_LANE(name, n) UK_EACH(i, n) UK_PART(((uk_lanes *)&w->name)[i], l) = ((const double *)&own->name)[i];
#define UK_FROM_LANE(name, n) UK_EACH(i, n) ((double *)&own->name)[i] = UK_PART(((const uk_lanes *)&w->name)[i], l);

static void uk_lane_to_memory(const uk_loop_group *g, int l) {
  const uk_lanes_law *w = &g->law;
  uk_memory *own = g->controller[l]->memory;
  UK_REMEMBERED(UK_FROM_LANE)
}

/* A period that lanes do not decide: by the law of one motion, or within its limits where the law is right
 * in lanes. Whether there are efforts. */
static int uk_period_alone(const uk_lanes_memory *measured, const uk_lanes_memory *m, uk_loop_group *g,
                           const uk_loop_batch *c, long long first, int l, double t, int right) {
  uk_lanes_law *w = &g->law;
  uk_memory *own = g->controller[l]->memory;
  double q[UK_NV], v[UK_NV], efforts[UK_NU], flags[UK_FLAGS] = {0.0};
  UK_EACH(i, UK_NV) q[i] = UK_PART(measured->q[i], l), v[i] = UK_PART(measured->v[i], l);
  uk_lane_to_memory(g, l);
  if (right) {
    UK_DECIDED(UK_FROM_LANE)
    own->rank = UK_PART(m->rank, l);
    UK_EACH(i, UK_NV) own->v[i] = UK_PART(m->v[i], l);
    UK_EACH(r, UK_MT) own->reachable[r] = 1.0;
    if (c->decide(own, v, efforts, flags)) return 0;
    UK_EACH(j, UK_NU) UK_PART(w->efforts[j], l) = efforts[j];
  } else if (!uk_ask_alone(w->efforts, c, first + l, l, t, q, v, flags)) {
    return 0;
  }
  UK_PART(w->regular_rank, l) = own->regular_rank;
  UK_PART(w->periods_held, l) = own->periods_held;
  uk_note_flags(c, first + l, t, flags);
  return 1;
}

/* Efforts of laws, which are right in some lanes, within limits. */
static void uk_decide_lanes(const uk_lanes_memory *measured, const uk_lanes_memory *m, uk_loop_group *g,
                            const uk_loop_batch *c, long long first, double t, uk_mask right, uk_mask *failed) {
  uk_lanes_law *w = &g->law;
  const uk_limits limits = UK_LIMITS_OF(w);
  uk_lanes most[UK_NU];
  uk_limit_period(m, w, measured->v, most);
  right &= (w->internal == 0.0) & uk_not(*failed);
  const uk_mask within = uk_within(&limits, w->efforts);
  const uk_mask served = right & (within | uk_hold(m, w, right, w->efforts));
  if (uk_any(uk_not(served | *failed))) UK_EACH(l, g->lanes) {
    const uk_mask lane = uk_lane(l);
    if (uk_any(lane & (served | *failed))) continue;
    if (!uk_period_alone(measured, m, g, c, first, l, t, uk_any(lane & right))) *failed |= lane;
  }
  uk_remember(&limits, w->efforts);
#if UK_CORRECTED
  uk_note_prediction(w, w->efforts);
#endif
}

/* Efforts of all laws at measured states, with a memory of their own. */
static void uk_loop_control(const uk_lanes_memory *measured, uk_lanes_memory *m, uk_loop_group *g, int groups,
                            const uk_loop_batch *c, const long long *first, double t, uk_mask *failed) {
  int n[UK_MOST_GROUPS];
  UK_EACH(k, groups) {
#if UK_SWITCHED
    memcpy(m[k].active, g[k].active, sizeof m->active);
#endif
    failed[k] |= uk_ask(m + k, &g[k].law, &g[k].tables, uk_all(t), measured[k].q, measured[k].v);
  }
  UK_EACH(k, UK_CLOSED ? groups : 0) uk_find_law_terms(m + k, &g[k].law);
  UK_EACH(k, UK_CLOSED ? groups : 0) n[k] = uk_admit(m + k, &g[k].law, 0);
  UK_EACH(k, groups) {
    uk_law_rows rows;
    uk_mask right = UK_CLOSED ? uk_law_in_order(m + k, &g[k].law, &rows, n[k]) : uk_none();
#if UK_ROBUST && UK_CLOSED
    if (UK_ADAPTIVE || uk_any(g[k].law.robust != 0.0)) {
      uk_nominal_law nominal;
      uk_ask_against(&g[k].law, &rows, &nominal);
      right &= uk_solve_against(&g[k].law, &rows);
      uk_answer_against(m + k, &g[k].law, &nominal, n[k]);
    }
#endif
    uk_decide_lanes(measured + k, m + k, g + k, c, first[k], t, right, failed + k);
  }
}

/* Take over what laws are set to and remember. */
static void uk_take_over(uk_loop_group *g, const uk_loop_batch *c, long long first) {
  uk_lanes_law *w = &g->law;
  memset(w, 0, sizeof *w); /* zeros of A_t are never written */
  UK_EACH(l, UK_WIDTH) {
    const uk_controller *one = g->controller[l] = c->controllers[first + (l < g->lanes ? l : g->lanes - 1)];
    const uk_memory *own = one->memory;
    g->tables.tasks[l] = one->tasks, g->tables.structure[l] = one->structure;
    UK_SETTINGS(UK_TO_LANE)
    UK_REMEMBERED(UK_TO_LANE)
#if UK_SWITCHED
    UK_EACH(r, UK_M) UK_PART(g->active[r], l) = own->active[r];
#endif
  }
  uk_weigh(w);
  const int together = !uk_any(w->period != uk_all(UK_PART(w->period, 0)));
  g->tables.tasks_alike = together && uk_alike(g->tables.tasks);
  g->tables.structure_alike = together && uk_alike(g->tables.structure);
}
