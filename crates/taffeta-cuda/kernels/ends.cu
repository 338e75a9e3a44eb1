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

extern "C" __global__ void strain(Sheet sheet, int sweeping) {
  if (sheet.control->lost || (sweeping && sheet.control->done)) return;
  measure(sheet, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
#ifdef SEWN
  measure_seams(sheet, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
#endif
}

extern "C" __global__ void judge(Sheet sheet, int stage) {
  if (sheet.control->lost || (stage == AFTER_SWEEP && sheet.control->done)) return;
  judge_strain(sheet, stage);
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
