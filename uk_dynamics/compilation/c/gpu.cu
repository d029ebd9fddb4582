/* Copyright 2026 the contributors of uk_dynamics; Apache-2.0 */
/* Kernels: every thread has a state, and the memory of one. */

static inline long long uk_thread(void) { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void uk_evaluate_kernel(const uk_batch *c) {
  const long long state = uk_thread();
  if (state >= c->count) return;
  uk_lanes_memory memory;
  uk_lanes_kept kept;
  uk_batch_begin(&memory, c);
  uk_batch_answer(&memory, &kept, c, state);
}

#if UK_ROLLS
extern "C" __global__ void uk_rollout_kernel(const uk_trajectories *c) {
  const long long state = uk_thread();
  if (state >= c->count) return;
  uk_lanes_memory memory;
  uk_lanes_kept kept;
  uk_rollout_begin(&memory, c);
  uk_rollout_move(&memory, &kept, c, state, 1);
}
#endif
