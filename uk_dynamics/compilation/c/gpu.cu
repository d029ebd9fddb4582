/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Kernels: every thread has a state, or a motion, and the memory of one. */

static inline long long uk_thread(void) { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }

#ifndef UK_MOVES
#define UK_IRREGULAR (-1.0) /* what `failed` is of states that the first kernel leaves to the second */

/* Regular states. Nothing here is indexed by what is computed, so the memory of a state is registers. */
extern "C" __global__ void uk_regular_kernel(const uk_batch *c) {
  const long long state = uk_thread();
  if (state >= c->count) return;
  uk_lanes_memory memory;
  uk_lanes_kept kept;
  uk_batch_begin(&memory, c);
  uk_batch_load(&memory, c, state);
  kept.known = 0;
  uk_lanes_configure(&memory, &kept);
  uk_lanes_find_rates(&memory, &kept);
  uk_lanes_find_forces(&memory, &kept);
  if (!uk_lanes_solve_regular(&memory, &kept)) memory.failed = UK_IRREGULAR;
  uk_batch_store(&memory, c, state, 1);
}

/* The others, rows pivoted. */
extern "C" __global__ void uk_evaluate_kernel(const uk_batch *c) {
  const long long state = uk_thread();
  if (state >= c->count || c->failed[state] != UK_IRREGULAR) return;
  uk_lanes_memory memory;
  uk_lanes_kept kept;
  uk_batch_begin(&memory, c);
  uk_batch_answer(&memory, &kept, c, state);
}

#elif !defined(UK_WHOLE_LAW)
extern "C" __global__ void uk_rollout_kernel(const uk_trajectories *c) {
  const long long state = uk_thread();
  if (state >= c->count) return;
  uk_lanes_memory memory;
  uk_lanes_kept kept;
  uk_rollout_begin(&memory, c);
  uk_rollout_move(&memory, &kept, c, state, 1);
}

#else
extern "C" __global__ void uk_loop_kernel(const uk_loop_batch *c) {
  const long long state = uk_thread();
  if (state >= c->count) return;
  uk_lanes_memory memory;
  uk_loops loops;
  loops.late->rows = c->late + state * c->places * UK_QUEUED;
  uk_loops_begin(&loops, c, &memory, 1);
  uk_loops_move(&loops, state);
}
#endif
