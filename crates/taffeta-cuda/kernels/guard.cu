// The guard: no motion of a window is accepted unless every two features were shown apart along all of it.

// What a candidate does on the straight way: directional conservative advancement, `collide/ccd/time_of_impact.rs` of the engine. Fused products round less often
// than its margins allow for.
constexpr double MARGIN = 1.7763568394002505e-15; // 16 roundings of 2^-53
constexpr double SMALLEST = 2.2250738585072014e-308;
constexpr int MOST_DIRECTIONS = 64;
constexpr double NEAR = 1.0 / 64.0;
constexpr double NEVER = 2.0;
// Features that start nearer than the floor may lose this share of their distance in a window.
constexpr double KEEPS = 0.9;
// Share of the way from the floor to the distance at which learned contacts end at least.
constexpr double ABOVE_FLOOR = 0.05;

DEVICE Point unit(Point v) { return v * (1.0 / sqrt(fmax(dot(v, v), 1e-280))); }
DEVICE Point absolute(Point v) { return point(fabs(v.x), fabs(v.y), fabs(v.z)); }

struct Gaps { double at[4]; };

// How far every point of the first feature is from every point of the second along a direction [m].
DEVICE Gaps gaps(bool edges, const Point (&others)[3], Point n) {
  const double a = dot(n, others[0]), b = dot(n, others[1]), c = dot(n, others[2]);
  Gaps g;
  g.at[0] = edges ? -b : -a, g.at[1] = edges ? -c : -b, g.at[2] = edges ? a - b : -c, g.at[3] = edges ? a - c : -c;
  return g;
}

DEVICE bool above(const Gaps &g, double level) { return g.at[0] > level && g.at[1] > level && g.at[2] > level && g.at[3] > level; }

DEVICE Gaps between(const Gaps &g, const Gaps &h, double t) {
  Gaps m;
  for (int k = 0; k < 4; k++) m.at[k] = (1.0 - t) * g.at[k] + t * h.at[k];
  return m;
}

// When features may come within a separation [m], not before this time; NEVER if they do not.
DEVICE double time_of_impact(bool edges, const Point (&start)[3], const Point (&end)[3], double separation) {
  Point size = point(0.0, 0.0, 0.0);
  for (int k = 0; k < 3; k++) size = size + absolute(start[k]) + absolute(end[k]);
  double time = 0.0, clearance = -1.0;
  for (int round = 0; round < MOST_DIRECTIONS; round++) {
    Point now[3];
    for (int k = 0; k < 3; k++) now[k] = start[k] * (1.0 - time) + end[k] * time;
    const Point n = unit(closest(edges, now).vector);
    const double margin = MARGIN * (dot(absolute(n), size) + fabs(separation)) + SMALLEST;
    const double level = fmax(separation, 0.0) + margin;
    const Gaps before = gaps(edges, start, n), after = gaps(edges, end, n), present = between(before, after, time);
    if (!above(present, level)) return time;
    if (above(after, level)) return NEVER;
    double next = 1.0, least = present.at[0];
    for (int k = 0; k < 4; k++) {
      if (!(after.at[k] > level + margin)) next = fmin(next, (before.at[k] - (level + margin)) / (before.at[k] - after.at[k]));
      least = fmin(least, present.at[k]);
    }
    least -= level;
    if (clearance < 0.0) clearance = least;
    if (least < fmin(NEAR * clearance, separation) + 4.0 * margin || !(next > time) || !above(between(before, after, next), level)) return time;
    time = next;
  }
  return time;
}

// A distance that features keep whatever was rounded, 0 if none is certain [m].
DEVICE double lower_bound(bool edges, const Point (&others)[3]) {
  const Point n = unit(closest(edges, others).vector), size = absolute(others[0]) + absolute(others[1]) + absolute(others[2]);
  const double margin = MARGIN * dot(absolute(n), size) + SMALLEST;
  const Gaps g = gaps(edges, others, n);
  double least = 1e300;
  for (int k = 0; k < 4; k++) {
    const double gap = (g.at[k] - margin) * (1.0 - MARGIN);
    least = gap > least ? least : gap;
  }
  return least > 0.0 ? least : 0.0;
}

// When a pair may come too near, if it may. What starts in a solid or in touch has nothing to keep.
DEVICE double meets(bool edges, const Point (&start)[3], const Point (&end)[3], const Kept &kept) {
  const double time = time_of_impact(edges, start, end, kept.floor);
  if (time == NEVER) return NEVER;
  const double above = lower_bound(edges, start) - kept.solid;
  if (!(above > 0.0)) return NEVER;
  const double floor = kept.solid + KEEPS * above;
  return floor < kept.floor ? time_of_impact(edges, start, end, floor) : time;
}

// How many particles are how fast.
DEVICE void tell_speed(const Touch &touch, float square) {
  float fastest = square;
  for (int s = 16; s > 0; s >>= 1) fastest = fmaxf(fastest, __shfl_xor_sync(ALL, fastest, s));
  if (lane_of_warp() == 0) atomicMax(&touch.found->fastest, __float_as_uint(fastest));
  float least = touch.reach;
  for (int k = 0; k < 4; k++, least *= 0.5f) {
    const int faster = __popc(__ballot_sync(ALL, square > least * least));
    if (lane_of_warp() == 0 && faster > 0) atomicAdd(touch.found->faster + k, faster);
  }
}

// Takes what was moved for the end of the window: whether particles are where candidates were looked for and above half-spaces, and how fast they are.
extern "C" __global__ void arrive(Sheet sheet, Touch touch) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool moves = i < sheet.particles && sheet.mass[i].x > 0.0f;
  const Vec3 lead = moves ? xyz(sheet.v[i]) : none();
  tell_speed(touch, dot(lead, lead));
  if (i >= sheet.particles) return;
  const float4 r = sheet.r[i];
  const Place was = sheet.x[i], is = place(was.x + (double)r.x, was.y + (double)r.y, was.z + (double)r.z, was.free);
  sheet.x[i] = is;
  sheet.r[i] = with(none(), r.w);
  const Point x = at(is);
  Point off = x - at(touch.start[i]);
  const float4 a = touch.ahead[i];
  const Point ahead = point(a.x, a.y, a.z);
  const double square = dot(ahead, ahead), along = square > 0.0 ? fmin(fmax(dot(off, ahead) / square, 0.0), 1.0) : 0.0;
  off = off - ahead * along;
  if (!(length(off) <= 0.999 * (double)a.w)) touch.found->outside = 1;
  if (!moves) return;
  const Solid *solids = solids_of(sheet, touch, true);
  const Meeting *meetings = touch.meetings + touch.object[i] * touch.solid_count;
  for (int s = 0; s < touch.solid_count; s++) {
    const double *o = solids[s].origin, *n = solids[s].axis;
    const double gap = (x.x - o[0]) * n[0] + (x.y - o[1]) * n[1] + (x.z - o[2]) * n[2];
    if (!(gap >= meetings[s].floor)) touch.found->sunk = 1;
  }
}

// Tries to prove all candidates; what is not shown apart becomes a contact with the direction that it has just before.
extern "C" __global__ void prove(Sheet sheet, Touch touch) {
  const int count = min(touch.found->candidates, touch.candidate_room);
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x) {
    const int4 pair = touch.candidates[k];
    const bool edges = pair.x < 0;
    const int p[4] = {edges ? ~pair.x : pair.x, pair.y, pair.z, pair.w};
    const Kept kept = kept_of(touch, p[0], p[3]);
    const Point from = at(touch.start[p[0]]), to = at(sheet.x[p[0]]);
    Point start[3], end[3];
    for (int c = 0; c < 3; c++) start[c] = at(touch.start[p[c + 1]]) - from, end[c] = at(sheet.x[p[c + 1]]) - to;
    const double time = meets(edges, start, end, kept);
    if (time == NEVER) continue;
    atomicAdd(&touch.found->hits, 1);
    Point there[3];
    for (int c = 0; c < 3; c++) there[c] = start[c] * (1.0 - time) + end[c] * time;
    const Closest<Point> near = closest(edges, there);
    const double length_of_it = length(near.vector);
    if (!(length_of_it > 0.0)) continue;
    const Point n = near.vector * (1.0 / length_of_it);
    double gap = 0.0, both = 0.0;
    for (int c = 0; c < 4; c++) {
      if (c > 0) gap += near.weights[c] * dot(n, start[c - 1]);
      both += near.weights[c] * near.weights[c] * (double)sheet.mass[p[c]].x;
    }
    if (!(both > 0.0)) continue;
    const int place = atomicAdd(&touch.found->contacts, 1);
    if (place >= touch.contact_room) continue;
    const double least = kept.floor + ABOVE_FLOOR * (kept.distance - kept.floor), most = 0.5 * (kept.distance + kept.floor);
    Contact contact;
    contact.points = make_int4(p[0], p[1], p[2], p[3]);
    contact.weights = make_float4((float)near.weights[0], (float)near.weights[1], (float)near.weights[2], (float)near.weights[3]);
    contact.normal = make_float4((float)n.x, (float)n.y, (float)n.z, (float)fmin(fmax(gap, least), most));
    contact.done = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    contact.friction = kept.friction;
    contact.learned = 1;
    touch.contacts[place] = contact;
  }
}

// Sweeps that answer what the guard has found go on whatever the strain is.
extern "C" __global__ void learn(Sheet sheet) {
  sheet.control->done = 0;
  sheet.control->beyond = 1.0f;
  forget_proof(*sheet.found);
}

// With which velocity still comes nearer what was pushed apart, as far as contacts ask for it.
extern "C" __global__ void stop_approach(Sheet sheet, Touch touch) {
  const int count = min(touch.found->contacts, touch.contact_room);
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x) {
    const Contact contact = touch.contacts[k];
    if (!(contact.done.w > 0.0f)) continue;
    Between b(sheet, contact);
    Vec3 lead = none();
    for (int c = 0; c < 4; c++) lead = plus(lead, b.w[c], xyz(sheet.v[b.p[c]]));
    const Vec3 n = xyz(contact.normal);
    const float approach = -dot(n, lead);
    if (approach > 0.0f) b.move(touch, n * (approach * b.share(touch)));
  }
}

extern "C" __global__ void slow_down(Sheet sheet, Touch touch) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= sheet.particles) return;
  touch.count[i] = 0;
  Vec3 by;
  if (take_moved(touch, i, by)) sheet.v[i] = with(xyz(sheet.v[i]) + by, 0.0f);
}
