// The phases of a sub-step. Where strips are solved a block is a team, and has one lane of a group.
//
//   pull      free motion under all that pulls
//   lone_bend bends that no strip has
//   bends     along the strips of every group but the last
//   shear     diagonals, group by group
//   lengths   of the strips of every group but the first; those of the last bend as well
//   advance   of the first group, which has every particle, and the end of the sub-step
//             (where contacts come between, its end alone is `go_on` of `touch.cu`)
//   tally_up  after some sub-steps: whether added mass moves too fast

#define TEAM(name) \
  __shared__ float name##_room[2 * 16 * WARPS]; \
  Team name = {name##_room, 0}

// One particle for each thread: nobody waits for what others gather.
extern "C" __global__ void pull(Sheet sheet, int k) {
  if (sheet.control->lost) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double2 energies = make_double2(0.0, 0.0);
  if (i < sheet.particles) sheet.r[i] = pulled(sheet, *sheet.pace, i, energies);
  energies = sum_of_block(energies);
  if (threadIdx.x == 0) sheet.sums[k * gridDim.x + blockIdx.x] = energies;
}

// One bend for each thread; those of one launch share no particle.
extern "C" __global__ void lone_bend(Sheet sheet, const int4 *bends, const float4 *turns, float mobility_of_one, int count) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b < count && !sheet.control->lost) bend_alone(sheet, bends[b], turns[b], mobility_of_one);
}

extern "C" __global__ void __launch_bounds__(THREADS) bends(Sheet sheet, Group group) {
  if (sheet.control->lost) return;
  TEAM(team);
  Strip strip;
  strip.take(sheet, group, blockIdx.x);
  strip.load(sheet);
  strip.bend(team, *sheet.pace, group.bend + strip.first(blockIdx.x));
  strip.store(sheet);
}

extern "C" __global__ void __launch_bounds__(THREADS) shear(Sheet sheet, Group group) {
  if (sheet.control->lost) return;
  TEAM(team);
  const Pace &pace = *sheet.pace;
  Strip strip;
  strip.take(sheet, group, blockIdx.x);
  strip.load(sheet);
  strip.solve<SOFT>(team, pace, sheet.tension + group.first + strip.first(blockIdx.x), pace.kept, 1.0f);
  strip.store(sheet);
}

extern "C" __global__ void __launch_bounds__(THREADS) lengths(Sheet sheet, Group group, int bends) {
  if (sheet.control->lost) return;
  TEAM(team);
  const Pace &pace = *sheet.pace;
  Strip strip;
  strip.take(sheet, group, blockIdx.x);
  strip.load(sheet);
  if (bends && group.bend) strip.bend(team, pace, group.bend + strip.first(blockIdx.x));
  strip.solve<HARD>(team, pace, sheet.tension + group.first + strip.first(blockIdx.x), pace.kept, 1.0f);
  strip.store(sheet);
}

extern "C" __global__ void __launch_bounds__(THREADS) advance(Sheet sheet, Group group, int k) {
  if (sheet.control->lost) return;
  TEAM(team);
  const Pace &pace = *sheet.pace;
  Strip strip;
  strip.take(sheet, group, blockIdx.x);
  strip.load(sheet);
  strip.solve<HARD>(team, pace, sheet.tension + group.first + strip.first(blockIdx.x), pace.kept, 1.0f);
  const int number = sheet.control->base + k;
  // Positions are read by the neighbours in a team before any of them moves on.
  __syncthreads();
#pragma unroll
  for (int i = 0; i < EACH; i++)
    if (strip.at[i] >= 0) advanced(sheet, pace, strip.at[i], strip.way[i], strip.b[i], number, false);
}

// Looks at `count` sub-steps: where added mass has too large a share of what moves, the rest of the step is left out.
extern "C" __global__ void tally_up(Sheet sheet, int parts, int count) {
  Control &control = *sheet.control;
  const Pace &pace = *sheet.pace;
  for (int k = 0; k < count; k++) {
    double2 sums = make_double2(0.0, 0.0);
    for (int part = threadIdx.x; part < parts; part += blockDim.x) {
      sums.x += sheet.sums[k * parts + part].x;
      sums.y += sheet.sums[k * parts + part].y;
    }
    sums = sum_of_block(sums);
    __syncthreads();
    if (threadIdx.x == 0 && !control.lost) tally(control, pace, sums);
  }
  if (threadIdx.x == 0) control.base += count;
}
