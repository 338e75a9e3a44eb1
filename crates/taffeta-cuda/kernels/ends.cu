// The start and the end of a step: state in, last sweeps, state out.

// Takes up a state: positions [m], velocities [m/s] and who touches. Pins lead from where their first sub-step ends.
extern "C" __global__ void load(Sheet sheet, const double *positions, const double *velocities, const unsigned char *touches) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= sheet.particles) return;
  const Pace &pace = *sheet.pace;
  const Place x = place(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2], touches[i] ? 0.0 : 1.0);
  Vec3 lead = vec((float)(pace.h * velocities[3 * i]), (float)(pace.h * velocities[3 * i + 1]), (float)(pace.h * velocities[3 * i + 2]));
  const int pin = sheet.pin[i];
  if (pin >= 0) lead = pace.pins_move ? way(x, led(sheet, pin, 0)) : none();
  sheet.x[i] = x;
  sheet.v[i] = with(lead, 0.0f);
  sheet.r[i] = with(none(), 0.0f);
}

// Puts the tensions of a state [N/m] to their places.
extern "C" __global__ void load_tensions(Sheet sheet, const float *tensions, const int *places, int count) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < count) sheet.tension[places[e]] = tensions[e];
}

// The largest and the smallest squared length of edges, over its rest. Positive numbers are in the order of their bits, so that nobody has to wait for anybody.
extern "C" __global__ void strain(Sheet sheet, int sweeping) {
  Control &control = *sheet.control;
  if (control.lost || (sweeping && control.done)) return;
  double most = 1.0, least = 1.0;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < sheet.edges; e += gridDim.x * blockDim.x) {
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
    atomicMax(&control.most, (u64)__double_as_longlong(most));
    atomicMin(&control.least, (u64)__double_as_longlong(least));
  }
}

enum Stage { AT_START, BEFORE_SWEEPS, AFTER_SWEEP };

// What the strain says: whether the start is beyond repair, and whether sweeps go on, by the rules of the engine's last sweeps.
extern "C" __global__ void judge(Sheet sheet, int stage) {
  Control &control = *sheet.control;
  const Pace &pace = *sheet.pace;
  if (control.lost || (stage == AFTER_SWEEP && control.done)) return;
  const double longest = sqrt(__longlong_as_double((i64)control.most)) - 1.0;
  const double shortest = 1.0 - sqrt(__longlong_as_double((i64)control.least));
  const double error = fmax(longest, shortest);
  control.most = control.least = (u64)__double_as_longlong(1.0);
  if (stage == AT_START) {
    control.far = error >= pace.infeasible;
    return;
  }
  control.error = error;
  if (stage == BEFORE_SWEEPS) {
    control.before = control.best = error;
    control.beyond = 1.0f;
    control.sweeps = control.best_at = 0;
  } else {
    control.sweeps++;
    if (error < 0.9 * control.best) {
      control.best = error;
      control.best_at = control.sweeps;
    }
    const bool gains = control.sweeps - control.best_at <= pace.relaxed_sweeps;
    // Contacts do not go beyond what they ask for, and where nothing is gained friction holds nothing any more.
    const bool touches = sheet.found && sheet.found->touching;
    if (touches && !gains) sheet.found->slips = 1;
    control.beyond = gains && !touches ? (float)(4.0 / (4.0 - pace.radius * pace.radius * (double)control.beyond)) : 1.0f;
  }
  const int most = min(pace.most_sweeps, control.best_at + pace.stalled_sweeps);
  control.done = error <= pace.tolerance || control.sweeps >= most;
}

// One group of a last sweep.
extern "C" __global__ void __launch_bounds__(THREADS) last_lengths(Sheet sheet, Group group) {
  if (sheet.control->lost || sheet.control->done) return;
  TEAM(team);
  Strip strip;
  strip.take(sheet, group, blockIdx.x);
  strip.load(sheet);
  strip.solve<LAST>(team, *sheet.pace, sheet.last_tension + group.first + strip.first(blockIdx.x), 1.0f, sheet.control->beyond);
  strip.store(sheet);
}

// Hands positions [m], velocities [m/s] and who touches back.
extern "C" __global__ void store(Sheet sheet, double *positions, double *velocities, unsigned char *touches) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= sheet.particles) return;
  const Place x = sheet.x[i];
  const float4 r = sheet.r[i], v = sheet.v[i];
  positions[3 * i] = x.x + (double)r.x;
  positions[3 * i + 1] = x.y + (double)r.y;
  positions[3 * i + 2] = x.z + (double)r.z;
  touches[i] = x.free == 0.0;
  const double h = sheet.pace->h;
  velocities[3 * i] = (double)v.x / h;
  velocities[3 * i + 1] = (double)v.y / h;
  velocities[3 * i + 2] = (double)v.z / h;
}

extern "C" __global__ void store_tensions(Sheet sheet, float *tensions, const int *places, int count) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < count) tensions[e] = sheet.tension[places[e]];
}
