// Free motion, bends of no strip and the end of a sub-step, particle by particle; and what a sub-step tells.

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
  const float heavier = fmaxf(squared * mass.x * 2.0f * tight, 1.0f), inertia = squared * inverse(heavier);
  const Vec3 acceleration = plus(vec(pace.gravity[0], pace.gravity[1], pace.gravity[2]), mass.x, force);
  const float energy = dot(xyz(v), xyz(v)) * mass.y;
  energies.x += (double)energy;
  energies.y += (double)(energy * (heavier - 1.0f));
  return with(plus(xyz(v), inertia, acceleration), mass.x * inertia);
}

// What a sub-step tells by its sums: where added mass has too large a share of what moves, the step is lost.
DEVICE void tally(Control &control, const Pace &pace, double2 sums) {
  const double rate = 1.0 / (pace.h * pace.h), share = sums.y * rate / (sums.x * rate + pace.slow);
  control.moving = sums.x * rate;
  control.worst = fmax(control.worst, share);
  if (!(share <= pace.lost)) control.lost = 1;
}

// A bend that no strip has: ratio, stiffness and damping of its turn. As `bend_one` of the engine has it.
DEVICE void bend_alone(const Sheet &sheet, int4 bend, float4 turn, float mobility_of_one) {
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

// Where a pin leads a particle in sub-step k of the step [m].
DEVICE Place led(const Sheet &sheet, int pin, int k) {
  if (sheet.pin_start) {
    const double *from = sheet.pin_start + 3 * pin, *to = sheet.pin_end + 3 * pin, t = (double)(k + 1) / (double)sheet.pace->count;
    return place((1.0 - t) * from[0] + t * to[0], (1.0 - t) * from[1] + t * to[1], (1.0 - t) * from[2] + t * to[2], 1.0);
  }
  const double *end = sheet.pin_end + 3 * ((size_t)k * sheet.pins + pin);
  return place(end[0], end[1], end[2], 1.0);
}

// The end of sub-step k is the start of the next, and its velocity leads on. What touches must not bounce.
DEVICE void advanced(const Sheet &sheet, const Pace &pace, int i, Vec3 r, float b, int k, bool touches) {
  const bool last = k + 1 == pace.count;
  Place x = sheet.x[i];
  Vec3 lead = xyz(sheet.v[i]);
  if (sheet.mass[i].x > 0.0f) {
    lead = touches ? r : plus(lead, inverse(share_of(sheet, x.free)), r - lead);
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
