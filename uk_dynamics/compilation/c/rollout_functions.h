/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
#pragma once

#include "rollout.h"

int uk_rollout(const uk_trajectories *trajectories);
