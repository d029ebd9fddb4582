/* Closed loops in lanes; see crowd.h. The steps are those of motion.c and control_period.c. What
 * every motion does for itself (references, prediction, feedback, limits) stays in its own memory,
 * so that a period can be left to the law of a single motion at any time. */

#define UK_SURE 4.0 /* ranks are decided in lanes where they would be at so many times the tolerance */

typedef struct {
  int lanes;                           /* that are motions of their own */
  uk_controller *controller[UK_WIDTH];
  uk_lanes root[UK_NU], preload[UK_NU]; /* of the weights */
  uk_lanes modelled, internal;         /* whether friction is fed forward, internal forces asked */
  uk_lanes followed[3 * UK_MT], desired[UK_MT];
  uk_lanes efforts[UK_NU], map[UK_MT * UK_NU], wanted[UK_MT];
} uk_group;

static void uk_lanes_gather(uk_lanes *to, double *const *from, int n) {
  UK_EACH(i, n) UK_EACH(l, UK_WIDTH) to[i][l] = from[l][i];
}

/* A field of the memories of all controllers. */
#define UK_GATHER(to, field, n)                                                   \
  do {                                                                            \
    double *from[UK_WIDTH];                                                       \
    UK_EACH(l, UK_WIDTH) from[l] = (double *)&g->controller[l]->memory->field;    \
    uk_lanes_gather(to, from, n);                                                 \
  } while (0)

static void uk_follow_all(uk_group *g, const uk_lanes *t, int tasks, uk_mask *failed) {
  UK_EACH(l, g->lanes) {
    uk_controller *c = g->controller[l];
    if (tasks && uk_follow(c->tasks, (*t)[l], UK_MT, c->memory->task_followed)) (*failed)[l] = -1;
#if UK_FOLLOWS
    if (!tasks && uk_follow(c->structure, (*t)[l], UK_M, c->memory->followed)) (*failed)[l] = -1;
#endif
  }
}

/* What structural rows follow at the time in the memory. */
static void uk_lanes_structure(uk_lanes_memory *m, uk_group *g, uk_mask *failed) {
#if UK_FOLLOWS
  uk_follow_all(g, &m->t, 0, failed);
  UK_GATHER(m->followed, followed, 3 * UK_M);
#else
  (void)m, (void)g, (void)failed;
#endif
}

static uk_lanes uk_lanes_norm(const uk_lanes *x, int n) {
  uk_lanes sum = uk_all(0.0);
  UK_EACH(i, n) sum += x[i] * x[i];
  return uk_lanes_sqrt(sum);
}

/* Coordinates of a whitened force behind those that the structure holds, in place. */
static void uk_lanes_held(const uk_lanes_memory *m, uk_lanes *x) {
#if UK_M > 0
  UK_EACH(k, UK_COUNT) uk_lanes_reflect(m, k, x);
  UK_EACH(k, UK_COUNT) x[k] = uk_pick(m->independent[k], uk_all(0.0), x[k]);
#else
  (void)m, (void)x;
#endif
}

/* Accelerations without motors, and what motors and task rows A are in the admissible motions, as
 * uk_admit has it; how many coordinates that takes. */
static int uk_lanes_admit(uk_lanes_memory *m, const uk_lanes *A, uk_lanes *task, uk_lanes *motor,
                          uk_lanes *size) {
  uk_lanes_terms(m->t, m->q, m->v, m->followed UK_P, m->H, m->force, m->A, m->bias, m->residual,
                 m->rate);
#if UK_ADMISSIBLE
  uk_lanes sure[2];
  uk_lanes_admissible_terms(uk_all(m->stabilize), m->tau, m->H, m->force, m->A, m->bias,
                            m->residual, m->rate, A, m->qdd, task, motor, size, sure);
  if (!uk_any(~((sure[0] < UK_LOST_PIVOTS) & (sure[1] < 1.0)))) {
    m->failed = uk_all(0.0);
    return UK_ADMISSIBLE;
  }
#endif
  uk_lanes_pivoted(m);
  UK_EACH(j, UK_NU) {
    UK_EACH(i, UK_NV) motor[j * UK_NV + i] = uk_all(uk_motors[j][i]);
    uk_lanes_whiten(m, motor + j * UK_NV);
    uk_lanes_held(m, motor + j * UK_NV);
  }
  UK_EACH(r, UK_MT) {
    uk_lanes *x = task + r * UK_NV;
    UK_EACH(i, UK_NV) x[i] = A[r * UK_NV + i];
    uk_lanes_whiten(m, x);
    size[r] = uk_lanes_norm(x, UK_NV);
    uk_lanes_held(m, x);
  }
  return UK_NV;
}

/* Closed-form efforts at the state in the memory, as uk_law has them; the lanes where all task rows
 * are independent for motors beyond doubt, and served. */
static uk_mask uk_lanes_law(uk_lanes_memory *m, uk_group *g) {
#if UK_MT > UK_NU
  (void)m, (void)g;
  return (uk_mask)uk_all(0.0);
#else
  const uk_lanes zero = uk_all(0.0), one = uk_all(1.0);
  uk_lanes A[UK_MT * UK_NV], bias[UK_MT], task[UK_MT * UK_NV], motor[UK_NU * UK_NV];
  uk_lanes rows[UK_MT][UK_NU], norm[UK_MT], whole[UK_MT], size[UK_MT];
  uk_lanes strength = zero, largest = zero;
  uk_lanes beta[UK_MT], R[UK_MT][UK_MT], scale[UK_MT], y[UK_MT], u[UK_NU], free[UK_NU];
  uk_lanes_task_terms(m->t, m->q, m->v, g->followed UK_P, A, bias);
  const int n = uk_lanes_admit(m, A, task, motor, whole);
  uk_mask sure = m->failed == zero;
  UK_EACH(j, UK_NU) {
    uk_lanes *x = motor + j * n;
    UK_EACH(i, n) x[i] /= g->root[j];
    UK_EACH(i, n) strength += x[i] * x[i];
  }
  strength = uk_lanes_sqrt(strength);
  UK_EACH(r, UK_MT) {
    norm[r] = uk_lanes_norm(task + r * n, n);
    largest = uk_lanes_larger(largest, whole[r]);
    g->wanted[r] = g->desired[r] - bias[r];
    size[r] = uk_lanes_fabs(g->wanted[r]) + UK_NEGLIGIBLE_ACCELERATION;
    UK_EACH(i, UK_NV) {
      const uk_lanes part = A[r * UK_NV + i] * m->qdd[i];
      g->wanted[r] -= part;
      size[r] += uk_lanes_fabs(part);
    }
    UK_EACH(j, UK_NU) {
      uk_lanes sum = zero;
      UK_EACH(i, n) sum += task[r * n + i] * motor[j * n + i];
      rows[r][j] = sum;
      g->map[r * UK_NU + j] = sum * g->root[j];
    }
  }
  /* rows to their own size, by reflections in the order they stand in */
  UK_EACH(r, UK_MT) {
    sure &= norm[r] > UK_ZERO_ROW * largest;
    scale[r] = 1.0 / uk_lanes_larger(uk_lanes_norm(rows[r], UK_NU),
                                     UK_LEAST_PART * norm[r] * strength + UK_TINY);
    UK_EACH(j, UK_NU) rows[r][j] *= scale[r];
  }
  UK_EACH(k, UK_MT) {
    uk_lanes *x = rows[k], square = zero;
    for (int i = k; i < UK_NU; ++i) square += x[i] * x[i];
    const uk_lanes length = uk_lanes_sqrt(square);
    const uk_lanes diagonal = uk_pick(x[k] > 0.0, -length, length);
    sure &= length > UK_SURE * UK_TASK_RANK_TOLERANCE;
    beta[k] = 1.0 / (length * (length + uk_lanes_fabs(x[k])));
    R[k][k] = diagonal;
    UK_EACH(i, k) R[k][i] = x[i];
    x[k] -= diagonal;
    for (int r = k + 1; r < UK_MT; ++r) {
      uk_lanes s = zero;
      for (int i = k; i < UK_NU; ++i) s += x[i] * rows[r][i];
      s *= beta[k];
      for (int i = k; i < UK_NU; ++i) rows[r][i] -= s * x[i];
    }
  }
  /* any order finds the same rank where the inverse of R is small enough */
  uk_lanes inverse = zero;
  UK_EACH(c, UK_MT) {
    uk_lanes column[UK_MT];
    for (int k = c; k < UK_MT; ++k) {
      uk_lanes sum = k == c ? one : zero;
      for (int i = c; i < k; ++i) sum -= R[k][i] * column[i];
      column[k] = sum / R[k][k];
      inverse += column[k] * column[k];
    }
  }
  const double bound = UK_SURE * UK_TASK_RANK_TOLERANCE;
  sure &= UK_MT * bound * bound * inverse < one;
  UK_EACH(k, UK_MT) {
    y[k] = g->wanted[k] * scale[k];
    UK_EACH(i, k) y[k] -= R[k][i] * y[i];
    y[k] /= R[k][k];
  }
  /* of the preload the part that no row sees */
  UK_EACH(j, UK_NU) free[j] = g->root[j] * g->preload[j];
  UK_EACH(k, UK_MT) {
    uk_lanes s = zero;
    for (int i = k; i < UK_NU; ++i) s += rows[k][i] * free[i];
    s *= beta[k];
    for (int i = k; i < UK_NU; ++i) free[i] -= s * rows[k][i];
  }
  UK_EACH(j, UK_NU) u[j] = j < UK_MT ? y[j] : free[j];
  for (int k = UK_MT - 1; k >= 0; --k) {
    uk_lanes s = zero;
    for (int i = k; i < UK_NU; ++i) s += rows[k][i] * u[i];
    s *= beta[k];
    for (int i = k; i < UK_NU; ++i) u[i] -= s * rows[k][i];
  }
  uk_lanes total = zero;
  UK_EACH(j, UK_NU) total += g->efforts[j] = u[j] / g->root[j];
  UK_EACH(r, UK_MT) {
    uk_lanes missed = g->wanted[r];
    UK_EACH(j, UK_NU) missed -= g->map[r * UK_NU + j] * g->efforts[j];
    sure &= uk_lanes_fabs(missed) <= UK_MET * size[r];
  }
  return sure & uk_finite(total);
#endif
}

/* Efforts of all laws at the measured state in the memory, which stays. */
static void uk_lanes_control(uk_lanes_memory *m, uk_group *g, uk_crowd *c, long long first,
                             double t, uk_mask *failed) {
  uk_lanes q[UK_NV], v[UK_NV], error[UK_MT], rate[UK_MT];
  m->t = uk_all(t);
  memcpy(q, m->q, sizeof q);
  memcpy(v, m->v, sizeof v);
  uk_follow_all(g, &m->t, 1, failed);
  UK_GATHER(g->followed, task_followed, 3 * UK_MT);
  uk_lanes_task_errors(m->t, q, v, g->followed UK_P, error, rate);
  double measured_q[UK_WIDTH][UK_NV], measured_v[UK_WIDTH][UK_NV];
  UK_EACH(l, g->lanes) {
    uk_memory *own = g->controller[l]->memory;
    UK_EACH(i, UK_NV) measured_q[l][i] = q[i][l], measured_v[l][i] = v[i][l];
    UK_EACH(r, UK_MT) own->tracking_error[r] = error[r][l], own->tracking_rate[r] = rate[r][l];
    uk_predict(own, t, measured_q[l], measured_v[l]);
    uk_desire(own, t);
  }
  UK_GATHER(&m->t, t, 1);
  UK_GATHER(m->q, q, UK_NV);
  UK_GATHER(m->v, v, UK_NV);
  UK_GATHER(g->desired, desired, UK_MT);
  uk_follow_all(g, &m->t, 1, failed);
  UK_GATHER(g->followed, task_followed, 3 * UK_MT);
  uk_lanes_structure(m, g, failed);
  UK_EACH(i, UK_NV) m->tau[i] = uk_all(0.0);
  if (uk_any(g->modelled == uk_all(0.0))) {
    uk_lanes_resistance(m->t, m->q, m->v UK_P, m->tau);
    UK_EACH(i, UK_NV) m->tau[i] = uk_pick(g->modelled == uk_all(0.0), -m->tau[i], uk_all(0.0));
  }
  m->stabilize = 1.0;
  const uk_mask sure = uk_lanes_law(m, g) & (g->internal == uk_all(0.0));
  UK_EACH(l, g->lanes) {
    uk_memory *own = g->controller[l]->memory;
    const uk_limits limits = {own->effort_limit, own->power_limit,      own->rate_step,
                              own->commanded,    &own->commanded_known, own->lower, own->upper};
    double *efforts = c->efforts + (first + l) * UK_NU, flags[UK_FLAGS], raised;
    if ((*failed)[l]) continue;
    if (sure[l]) {
      double later[UK_NV], most[UK_NU];
      UK_EACH(k, UK_FLAGS) flags[k] = 0.0;
      UK_EACH(j, UK_NU) own->efforts[j] = g->efforts[j][l];
      UK_EACH(i, UK_NV) later[i] = 2.0 * own->v[i] - measured_v[l][i];
      uk_limit(&limits, measured_v[l], later, most);
      if (uk_within(&limits, own->efforts)) {
        memcpy(efforts, own->efforts, sizeof own->efforts);
      } else {
        UK_EACH(k, UK_MT * UK_NU) own->map[k] = g->map[k][l];
        UK_EACH(r, UK_MT) own->wanted[r] = g->wanted[r][l];
        if (c->allocate(own)) {
          (*failed)[l] = -1;
          continue;
        }
        memcpy(efforts, own->limited, sizeof own->limited);
        uk_reasons(&limits, most, efforts, flags);
      }
      uk_remember(&limits, efforts);
    } else {
      ++c->alone;
      if (c->law(g->controller[l], t, measured_q[l], measured_v[l], efforts, flags)) {
        (*failed)[l] = -1;
        continue;
      }
    }
    double *seen = c->seen + (first + l) * (UK_NU + UK_FLAGS);
    UK_EACH(j, UK_NU) {
      const double most = uk_effort_limit[j];
      if (!isfinite(efforts[j])) (*failed)[l] = -1;
      if (efforts[j] > most) efforts[j] = most;
      if (efforts[j] < -most) efforts[j] = -most;
      raised = fabs(efforts[j]) >= most;
      if (raised != 0.0 && t < seen[j]) seen[j] = t;
    }
    UK_EACH(k, UK_FLAGS) if (flags[k] != 0.0 && t < seen[UK_NU + k]) seen[UK_NU + k] = t;
  }
  m->t = uk_all(t);
  memcpy(m->q, q, sizeof q);
  memcpy(m->v, v, sizeof v);
  m->stabilize = 0.0;
}

/* Forces of the motors and others on the joints. */
static void uk_lanes_apply(uk_lanes_memory *m, const uk_crowd *c, long long first, int lanes) {
  UK_EACH(l, UK_WIDTH) {
    const long long k = first + (l < lanes ? l : lanes - 1);
    UK_EACH(i, UK_NV) {
      double sum = c->tau[k * UK_NV + i];
      UK_EACH(j, UK_NU) sum += uk_motors[j][i] * c->efforts[k * UK_NU + j];
      m->tau[i][l] = sum;
    }
  }
}

static void uk_crowd_stage(uk_lanes_memory *m, uk_lanes_kept *kept, uk_group *g, double t, uk_mask *failed) {
  m->t = uk_all(t);
  uk_lanes_structure(m, g, failed);
  uk_lanes_evaluate(m, kept);
  *failed |= m->failed > uk_all(0.0);
}

/* One step of size h from t, with the projection that ends it. */
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
}

static void uk_crowd_keep(const uk_crowd *c, const uk_lanes_memory *m, long long first, int lanes,
                          long long sample) {
  UK_EACH(l, lanes) {
    const long long at = (first + l) * c->samples + sample;
    UK_EACH(i, UK_NV) c->q_out[at * UK_NV + i] = m->q[i][l], c->v_out[at * UK_NV + i] = m->v[i][l];
    memcpy(c->efforts_out + at * UK_NU, c->efforts + (first + l) * UK_NU, sizeof(double) * UK_NU);
  }
}

/* A group of motions from the first instant to the last. */
static void uk_crowd_group(uk_lanes_memory *m, uk_crowd *c, long long first, int lanes) {
  uk_group group, *g = &group;
  uk_mask failed = (uk_mask)uk_all(0.0);
  long long sampled = 0;
  uk_lanes_kept kept;
  kept.known = 0;
  g->lanes = lanes;
  UK_EACH(l, UK_WIDTH) g->controller[l] = c->controllers[first + (l < lanes ? l : lanes - 1)];
  uk_load_parameters(m, c->p, c->p_stride, first, lanes);
  uk_load(m->q, c->q + first * UK_NV, UK_NV, lanes);
  uk_load(m->v, c->v + first * UK_NV, UK_NV, lanes);
  UK_GATHER(g->root, weights, UK_NU);
  UK_EACH(j, UK_NU) g->root[j] = uk_lanes_sqrt(g->root[j]);
  UK_GATHER(g->preload, preload, UK_NU);
  UK_GATHER(&g->modelled, friction, 1);
  UK_GATHER(&g->internal, internal, 1);
  m->stabilize = 0.0;
  m->forces = 0;
  for (long long at = 0;; ++at) {
    const double begin = c->when[at];
    uk_lanes q[UK_NV], v[UK_NV];
    if (c->control[at] != 0.0) {
      uk_lanes_control(m, g, c, first, begin, &failed);
      kept.known = 0; /* the law was at another state */
    }
    if (c->sample[at] != 0.0) uk_crowd_keep(c, m, first, lanes, sampled++);
    if (at + 1 >= c->stops || !uk_any(~failed)) break;
    const double end = c->when[at + 1], parts = ceil((end - begin) / c->step - 1e-9);
    const long long count = parts > 1.0 ? (long long)parts : 1;
    const double h = (end - begin) / count;
    uk_lanes_apply(m, c, first, lanes);
    for (long long k = 0; k < count; ++k) {
      memcpy(q, m->q, sizeof q);
      memcpy(v, m->v, sizeof v);
      uk_crowd_step(m, &kept, g, c->euler, begin + k * h, h, k + 1 == count ? end : begin + (k + 1) * h,
                    &failed);
      if (uk_any(failed)) /* they stay where they were */
        UK_EACH(i, UK_NV) {
          m->q[i] = uk_pick(failed, q[i], m->q[i]);
          m->v[i] = uk_pick(failed, v[i], m->v[i]);
        }
      c->steps += lanes;
    }
  }
  UK_EACH(l, lanes) {
    UK_EACH(i, UK_NV) c->q[(first + l) * UK_NV + i] = m->q[i][l];
    UK_EACH(i, UK_NV) c->v[(first + l) * UK_NV + i] = m->v[i][l];
    c->stopped[first + l] = failed[l] != 0;
  }
}

/* All motions; 0, or 1: there is no memory. */
UK_EXPORT int uk_move_crowd(uk_crowd *c) {
  uk_lanes_memory *m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
  if (m == NULL) return 1;
  memset(m, 0, sizeof *m); /* entries of A that are always zero are never written */
  UK_EACH(r, UK_ROWS) m->active[r] = uk_all(c->active[r]);
  for (long long first = 0; first < c->count; first += UK_WIDTH) {
    const long long left = c->count - first;
    uk_crowd_group(m, c, first, left < UK_WIDTH ? (int)left : UK_WIDTH);
  }
  free(m);
  return 0;
}
