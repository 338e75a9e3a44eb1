// A block takes a whole step of one member: attempts, sub-steps and last sweeps, with its state in memory that its threads share. Phases are those of
// `substep.cu` and `ends.cu`, each warp a team. No member sees another.

constexpr int TEAMS = BLOCK / 32;

#ifdef SHARED
extern __shared__ __align__(32) unsigned char room_of_block[];
#endif

// Room for lists, one after the other.
struct Room {
  unsigned char *at;
  template <class T> DEVICE T *take(int count) {
    T *list = (T *)at;
    at += ((size_t)count * sizeof(T) + 31) / 32 * 32;
    return list;
  }
};

// How long sub-steps are, and rounds of Chebyshev's polynomials for bends: `src/pace.rs`.
DEVICE void cut(const Rules &rules, int count, Pace &pace) {
  const double h = rules.step_time / (double)count, rate = h * rules.damping;
  pace.h = h;
  pace.squared = (float)(h * h);
  pace.inverse = (float)(1.0 / h);
  pace.left = (float)fmax(1.0 - h / rules.error_time, 0.0);
  pace.slower = (float)(1.0 / (1.0 + rate));
  for (int c = 0; c < 3; c++) pace.wind[c] = (float)(h * rate * rules.wind[c]);
  pace.count = count;
  const double z = h * h * rules.stiffest[0] + h * rules.stiffest[1], least = 1.0 / (1.0 + z), most = (1.0 + 3.0 * z) / (1.0 + z);
  const double middle = 0.5 * (most + least), half = fmax(0.5 * (most - least), 1e-6);
  const double wanted = ceil(acosh(1.0 / rules.moment_error) / acosh(middle / half));
  pace.bend_rounds = (int)fmin(fmax(wanted, 1.0), 64.0);
  double ratio = half / middle;
  pace.bend_shares[0] = make_float2(0.0f, (float)(1.0 / middle));
  for (int round = 1; round < pace.bend_rounds; round++) {
    const double next = 1.0 / (2.0 * middle / half - ratio);
    pace.bend_shares[round] = make_float2((float)(next * ratio), (float)(2.0 * next / half));
    ratio = next;
  }
}

// What the tries of a step come to: `SubstepController` of the engine.
struct Tries {
  double wanted, worst;
  int tries, substeps, again, missed;

  DEVICE void begin(const Rules &rules, const Member &member) {
    wanted = rules.fixed > 0.0 ? rules.fixed : fmin(fmax(member.wanted, rules.fewest), rules.most);
    worst = 0.0;
    tries = substeps = again = missed = 0;
  }
  DEVICE int count(const Rules &rules) { return (int)ceil(fmin(wanted, rules.most)); }
  DEVICE bool is_last(const Rules &rules, int most) { return rules.fixed > 0.0 || wanted >= rules.most || tries >= most; }

  // Looks at a try: whether it is taken `again`, or how many sub-steps the next step has.
  DEVICE void conclude(const Rules &rules, const Control &control, double tolerance, bool missed_before) {
    const bool kept = !control.lost && control.error <= tolerance, whole = !control.lost && control.before <= rules.infeasible_end;
    worst = fmax(worst, control.worst);
    again = (!whole && !is_last(rules, rules.retries_lost)) || (!kept && !missed_before && !is_last(rules, rules.retries_missed));
    if (again) {
      tries++;
      worst = 0.0;
      wanted = fmin(rules.retry_factor * wanted, rules.most);
      return;
    }
    missed = !kept;
    const double lag = fmin(fmax(sqrt(worst / rules.added_mass), 0.8), 1.5);
    const double factor = !kept ? 1.0 / rules.retry_factor : !whole || control.sweeps > rules.many_sweeps ? 1.5 : lag;
    if (!(rules.fixed > 0.0)) wanted = fmin(fmax(wanted * factor, rules.fewest), rules.most);
  }
};

// Where a member is in a step.
struct At {
  const Batch &batch;
  const Sheet &sheet;
  const Pace &pace;
  float4 *thirds;
  size_t member;

  DEVICE int team() { return (int)threadIdx.x >> 5; }

  DEVICE void bends(const Group &group) {
    Team team_of = {nullptr, 0};
    for (int lane = team(); lane < group.lanes; lane += TEAMS) {
      Strip strip;
      strip.take(sheet, group, lane);
      strip.load(sheet);
      strip.bend(team_of, pace, group.bend + strip.first(lane));
      strip.store(sheet);
    }
    __syncthreads();
  }

  template <Kind KIND> DEVICE void solve(const Group &group, bool bends, float beyond) {
    Team team_of = {nullptr, 0};
    float *tensions = (KIND == LAST ? sheet.last_tension : sheet.tension) + group.first;
    for (int lane = team(); lane < group.lanes; lane += TEAMS) {
      Strip strip;
      strip.take(sheet, group, lane);
      strip.load(sheet);
      if (KIND == HARD && bends) strip.bend(team_of, pace, group.bend + strip.first(lane));
      strip.solve<KIND>(team_of, pace, tensions + strip.tension(lane), KIND == LAST ? 1.0f : pace.kept, beyond);
      strip.store(sheet);
    }
    __syncthreads();
  }

  DEVICE void advance(const Group &group, int k) {
    Team team_of = {nullptr, 0};
    for (int lane = team(); lane < group.lanes; lane += TEAMS) {
      Strip strip;
      strip.take(sheet, group, lane);
      strip.load(sheet);
      strip.solve<HARD>(team_of, pace, sheet.tension + group.first + strip.tension(lane), pace.kept, 1.0f);
      __syncwarp();
#pragma unroll
      for (int i = 0; i < EACH; i++)
        if (strip.at[i] >= 0) advanced(sheet, pace, strip.at[i], strip.way[i], strip.b[i], k, false);
    }
    __syncthreads();
  }

  // Forces of the air from sub-step k on.
  DEVICE void blow(int k, int count, u64 step) {
    Air air = batch.air;
    air.time = (double)step * batch.rules.step_time + (double)k * pace.h;
    air.duration = (double)count * pace.h;
    for (int t = threadIdx.x; t < batch.air_on.count; t += BLOCK) thirds[t] = third_of_force(sheet, air, batch.air_on.corners[t], batch.air_on.area_mass[t]);
    __syncthreads();
    for (int i = threadIdx.x; i < sheet.particles; i += BLOCK)
      sheet.held[i] = with(sum_of_thirds(none(), batch.air_on.around_from, batch.air_on.around, thirds, i), 0.0f);
    __syncthreads();
  }

  DEVICE void substep(int k) {
    double2 energies = make_double2(0.0, 0.0);
    for (int i = threadIdx.x; i < sheet.particles; i += BLOCK) sheet.r[i] = pulled(sheet, pace, i, energies);
    energies = sum_of_block(energies);
    if (threadIdx.x == 0) tally(*sheet.control, pace, energies);
    __syncthreads();
    if (sheet.control->lost) return;
    for (int g = 0; g < batch.alone_groups; g++) {
      const Alone alone = batch.alone[g];
      for (int b = threadIdx.x; b < alone.count; b += BLOCK) bend_alone(sheet, alone.points[b], alone.turns[b], batch.bend_mobility);
      __syncthreads();
    }
    const int last = batch.hard_groups - 1;
    for (int g = 0; g < max(last, 1); g++)
      if (batch.hard[g].bend) bends(batch.hard[g]);
    for (int g = 0; g < batch.soft_groups; g++) solve<SOFT>(batch.soft[g], false, 1.0f);
    for (int g = last; g > 0; g--) solve<HARD>(batch.hard[g], g == last && batch.hard[g].bend, 1.0f);
    advance(batch.hard[0], k);
  }

  DEVICE void judge(int stage) {
    measure(sheet, threadIdx.x, BLOCK);
    __syncthreads();
    if (threadIdx.x == 0) judge_strain(sheet, stage);
    __syncthreads();
  }

  // Takes up the state that the step starts from.
  DEVICE void load() {
    const double *positions = batch.positions + member * 3 * sheet.particles, *velocities = batch.velocities + member * 3 * sheet.particles;
    const float *tensions = batch.tensions + member * batch.tension_count;
    for (int i = threadIdx.x; i < sheet.particles; i += BLOCK) {
      const Place x = place(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2], 1.0);
      Vec3 lead = vec((float)(pace.h * velocities[3 * i]), (float)(pace.h * velocities[3 * i + 1]), (float)(pace.h * velocities[3 * i + 2]));
      if (sheet.mass[i].x == 0.0f) lead = pace.pins_move && sheet.pin[i] >= 0 ? way(x, led(sheet, sheet.pin[i], 0)) : none();
      sheet.x[i] = x;
      sheet.v[i] = with(lead, 0.0f);
      sheet.r[i] = with(none(), 0.0f);
    }
    for (int e = threadIdx.x; e < batch.tension_count; e += BLOCK) sheet.tension[e] = tensions[e];
    __syncthreads();
  }

  // Last sweeps, until all is within the tolerance or nothing is gained.
  DEVICE void sweep() {
    for (int e = threadIdx.x; e < batch.hard_tension_count; e += BLOCK) sheet.last_tension[e] = sheet.tension[e];
    __syncthreads();
    while (!sheet.control->done) {
      const float beyond = sheet.control->beyond;
      for (int g = batch.hard_groups - 1; g >= 0; g--) solve<LAST>(batch.hard[g], false, beyond);
      judge(AFTER_SWEEP);
    }
  }

  // Hands the state on, unless some of it is no number; whether it did.
  DEVICE bool store() {
    double *positions = batch.positions + member * 3 * sheet.particles, *velocities = batch.velocities + member * 3 * sheet.particles;
    float *tensions = batch.tensions + member * batch.tension_count;
    bool bad = !(sheet.control->error < 1e8);
    for (int i = threadIdx.x; i < sheet.particles; i += BLOCK) {
      const float4 v = sheet.v[i];
      bad |= !isfinite(v.x + v.y + v.z);
    }
    if (__syncthreads_or(bad)) return false;
    for (int i = threadIdx.x; i < sheet.particles; i += BLOCK) {
      const Place x = sheet.x[i];
      const float4 r = sheet.r[i], v = sheet.v[i];
      positions[3 * i] = x.x + (double)r.x, positions[3 * i + 1] = x.y + (double)r.y, positions[3 * i + 2] = x.z + (double)r.z;
      velocities[3 * i] = (double)v.x / pace.h, velocities[3 * i + 1] = (double)v.y / pace.h, velocities[3 * i + 2] = (double)v.z / pace.h;
    }
    for (int e = threadIdx.x; e < batch.tension_count; e += BLOCK) tensions[e] = sheet.tension[e];
    return true;
  }
};

// One step of every member. What is held goes a share of one over `steps` towards its place.
extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS) take_step(const __grid_constant__ Batch batch, int steps) {
  __shared__ Pace pace;
  __shared__ Control control;
  __shared__ Tries tries;
  const size_t number = blockIdx.x;
  Sheet sheet = batch.sheet;
  const int n = sheet.particles;
  Room far = {batch.work + number * batch.work_bytes};
  double *from = far.take<double>(3 * batch.handle_count), *to = far.take<double>(3 * batch.handle_count);
  sheet.held = far.take<float4>(batch.air_on.count ? n : 0);
  float4 *thirds = far.take<float4>((int)batch.air_on.count);
#ifdef SHARED
  Room near = {room_of_block};
#else
  Room near = far;
#endif
  sheet.x.list = near.take<Seat>(n + n / 32);
  sheet.r.list = near.take<float4>(n + n / 32);
  sheet.v.list = near.take<float4>(n + n / 32);
  float2 *mass = near.take<float2>(n);
  sheet.tension = near.take<float>(batch.tension_count);
  sheet.last_tension = near.take<float>(batch.hard_tension_count);
  sheet.mass = mass;
  sheet.pin_start = from;
  sheet.pin_end = to;
  sheet.pace = &pace;
  sheet.control = &control;
  sheet.found = nullptr;
  Member &member = batch.members[number];
  At at = {batch, sheet, pace, thirds, number};

  // Who is held, and to where.
  for (int i = threadIdx.x; i < n; i += BLOCK) {
    const int handle = sheet.pin[i];
    float2 own = batch.sheet.mass[i];
    if (handle >= 0 && batch.held[number * batch.handle_count + handle]) own.x = 0.0f;
    mass[i] = own;
  }
  bool moves = false;
  for (int handle = threadIdx.x; handle < batch.handle_count; handle += BLOCK) {
    const bool held = batch.held[number * batch.handle_count + handle];
    for (int c = 0; c < 3; c++) {
      const double start = batch.positions[3 * (number * n + batch.handles[handle]) + c];
      const double end = held ? batch.places[3 * (number * batch.handle_count + handle) + c] : start;
      from[3 * handle + c] = start;
      to[3 * handle + c] = steps > 1 ? start + (end - start) / (double)steps : end;
      moves |= end != start;
    }
  }
  const bool pins_move = __syncthreads_or(moves);
  for (int word = threadIdx.x; word < (int)(sizeof(Pace) / 4); word += BLOCK) ((int *)&pace)[word] = ((const int *)&batch.pace)[word];
  if (threadIdx.x == 0) tries.begin(batch.rules, member);
  __syncthreads();
  for (;;) {
    if (threadIdx.x == 0) {
      cut(batch.rules, tries.count(batch.rules), pace);
      pace.pins_move = pins_move;
      pace.lost = tries.is_last(batch.rules, batch.rules.retries_lost) ? 1e300 : batch.rules.added_mass_lost;
      const double one = 1.0;
      control = Control{};
      control.most = control.least = (u64)__double_as_longlong(one);
      control.beyond = 1.0f;
    }
    __syncthreads();
    at.load();
    at.judge(AT_START);
    const int count = pace.count, every = pace.held ? (count + batch.rules.air_renewals - 1) / batch.rules.air_renewals : count;
    for (int k = 0; k < count && !control.lost; k++) {
      if (pace.held && k % every == 0) at.blow(k, min(every, count - k), member.step);
      at.substep(k);
    }
    if (!control.lost) {
      at.judge(BEFORE_SWEEPS);
      if (!control.done) at.sweep();
    }
    if (threadIdx.x == 0) {
      tries.substeps += count;
      tries.conclude(batch.rules, control, pace.tolerance, member.missed != 0);
    }
    __syncthreads();
    if (!tries.again) break;
  }
  const bool whole = at.store();
  if (threadIdx.x == 0) {
    member.wanted = tries.wanted;
    member.missed = tries.missed || !whole;
    member.failed = !whole;
    member.substeps = tries.substeps;
    member.most_substeps = pace.count;
    member.sweeps = control.sweeps;
    member.tries = tries.tries + 1;
    member.step += 1;
  }
}

// The certificate: the largest strain of every member, by positions alone and in doubles, if it is larger than what is there.
extern "C" __global__ void __launch_bounds__(BLOCK) certify(const int2 *ends, const double *rest, int edges, const double *positions, int particles, double *strains) {
  __shared__ double of_warps[32];
  const double *own = positions + (size_t)blockIdx.x * 3 * particles;
  double worst = 0.0;
  for (int e = threadIdx.x; e < edges; e += BLOCK) {
    const double *a = own + 3 * ends[e].x, *b = own + 3 * ends[e].y;
    const double x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2], strain = fabs(sqrt(x * x + y * y + z * z) - rest[e]) / rest[e];
    // What is not a number is the worst.
    worst = strain <= worst ? worst : (strain < 1e300 ? strain : 1e300);
  }
  for (int s = 16; s > 0; s >>= 1) worst = fmax(worst, __shfl_xor_sync(ALL, worst, s));
  if (lane_of_warp() == 0) of_warps[threadIdx.x >> 5] = worst;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int warp = 1; warp < TEAMS; warp++) worst = fmax(worst, of_warps[warp]);
  strains[blockIdx.x] = fmax(strains[blockIdx.x], worst);
}
