/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* One period of servo control, from a measured state to efforts within the limits; see
 * control/servo/servo_controller.py, whose steps these are. Nothing is allocated and nothing shared:
 * one memory and one table of references per controller. What is set there once: active, weights,
 * preload, period, blend_time, task_damping, task_stiffness, limits, friction;
 * uk_control_reset makes the next period the first one. */
#pragma once

#include "uk_mechanism.h"
#include "uk_sizes.h"

typedef struct {
  uk_memory *memory;
  double *tasks;     /* what task rows follow; null: zero */
  double *structure; /* what structural rows follow; null: zero */
} uk_controller;

/* What a period of control ends with. */
#define UK_FLAGS (2 * (UK_NU - UK_CONTACT_ROWS) + UK_MT - UK_CONTACT_ROWS) /* motors at a power limit, at a
                                                                            * rate limit; unreachable rows */
