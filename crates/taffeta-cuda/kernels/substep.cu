// The phases of a sub-step. Where strips are solved a block is a team, and has one lane of a group.
//
//   pull      free motion under all that pulls
//   lone_bend bends that no strip has
//   bends     along the strips of every group but the last
//   shear     diagonals, group by group
//   lengths   of the strips of every group but the first; those of the last bend as well
//   advance   of the first group, which has every particle, and the end of the sub-step
//             (where contacts come between, its end alone is `go_on` of `touch.cu`)
//   tally     after some sub-steps: whether added mass moves too fast

#define TEAM(name) \
  __shared__ float name##_room[2 * 16 * WARPS]; \
  Team name = {name##_room, 0}

// Share of h² f / m by which forces displace a particle: all of it where it touches.
DEVICE float share_of(const Sheet &sheet, double touches) {
  return touches == 0.0 || sheet.control->far ? 1.0f : sheet.pace->share;
}

// The sum over all threads of a block, for the first of them, in a fixed order.
DEVICE double2 sum_of_block(double2 own) {
  __shared__ double2 sums[32];
  for (int s = 16; s > 0; s >>= 1) {
    own.x += __shfl_down_sync(ALL, own.x, s);
    own.y += __shfl_down_sync(ALL, own.y, s);
  }
  if (lane_of_warp() == 0) sums[threadIdx.x >> 5] = own;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int warp = 1; warp < (int)blockDim.x / 32; warp++) {
      own.x += sums[warp].x;
      own.y += sums[warp].y;
    }
  return own;
}

// Moves a particle from its free motion by all that pulls: its way and its mobility, and its energies times h².
DEVICE float4 pulled(const Sheet &sheet, const Pace &pace, int i, double2 &energies) {
  const float2 mass = sheet.mass[i];
  const float4 v = sheet.v[i];
  if (mass.x == 0.0f) return with(xyz(v), 0.0f);
  const Place x = sheet.x[i];
  Vec3 force = none();
  float tight = 0.0f;
  const int until = sheet.around_from[i + 1];
#pragma unroll 4
  for (int k = sheet.around_from[i]; k < until; k++) {
    const int2 edge = sheet.around[k];
    const float tension = sheet.tension[edge.y];
    const Vec3 apart = way(x, sheet.x[edge.x]) + (xyz(sheet.v[edge.x]) - xyz(v));
    force = plus(force, tension, apart);
    tight += tension;
  }
  force = force * pace.kept;
  tight *= pace.kept;
  if (pace.held) force = force + xyz(sheet.held[i]);
  const float squared = pace.squared * share_of(sheet, x.free);
  const float heavier = fmaxf(squared * mass.x * 2.0f * tight, 1.0f), inertia = squared / heavier;
  const Vec3 acceleration = plus(vec(pace.gravity[0], pace.gravity[1], pace.gravity[2]), mass.x, force);
  const float energy = dot(xyz(v), xyz(v)) * mass.y;
  energies.x += (double)energy;
  energies.y += (double)(energy * (heavier - 1.0f));
  return with(plus(xyz(v), inertia, acceleration), mass.x * inertia);
}

// One particle for each thread: nobody waits for what others gather.
extern "C" __global__ void pull(Sheet sheet, int k) {
  if (sheet.control->lost) return;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double2 energies = make_double2(0.0, 0.0);
  if (i < sheet.particles) sheet.r[i] = pulled(sheet, *sheet.pace, i, energies);
  energies = sum_of_block(energies);
  if (threadIdx.x == 0) sheet.sums[k * gridDim.x + blockIdx.x] = energies;
}

// One bend for each thread; those of one launch share no particle. As `bend_one` of the engine has it.
extern "C" __global__ void lone_bend(Sheet sheet, const int4 *bends, const float4 *turns, float mobility_of_one, int count) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= count || sheet.control->lost) return;
  const int4 bend = bends[b];
  const float4 turn = turns[b]; // ratio, stiffness, damping
  const float damping = turn.z * sheet.pace->inverse, stiffness = turn.y + damping, middle = 1.0f + turn.x;
  const Place x0 = sheet.x[bend.x], x1 = sheet.x[bend.y], x2 = sheet.x[bend.z];
  float4 r0 = sheet.r[bend.x], r1 = sheet.r[bend.y], r2 = sheet.r[bend.z];
  const Vec3 turned = plus(way(x1, x2), -turn.x, way(x0, x1));
  const Vec3 turning = plus(xyz(r2) - xyz(r1), -turn.x, xyz(r1) - xyz(r0));
  const float mobility = turn.x * turn.x * r0.w + middle * middle * r1.w + r2.w;
  const Vec3 whole = (turned + turning) * stiffness - turned * damping;
  const Vec3 moment = whole * inverse(1.0f + mobility_of_one * stiffness * mobility);
  sheet.r[bend.x] = with(plus(xyz(r0), -turn.x * r0.w, moment), r0.w);
  sheet.r[bend.y] = with(plus(xyz(r1), middle * r1.w, moment), r1.w);
  sheet.r[bend.z] = with(plus(xyz(r2), -r2.w, moment), r2.w);
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

// Where a pin leads a particle in sub-step k of the step [m].
DEVICE Place led(const Sheet &sheet, int pin, int k) {
  const double *end = sheet.pin_end + 3 * ((size_t)k * sheet.pins + pin);
  return place(end[0], end[1], end[2], 1.0);
}

// The end of sub-step k is the start of the next, and its velocity leads on. What touches must not bounce.
DEVICE void advanced(const Sheet &sheet, const Pace &pace, int i, Vec3 r, float b, int k, bool touches) {
  const bool last = k + 1 == pace.count;
  Place x = sheet.x[i];
  Vec3 lead = xyz(sheet.v[i]);
  if (sheet.mass[i].x > 0.0f) {
    lead = touches ? r : plus(lead, 1.0f / share_of(sheet, x.free), r - lead);
    lead = (lead + vec(pace.wind[0], pace.wind[1], pace.wind[2])) * pace.slower;
    x = place(x.x + (double)r.x, x.y + (double)r.y, x.z + (double)r.z, touches ? 0.0 : 1.0);
  } else {
    const int pin = sheet.pin[i];
    if (pin >= 0 && pace.pins_move) {
      const Place end = led(sheet, pin, k);
      lead = last ? way(x, end) : way(end, led(sheet, pin, k + 1));
      x = end;
    }
  }
  sheet.x[i] = x;
  sheet.v[i] = with(lead, 0.0f);
  if (last || sheet.found) sheet.r[i] = with(none(), b);
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
extern "C" __global__ void tally(Sheet sheet, int parts, int count) {
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
    if (threadIdx.x == 0 && !control.lost) {
      const double rate = 1.0 / (pace.h * pace.h);
      const double share = sums.y * rate / (sums.x * rate + pace.slow);
      control.moving = sums.x * rate;
      control.worst = fmax(control.worst, share);
      if (!(share <= pace.lost)) control.lost = 1;
    }
  }
  if (threadIdx.x == 0) control.base += count;
}
