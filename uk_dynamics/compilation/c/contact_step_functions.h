/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
#pragma once

#include "contact_step.h"

/* Call uk_start_contacts once, and uk_step_contacts for each step of a motion from t, q and v under
 * tau, by Moreau's rule. Rows of contacts, stops and ropes that are closed act at its end. */
void uk_start_contacts(uk_contact_state *contacts);
int uk_step_contacts(uk_memory *memory, uk_contact_state *contacts, double step);
