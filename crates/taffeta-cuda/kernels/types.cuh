// What host and device share: lists of particles, strips in lanes, the pace of a step, and what a step tells of itself.
// `src/layout.rs` has the same structures; a test compares their sizes.
//
// Precision is mixed: positions are doubles, ways within a sub-step, tensions and solves are floats. A float holds a way of a millimetre to 1e-10 m.

typedef unsigned long long u64;
typedef long long i64;

// Threads that solve one lane together, and positions of a lane for each of them. The host chooses both by the longest strip.
#ifndef THREADS
#define THREADS 32
#endif
#ifndef EACH
#define EACH 4
#endif
// Threads of a warp at most that have to do with one strip.
#ifndef SPAN
#define SPAN 32
#endif
constexpr int WARPS = THREADS / 32;
constexpr int LANE = THREADS * EACH;
constexpr unsigned ALL = 0xffffffffu;

// Where a particle is [m].
struct alignas(32) Place {
  double x, y, z;
  double free; // 0 for one that touches, 1 for others
};

#ifdef PAD
// Memory that threads share has 32 banks, and particles of a column are often 32 apart: after 32 of them one place stays empty, after a lane PAD tensions.
template <class T> struct Spread {
  T *list;
  __device__ __forceinline__ T &operator[](int i) const { return list[i + (i >> 5)]; }
};
struct Seat {
  double x, y, z;
  __device__ __forceinline__ operator Place() const { Place p; p.x = x; p.y = y; p.z = z; p.free = 1.0; return p; }
  __device__ __forceinline__ void operator=(Place p) { x = p.x; y = p.y; z = p.z; }
};
typedef Spread<Seat> Places;
typedef Spread<float4> Ways;
#else
#define PAD 0
typedef Place *Places;
typedef float4 *Ways;
#endif

// Strips of one group, one after the other in lanes of LANE positions. An edge leads from its position to the next.
struct Group {
  const int *particle;   // at every position; -1 where there is none
  const float2 *edge;    // square of the rest length [m²], compliance; nothing where the square is 0
  const float4 *bend;    // over the positions before and after: ratio of lengths, stiffness [N/m], damping [N·s/m]; or null
  int first;             // place of the first tension
  int lanes;
};

// How a step is cut; the same for all of its sub-steps.
struct Pace {
  double h;              // [s]
  double tolerance;      // [1]
  double infeasible;     // strain at the start beyond which errors get no velocity [1]
  double slow;           // twice the kinetic energy that does not count [J]
  double lost;           // share of added mass at which the step is lost [1]
  double radius;         // what a sweep leaves of the slowest error [1]
  double time;           // at the start of the step [s]
  double closing_time;   // of stitches [s]
  double closing_speed;  // at most [m/s]
  double seam_tolerance; // how far a sewn seam may be open at the end of a step [m]
  float squared;         // h² [s²]
  float inverse;         // 1 / h [1/s]
  float share;           // share of h² f / m by which forces displace [1]
  float kept;            // share of tensions that a sub-step starts with [1]
  float left;            // share of errors at its start that it leaves [1]
  float slower;          // what damping leaves of velocities [1]
  float give;            // largest strain that compliance brings about in last sweeps [1]
  float gravity[3];      // [m/s²]
  float wind[3];         // way that damping adds in a sub-step [m]
  int count;             // sub-steps
  int pins_move;
  int held;              // whether forces are held over sub-steps
  int bend_rounds;
  int most_sweeps;
  int stalled_sweeps;
  int relaxed_sweeps;
  float2 bend_shares[64]; // of the change before and of the residual, in every round
};

// What is found out on the way, and told at the end.
struct Control {
  double worst;          // largest share of added mass
  double moving;         // twice the kinetic energy at the start of the last sub-step [J]
  double before;         // strain before the last sweeps
  double error;          // strain now
  double best;
  u64 most;              // largest and smallest squared length over its rest, as bits
  u64 least;
  u64 open;              // how far sewn seams are open, as bits [m]
  double opening;        // the same, told [m]
  float beyond;          // over-relaxation of the next sweep
  int base;              // sub-steps done
  int far;               // whether the start is beyond repair by a sub-step
  int lost;
  int done;              // whether last sweeps are over
  int sweeps;
  int best_at;
  int for_lengths;       // last sweeps before lengths were within their tolerance
  int given_up;          // whether seams could not be closed: lengths go first
  int kept;              // whether lengths are within their tolerance
};

// One model on the device.
struct Sheet {
  Places x;              // where particles are
  Ways r;                // way in this sub-step [m], mobility [m/N]
  Ways v;                // way that velocity leads in a sub-step [m]
  float *tension;        // per length, at places of lanes [N/m]
  float *last_tension;   // the same in last sweeps, which are forgotten
  const float2 *mass;    // one over it, 0 for those that are held [1/kg]; mass [kg]
  const int *pin;        // number among the pins, -1 for those that are free
  const double *pin_end; // ends of all pins in every sub-step [m]
  const double *pin_start; // null; or where pins start that go straight to `pin_end`, one end for each [m]
  const int *around_from;
  const int2 *around;    // other end and place of the tension
  float4 *held;          // forces [N]
  double2 *sums;         // of parts of all particles in sub-steps since the last tally: twice the kinetic energy, the same of added mass [J s²]
  const int2 *ends;      // of structural edges
  const double *rest;    // [m]
  const Pace *pace;
  Control *control;
  struct Found *found;   // where something may touch, else null
  struct Stitch *stitches;
  int particles;         // with points of bodies, which are led as pins are
  int pins;
  int edges;
  int stitch_count;
};

struct Vec3 { float x, y, z; };
#define DEVICE __device__ __forceinline__
DEVICE Vec3 vec(float x, float y, float z) { Vec3 v; v.x = x; v.y = y; v.z = z; return v; }
DEVICE Vec3 none() { return vec(0.0f, 0.0f, 0.0f); }
DEVICE Vec3 operator+(Vec3 a, Vec3 b) { return vec(a.x + b.x, a.y + b.y, a.z + b.z); }
DEVICE Vec3 operator-(Vec3 a, Vec3 b) { return vec(a.x - b.x, a.y - b.y, a.z - b.z); }
DEVICE Vec3 operator*(Vec3 a, float s) { return vec(a.x * s, a.y * s, a.z * s); }
DEVICE float dot(Vec3 a, Vec3 b) { return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z)); }
DEVICE Vec3 plus(Vec3 a, float s, Vec3 b) { return vec(fmaf(b.x, s, a.x), fmaf(b.y, s, a.y), fmaf(b.z, s, a.z)); }
DEVICE Vec3 xyz(float4 a) { return vec(a.x, a.y, a.z); }
DEVICE float4 with(Vec3 a, float w) { return make_float4(a.x, a.y, a.z, w); }
// From one place to another, both in doubles.
DEVICE Vec3 way(Place from, Place to) {
  return vec((float)(to.x - from.x), (float)(to.y - from.y), (float)(to.z - from.z));
}
DEVICE Place place(double x, double y, double z, double free) { Place p; p.x = x; p.y = y; p.z = z; p.free = free; return p; }
// Within a unit of the last place, in one instruction each: what follows corrects more than that.
DEVICE float inverse(float a) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
}
DEVICE float root_of(float a) {
  float result;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
}

struct Point { double x, y, z; };
DEVICE Point point(double x, double y, double z) { Point p; p.x = x; p.y = y; p.z = z; return p; }
DEVICE Point operator+(Point a, Point b) { return point(a.x + b.x, a.y + b.y, a.z + b.z); }
DEVICE Point operator-(Point a, Point b) { return point(a.x - b.x, a.y - b.y, a.z - b.z); }
DEVICE Point operator*(Point a, double s) { return point(a.x * s, a.y * s, a.z * s); }
DEVICE double dot(Point a, Point b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
DEVICE double length(Point a) { return sqrt(dot(a, a)); }
DEVICE Point cross(Point a, Point b) { return point(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }
DEVICE Vec3 cross(Vec3 a, Vec3 b) { return vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }

// Numbers of one thread that lie beside one another: one wide access.
template <class T> struct alignas(sizeof(T) * EACH) Beside { T at[EACH]; };
