// Copyright 2026 the contributors of uk_dynamics; Apache-2.0
// Takes motors through a generated transmission; see test_transmission_package.py.
#include <cstdio>

#include "four_bar_transmission/loop_transmission.hpp"

using namespace four_bar_transmission;

static LoopTransmission loop;

// Position, rate and effort of the motor; answers with those of the joint, and then with those of
// the motor again.
int main()
{
  Side a, da, ta;
  while (std::scanf("%lf %lf %lf", &a[0], &da[0], &ta[0]) == 3) {
    Side j{}, back{};
    const bool closed = loop.to_joints(a, j);
    const Side dj = loop.rates_to_joints(da), tj = loop.efforts_to_joints(ta);
    const bool returned = loop.to_actuators(j, back);
    std::printf(
      "%d %.17g %.17g %.17g %d %.17g %.17g %.17g\n", closed, j[0], dj[0], tj[0], returned, back[0],
      loop.rates_to_actuators(dj)[0], loop.efforts_to_actuators(tj)[0]);
  }
  return 0;
}
