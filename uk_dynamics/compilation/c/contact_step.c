/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Steps over one-sided constraints, one at a time; see contact_step.h. */
#pragma once

#include "moreau_step.c"
#include "contact_step.h"
#include "uk_contact_tables.h"

/* All are open, with the numbers of the mechanism file. */
UK_EXPORT void uk_start_contacts(uk_contact_state *s) {
  memset(s, 0, sizeof *s);
  memcpy(s->active, uk_contact_active, sizeof s->active);
  memcpy(s->friction, uk_contact_friction, sizeof s->friction);
  memcpy(s->static_friction, uk_contact_static_friction, sizeof s->static_friction);
  memcpy(s->restitution, uk_contact_restitution, sizeof s->restitution);
}

/* A step of h seconds from t, q and v in the memory under its forces tau; 0, or 1: there is none, and the state
 * stays. */
UK_EXPORT int uk_step_contacts(uk_memory *m, uk_contact_state *s, double h) {
  const double t = m->t, stabilize = m->stabilize;
  double q[UK_NQ], v[UK_NV], impulse[UK_D * UK_CONTACTS];
  long long mode[2 * UK_CONTACTS];
  uk_contacts x = {0};
  x.count = UK_CONTACTS, x.row = uk_contact_row, x.part = uk_contact_part;
  x.friction = s->friction, x.static_friction = s->static_friction, x.restitution = s->restitution, x.poisson = UK_POISSON;
  x.gap = uk_contact_gap, x.pitch = uk_contact_pitch, x.load = uk_contact_load;
  x.close = UK_CONTACT_CLOSE, x.resting = UK_CONTACT_RESTING;
#if UK_LOOP_FRICTION
  x.in_loop = uk_contact_in_loop, x.load_map = uk_contact_load_map;
#endif
  x.impulse = s->impulse, x.slip = s->slip, x.mode = mode, x.steps = 1, x.room = s->room;
  memcpy(q, m->q, sizeof q), memcpy(v, m->v, sizeof v), memcpy(impulse, s->impulse, sizeof impulse);
  memcpy(mode, s->mode, sizeof s->mode);
  m->stabilize = 0.0;
  const int failed = uk_contact_step(m, s->active, NULL, &x, h);
  m->stabilize = stabilize;
  if (failed) {
    m->t = t;
    memcpy(m->q, q, sizeof q), memcpy(m->v, v, sizeof v), memcpy(s->impulse, impulse, sizeof impulse);
    return 1;
  }
  memcpy(s->mode, mode + UK_CONTACTS, sizeof s->mode);
  return 0;
}
