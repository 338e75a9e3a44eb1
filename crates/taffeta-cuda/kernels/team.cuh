// Threads as a team: each has EACH neighbouring rows of one lane.

// A pivot below this share of its diagonal belongs to an edge that the others determine already.
constexpr float SMALLEST_PIVOT = 1e-6f;

// Room to hand numbers from warp to warp. It is used in turns, so that one barrier is enough for each.
struct Team {
  float *room;
  int turn;
  DEVICE float *next() {
    float *here = room + turn * 16 * WARPS;
    turn ^= 1;
    return here;
  }
};

DEVICE int lane_of_warp() { return threadIdx.x & 31; }
// The number of a thread in its team: where teams are single warps a block may have many.
DEVICE int rank() { return WARPS == 1 ? lane_of_warp() : (int)threadIdx.x; }

enum Side { BEFORE = 1, AFTER = 2, BOTH = 3 };

// What the thread before holds last, and the thread after first; zeros beyond the ends. Only that side is told that is asked for.
template <Side SIDE, int N> DEVICE void neighbours(Team &team, const float (&first)[N], const float (&last)[N], float (&before)[N], float (&after)[N]) {
  const int lane = lane_of_warp();
#pragma unroll
  for (int n = 0; n < N; n++) {
    if (SIDE & BEFORE) before[n] = __shfl_up_sync(ALL, last[n], 1);
    if (SIDE & AFTER) after[n] = __shfl_down_sync(ALL, first[n], 1);
  }
  const int warp = rank() >> 5;
  float *room = nullptr;
  if (WARPS > 1) {
    room = team.next();
#pragma unroll
    for (int n = 0; n < N; n++) {
      if (lane == 0) room[warp * 16 + n] = first[n];
      if (lane == 31) room[warp * 16 + 8 + n] = last[n];
    }
    __syncthreads();
  }
#pragma unroll
  for (int n = 0; n < N; n++) {
    if ((SIDE & BEFORE) && lane == 0) before[n] = warp > 0 ? room[(warp - 1) * 16 + 8 + n] : 0.0f;
    if ((SIDE & AFTER) && lane == 31) after[n] = warp + 1 < WARPS ? room[(warp + 1) * 16 + n] : 0.0f;
  }
}

template <Side SIDE> DEVICE void neighbours(Team &team, Vec3 first, Vec3 last, Vec3 &before, Vec3 &after) {
  const float f[3] = {first.x, first.y, first.z}, l[3] = {last.x, last.y, last.z};
  float b[3] = {}, a[3] = {};
  neighbours<SIDE>(team, f, l, b, a);
  before = vec(b[0], b[1], b[2]);
  after = vec(a[0], a[1], a[2]);
}

template <Side SIDE> DEVICE void neighbours(Team &team, float4 first, float4 last, float4 &before, float4 &after) {
  const float f[4] = {first.x, first.y, first.z, first.w}, l[4] = {last.x, last.y, last.z, last.w};
  float b[4] = {}, a[4] = {};
  neighbours<SIDE>(team, f, l, b, a);
  before = make_float4(b[0], b[1], b[2], b[3]);
  after = make_float4(a[0], a[1], a[2], a[3]);
}

// Rows of as many lanes of a warp, each with a unit diagonal: parallel cyclic reduction. `d` becomes the solution. No strip is in more than SPAN lanes.
DEVICE void reduce_rows(int count, float a, float c, float &d) {
  const int lane = lane_of_warp();
#pragma unroll
  for (int s = 1; s < SPAN; s <<= 1) {
    float a_up = __shfl_up_sync(ALL, a, s), c_up = __shfl_up_sync(ALL, c, s), d_up = __shfl_up_sync(ALL, d, s);
    float a_down = __shfl_down_sync(ALL, a, s), c_down = __shfl_down_sync(ALL, c, s), d_down = __shfl_down_sync(ALL, d, s);
    if (lane < s) a_up = c_up = d_up = 0.0f;
    if (lane + s >= count) a_down = c_down = d_down = 0.0f;
    const float pivot = fmaf(-a, c_up, fmaf(-c, a_down, 1.0f));
    const float share = inverse(fmaxf(pivot, SMALLEST_PIVOT));
    d = share * fmaf(-a, d_up, fmaf(-c, d_down, d));
    a = -(share * a * a_up);
    c = -(share * c * c_down);
  }
}

// a x_before + b x + c x_after = d with one row for each thread: the solution, and that of the thread before.
DEVICE float solve_row(Team &team, float a, float b, float c, float d, float &before) {
  const int lane = lane_of_warp();
  if (WARPS == 1) {
    const float share = inverse(b);
    d *= share;
    reduce_rows(32, a * share, c * share, d);
    before = __shfl_up_sync(ALL, d, 1);
    if (lane == 0) before = 0.0f;
    return d;
  }
  // The last row of every warp separates it from the next. Those between are solved with what both separators give: x = d - l x_left - u x_right.
  const int warp = threadIdx.x >> 5;
  const float row_a = a, row_b = b, row_c = c, row_d = d;
  const float share = inverse(b);
  a *= share, c *= share, d *= share;
  float l = 0.0f, u = 0.0f;
  if (lane == 0) l = a, a = 0.0f;
  if (lane == 30) u = c, c = 0.0f;
  if (lane == 31) a = c = d = 0.0f;
#pragma unroll
  for (int s = 1; s < 32; s <<= 1) {
    float a_up = __shfl_up_sync(ALL, a, s), c_up = __shfl_up_sync(ALL, c, s), d_up = __shfl_up_sync(ALL, d, s);
    float l_up = __shfl_up_sync(ALL, l, s), u_up = __shfl_up_sync(ALL, u, s);
    float a_down = __shfl_down_sync(ALL, a, s), c_down = __shfl_down_sync(ALL, c, s), d_down = __shfl_down_sync(ALL, d, s);
    float l_down = __shfl_down_sync(ALL, l, s), u_down = __shfl_down_sync(ALL, u, s);
    if (lane < s) a_up = c_up = d_up = l_up = u_up = 0.0f;
    if (lane + s >= 31) a_down = c_down = d_down = l_down = u_down = 0.0f;
    const float pivot = fmaf(-a, c_up, fmaf(-c, a_down, 1.0f));
    const float share = inverse(fmaxf(pivot, SMALLEST_PIVOT));
    d = share * fmaf(-a, d_up, fmaf(-c, d_down, d));
    l = share * fmaf(-a, l_up, fmaf(-c, l_down, l));
    u = share * fmaf(-a, u_up, fmaf(-c, u_down, u));
    a = -(share * a * a_up);
    c = -(share * c * c_down);
  }
  const float d30 = __shfl_up_sync(ALL, d, 1), l30 = __shfl_up_sync(ALL, l, 1), u30 = __shfl_up_sync(ALL, u, 1);
  float *room = team.next();
  if (lane == 0) {
    float *first = room + warp * 16;
    first[0] = d, first[1] = l, first[2] = u;
  }
  if (lane == 31) {
    float *own = room + warp * 16 + 8;
    own[0] = -(row_a * l30), own[1] = fmaf(-row_a, u30, row_b), own[2] = row_c, own[3] = fmaf(-row_a, d30, row_d);
  }
  __syncthreads();
  float sa = 0.0f, sb = 1.0f, sc = 0.0f, sd = 0.0f;
  if (lane < WARPS) {
    const float *own = room + lane * 16 + 8;
    sa = own[0], sb = own[1], sd = own[3];
    if (lane + 1 < WARPS) {
      const float *next = room + (lane + 1) * 16;
      sb = fmaf(-own[2], next[1], sb);
      sd = fmaf(-own[2], next[0], sd);
      sc = -(own[2] * next[2]);
    }
  }
  const float scaled = inverse(sb);
  sd *= scaled;
  reduce_rows(WARPS, sa * scaled, sc * scaled, sd);
  const float right = __shfl_sync(ALL, sd, warp);
  float left = __shfl_sync(ALL, sd, warp > 0 ? warp - 1 : 0);
  if (warp == 0) left = 0.0f;
  const float x = lane == 31 ? right : fmaf(-l, left, fmaf(-u, right, d));
  before = __shfl_up_sync(ALL, x, 1);
  if (lane == 0) before = left;
  return x;
}

// The same with EACH rows for each thread; `d` becomes the solution. The last row of a thread separates it from the next.
DEVICE void solve_rows(Team &team, float (&a)[EACH], float (&b)[EACH], float (&c)[EACH], float (&d)[EACH]) {
  constexpr int LAST = EACH - 1;
  float before;
  if constexpr (EACH == 1) {
    d[LAST] = solve_row(team, a[LAST], b[LAST], c[LAST], d[LAST], before);
  } else {
    // Rows between separators: x = d - l x_before - c x_last.
    float l[EACH];
#pragma unroll
    for (int i = 0; i < LAST; i++) {
      const int p = i > 0 ? i - 1 : 0;
      const float pivot = i > 0 ? fmaxf(fmaf(-a[i], c[p], b[i]), b[i] * SMALLEST_PIVOT) : b[i];
      const float share = inverse(pivot);
      d[i] = (i > 0 ? fmaf(-a[i], d[p], d[i]) : d[i]) * share;
      l[i] = (i > 0 ? -(a[i] * l[p]) : a[i]) * share;
      c[i] *= share;
    }
    const int p = LAST > 0 ? LAST - 1 : 0;
    float row_a = -(a[LAST] * l[p]), row_b = fmaf(-a[LAST], c[p], b[LAST]), row_d = fmaf(-a[LAST], d[p], d[LAST]);
#pragma unroll
    for (int i = LAST - 2; i >= 0; i--) {
      const int n = i + 1 < EACH ? i + 1 : i;
      d[i] = fmaf(-c[i], d[n], d[i]);
      l[i] = fmaf(-c[i], l[n], l[i]);
      c[i] = -(c[i] * c[n]);
    }
    Vec3 unused, next;
    neighbours<AFTER>(team, vec(d[0], l[0], c[0]), none(), unused, next);
    row_b = fmaf(-c[LAST], next.y, row_b);
    row_d = fmaf(-c[LAST], next.x, row_d);
    const float row_c = -(c[LAST] * next.z);
    row_b = fmaxf(row_b, b[LAST] * SMALLEST_PIVOT);
    const float x = solve_row(team, row_a, row_b, row_c, row_d, before);
#pragma unroll
    for (int i = 0; i < LAST; i++) d[i] = fmaf(-l[i], before, fmaf(-c[i], x, d[i]));
    d[LAST] = x;
  }
}
