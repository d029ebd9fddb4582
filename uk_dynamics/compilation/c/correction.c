/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* What a law learns from period to period, and what that adds to what its tasks ask for; see
 * core/servo/correction_rule.py and velocity_observer_rule.py. A lane is a state. */
#pragma once

#include <string.h>

#include "uk_admissible.h"
#include "uk_correction.h"
#include "uk_lanes_law.h"
#include "uk_sizes.h"

#if UK_CORRECTED

#define UK_LEARNED (UK_ADAPTIVE * (2 + UK_ADAPTIVE + 2 * UK_MT) + 5 * UK_MT + 1)

/* Take what was measured into account, and what to add for it; `told` as uk_lanes_measurement says. */
static void uk_correct(uk_lanes_law *w, const uk_lanes *told) {
  uk_lanes explained[UK_MT], left[2 * UK_MT];
  UK_EACH(r, UK_MT) explained[r] = uk_all(0.0);
  uk_lanes_lag_share(told + 3, &w->loop_delay, &w->late_share);
  w->late_share *= told[0]; /* a state that is told again changes nothing, after a pause there are none: */
  UK_EACH(j, UK_NU) w->late_efforts[j] *= 1.0 - told[0] + told[1];
#if UK_ADAPTIVE
  uk_lanes known[UK_LEARNED];
  const uk_lanes *next = known;
  uk_lanes_learned(told, w->tracking_rate, w->past_rate, w->drift, w->driven, w->estimate, w->fitted, w->information,
                   w->filtered_regressor, w->filtered, w->variance, w->settled, w->explaining, w->push, known);
#define UK_NEXT(name) memcpy(w->name, next, sizeof w->name), next += sizeof w->name / sizeof *next
  UK_NEXT(estimate);
  UK_NEXT(fitted);
  UK_NEXT(information);
  UK_NEXT(filtered_regressor);
  UK_NEXT(filtered);
  UK_NEXT(variance);
  UK_NEXT(settled);
#undef UK_NEXT
#if UK_GAIN_FALLS
  uk_lanes_settled_gain(w->information, &w->adapts, &w->robust_gain);
#endif
  UK_EACH(r, UK_MT) UK_EACH(p, UK_ADAPTIVE)
    explained[r] += w->adapts * w->regressor[r * UK_ADAPTIVE + p] * w->estimate[p];
#endif
#if UK_LEARNS_SIZE
  const uk_lanes elapsed = told[1] * told[3];
  uk_lanes_next_scale(&w->robust_scale, &w->scale_growth, &w->leakage, &elapsed, &w->robust_scale);
#endif
  uk_lanes_observed(told, w->tracking_rate, w->past_rate, w->drift, w->driven, w->observed, explained,
                    w->observer_rate, left);
  memcpy(w->observed, left, sizeof left);
  UK_EACH(r, UK_MT) {
    const uk_lanes rest = left[r] - left[UK_MT + r];
    w->added[r] = told[1] * explained[r] - w->observes * rest;
#if UK_ADAPTIVE
    w->lacking[r] = told[1] * (w->reached[r] - w->driven[r]) - w->added[r] - w->adapts * rest;
#endif
    w->past_rate[r] = uk_pick(told[0] != 0.0, w->tracking_rate[r], w->past_rate[r]);
  }
#if UK_WATCHES
  uk_lanes seen[6 * UK_MT];
  uk_lanes_watched(told, w->tracking_rate, w->past_rate, w->drift, w->driven, w->watched, w->past_followed,
                   w->tracking_error, w->task_followed, explained, w->watch_rate, seen);
  memcpy(w->watched, seen, sizeof w->watched);
  memcpy(w->past_followed, seen + 3 * UK_MT, sizeof w->past_followed);
  UK_EACH(r, UK_MT) w->tracking_rate[r] = uk_pick(w->watch_rate[r] > 0.0, seen[UK_MT + r], w->tracking_rate[r]);
#endif
}

/* What the model says of the errors until the next period, where efforts are sent, (UK_NU). */
static void uk_note_prediction(uk_lanes_law *w, const uk_lanes *efforts) {
  UK_EACH(j, UK_NU) w->late_efforts[j] += w->late_share * (efforts[j] - w->late_efforts[j]);
  UK_EACH(r, UK_MT) {
    w->drift[r] = w->free_drift[r];
    w->driven[r] = uk_dot(w->map + r * UK_NU, w->late_efforts, UK_NU);
  }
#if UK_LEARNS_SIZE
  w->scale_growth = w->robust * w->robust_term[3];
#endif
}

#endif
