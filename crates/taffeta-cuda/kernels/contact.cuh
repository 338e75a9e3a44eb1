// What may touch: objects, solids, boxes of triangles in a tree, candidates and contacts. `src/layout.rs` has the same structures.

// What two objects keep between them, as the engine has it [m].
struct Kept {
  double distance;       // where nothing presses
  double floor;          // never undercut
  double solid;          // what of it is the radius of a body
  float friction;        // [1]
  short by_particles;    // whether particles keep clear on their own: features are proven apart, but push nothing
  short round;           // whether one of them has no faces
};

// A half-space, or all that is within a radius of a segment, in a sub-step.
struct Solid {
  double origin[3];      // a point of the plane, or the middle of the segment, at the end [m]
  double axis[3];        // normal, or direction of the segment
  double half_length;    // of the segment; below 0 for a half-space [m]
  double radius;         // [m]
  double shift[3];       // what is at r from the origin has moved by shift + Σ turnᵢ rᵢ [m, 1]
  double turn[9];
};

// How particles of an object meet a solid.
struct Meeting {
  double distance;       // that they keep; far below 0 where features meet instead [m]
  double friction;       // [1]
  double floor;          // that they must end above, of a half-space; else far below 0 [m]
};

// Features near one another: Σ weights x leads from the second to the first.
struct Contact {
  int4 points;
  float4 weights;
  float4 normal;         // unit vector from the second to the first; the distance that they keep [m]
  float4 done;           // in this sub-step: how far they were moved along one another, how far they were parted [m]
  float friction;        // [1]
  int learned;           // whether the guard found it
  int room[2];
};

// An axis-aligned box [m].
struct Box { float low[3], high[3]; };

// A tree over triangles that stand side by side: box k of a level holds boxes 8 k to 8 k + 7 of the one below.
struct Tree {
  int levels;
  int first[8];          // place of the first box of every level
  int size[8];
};

// Counters of a window. Slots of lists are given away in any order; nothing that is computed depends on it.
struct Found {
  int pairs, features, candidates, contacts; // wanted, also beyond what there is room for
  int hits;              // candidates that are not shown apart
  int sunk;              // particles that end in a half-space
  int outside;           // points that end where candidates were not looked for
  int touching;          // whether anything touches
  int slips;             // whether friction holds nothing any more
  int faster[4];         // particles that move further in a sub-step than reach, its half, its quarter, its eighth
  unsigned fastest;      // square of the longest such way, as bits [m²]
  int room[2];
};

DEVICE void forget_proof(Found &found) {
  found.hits = found.sunk = found.outside = 0;
  found.fastest = 0;
  for (int k = 0; k < 4; k++) found.faster[k] = 0;
}

struct Touch {
  const int *object;     // of every point
  const Kept *kept;      // of every two objects
  const Solid *solids;   // in every sub-step
  const Meeting *meetings; // of every object with every solid
  const float *grown;    // how far boxes of every object reach beyond it [m]
  const int4 *triangles; // in the order of the tree: corners, and what stands with it
  Box *boxes;
  Place *start;          // of the window [m]
  float4 *ahead;         // where points would go in it, and how far beside that they may [m]
  int2 *pairs;           // of triangles whose boxes meet
  int4 *features;        // pairs of them that stand with these: [p; a b c], or [~a b; c d]
  int4 *candidates;      // those that no direction keeps apart
  Contact *contacts;
  i64 *moved;            // three for every point: sums of what contacts do
  int *count;            // contacts of every point that press or may
  float4 *grip;          // what solids have done in this sub-step: along, out [m]; any contact counts as out
  Found *found;
  const int *sewn_from;  // of every point, where the points begin that stitches join it to
  const int *sewn;
  Tree cloth, bodies;
  float reach;           // how far particles may move in a window [m]
  float near;            // what is further away than this beyond the distance kept is no contact [m]
  float beside;          // how far beside their expected way points may end [m]
  float parting;         // speed with which what is too near parts [m/s]
  float hovers;          // what is nearer than so many distances still counts as touching [1]
  int objects, solid_count;
  int cloth_triangles, all_triangles; // with those that stand for none
  int meets_cloth;
  int pair_room, feature_room, candidate_room, contact_room;
};

// What stands with a triangle: its corners, its edges, and whether it is a face.
DEVICE bool owns_corner(int4 triangle, int k) { return triangle.w >> k & 1; }
DEVICE bool owns_edge(int4 triangle, int k) { return triangle.w >> (3 + k) & 1; }
DEVICE bool is_face(int4 triangle) { return triangle.w >> 6 & 1; }
DEVICE int corner(int4 triangle, int k) { return k == 0 ? triangle.x : k == 1 ? triangle.y : triangle.z; }

DEVICE Kept kept_of(const Touch &touch, int a, int b) { return touch.kept[touch.object[a] * touch.objects + touch.object[b]]; }
DEVICE Point at(Place p) { return point(p.x, p.y, p.z); }
DEVICE float largest(float a, float b, float c) { return fmaxf(a, fmaxf(b, c)); }

// The closest points of a point and a triangle, or of two edges: `collide/ccd/distance.rs` of the engine. All points are seen from the first.

template <class V> struct Scalar { typedef double T; };
template <> struct Scalar<Vec3> { typedef float T; };
DEVICE float root(float a) { return sqrtf(a); }
DEVICE double root(double a) { return sqrt(a); }
DEVICE float larger(float a, float b) { return fmaxf(a, b); }
DEVICE double larger(double a, double b) { return fmax(a, b); }
DEVICE float smaller(float a, float b) { return fminf(a, b); }
DEVICE double smaller(double a, double b) { return fmin(a, b); }

template <class V> struct Closest {
  typename Scalar<V>::T weights[4];
  V vector;
  typename Scalar<V>::T square;
};

// The point of an edge that is nearest to the origin, and how far along it is.
template <class V> DEVICE typename Scalar<V>::T along_edge(V from, V to, V &near) {
  typedef typename Scalar<V>::T T;
  const V edge = to - from;
  const T square = dot(edge, edge);
  const T t = square > T(0) ? smaller(larger(-dot(from, edge) / square, T(0)), T(1)) : T(0);
  near = from * (T(1) - t) + to * t;
  return t;
}

// What is nearer than features are wide has a better direction in their common normal than in the difference of points.
template <class V> DEVICE V inside(V vector, typename Scalar<V>::T square, V n, V from, typename Scalar<V>::T widths) {
  typedef typename Scalar<V>::T T;
  const T normal = dot(n, n);
  if (!(square * widths < normal)) return vector;
  const T share = root(square / normal);
  return n * (dot(n, from) < T(0) ? -share : share);
}

template <class V> DEVICE Closest<V> origin_triangle(V a, V b, V c) {
  typedef typename Scalar<V>::T T;
  Closest<V> best;
  best.square = T(3e38);
  best.vector = a * T(0);
  best.weights[0] = T(1), best.weights[1] = T(-1), best.weights[2] = best.weights[3] = T(0);
  const V ab = b - a, ac = c - a, n = cross(ab, ac);
  const T normal = dot(n, n), to_b = dot(n, cross(ac, a)), to_c = dot(n, cross(a, ab)), to_a = normal - to_b - to_c;
  if (normal > T(0) && to_a >= T(0) && to_b >= T(0) && to_c >= T(0)) {
    const T u = to_a / normal, v = to_b / normal, w = to_c / normal;
    const V vector = (a * u + b * v + c * w) * T(-1);
    best.square = dot(vector, vector);
    best.vector = inside(vector, best.square, n, a * T(-1), dot(ab, ab) + dot(ac, ac));
    best.weights[1] = -u, best.weights[2] = -v, best.weights[3] = -w;
  }
#pragma unroll
  for (int k = 0; k < 3; k++) {
    V near;
    const T t = along_edge(k == 0 ? a : k == 1 ? b : c, k == 0 ? b : k == 1 ? c : a, near);
    const T square = dot(near, near);
    if (square < best.square) {
      best.square = square;
      best.vector = near * T(-1);
      best.weights[1] = k == 0 ? t - T(1) : k == 1 ? T(0) : -t;
      best.weights[2] = k == 0 ? -t : k == 1 ? t - T(1) : T(0);
      best.weights[3] = k == 0 ? T(0) : k == 1 ? -t : t - T(1);
    }
  }
  return best;
}

// Edges from the origin to b and from c to d.
template <class V> DEVICE Closest<V> edge_edge(V b, V c, V d) {
  typedef typename Scalar<V>::T T;
  Closest<V> best;
  best.square = T(3e38);
  best.vector = b * T(0);
  best.weights[0] = T(1), best.weights[1] = T(0), best.weights[2] = T(-1), best.weights[3] = T(0);
  const V second = d - c, r = c * T(-1), n = cross(b, second);
  const T normal = dot(n, n), s = dot(n, cross(second, r)) / normal, t = dot(n, cross(b, r)) / normal;
  if (normal > T(0) && s >= T(0) && s <= T(1) && t >= T(0) && t <= T(1)) {
    const V vector = b * s - c * (T(1) - t) - d * t;
    best.square = dot(vector, vector);
    best.vector = inside(vector, best.square, n, r, dot(b, b) + dot(second, second));
    best.weights[0] = T(1) - s, best.weights[1] = s, best.weights[2] = t - T(1), best.weights[3] = -t;
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    V near;
    const V from = k == 0 ? c : k == 1 ? c - b : k == 2 ? c * T(-1) : d * T(-1);
    const V to = k == 0 ? d : k == 1 ? d - b : k == 2 ? b - c : b - d;
    const T u = along_edge(from, to, near);
    const T square = dot(near, near);
    if (square < best.square) {
      best.square = square;
      best.vector = k < 2 ? near * T(-1) : near;
      best.weights[0] = k == 0 ? T(1) : k == 1 ? T(0) : T(1) - u;
      best.weights[1] = k == 0 ? T(0) : k == 1 ? T(1) : u;
      best.weights[2] = k < 2 ? u - T(1) : k == 2 ? T(-1) : T(0);
      best.weights[3] = k < 2 ? -u : k == 2 ? T(0) : T(-1);
    }
  }
  return best;
}

template <class V> DEVICE Closest<V> closest(bool edges, const V (&others)[3]) {
  return edges ? edge_edge(others[0], others[1], others[2]) : origin_triangle(others[0], others[1], others[2]);
}
