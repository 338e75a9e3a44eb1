// Contacts in a sub-step: what presses is pushed apart and held below the friction limit, all contacts at once.
//
//   calm      nothing was done yet, before sweeps
//   weigh     how many contacts every particle has
//   part      what every contact asks for, less where its particles have many
//   gather    the sum for every particle; then solids, which have the last word
//   go_on     the end of the sub-step
//
// Sums are of integers, so that the order of contacts does not matter.

constexpr double UNITS = 17592186044416.0; // in a metre: 2^44

extern "C" __global__ void calm(Sheet sheet, Touch touch) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  if (i < sheet.particles) touch.grip[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const int count = min(touch.found->contacts, touch.contact_room);
  for (int k = i; k < count; k += all) touch.contacts[k].done = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (i == 0) touch.found->touching = 0;
}

// The points of a contact: Σ weights x at the start of the sub-step, Σ weights of their ways in it, and their inverse masses.
struct Between {
  int p[4];
  float w[4], inverse[4];
  Vec3 from, slip;
  float both;
  DEVICE Between(const Sheet &sheet, const Contact &contact) {
    p[0] = contact.points.x, p[1] = contact.points.y, p[2] = contact.points.z, p[3] = contact.points.w;
    w[0] = contact.weights.x, w[1] = contact.weights.y, w[2] = contact.weights.z, w[3] = contact.weights.w;
    from = slip = none();
    both = 0.0f;
    const Place origin = sheet.x[p[0]];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      from = plus(from, w[k], way(origin, sheet.x[p[k]]));
      slip = plus(slip, w[k], xyz(sheet.r[p[k]]));
      inverse[k] = sheet.mass[p[k]].x;
      both += w[k] * w[k] * inverse[k];
    }
  }
  // How much of what a contact asks for it gets.
  DEVICE float share(const Touch &touch) {
    int most = 1;
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (w[k] != 0.0f && inverse[k] > 0.0f) most = max(most, touch.count[p[k]]);
    return 1.0f / (float)most;
  }
  // Moves the features by a way against each other.
  DEVICE void move(const Touch &touch, Vec3 by) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const float part = w[k] * inverse[k] / both;
      if (part == 0.0f) continue;
      u64 *sum = (u64 *)touch.moved + 3 * (size_t)p[k];
      atomicAdd(sum, (u64)__double2ll_rn(UNITS * (double)(part * by.x)));
      atomicAdd(sum + 1, (u64)__double2ll_rn(UNITS * (double)(part * by.y)));
      atomicAdd(sum + 2, (u64)__double2ll_rn(UNITS * (double)(part * by.z)));
    }
  }
};

// In the `first` round of a sub-step nothing was done yet.
extern "C" __global__ void weigh(Sheet sheet, Touch touch, int first) {
  if (sheet.control->lost || sheet.control->done) return;
  const int count = min(touch.found->contacts, touch.contact_room);
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x) {
    Contact contact = touch.contacts[k];
    if (first) touch.contacts[k].done = contact.done = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const Between b(sheet, contact);
    if (dot(xyz(contact.normal), b.from + b.slip) >= touch.hovers * contact.normal.w && contact.done.w == 0.0f) continue;
#pragma unroll
    for (int c = 0; c < 4; c++)
      if (b.w[c] != 0.0f && b.inverse[c] > 0.0f) atomicAdd(touch.count + b.p[c], 1);
  }
}

// `collide/contact/projection.rs` of the engine, where nothing stands.
extern "C" __global__ void part(Sheet sheet, Touch touch) {
  if (sheet.control->lost || sheet.control->done) return;
  const int count = min(touch.found->contacts, touch.contact_room);
  const float parting = touch.parting * (float)sheet.pace->h;
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x) {
    const Contact contact = touch.contacts[k];
    Between b(sheet, contact);
    const Vec3 n = xyz(contact.normal);
    const float gap = dot(n, b.from + b.slip), distance = contact.normal.w;
    if (gap >= touch.hovers * distance && contact.done.w == 0.0f) continue;
    const float kept = contact.learned ? distance : fminf(distance, dot(n, b.from) + parting);
    const float share = b.share(touch), push = fmaxf(contact.done.w + share * (kept - gap), 0.0f);
    const Vec3 grip = xyz(contact.done);
    Vec3 wanted = grip - (b.slip - n * dot(n, b.slip)) * share;
    const float length = sqrtf(dot(wanted, wanted)), limit = contact.friction * push;
    if (touch.found->slips)
      wanted = grip;
    else if (length > limit)
      wanted = wanted * (limit / length);
    touch.contacts[k].done = with(wanted, push);
    b.move(touch, n * (push - contact.done.w) + (wanted - grip));
  }
}

// What contacts have moved a particle by [m]; the sums start anew.
DEVICE bool take_moved(const Touch &touch, int i, Vec3 &by) {
  i64 *sum = touch.moved + 3 * (size_t)i;
  const i64 x = sum[0], y = sum[1], z = sum[2];
  if (x == 0 && y == 0 && z == 0) return false;
  sum[0] = sum[1] = sum[2] = 0;
  by = vec((float)((double)x / UNITS), (float)((double)y / UNITS), (float)((double)z / UNITS));
  return true;
}

// Pushes the end of a particle out of a solid: `collide/rigid/touch.rs` of the engine. At rest the solid does not move.
DEVICE void leave(const Solid &solid, const Meeting &meeting, bool rests, bool slips, Place x, Vec3 &r, float4 &grip) {
  const Point end = point(x.x + (double)r.x, x.y + (double)r.y, x.z + (double)r.z);
  const Point from = end - point(solid.origin[0], solid.origin[1], solid.origin[2]), axis = point(solid.axis[0], solid.axis[1], solid.axis[2]);
  Point normal = axis;
  double gap = dot(from, axis);
  if (solid.half_length >= 0.0) {
    const Point out = from - axis * fmin(fmax(gap, -solid.half_length), solid.half_length);
    const double distance = length(out);
    // At the very centre every way out is as short; up is as good as any.
    normal = distance > 0.0 ? out * (1.0 / distance) : point(0.0, 1.0, 0.0);
    gap = distance - solid.radius;
  }
  const double push = meeting.distance - gap;
  if (!(push > 0.0)) return;
  Point slip = point(r.x, r.y, r.z);
  if (!rests) {
    const double *t = solid.turn;
    slip = slip - point(solid.shift[0] + t[0] * from.x + t[3] * from.y + t[6] * from.z, solid.shift[1] + t[1] * from.x + t[4] * from.y + t[7] * from.z,
                        solid.shift[2] + t[2] * from.x + t[5] * from.y + t[8] * from.z);
  }
  slip = slip - normal * dot(slip, normal);
  const Point gripped = point(grip.x, grip.y, grip.z);
  Point held = gripped - slip;
  held = held - normal * dot(held, normal);
  const double total = (double)grip.w + push, length_of_it = length(held), limit = meeting.friction * total;
  if (slips)
    held = gripped;
  else if (length_of_it > limit)
    held = held * (limit / length_of_it);
  const Point moved = normal * push + (held - gripped);
  r = vec((float)((double)r.x + moved.x), (float)((double)r.y + moved.y), (float)((double)r.z + moved.z));
  grip = make_float4((float)held.x, (float)held.y, (float)held.z, (float)total);
}

// Solids in a sub-step, or where the last one has left them.
DEVICE const Solid *solids_of(const Sheet &sheet, const Touch &touch, bool rests) {
  return touch.solids + (size_t)touch.solid_count * (sheet.control->base - (rests ? 1 : 0));
}

extern "C" __global__ void gather(Sheet sheet, Touch touch, int rests, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= sheet.particles || sheet.control->lost || sheet.control->done) return;
  if (last) touch.count[i] = 0;
  if (sheet.mass[i].x == 0.0f) return;
  const Place x = sheet.x[i];
  const float4 before = sheet.r[i];
  Vec3 r = xyz(before), by;
  float4 grip = touch.grip[i];
  const bool pushed = take_moved(touch, i, by);
  if (pushed) {
    r = r + by;
    grip.w = fmaxf(grip.w, 1e-37f);
  }
  const Solid *solids = solids_of(sheet, touch, rests);
  const Meeting *meetings = touch.meetings + touch.object[i] * touch.solid_count;
  for (int s = 0; s < touch.solid_count; s++) leave(solids[s], meetings[s], rests, touch.found->slips, x, r, grip);
  if (grip.w > 0.0f) {
    touch.grip[i] = grip;
    touch.found->touching = 1;
  }
  sheet.r[i] = with(r, before.w);
}

extern "C" __global__ void go_on(Sheet sheet, Touch touch) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= sheet.particles || sheet.control->lost) return;
  const float4 r = sheet.r[i];
  advanced(sheet, *sheet.pace, i, xyz(r), r.w, sheet.control->base, touch.grip[i].w > 0.0f);
  touch.grip[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}
