// What may meet in a window: boxes of triangles in a tree, pairs of features that no direction keeps apart, and contacts.
//
// Points move straight from the start of the window. Whatever ends within `beside` of where it is expected to go stays in a capsule, which is convex and has
// the start in it. Features whose capsules are shown apart need no further proof.

constexpr int WIDE = 8;

// The directed f32 next to a double, further than a room away.
DEVICE float below(double x, float room) { return __fsub_rd(__double2float_rd(x), room); }
DEVICE float above(double x, float room) { return __fadd_ru(__double2float_ru(x), room); }

// Counters of candidates and of their proof start anew.
DEVICE void forget(Found &found) {
  found.pairs = found.features = found.candidates = 0;
  forget_proof(found);
}

// Where every point goes in a window of some sub-steps, as its velocity or what leads it tells.
extern "C" __global__ void look_ahead(Sheet sheet, Touch touch, int substeps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= sheet.particles) return;
  const Place x = sheet.x[i];
  const int pin = sheet.pin[i];
  Vec3 ahead = xyz(sheet.v[i]) * (float)substeps;
  float beside = fmaf(0.1f, sqrtf(dot(ahead, ahead)), touch.beside);
  if (pin >= 0) {
    ahead = sheet.pace->pins_move && substeps > 0 ? way(x, led(sheet, pin, sheet.control->base + substeps - 1)) : none();
    beside = 1e-6f;
  }
  touch.start[i] = x;
  touch.ahead[i] = with(ahead, beside);
  touch.grip[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (i > 0) return;
  touch.found->contacts = touch.found->slips = 0;
  forget(*touch.found);
}

// The same where it has gone otherwise: to where it is. Contacts stay.
extern "C" __global__ void look_again(Sheet sheet, Touch touch) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= sheet.particles) return;
  touch.ahead[i] = with(way(touch.start[i], sheet.x[i]), sheet.pin[i] >= 0 ? 1e-6f : touch.beside);
  if (i == 0) forget(*touch.found);
}

DEVICE Box nothing() {
  Box box;
  for (int k = 0; k < 3; k++) box.low[k] = 3e38f, box.high[k] = -3e38f;
  return box;
}

DEVICE void join(Box &box, const Box &other) {
  for (int k = 0; k < 3; k++) {
    box.low[k] = fminf(box.low[k], other.low[k]);
    box.high[k] = fmaxf(box.high[k], other.high[k]);
  }
}

DEVICE bool meet(const Box &a, const Box &b) {
  return a.low[0] <= b.high[0] && b.low[0] <= a.high[0] && a.low[1] <= b.high[1] && b.low[1] <= a.high[1] && a.low[2] <= b.high[2] && b.low[2] <= a.high[2];
}

// Boxes of all triangles, and of eight together. Each is grown by half of what is to be kept.
extern "C" __global__ void grow_boxes(Touch touch) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int4 triangle = t < touch.all_triangles ? touch.triangles[t] : make_int4(-1, -1, -1, 0);
  Box box = nothing();
  if (triangle.x >= 0) {
    const float grown = touch.grown[touch.object[triangle.x]];
    for (int k = 0; k < 3; k++) {
      const int p = corner(triangle, k);
      const Place x = touch.start[p];
      const float4 ahead = touch.ahead[p];
      const float room = __fadd_ru(grown, ahead.w);
      const double from[3] = {x.x, x.y, x.z}, to[3] = {x.x + (double)ahead.x, x.y + (double)ahead.y, x.z + (double)ahead.z};
      for (int axis = 0; axis < 3; axis++) {
        box.low[axis] = fminf(box.low[axis], below(fmin(from[axis], to[axis]), room));
        box.high[axis] = fmaxf(box.high[axis], above(fmax(from[axis], to[axis]), room));
      }
    }
  }
  if (t < touch.all_triangles) touch.boxes[t] = box;
  for (int s = 1; s < WIDE; s <<= 1)
    for (int k = 0; k < 3; k++) {
      box.low[k] = fminf(box.low[k], __shfl_xor_sync(ALL, box.low[k], s));
      box.high[k] = fmaxf(box.high[k], __shfl_xor_sync(ALL, box.high[k], s));
    }
  if (t % WIDE == 0 && t < touch.all_triangles) {
    const bool of_cloth = t < touch.cloth_triangles;
    const Tree &tree = of_cloth ? touch.cloth : touch.bodies;
    touch.boxes[tree.first[1] + (t - (of_cloth ? 0 : touch.cloth_triangles)) / WIDE] = box;
  }
}

// All levels above: one block, level by level.
extern "C" __global__ void join_boxes(Touch touch) {
  for (int which = 0; which < 2; which++) {
    const Tree &tree = which ? touch.bodies : touch.cloth;
    for (int level = 2; level < tree.levels; level++) {
      __syncthreads();
      for (int k = threadIdx.x; k < tree.size[level]; k += blockDim.x) {
        Box box = nothing();
        const int until = min(tree.size[level - 1], WIDE * (k + 1));
        for (int child = WIDE * k; child < until; child++) join(box, touch.boxes[tree.first[level - 1] + child]);
        touch.boxes[tree.first[level] + k] = box;
      }
    }
  }
}

// Triangles of cloth that one block looks at, and pairs that it keeps until it hands them over.
constexpr int WALKERS = 16;
constexpr int ROOM = 1024;

// What a block finds. Slots are given away in any order.
struct Pairs {
  int2 own[ROOM];
  int count;
  DEVICE void add(const Touch &touch, int a, int b) {
    const int slot = atomicAdd(&count, 1);
    if (slot < ROOM) {
      own[slot] = make_int2(a, b);
    } else {
      const int place = atomicAdd(&touch.found->pairs, 1);
      if (place < touch.pair_room) touch.pairs[place] = make_int2(a, b);
    }
  }
};

// Triangles of a tree whose boxes meet that of triangle `own`: those that come after it, `offset` before them. Eight threads look at eight children.
DEVICE void descend(const Touch &touch, const Tree &tree, const Box &box, int own, int offset, int *stack, Pairs &pairs) {
  if (tree.levels == 0) return;
  const int lane = threadIdx.x % WIDE, shift = threadIdx.x & 31 & ~(WIDE - 1);
  const unsigned team = 0xffu << shift;
  int top = 1;
  if (lane == 0) stack[0] = (tree.levels - 1) << 28;
  __syncwarp(team);
  while (top > 0) {
    const int entry = stack[--top], level = (entry >> 28) - 1, child = WIDE * (entry & 0xfffffff) + lane;
    const bool after = child < tree.size[level] && ((child + 1) << 3 * level) + offset > own + 1;
    const bool meets = after && meet(box, touch.boxes[tree.first[level] + child]);
    const unsigned all = __ballot_sync(team, meets) >> shift & 0xffu;
    if (meets && level == 0) pairs.add(touch, own, offset + child);
    if (meets && level > 0) stack[top + __popc(all & ((1u << lane) - 1u))] = level << 28 | child;
    if (level > 0) top += __popc(all);
    __syncwarp(team);
  }
}

extern "C" __global__ void __launch_bounds__(WALKERS *WIDE) find_pairs(Touch touch) {
  __shared__ int stacks[WALKERS][8 * WIDE];
  __shared__ Pairs pairs;
  __shared__ int from;
  if (threadIdx.x == 0) pairs.count = 0;
  __syncthreads();
  const int walker = threadIdx.x / WIDE, t = blockIdx.x * WALKERS + walker;
  if (t < touch.cloth_triangles && touch.triangles[t].x >= 0) {
    const Box box = touch.boxes[t];
    if (touch.meets_cloth) descend(touch, touch.cloth, box, t, 0, stacks[walker], pairs);
    descend(touch, touch.bodies, box, t, touch.cloth_triangles, stacks[walker], pairs);
  }
  __syncthreads();
  const int own = min(pairs.count, ROOM);
  if (threadIdx.x == 0) from = atomicAdd(&touch.found->pairs, own);
  __syncthreads();
  for (int k = threadIdx.x; k < own; k += blockDim.x)
    if (from + k < touch.pair_room) touch.pairs[from + k] = pairs.own[k];
}

// A point at both ends of what is expected, as seen from an origin near by [m].
struct Seen { Vec3 from, to; float beside; };
DEVICE Seen seen(const Touch &touch, Point origin, int p) {
  const Point x = at(touch.start[p]) - origin;
  const float4 ahead = touch.ahead[p];
  Seen s;
  s.from = vec((float)x.x, (float)x.y, (float)x.z);
  s.to = s.from + xyz(ahead);
  s.beside = ahead.w;
  return s;
}

// How far points are from the origin at most, by their coordinates [m].
DEVICE float extent(const Seen &s) {
  return fmaxf(fabsf(s.from.x) + fabsf(s.from.y) + fabsf(s.from.z), fabsf(s.to.x) + fabsf(s.to.y) + fabsf(s.to.z));
}

// Whether a direction keeps all of the first points further than `need` [m] from all others. Differences, sums and products that go into a gap have together
// fewer than ten roundings of 2^-24 relative to |n| times how `far` the points are; sixteen count on either side.
template <int N> DEVICE bool apart(Vec3 n, const Seen (&points)[N], int split, float need, float far) {
  const float square = dot(n, n);
  if (!(square > 1e-30f && square < 1e30f)) return false;
  float low_first = 3e38f, high_first = -3e38f, low_other = 3e38f, high_other = -3e38f;
#pragma unroll
  for (int k = 0; k < N; k++) {
    const float from = dot(n, points[k].from), to = dot(n, points[k].to), low = fminf(from, to), high = fmaxf(from, to);
    if (k < split) {
      low_first = fminf(low_first, low);
      high_first = fmaxf(high_first, high);
    } else {
      low_other = fminf(low_other, low);
      high_other = fmaxf(high_other, high);
    }
  }
  const float level = sqrtf(square) * fmaf(32.0f / 16777216.0f, far, need * 1.00001f);
  return low_first - high_other > level || low_other - high_first > level;
}

DEVICE bool has(int4 triangle, int p) { return triangle.x == p || triangle.y == p || triangle.z == p; }

// Whether one of three directions keeps two triangles apart: between their centres, or across one of them.
DEVICE bool are_apart(const Touch &touch, int4 a, int4 b) {
  const Point origin = at(touch.start[a.x]);
  const Seen s[6] = {seen(touch, origin, a.x), seen(touch, origin, a.y), seen(touch, origin, a.z), seen(touch, origin, b.x), seen(touch, origin, b.y), seen(touch, origin, b.z)};
  float far = 0.0f;
  Vec3 between = none();
#pragma unroll
  for (int k = 0; k < 6; k++) {
    far = fmaxf(far, extent(s[k]));
    between = plus(between, k < 3 ? 1.0f : -1.0f, s[k].from + s[k].to);
  }
  const float need = (float)kept_of(touch, a.x, b.x).distance + largest(s[0].beside, s[1].beside, s[2].beside) + largest(s[3].beside, s[4].beside, s[5].beside);
  // Directions of the size of edges, lest squares of areas be too small.
  return apart(between, s, 3, need, far) || apart(cross(s[1].from - s[0].from, s[2].from - s[0].from) * 1e4f, s, 3, need, far) ||
         apart(cross(s[4].from - s[3].from, s[5].from - s[3].from) * 1e4f, s, 3, need, far);
}

// Features that stand with one triangle against those that stand with another: numbers 0 to 2 are corners of the first and the second as a face, 3 to 5 the
// reverse, 6 to 14 edges.
DEVICE bool is_pair(int4 a, int4 b, int number, int4 &points) {
  if (number < 6) {
    const bool reverse = number >= 3;
    const int4 of_corner = reverse ? b : a, face = reverse ? a : b;
    const int k = number % 3, p = corner(of_corner, k);
    points = make_int4(p, face.x, face.y, face.z);
    return owns_corner(of_corner, k) && is_face(face) && !has(face, p);
  }
  const int m = (number - 6) / 3, n = number % 3;
  points = make_int4(corner(a, m), corner(a, (m + 1) % 3), corner(b, n), corner(b, (n + 1) % 3));
  const bool share = points.x == points.z || points.x == points.w || points.y == points.z || points.y == points.w;
  points.x = ~points.x;
  return owns_edge(a, m) && owns_edge(b, n) && !share;
}

// All pairs of features of triangles that are not kept apart. A warp takes its slots at once.
extern "C" __global__ void find_features(Touch touch) {
  const int count = min(touch.found->pairs, touch.pair_room), all = gridDim.x * blockDim.x;
  for (int first = blockIdx.x * blockDim.x + threadIdx.x & ~31; first < count; first += all) {
    const int k = first + lane_of_warp();
    int4 a, b, points;
    int mask = 0;
    if (k < count) {
      const int2 pair = touch.pairs[k];
      a = touch.triangles[pair.x], b = touch.triangles[pair.y];
      const bool neighbours = has(b, a.x) || has(b, a.y) || has(b, a.z);
      if (neighbours || !are_apart(touch, a, b))
        for (int number = 0; number < 15; number++) mask |= is_pair(a, b, number, points) << number;
    }
    int slot = __popc(mask);
    for (int s = 1; s < 32; s <<= 1) {
      const int before = __shfl_up_sync(ALL, slot, s);
      if (lane_of_warp() >= s) slot += before;
    }
    const int total = __shfl_sync(ALL, slot, 31);
    int from = 0;
    if (lane_of_warp() == 0 && total > 0) from = atomicAdd(&touch.found->features, total);
    slot += __shfl_sync(ALL, from, 0) - __popc(mask);
    for (int number = 0; number < 15; number++)
      if (mask >> number & 1) {
        is_pair(a, b, number, points);
        if (slot < touch.feature_room) touch.features[slot] = points;
        slot++;
      }
  }
}

// A place in a list for every thread of a warp that wants one.
DEVICE int place_for(bool wanted, int *count) {
  const unsigned all = __ballot_sync(ALL, wanted);
  int from = 0;
  if (lane_of_warp() == 0 && all) from = atomicAdd(count, __popc(all));
  return __shfl_sync(ALL, from, 0) + __popc(all & ((1u << lane_of_warp()) - 1u));
}

#ifdef SEWN
// Whether a stitch joins two features.
DEVICE bool are_sewn(const Touch &touch, const int (&p)[4], int split) {
  for (int a = 0; a < split; a++)
    for (int k = touch.sewn_from[p[a]]; k < touch.sewn_from[p[a] + 1]; k++)
      for (int b = split; b < 4; b++)
        if (touch.sewn[k] == p[b]) return true;
  return false;
}
#endif

// A pair of features: a candidate unless a direction keeps it apart, and a contact where it is near.
DEVICE bool look_at(const Sheet &sheet, const Touch &touch, int4 pair, Contact &contact, bool &near) {
  const bool edges = pair.x < 0;
  const int p[4] = {edges ? ~pair.x : pair.x, pair.y, pair.z, pair.w}, split = edges ? 2 : 1;
  const Point origin = at(touch.start[p[0]]);
  Seen s[4];
  Vec3 from[3], to[3];
  float far = 0.0f, beside[2] = {0.0f, 0.0f}, inverse[4];
  bool moves = false;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    s[k] = seen(touch, origin, p[k]);
    beside[0] = fmaxf(beside[0], k < split ? s[k].beside : 0.0f);
    beside[1] = fmaxf(beside[1], k < split ? 0.0f : s[k].beside);
    far = fmaxf(far, extent(s[k]));
    if (k > 0) from[k > 0 ? k - 1 : 0] = s[k].from, to[k > 0 ? k - 1 : 0] = s[k].to - s[0].to;
    inverse[k] = sheet.mass[p[k]].x;
    moves |= inverse[k] > 0.0f;
  }
  if (!moves) return false;
  Kept kept = kept_of(touch, p[0], p[3]);
#ifdef SEWN
  // What a stitch joins touches for good, and need not be pressed to.
  if (are_sewn(touch, p, split)) kept.distance = 0.5 * (kept.distance + kept.floor);
#endif
  const float need = (float)kept.distance + beside[0] + beside[1];
  const Closest<Vec3> now = closest(edges, from);
  if (apart(now.vector, s, split, need, far) || apart(closest(edges, to).vector, s, split, need, far)) return false;
  const float gap = sqrtf(now.square), length = sqrtf(dot(now.vector, now.vector));
  float parting = 0.0f, both = 0.0f;
  bool at_an_end = false;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    both += now.weights[k] * now.weights[k] * inverse[k];
    parting += now.weights[k] * dot(now.vector, s[k].to - s[k].from);
    at_an_end |= now.weights[k] == 0.0f;
  }
  // Edges that are nearest at an end are nearer still as a point and a face, but round bodies have no faces.
  const bool otherwise = kept.by_particles || (edges && at_an_end && !kept.round);
  near = !otherwise && length > 0.0f && both > 0.0f && gap < (float)kept.distance + touch.near + fmaxf(-parting / length, 0.0f);
  contact.points = make_int4(p[0], p[1], p[2], p[3]);
  contact.weights = make_float4(now.weights[0], now.weights[1], now.weights[2], now.weights[3]);
  contact.normal = with(now.vector * (1.0f / length), (float)kept.distance);
  contact.done = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  contact.friction = kept.friction;
  contact.learned = 0;
  return true;
}

extern "C" __global__ void find_candidates(Sheet sheet, Touch touch) {
  const int count = min(touch.found->features, touch.feature_room), all = gridDim.x * blockDim.x;
  for (int first = blockIdx.x * blockDim.x + threadIdx.x & ~31; first < count; first += all) {
    const int k = first + lane_of_warp();
    const int4 pair = k < count ? touch.features[k] : make_int4(0, 0, 0, 0);
    Contact contact;
    bool near = false;
    const bool candidate = k < count && look_at(sheet, touch, pair, contact, near);
    const int slot = place_for(candidate, &touch.found->candidates);
    if (candidate && slot < touch.candidate_room) touch.candidates[slot] = pair;
    const int place = place_for(near, &touch.found->contacts);
    if (near && place < touch.contact_room) touch.contacts[place] = contact;
  }
}
