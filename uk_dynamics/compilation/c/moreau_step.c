/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Motion with one-sided constraints in fixed steps: Moreau's midpoint rule, as
 * mechanism/contact/moreau_step.py has it. What the cone problem leaves unsolved is for Python. */
#pragma once

#include "admissible.c"
#include "block_elimination.c"
#include "chord.c"
#include "configuration.c"
#include "contact.h"
#include "loop_friction.c"
#include "references.c"
#include "uk_closing.h"
#include "uk_following.h"

/* Doubles of `room`: of the cone problem, all directions and their parts in the admissible motions. */
UK_EXPORT long long uk_contact_room(long long count, long long poisson) {
  return UK_CONTACT_ROOM(count, UK_NV, poisson) + UK_LOOP_ROOM;
}


/* A gap at the terms in the memory; of a ratchet from the tooth from which it is `about` so large. */
static double uk_gap_now(const uk_memory *m, const uk_contacts *x, int k, double about) {
  const double gap = x->gap[k] == 0.0 ? 0.0 : x->gap[k] * m->residual[x->row[UK_D * k]], pitch = x->pitch[k];
  return pitch > 0.0 ? gap + pitch * nearbyint((about - gap) / pitch) : gap;
}

/* Directions of all one-sided constraints at the terms in the memory, which are those of the middle of a step of
 * h seconds, and their gaps. */
static void uk_contact_rows(const uk_memory *m, const uk_contacts *x, double h, double *rows, double *gap) {
  for (int k = 0; k < UK_D * x->count; ++k)
    for (int i = 0; i < UK_NV; ++i)
      rows[k * UK_NV + i] = x->row[k] < 0 ? 0.0 : x->part[k] * m->A[x->row[k] * UK_NV + i];
  for (int k = 0; k < x->count; ++k) {
    gap[k] = uk_gap_now(m, x, k, 0.0);
    if (!(x->pitch[k] > 0.0)) continue; /* of the teeth passed before the step */
    const double before = gap[k] - 0.5 * h * uk_dot(rows + UK_D * k * UK_NV, m->v, UK_NV);
    gap[k] -= x->pitch[k] * floor((before + x->close) / x->pitch[k]);
  }
}

/* Those that are closed, or end a step so at velocities v, behind the n that are known; how many there are. */
static int uk_contact_closed(const uk_contacts *x, const long long *mode, const double *rows, const double *gap,
                             double h, const double *v, int n, int *closed) {
  const int before = n;
  for (int k = 0; k < x->count; ++k) {
    const double end = gap[k] + 0.5 * h * uk_dot(rows + UK_D * k * UK_NV, v, UK_NV);
    int known = mode[k] == UK_OPEN && gap[k] > x->close && end > x->close;
    for (int i = 0; i < before; ++i) known |= closed[i] == k;
    if (!known) closed[n++] = k;
  }
  return n;
}

/* The acceleration without contacts of the terms in the memory; whether there is none. */
static int uk_contact_accelerate(uk_memory *m, uk_eliminated *by) {
  uk_lanes_begin_pivoted(m);
  uk_eliminate(m, m->active, UK_RANK_TOLERANCE, by);
  uk_answer_rows(m, by, m->b, m->qdd);
  uk_lanes_unwhiten(m, m->qdd);
  return m->singular || !isfinite(uk_total(m->qdd, UK_NV));
}

/* Forces in the directions of a constraint, whitened: all have the same velocities. */
static void uk_contact_whiten(const uk_memory *m, double *x) {
  for (int i = UK_NV - 1; i >= 0; --i) {
    double own[UK_D];
    int any = 0;
    for (int d = 0; d < UK_D; ++d) own[d] = x[d * UK_NV + i] *= m->inverse_pivot[i], any |= own[d] != 0.0;
    if (!any) continue;
    for (int j = UK_DENSE ? i - 1 : uk_parent[i]; j >= 0; j = UK_DENSE ? j - 1 : uk_parent[j])
      for (int d = 0; d < UK_D; ++d) x[d * UK_NV + j] -= own[d] * m->H[i * UK_NV + j];
  }
}

/* Coordinates of forces in the directions of several, those that the structure holds first. */
static void uk_contact_coordinates(const uk_memory *m, const uk_eliminated *by, double *x, int count) {
  for (int i = 0; i < count; i += UK_D) uk_contact_whiten(m, x + i * UK_NV);
#if UK_BY_BLOCKS
  for (int i = 0; i < count && by->sure; ++i) uk_coordinates_by_blocks(by, x + i * UK_NV);
  if (by->sure) return;
#endif
  (void)by;
#if UK_M > 0
  const uk_basis b = uk_rows_of(m);
  for (int k = 0; k < (int)m->rank; ++k) uk_reflect_rows(&b, k, x, count);
#endif
}

/* How closed constraints respond to their impulses. */
static void uk_contact_respond(const uk_memory *m, const uk_eliminated *by, uk_cone *c, const int *closed,
                               const double *rows, double *parts) {
  const int N = UK_D * c->n, rank = (int)m->rank;
  for (int i = 0; i < c->n; ++i)
    memcpy(parts + UK_D * i * UK_NV, rows + UK_D * closed[i] * UK_NV, sizeof(double) * UK_D * UK_NV);
  uk_contact_coordinates(m, by, parts, N);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j)
      c->W[i * N + j] = c->W[j * N + i] =
          uk_dot(parts + i * UK_NV + rank, parts + j * UK_NV + rank, UK_NV - rank);
}

/* Impulses of closed constraints while they are found; directions behind them are tangents once more, of contacts
 * that constant impulses press. */
typedef struct {
  const int *closed;
  double *cone;   /* room for the problem with these */
  double *given;  /* impulses of Poisson's law, (n, d) */
  double *pushed; /* what presses those behind, (n) */
  int *of;        /* which direction each is, (2n, d); below zero: none */
} uk_impact;

static uk_impact uk_impact_at(const uk_contacts *x, const int *closed) {
  double *at = x->room + UK_CONTACT_ROOM(x->count, UK_NV, x->poisson) - (2 * UK_D + 1) * x->count;
  return (uk_impact){closed, at - UK_CONE_ROOM(2 * x->count) * x->poisson, at, at + UK_D * x->count,
                     (int *)(at + (UK_D + 1) * x->count)};
}

/* The problem of their impulses at velocities v, where constant loads act for h seconds. */
static void uk_impact_pose(const uk_contacts *x, const uk_impact *p, uk_cone *c, int n, const long long *mode,
                           const double *rows, double h, const double *v) {
  const int N = UK_D * c->n;
  for (int i = 0; i < N; ++i) {
    const int of = p->of[i];
    c->q[i] = of < 0 ? 0.0 : uk_dot(rows + (UK_D * p->closed[of / UK_D] + of % UK_D) * UK_NV, v, UK_NV);
  }
  for (int i = 0; i < c->n; ++i) {
    const int k = p->closed[p->of[UK_D * i + 1] / UK_D], at = UK_D * i * (N + 1);
    const double load = i < n ? h * x->load[2 * k + (mode[k] == UK_STICKS)] : p->pushed[i - n];
    c->friction[i] = mode[k] == UK_STICKS ? x->static_friction[k] : x->friction[k];
    if (i < n && !(x->load[2 * k + 1] > 0.0)) continue;
    c->W[at] = c->W[at + N + 1] == 0.0 ? 1.0 : c->W[at + N + 1]; /* as heavy against its load as along its joint */
    c->q[UK_D * i] = -c->W[at] * load;
  }
}

/* What impulses in these directions do to velocities. */
static void uk_impact_move(const uk_memory *m, const uk_eliminated *by, const uk_impact *p, const double *impulse,
                           int N, const double *parts, double *v) {
  const int rank = (int)m->rank;
  double moved[UK_NV] = {0.0};
  for (int i = 0; i < N; ++i)
    if (p->of[i] >= 0) uk_add(moved + rank, impulse[i], parts + p->of[i] * UK_NV + rank, UK_NV - rank);
  uk_move_along(m, by, moved);
  for (int i = 0; i < UK_NV; ++i) v[i] += moved[i];
}

/* Poisson's law: an impact without restitution is compression, and in expansion impulses along the normals are at least
 * restitution times its own. Gives both, and friction of the latter to contacts behind those of the cone, whose number
 * it finds; 1: there are no impulses. */
static int uk_impact_compress(const uk_contacts *x, uk_impact *p, uk_cone *c, const long long *mode,
                              const double *rows, const double *before, const double *in_loops, int *behind) {
  uk_impact_pose(x, p, c, c->n, mode, rows, 0.0, before);
  memset(c->r, 0, sizeof(double) * UK_D * c->n);
  if (uk_loop_solve(x, p->closed, p->of, c, c->n, mode, in_loops)) return 1;
  memcpy(p->given, c->r, sizeof(double) * UK_D * c->n);
  for (int i = 0; i < c->n; ++i) {
    const double pushed = x->restitution[p->closed[i]] * c->r[UK_D * i];
    int *of = p->of + UK_D * (c->n + *behind);
    p->given[UK_D * i] += pushed;
    if (!(pushed > 0.0 && c->friction[i] > 0.0)) continue;
    for (int d = 0; d < UK_D; ++d) of[d] = d ? UK_D * i + d : -1;
    p->pushed[(*behind)++] = pushed;
  }
  return 0;
}

/* Impulses of closed constraints, and velocities after them in the place of those without them. */
static int uk_contact_impulses(const uk_memory *m, const uk_eliminated *by, uk_contacts *x, uk_cone *c,
                               const int *closed, const long long *mode, const double *rows, const double *parts,
                               double h, double *v) {
  const int n = c->n, N = UK_D * n;
  uk_impact p = uk_impact_at(x, closed);
  uk_cone left = *c; /* the problem behind an impact of Poisson's law */
  int strikes = 0, behind = 0;
  double error = 0.0, in_loops[3 * UK_LOOP_FRICTION + 1] = {0.0}; /* impulses that press */
  for (int i = 0; i < N; ++i) p.of[i] = i, p.given[i] = 0.0;
  for (int i = 0; i < n && x->poisson; ++i)
    strikes |= x->restitution[closed[i]] > 0.0 && uk_dot(rows + UK_D * closed[i] * UK_NV, m->v, UK_NV) < -x->resting;
  if (strikes) {
    const int failed = uk_impact_compress(x, &p, c, mode, rows, m->v, in_loops, &behind);
    x->iterations += c->iterations;
    if (failed) return 1;
    error = c->error;
    for (int i = 0; UK_LOOP_FRICTION && i < N; i += UK_D) uk_loop_press(x, i, p.given[i] - c->r[i], in_loops);
    uk_impact_move(m, by, &p, p.given, N, parts, v);
  }
  const int all = UK_D * (n + behind);
  if (behind) {
    left = uk_cone_at(n + behind, p.cone);
    for (int i = 0; i < all; ++i)
      for (int j = 0; j < all; ++j)
        left.W[i * all + j] = p.of[i] < 0 || p.of[j] < 0 ? 0.0 : c->W[p.of[i] * N + p.of[j]];
  }
  uk_impact_pose(x, &p, &left, n, mode, rows, h, v);
  memset(left.r, 0, sizeof(double) * all);
  for (int i = 0; i < n; ++i) {
    const double approach = uk_dot(rows + UK_D * closed[i] * UK_NV, m->v, UK_NV);
    if (!x->poisson && approach < 0.0) left.q[UK_D * i] += x->restitution[closed[i]] * approach;
    memcpy(left.r + UK_D * i, x->impulse + UK_D * closed[i], sizeof(double) * UK_D);
  }
  if (UK_LOOP_FRICTION) uk_add(in_loops, 1.0, uk_loop_impulses(x), 3 * (int)x->count);
  const int failed = uk_loop_solve(x, closed, p.of, &left, n, mode, in_loops);
  x->iterations += left.iterations;
  if (failed) return 1; /* Python tells of its own solution */
  memset(x->impulse, 0, sizeof(double) * UK_D * x->count);
  for (int i = 0; i < N; ++i) x->impulse[UK_D * closed[i / UK_D] + i % UK_D] = p.given[i] + left.r[i];
  for (int i = N; i < all; ++i)
    if (p.of[i] >= 0) x->impulse[UK_D * closed[p.of[i] / UK_D] + i % UK_D] += left.r[i];
  uk_impact_move(m, by, &p, left.r, all, parts, v);
  c->error = fmax(error, left.error), c->fell_back |= left.fell_back;
  if (!behind) c->basis = left.basis, c->sticks = left.sticks;
  return 0;
}

/* Velocities after a step without impulses, with Coriolis and centrifugal forces and the bias of rows at the velocities
 * v of its middle instead of those before it, whose forces are `inertial`. */
static void uk_contact_turn(uk_memory *m, const uk_eliminated *by, const uk_contacts *x, const double *v, double h,
                            const double *inertial, double *shared, double *free) {
  double force[UK_NV], bias[UK_ROWS], rate[UK_ROWS];
  uk_lanes_terms_rates(m->t, m->q, v, UK_FOLLOWED UK_P, m->H, force, m->A, bias, m->residual, rate, shared);
  uk_lanes_terms_inertia(m->t, m->q, v, UK_FOLLOWED UK_P, m->H, force, m->A, bias, m->residual, rate, shared);
  for (int i = 0; i < UK_NV; ++i) force[i] = inertial[i] - force[i];
  for (int r = 0; r < UK_M; ++r) bias[r] = m->active[r] * (m->bias[r] - bias[r]);
  if (UK_LOOP_FRICTION) uk_loop_add(m, x, bias, force, h, uk_loop_impulses(x));
  uk_lanes_whiten(m, force);
  uk_answer_rows(m, by, bias, force);
  uk_lanes_unwhiten(m, force);
  uk_add(free, h, force, UK_NV);
}

/* Modes after a step, and rows that act then. */
static void uk_contact_modes(uk_memory *m, uk_contacts *x, const double *rows, const double *v, long long *mode) {
  for (int k = 0; k < x->count; ++k) {
    const int dry = x->load[2 * k + 1] > 0.0;
    const double *own = rows + UK_D * k * UK_NV, *slip = own + UK_NV;
    double along[UK_D - 1];
    for (int d = 0; d < UK_D - 1; ++d) along[d] = uk_dot(slip + d * UK_NV, v, UK_NV);
    mode[k] = UK_OPEN;
    if (!(x->impulse[UK_D * k] > 0.0) || (!dry && uk_dot(own, v, UK_NV) > x->resting)) continue;
    memcpy(x->slip + (UK_D - 1) * k, along, sizeof along);
    mode[k] = x->friction[k] > 0.0 && sqrt(uk_dot(along, along, UK_D - 1)) <= x->resting ? UK_STICKS : UK_SLIPS;
    if (!dry) m->active[x->row[UK_D * k]] = 1.0;
    for (int d = 1; d < UK_D && mode[k] == UK_STICKS; ++d)
      if (x->row[UK_D * k + d] >= 0) m->active[x->row[UK_D * k + d]] = 1.0;
  }
}

/* Which strike in a step that turns velocities `before` into v, and what energy all its impulses take: what was open
 * and approaches. Of moving inertia it is that of the middle. */
static void uk_contact_strikes(const uk_contacts *x, const long long *mode, const double *rows, const double *before,
                               const double *v, double *lost) {
  int strikes = 0;
  for (int k = 0; k < x->count; ++k) {
    lost[k] = NAN;
    if (mode[k] != UK_OPEN || x->load[2 * k + 1] > 0.0 || !(x->impulse[UK_D * k] > 0.0)) continue;
    if (uk_dot(rows + UK_D * k * UK_NV, before, UK_NV) < -x->resting) lost[k] = 0.0, strikes = 1;
  }
  if (!strikes) return;
  double all = 0.0;
  for (int i = 0; i < UK_D * x->count; ++i)
    if (x->impulse[i] != 0.0)
      all -= 0.5 * x->impulse[i] * (uk_dot(rows + i * UK_NV, before, UK_NV) + uk_dot(rows + i * UK_NV, v, UK_NV));
  for (int k = 0; k < x->count; ++k)
    if (lost[k] == 0.0) lost[k] = all;
}

/* Rows that act besides those of one-sided constraints. */
static void uk_contact_base(uk_memory *m, const double *active, const uk_contacts *x) {
  memcpy(m->active, active, sizeof(double) * UK_M);
  for (int i = 0; i < UK_D * x->count; ++i)
    if (x->row[i] >= 0) m->active[x->row[i]] = 0.0;
}

/* Whether something is inside of its surface; its rows act then. */
static int uk_contact_inside(uk_memory *m, const uk_contacts *x, const double *gap) {
  int inside = 0;
  for (int k = 0; k < x->count; ++k)
    if (uk_gap_now(m, x, k, gap[k]) < -x->close && m->active[x->row[UK_D * k]] == 0.0)
      inside = 1, m->active[x->row[UK_D * k]] = 1.0;
  return inside;
}

/* Makes what is inside of its surface known to the end of a step along the rows of its middle; its rows act then. */
static int uk_contact_met(uk_memory *m, const uk_contacts *x, const double *rows, const double *gap, int *closed,
                          uk_chord *c, double *parts) {
  if (!uk_contact_inside(m, x, gap)) return 0;
  for (int k = 0; k < x->count; ++k) {
    int known = x->gap[k] == 0.0 || m->active[x->row[UK_D * k]] == 0.0;
    for (int i = 0; i < c->n; ++i) known |= closed[i] == k;
    if (known) continue;
    double *own = parts + UK_D * c->n * UK_NV;
    memcpy(own, rows + UK_D * k * UK_NV, sizeof(double) * UK_D * UK_NV);
    uk_contact_coordinates(m, c->by, own, UK_D);
    closed[c->n++] = k;
  }
  return 1;
}

/* The end of a step on the rows that act along those of its middle, as uk_contact_end; 0: it is not found so, and all
 * is as it was. */
static int uk_contact_end_along(uk_memory *m, const double *active, const uk_contacts *x, const long long *mode,
                                const double *gap, const double *rows, int *closed, uk_chord *c, double *parts,
                                double *shared) {
  double q[UK_NQ], v[UK_NV], acts[UK_M];
  memcpy(q, m->q, sizeof q), memcpy(v, m->v, sizeof v), memcpy(acts, m->active, sizeof acts);
  int found = UK_ALONG && uk_chord_lead(m, x, c, 1, shared), lifted = 0;
  uk_contact_base(m, active, x); /* what rests may be lifted */
  while (found && uk_contact_met(m, x, rows, gap, closed, c, parts))
    lifted = 1, found = uk_chord_lead(m, x, c, 1, shared);
  memcpy(m->active, acts, sizeof acts);
  for (int k = 0; k < x->count && found; ++k)
    if ((mode[k] == UK_SLIPS && x->friction[k] > 0.0 && x->gap[k] != 0.0)
        || (mode[k] != UK_OPEN && uk_gap_now(m, x, k, gap[k]) > x->close))
      m->active[x->row[UK_D * k]] = 0.0;
  if (found && (!lifted || uk_chord_lead(m, x, c, 1, shared)) && uk_chord_lead(m, x, c, 0, shared)) return 1;
  memcpy(m->q, q, sizeof q), memcpy(m->v, v, sizeof v), memcpy(m->active, acts, sizeof acts);
  return 0;
}

/* The end of a step on the rows that act, where gaps are about those given. Positions do not stay inside of
 * surfaces, whatever velocities are; velocities of what slides turn by the impulses of the next step, which friction
 * knows. */
static int uk_contact_end(uk_memory *m, const double *active, const uk_contacts *x, const long long *mode,
                          const double *gap) {
  double q[UK_NQ], acts[UK_M];
  uk_kept kept;
  kept.known = 0;
  memcpy(q, m->q, sizeof q);
  memcpy(m->q, q, sizeof q);
  if (uk_project_place(m, &kept)) { /* contacts that cannot all be closed, as those of two steps of a leg */
    uk_contact_base(m, active, x);
    memcpy(m->q, q, sizeof q);
    if (uk_project_place(m, &kept)) return 1;
  }
  memcpy(acts, m->active, sizeof acts), memcpy(q, m->q, sizeof q);
  uk_contact_base(m, active, x); /* what rests may be lifted */
  int lifted = 0, failed = 0;
  while (!failed && uk_contact_inside(m, x, gap)) lifted = 1, failed = uk_project_place(m, &kept);
  memcpy(m->active, acts, sizeof acts);
  if (failed) memcpy(m->q, q, sizeof q), uk_lanes_configure(m, &kept);
  for (int k = 0; k < x->count; ++k) {
    const int slides = mode[k] == UK_SLIPS && x->friction[k] > 0.0 && x->gap[k] != 0.0;
    if (slides || (!failed && uk_gap_now(m, x, k, gap[k]) > x->close && mode[k] != UK_OPEN))
      m->active[x->row[UK_D * k]] = 0.0;
  }
  return (lifted && uk_project_place(m, &kept)) || uk_project_velocity(m, &kept);
}

#if UK_BALANCES

/* Whether all that is closed was so before, nothing slides and nothing strikes. */
static int uk_contact_lasts(const uk_contacts *x, const long long *before, const long long *now) {
  int lasts = 1;
  for (int k = 0; k < x->count; ++k)
    lasts &= now[k] == before[k] && (now[k] == UK_OPEN ? !(x->impulse[UK_D * k] > 0.0)
                                                       : now[k] == UK_STICKS || !(x->friction[k] > 0.0));
  return lasts;
}

/* Velocities of the state in the memory are scaled so that its energy is more by the work than what it was; where
 * contacts change, slide or strike it may be less, by what they have lost. */
static void uk_contact_balance(uk_memory *m, const double *before, double work, int lasts) {
  double now[2];
  uk_energies(m->t, m->q, m->v UK_P, now);
  const double wanted = before[0] + before[1] + work - now[1];
  const double least = UK_BALANCE_PART * fmin(before[0], now[0]), most = lasts ? now[0] / UK_BALANCE_PART : now[0];
  if (!(fabs(wanted - now[0]) > UK_BALANCE_ROUNDING * (fabs(before[1]) + fabs(now[1]))) || now[0] == 0.0) return;
  const double scale = sqrt(fmin(fmax(wanted, least), most) / now[0]);
  for (int i = 0; i < UK_NV; ++i) m->v[i] *= scale;
}

#endif

/* A step of h seconds from the state in the memory; 0, or 1: there is none, and the state is lost. */
static int uk_contact_step(uk_memory *m, const double *active, double *followed, uk_contacts *x, double h) {
  double *rows = x->room + UK_CONE_ROOM(x->count), *parts = rows + UK_D * x->count * UK_NV;
  double *gap = parts + UK_D * x->count * UK_NV;
  int *closed = (int *)(gap + x->count);
  const long long *mode = x->mode + x->taken * x->count;
  const double t = m->t;
  double q[UK_NQ], v[UK_NV], free[UK_NV], inertial[UK_NV], shared[UK_TERMS_SHARED];
  uk_eliminated by;
  uk_cone cone;
  if (x->taken == x->steps) return 1;
  uk_contact_base(m, active, x);
#if UK_BALANCES
  double energies[2], forces[UK_NV], work = 0.0;
  uk_energies(m->t, m->q, m->v UK_P, energies);
#endif
  uk_reach(m->q, 0.5 * h, m->v, q);
  memcpy(m->q, q, sizeof q);
  m->t = t + 0.5 * h;
  if (uk_follow_structure(m, followed)) return 1;
  uk_lanes_terms_configuration(UK_STATE_TERMS, shared);
  uk_lanes_terms_rates(UK_STATE_TERMS, shared);
  uk_lanes_terms_inertia(UK_STATE_TERMS, shared);
  memcpy(inertial, m->force, sizeof inertial);
  uk_lanes_terms_forces(UK_STATE_TERMS, shared);
  uk_contact_rows(m, x, h, rows, gap);
  if (uk_contact_accelerate(m, &by)) return 1;
  if (UK_LOOP_FRICTION) uk_loop_begin(m, x, h);
  for (int i = 0; i < UK_NV; ++i) v[i] = free[i] = m->v[i] + h * m->qdd[i];
  int n = -1, fell_back = 0, more = uk_contact_closed(x, mode, rows, gap, 0.0, v, 0, closed);
  for (int turned = 0; turned < 2; ++turned) {
    if (turned) { /* with the mean of the velocities before and after, which has all impulses */
      for (int i = 0; i < UK_NV; ++i) v[i] = 0.5 * (m->v[i] + v[i]);
      uk_contact_turn(m, &by, x, v, h, inertial, shared, free);
    }
    do { /* they may drive others in */
      if (more > n) cone = uk_cone_at(more, x->room);
      cone.iterations = cone.fell_back = 0;
      if (more > n) uk_contact_respond(m, &by, &cone, closed, rows, parts);
      if (UK_LOOP_FRICTION && more > n) uk_loop_respond(m, x, closed, more, rows);
      n = more;
      memcpy(v, free, sizeof v);
      if (uk_contact_impulses(m, &by, x, &cone, closed, mode, rows, parts, h, v)) return 1;
      fell_back |= cone.fell_back;
      x->error = fmax(x->error, cone.error);
      more = uk_contact_closed(x, mode, rows, gap, h, v, n, closed);
    } while (more > n);
  }
  x->fell_back += fell_back;
  uk_contact_modes(m, x, rows, v, x->mode + (x->taken + 1) * x->count);
  if (x->lost) uk_contact_strikes(x, mode, rows, m->v, v, x->lost + x->taken * x->count);
  for (int k = 0; k < x->count; ++k) gap[k] += 0.5 * h * uk_dot(rows + UK_D * k * UK_NV, v, UK_NV);
#if UK_BALANCES
  uk_unstored(m->t, m->q, m->v UK_P, forces);
  for (int i = 0; i < UK_NV; ++i) work += 0.5 * h * (m->v[i] + v[i]) * (m->tau[i] + forces[i]);
#endif
  uk_reach(q, 0.5 * h, v, m->q);
  memcpy(m->v, v, sizeof v);
  m->t = t + h;
  if (uk_follow_structure(m, followed)) return 1;
  uk_chord chord = {.by = &by, .closed = closed, .n = n, .parts = parts};
  chord.room = (double *)(closed + x->count + (x->count & 1));
  const long long *now = x->mode + (x->taken + 1) * x->count;
  if (!uk_contact_end_along(m, active, x, now, gap, rows, closed, &chord, parts, shared)
      && uk_contact_end(m, active, x, now, gap))
    return 1;
#if UK_BALANCES
  uk_contact_balance(m, energies, work, uk_contact_lasts(x, mode, mode + x->count));
#endif
  ++x->taken;
  return 0;
}

/* Keep how things slide at a sample. */
UK_OPTIONAL static void uk_contacts_sampled(const uk_contacts *x, long long sample) {
  const long long size = (UK_D - 1) * x->count;
  if (x->slip_out) memcpy(x->slip_out + sample * size, x->slip, sizeof(double) * size);
}

/* At an instant that was reached, or not: then modes and impulses are those of the one before. Whether a motion
 * goes on from it. */
UK_OPTIONAL static int uk_contacts_hold(uk_contacts *x, int moved) {
  const size_t one = sizeof(double) * x->count;
  double *slip = x->before + UK_D * x->count;
  if (!moved) {
    memcpy(x->impulse, x->before, UK_D * one), memcpy(x->slip, slip, (UK_D - 1) * one);
    return 0;
  }
  memcpy(x->before, x->impulse, UK_D * one), memcpy(slip, x->slip, (UK_D - 1) * one);
  x->done = x->taken;
  const long long *now = x->mode + x->done * x->count;
  int holds = 1;
  for (int k = 0; k < x->count && x->waits && x->done; ++k)
    holds &= now[k] == x->mode[k] && !(now[k] == UK_SLIPS && x->friction[k] > 0.0);
  return holds;
}
