/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* The steps of closed loops in lanes, and what surrounds their laws; see crowd.h. */

#if !UK_LAW_IN_LANES
/* Efforts of laws that are asked one after the other. */
static void uk_lanes_control(const uk_lanes_memory *m, uk_lanes_memory *law, uk_group *g, uk_crowd *c,
                             long long first, double t, uk_mask *failed) {
  (void)law;
  UK_EACH(l, g->lanes) {
    double q[UK_NV], v[UK_NV], flags[1 + c->flags];
    memset(flags, 0, sizeof flags);
    UK_EACH(i, UK_NV) q[i] = m->q[i][l], v[i] = m->v[i][l];
    if ((*failed)[l]) continue;
    if (uk_crowd_ask(g, c, first, l, t, q, v, flags)) uk_crowd_note(c, first + l, t, flags);
    else (*failed)[l] = -1;
  }
}
#endif

/* Efforts act that the laws have given: within what motors can, at once or after the delay. */
static void uk_crowd_drive(uk_group *g, uk_crowd *c, long long first, double t, uk_queue *late,
                           uk_mask *failed) {
  uk_mask raised = (uk_mask)uk_all(0.0);
  uk_lanes *held = g->held;
  if (c->delay > 0.0) {
    late->when[late->count] = t + c->delay;
    held = late->efforts + late->count++ * UK_NU;
  }
  for (int l = g->lanes; l < UK_WIDTH; ++l) /* what stands there for want of motions */
    UK_EACH(j, UK_NU) g->efforts[j][l] = g->efforts[j][g->lanes - 1];
  UK_EACH(j, UK_NU) {
    const uk_lanes most = uk_all(uk_effort_limit[j]), effort = g->efforts[j];
    *failed |= ~uk_finite(effort);
    held[j] = uk_pick(effort > most, most, uk_pick(effort < -most, -most, effort));
    raised |= uk_lanes_fabs(held[j]) >= most;
  }
  if (uk_any(raised)) UK_EACH(l, g->lanes) {
    double *seen = c->seen + (first + l) * (UK_NU + c->flags);
    UK_EACH(j, UK_NU)
      if (fabs(held[j][l]) >= uk_effort_limit[j] && t < seen[j]) seen[j] = t;
  }
}

/* Efforts act whose time has come. */
static void uk_crowd_take_effect(uk_group *g, const uk_crowd *c, double t, uk_queue *late) {
  int come = 0;
  while (come < late->count && late->when[come] <= t + c->same) ++come;
  if (!come) return;
  memcpy(g->held, late->efforts + (come - 1) * UK_NU, sizeof(uk_lanes) * UK_NU);
  late->count -= come;
  memmove(late->when, late->when + come, sizeof(double) * late->count);
  memmove(late->efforts, late->efforts + come * UK_NU, sizeof(uk_lanes) * UK_NU * late->count);
}

/* Forces of the motors and others on the joints. */
static void uk_lanes_apply(uk_lanes_memory *m, const uk_group *g) {
  UK_EACH(i, UK_NV) {
    uk_lanes sum = g->tau[i];
    UK_EACH(j, UK_NU) if (uk_motors[j][i] != 0.0) sum += uk_motors[j][i] * g->held[j];
    m->tau[i] = sum;
  }
}

static void uk_crowd_stage(uk_lanes_memory *m, uk_lanes_kept *kept, uk_group *g, double t, uk_mask *failed) {
  m->t = uk_all(t);
  uk_lanes_structure(m, g, failed);
  uk_lanes_evaluate(m, kept);
  *failed |= m->failed > uk_all(0.0);
}

/* One step of size h from t, with the projection that ends it; where it fails, states stay. */
static void uk_crowd_step(uk_lanes_memory *m, uk_lanes_kept *kept, uk_group *g, int euler, double t, double h,
                          double end, uk_mask *failed) {
  static const double offset[] = {0.0, 0.5, 0.5, 1.0}, weight[] = {1.0, 2.0, 2.0, 1.0};
  uk_lanes q[UK_NV], v[UK_NV], dq[UK_NV], dv[UK_NV];
  UK_EACH(i, UK_NV) q[i] = m->q[i], v[i] = m->v[i], dq[i] = dv[i] = uk_all(0.0);
  if (euler) {
    uk_crowd_stage(m, kept, g, t, failed);
    UK_EACH(i, UK_NV) m->v[i] += h * m->qdd[i], m->q[i] += h * m->v[i];
  } else {
    UK_EACH(s, 4) {
      const double part = h * offset[s];
      if (s > 0) {
        UK_EACH(i, UK_NV) m->q[i] = q[i] + part * m->v[i];
        UK_EACH(i, UK_NV) m->v[i] = v[i] + part * m->qdd[i];
      }
      uk_crowd_stage(m, kept, g, t + part, failed);
      UK_EACH(i, UK_NV) dq[i] += weight[s] * m->v[i], dv[i] += weight[s] * m->qdd[i];
    }
    UK_EACH(i, UK_NV) m->q[i] = q[i] + (h / 6.0) * dq[i];
    UK_EACH(i, UK_NV) m->v[i] = v[i] + (h / 6.0) * dv[i];
  }
  /* onto the constraints, unless they jumped, as uk_end_step has it */
  uk_lanes end_q[UK_NV], end_v[UK_NV], way = uk_all(0.0), speed = way, jump = way, kick = way;
  uk_lanes change = way;
  memcpy(end_q, m->q, sizeof end_q);
  memcpy(end_v, m->v, sizeof end_v);
  m->t = uk_all(end);
  uk_lanes_structure(m, g, failed);
  *failed |= uk_lanes_project(m, kept);
  uk_lanes total = uk_all(0.0);
  UK_EACH(i, UK_NV) {
    speed = uk_lanes_larger(speed, uk_lanes_fabs(v[i]));
    way = uk_lanes_larger(way, uk_lanes_fabs(end_q[i] - q[i]));
    change = uk_lanes_larger(change, uk_lanes_fabs(end_v[i] - v[i]));
    jump = uk_lanes_larger(jump, uk_lanes_fabs(m->q[i] - end_q[i]));
    kick = uk_lanes_larger(kick, uk_lanes_fabs(m->v[i] - end_v[i]));
    total += m->q[i] + m->v[i];
  }
  speed += UK_SUDDEN;
  way += h * speed;
  *failed |= (jump > way) | (jump > UK_LARGEST_CORRECTION) | (kick > change + speed)
             | ~uk_finite(total);
  if (uk_any(*failed)) UK_EACH(i, UK_NV) {
    m->q[i] = uk_pick(*failed, q[i], m->q[i]);
    m->v[i] = uk_pick(*failed, v[i], m->v[i]);
  }
}

static void uk_crowd_keep(const uk_crowd *c, const uk_lanes_memory *m, const uk_group *g,
                          long long first, long long sample) {
  UK_EACH(l, g->lanes) {
    const long long at = (first + l) * c->samples + sample;
    UK_EACH(i, UK_NV) c->q_out[at * UK_NV + i] = m->q[i][l], c->v_out[at * UK_NV + i] = m->v[i][l];
    UK_EACH(j, UK_NU) c->efforts_out[at * UK_NU + j] = g->held[j][l];
  }
}

/* A group of motions from the first instant to the last. The law is at other states, and has a memory
 * of its own: a step begins with what the projection before it knows. */
static void uk_crowd_group(uk_lanes_memory *m, uk_lanes_memory *law, uk_crowd *c, uk_queue *late,
                           long long first, int lanes) {
  uk_group group, *g = &group;
  uk_mask failed = (uk_mask)uk_all(0.0);
  long long sampled = 0;
  uk_lanes_kept kept;
  kept.known = 0;
  g->lanes = lanes;
  UK_EACH(l, UK_WIDTH) g->structure[l] = c->structures[first + (l < lanes ? l : lanes - 1)];
  g->structure_alike = uk_alike(g->structure);
#if UK_LAW_IN_LANES
  uk_lanes_take_over(g, c, first);
#endif
  uk_load_parameters(m, c->p, c->p_stride, first, lanes);
  uk_load_parameters(law, c->p, c->p_stride, first, lanes);
  uk_load(m->q, c->q + first * UK_NV, UK_NV, lanes);
  uk_load(m->v, c->v + first * UK_NV, UK_NV, lanes);
  uk_load(g->tau, c->tau + first * UK_NV, UK_NV, lanes);
  uk_load(g->held, c->efforts + first * UK_NU, UK_NU, lanes);
  late->count = 0;
  m->stabilize = 0.0;
  m->forces = 0;
  for (long long at = 0;; ++at) {
    const double begin = c->when[at];
    if (c->control[at] != 0.0) {
      uk_lanes_control(m, law, g, c, first, begin, &failed);
      uk_crowd_drive(g, c, first, begin, late, &failed);
    }
    uk_crowd_take_effect(g, c, begin, late);
    if (c->sample[at] != 0.0) uk_crowd_keep(c, m, g, first, sampled++);
    if (at + 1 >= c->stops || !uk_any(~failed)) break;
    const double end = c->when[at + 1], parts = ceil((end - begin) / c->step - 1e-9);
    const long long count = parts > 1.0 ? (long long)parts : 1;
    const double h = (end - begin) / count;
    uk_lanes_apply(m, g);
    for (long long k = 0; k < count; ++k) {
      uk_crowd_step(m, &kept, g, c->euler, begin + k * h, h, k + 1 == count ? end : begin + (k + 1) * h,
                    &failed);
      c->steps += lanes;
    }
  }
  UK_EACH(l, lanes) {
    UK_EACH(i, UK_NV) c->q[(first + l) * UK_NV + i] = m->q[i][l];
    UK_EACH(i, UK_NV) c->v[(first + l) * UK_NV + i] = m->v[i][l];
    UK_EACH(j, UK_NU) c->efforts[(first + l) * UK_NU + j] = g->held[j][l];
#if UK_LAW_IN_LANES
    uk_lane_to_memory(g, l);
#endif
    c->stopped[first + l] = failed[l] != 0;
  }
}

/* All motions; 0, or 1: there is no memory. */
UK_EXPORT int uk_move_crowd(uk_crowd *c) {
  uk_lanes_memory *m = aligned_alloc(64, (2 * sizeof *m + 63) / 64 * 64), *law = m + 1;
  const size_t places = (size_t)c->places, width = sizeof(uk_lanes) * UK_NU;
  uk_queue late = {0, malloc(places * sizeof(double)), aligned_alloc(64, (places * width + 127) / 64 * 64)};
  if (m == NULL || late.when == NULL || late.efforts == NULL) {
    free(m), free(late.when), free(late.efforts);
    return 1;
  }
  memset(m, 0, 2 * sizeof *m); /* entries of A that are always zero are never written */
  UK_EACH(r, UK_ROWS) m->active[r] = law->active[r] = uk_all(c->active[r]);
  for (long long first = 0; first < c->count; first += UK_WIDTH) {
    const long long left = c->count - first;
    uk_crowd_group(m, law, c, &late, first, left < UK_WIDTH ? (int)left : UK_WIDTH);
  }
  free(m), free(late.when), free(late.efforts);
  return 0;
}
