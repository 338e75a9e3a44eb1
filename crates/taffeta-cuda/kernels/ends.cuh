// Strain at the start and the end of a step, and what it says.

// The largest and the smallest squared length of edges, over its rest. Positive numbers are in the order of their bits, so that nobody has to wait for anybody.
// A thread looks at every `all`th edge.
DEVICE void measure(const Sheet &sheet, int first, int all) {
  double most = 1.0, least = 1.0;
  for (int e = first; e < sheet.edges; e += all) {
    const int2 ends = sheet.ends[e];
    const Place a = sheet.x[ends.x], b = sheet.x[ends.y];
    const float4 ra = sheet.r[ends.x], rb = sheet.r[ends.y];
    const double x = (b.x + (double)rb.x) - (a.x + (double)ra.x);
    const double y = (b.y + (double)rb.y) - (a.y + (double)ra.y);
    const double z = (b.z + (double)rb.z) - (a.z + (double)ra.z);
    const double ratio = (x * x + y * y + z * z) / (sheet.rest[e] * sheet.rest[e]);
    // What is not a number is the longest.
    most = ratio <= most ? most : (ratio < 1e18 ? ratio : 1e18);
    least = ratio < least ? ratio : least;
  }
  for (int s = 16; s > 0; s >>= 1) {
    most = fmax(most, __shfl_xor_sync(ALL, most, s));
    least = fmin(least, __shfl_xor_sync(ALL, least, s));
  }
  if (lane_of_warp() == 0) {
    atomicMax(&sheet.control->most, (u64)__double_as_longlong(most));
    atomicMin(&sheet.control->least, (u64)__double_as_longlong(least));
  }
}

enum Stage { AT_START, BEFORE_SWEEPS, AFTER_SWEEP };

// What the strain says: whether the start is beyond repair, and whether sweeps go on, by the rules of the engine's last sweeps.
DEVICE void judge_strain(const Sheet &sheet, int stage) {
  Control &control = *sheet.control;
  const Pace &pace = *sheet.pace;
  const double longest = sqrt(__longlong_as_double((i64)control.most)) - 1.0;
  const double shortest = 1.0 - sqrt(__longlong_as_double((i64)control.least));
  const double strain = fmax(longest, shortest);
  double error = strain;
#ifdef SEWN
  control.opening = __longlong_as_double((i64)control.open);
  control.open = 0;
  // Seams that are open count as many times the tolerance of lengths as they are open times their own.
  if (!control.given_up) error = fmax(strain, pace.tolerance * control.opening / pace.seam_tolerance);
#endif
  control.most = control.least = (u64)__double_as_longlong(1.0);
  if (stage == AT_START) {
    control.far = strain >= pace.infeasible;
    return;
  }
  control.error = error;
  if (stage == BEFORE_SWEEPS) {
    control.before = strain;
    control.best = error;
    control.kept = strain <= pace.tolerance;
    control.beyond = 1.0f;
    control.sweeps = control.best_at = 0;
  } else {
    control.sweeps++;
    control.for_lengths += !control.kept;
    control.kept |= strain <= pace.tolerance;
    if (error < 0.9 * control.best) {
      control.best = error;
      control.best_at = control.sweeps;
    }
    const bool gains = control.sweeps - control.best_at <= pace.relaxed_sweeps;
    // Contacts and seams do not go beyond what they ask for, and where nothing is gained friction holds nothing any more.
    const bool touches = sheet.found && sheet.found->touching;
    if (touches && !gains) sheet.found->slips = 1;
    control.beyond = gains && !touches && sheet.stitch_count == 0 ? (float)(4.0 / (4.0 - pace.radius * pace.radius * (double)control.beyond)) : 1.0f;
  }
  const int most = min(pace.most_sweeps, control.best_at + pace.stalled_sweeps);
  control.done = error <= pace.tolerance || control.sweeps >= most;
}
