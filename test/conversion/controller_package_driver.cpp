// Copyright 2026 the contributors of uk_dynamics; Apache-2.0
// Runs the servo of a generated package on measurements from stdin; see test_controller_package.py.
#include <cstdio>
#include <cstdlib>
#include <new>

#include SERVO_HEADER

static long allocations = 0;

// The linker lets every call of the C library's functions go through these (--wrap).
extern "C" {
void * __real_malloc(std::size_t);
void * __real_calloc(std::size_t, std::size_t);
void * __real_realloc(void *, std::size_t);
void * __wrap_malloc(std::size_t size) { return ++allocations, __real_malloc(size); }
void * __wrap_calloc(std::size_t n, std::size_t size) { return ++allocations, __real_calloc(n, size); }
void * __wrap_realloc(void * p, std::size_t size) { return ++allocations, __real_realloc(p, size); }
}
void * operator new(std::size_t size) { return ++allocations, __real_malloc(size); }
void operator delete(void * p) noexcept { std::free(p); }
void operator delete(void * p, std::size_t) noexcept { std::free(p); }

using namespace LOOPS;

static ClosedLoopServo servo;

template <typename Array>
static bool read(Array & array)
{
  for (double & x : array) {
    if (std::scanf("%lf", &x) != 1) return false;
  }
  return true;
}

template <typename Array>
static void print(const Array & array)
{
  for (const double x : array) std::printf("%.17g ", x);
}

// First line: period, delay, blend_time, ramp_time, largest_error, state_timeout. Then, for each
// period, t, positions, velocities, what sensors say of a base, and value, rate, acceleration of the rows; a line of answers for each.
// Arguments: a line, and a part of the law that is turned off there.
int main(int count, char ** given)
{
  Settings settings;
  std::array<double, 6> head;
  if (!read(head)) return 1;
  settings.period = head[0], settings.delay = head[1];
  settings.blend_time = head[2], settings.ramp_time = head[3];
  settings.largest_error = head[4];
  settings.state_timeout = head[5];
  if (!servo.configure(settings)) return std::fprintf(stderr, "%s\n", problem(settings)), 3;
  bool started = false;
  const long off = count > 2 ? std::atol(given[1]) : -1;
  long line = 0;
  std::array<double, 1> t;
  Measured positions, velocities;
  Sensed sensed;
  Reference reference;
  while (read(t) && read(positions) && read(velocities) && read(sensed) && read(reference.value) &&
         read(reference.rate) && read(reference.acceleration)) {
    const long before = allocations;
    servo.see(in_own_axes(sensed));
    if (!started) {
      const Fault fault = servo.start(t[0], positions, velocities, Motors{});
      if (fault != Fault::kNone) return std::fprintf(stderr, "%s\n", servo.reason()), 2;
      started = true;
    }
    if (line++ == off) servo.turn(static_cast<Switch>(std::atoi(given[2])), false);
    servo.update(t[0], settings.period, positions, velocities, &reference);
    const long allocated = allocations - before;
    print(servo.efforts());
    print(servo.positions());
    print(servo.velocities());
    std::printf("%d %ld\n", static_cast<int>(servo.fault()), allocated);
    std::fflush(stdout);
  }
  std::fprintf(stderr, "%s\n", servo.reason());
  return 0;
}
