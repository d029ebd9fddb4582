/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
#pragma once

#include "control_period.h"

/* Double precision, no allocation, no global state: all memory is the caller's, zeros at first.
 * uk_control_start sets what the files say into a memory; uk_control makes efforts for a state. A
 * uk_controller has a memory and tables of references, one copy for each controller. */
double uk_closure_error(uk_memory *memory);
int uk_evaluate(uk_memory *memory);
int uk_errors(uk_memory *memory);
int uk_predict_effect(uk_memory *memory, double delay, double *sent, long long *count);
void uk_send(double when, const double *efforts, long long places, double *sent, long long *count);
void uk_control_start(uk_memory *memory, double period);
void uk_control_reset(uk_memory *memory, const double *efforts);
/* Where contacts stand is as the tasks file says; set contact_closed (1 for those that are closed)
 * in each period where some stand while they are detected. After uk_control, limited has the
 * efforts, and behind them the forces of the contacts: normal, along x, along y. A contact that does
 * not stand has none. While uk_predict_effect predicts, active has to be 1 for the rows of contacts
 * that stand, and efforts for uk_send have zeros for forces of contacts. */
int uk_control(const void *controller, double t, const double *q, const double *v,
               double *efforts, double *flags);
