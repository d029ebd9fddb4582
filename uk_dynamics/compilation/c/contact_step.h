/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* One-sided constraints of a mechanism for programs that step over them. */
#pragma once

#include "contact.h"
#include "uk_contact_sizes.h"
#include "uk_mechanism.h"

typedef struct {
  double active[UK_M]; /* 1 for rows that act besides one-sided constraints */
  double friction[UK_CONTACTS], static_friction[UK_CONTACTS], restitution[UK_CONTACTS];
  long long mode[UK_CONTACTS];     /* UK_OPEN, UK_SLIPS or UK_STICKS at the end of the last step */
  double impulse[UK_D * UK_CONTACTS]; /* in it: normal, along x and y, in N s or N m s */
  double slip[(UK_D - 1) * UK_CONTACTS];    /* at its end, in the plane, in m/s or rad/s */
  double room[UK_CONTACT_ROOM(UK_CONTACTS, UK_NV, UK_POISSON) + UK_LOOP_ROOM];
} uk_contact_state;
