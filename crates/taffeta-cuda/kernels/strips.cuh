// A lane of strips in the registers of a team: bends, shear and lengths along it, as `solve/strips` of the engine has them.

// Diagonals count an edge as at least this share of its squared length, so that a crushed one opens without overshooting.
constexpr float CRUSHED = 0.25f;

enum Kind {
  SOFT, // springs, implicit in time
  HARD, // lengths in a sub-step
  LAST, // lengths at the end of a step
};

// One thread's part of a lane. Edge i leads from position i to the next one.
struct Strip {
  int at[EACH];      // particles, -1 for none
  Vec3 start[EACH];  // edges at the start of the sub-step [m]
  float free[EACH];  // 0 for edges of which an end touches
  Vec3 way[EACH];    // of particles in the sub-step [m]
  float b[EACH];     // their mobilities [m/N]
  float square[EACH];
  float give[EACH];

  DEVICE int first(int lane) { return lane * LANE + rank() * EACH; }
  DEVICE int tension(int lane) { return lane * (LANE + PAD) + rank() * EACH; }

  // Which particles, and their edges at the start of the sub-step.
  DEVICE void take(const Sheet &sheet, const Group &group, int lane) {
    const int from = first(lane);
    const Beside<int> own = *(const Beside<int> *)(group.particle + from);
    const Beside<float2> edges = *(const Beside<float2> *)(group.edge + from);
    const int after = rank() + 1 < THREADS ? group.particle[from + EACH] : -1;
    Place here = place(0.0, 0.0, 0.0, 1.0);
    if (own.at[0] >= 0) here = sheet.x[own.at[0]];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      at[i] = own.at[i];
      square[i] = edges.at[i].x;
      give[i] = edges.at[i].y;
      const int next = i + 1 < EACH ? own.at[i + 1 < EACH ? i + 1 : i] : after;
      Place there = here;
      if (next >= 0) there = sheet.x[next];
      start[i] = ::way(here, there);
      free[i] = (float)(here.free * there.free);
      here = there;
    }
  }

  // Ways and mobilities so far.
  DEVICE void load(const Sheet &sheet) {
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      const float4 r = at[i] >= 0 ? sheet.r[at[i]] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      way[i] = xyz(r);
      b[i] = r.w;
    }
  }

  DEVICE void store(const Sheet &sheet) {
#pragma unroll
    for (int i = 0; i < EACH; i++)
      if (at[i] >= 0) sheet.r[at[i]] = with(way[i], b[i]);
  }

  // The change of tension of every edge, and what it moves. The share `kept` of tensions counts; `beyond` goes further than a strip alone asks for.
  template <Kind KIND> DEVICE void solve(Team &team, const Pace &pace, float *tensions, float kept, float beyond) {
    float4 unused, after;
    neighbours<AFTER>(team, with(way[0], b[0]), make_float4(0.0f, 0.0f, 0.0f, 0.0f), unused, after);
    Beside<float> tension = *(const Beside<float> *)tensions;
    Vec3 d[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      const Vec3 next = i + 1 < EACH ? way[i + 1 < EACH ? i + 1 : i] : xyz(after);
      d[i] = square[i] > 0.0f ? start[i] + (next - way[i]) : none();
      tension.at[i] *= kept;
    }
    Vec3 d_before, d_after;
    neighbours<BOTH>(team, d[0], d[EACH - 1], d_before, d_after);
    float lower[EACH], diagonal[EACH], upper[EACH], change[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      const float b_next = i + 1 < EACH ? b[i + 1 < EACH ? i + 1 : i] : after.w;
      const float squared = dot(d[i], d[i]), least = fmaxf(squared, CRUSHED * square[i]);
      float error, compliance;
      if (KIND == SOFT) {
        compliance = give[i] * least;
        error = fmaf(-compliance, tension.at[i], squared - root_of(square[i] * squared));
      } else {
#ifdef SEWN
        // Stitches have negative compliances.
        const bool sewn = give[i] < 0.0f;
        compliance = fabsf(give[i]);
#else
        const bool sewn = false;
        compliance = give[i];
#endif
        float stretch = compliance * tension.at[i];
        if (KIND == LAST) {
          const float most = square[i] * pace.give;
          stretch = fminf(fmaxf(stretch, -most), most);
        }
        // A load may part stitches by more than their length in a sub-step: they go to it at once, C = |d| (|d| - L).
        error = (sewn ? squared - root_of(squared * square[i]) : 0.5f * (squared - square[i])) - stretch;
        if (KIND == HARD && !sewn) {
          const float before = 0.5f * (dot(start[i], start[i]) - square[i]) - stretch;
          error -= before * (pace.left * free[i]);
        }
      }
      // Nothing pulls between ends that are both held.
      const bool there = square[i] > 0.0f && b[i] + b_next > 0.0f;
      lower[i] = there ? -(b[i] * dot(d[i], i > 0 ? d[i > 0 ? i - 1 : 0] : d_before)) : 0.0f;
      diagonal[i] = there ? fmaf(b[i] + b_next, least, compliance) : 1.0f;
      change[i] = there ? error : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
      upper[i] = i + 1 < EACH ? lower[i + 1 < EACH ? i + 1 : i] : -(after.w * dot(d_after, d[EACH - 1]));
    solve_rows(team, lower, diagonal, upper, change);
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      if (!(square[i] > 0.0f)) change[i] = 0.0f;
      if (KIND == LAST) change[i] *= beyond;
      tension.at[i] += change[i];
      // In a sub-step edges that push start again from 0: what is pressed gives way sideways.
      if (KIND == HARD) tension.at[i] = fmaxf(tension.at[i], 0.0f);
      d[i] = d[i] * change[i];
    }
    *(Beside<float> *)tensions = tension;
    Vec3 pull, beyond_end;
    neighbours<BEFORE>(team, none(), d[EACH - 1], pull, beyond_end);
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      way[i] = plus(way[i], b[i], d[i] - pull);
      pull = d[i];
    }
  }

  // What moments at every position push of the particle there: the transpose of turning.
  DEVICE Vec3 pushed(Vec3 before, Vec3 own, float ratio, Vec3 after, float ratio_after) {
    return plus(plus(before, ratio_after, after), -1.0f - ratio, own);
  }

  // Bends along the lane, implicit in time: moments by Chebyshev's polynomials of the system that the engine factors.
  DEVICE void bend(Team &team, const Pace &pace, const float4 *bends) {
    const Beside<float4> own = *(const Beside<float4> *)bends;
    float4 before, after;
    neighbours<BOTH>(team, with(way[0], b[0]), with(way[EACH - 1], b[EACH - 1]), before, after);
    Vec3 start_before, unused;
    neighbours<BEFORE>(team, none(), start[EACH - 1], start_before, unused);
    const float first_ratio[1] = {own.at[0].x}, no_ratio[1] = {0.0f};
    float ratio_before[1], ratio_after[1];
    neighbours<AFTER>(team, first_ratio, no_ratio, ratio_before, ratio_after);
    Vec3 moment[EACH], step[EACH], residual[EACH];
    float scale[EACH], softness[EACH], ratio[EACH];
    const float2 opening = pace.bend_shares[0];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      const float4 bend = own.at[i];
      ratio[i] = bend.x;
      const float damping = bend.z * pace.inverse, stiffness = bend.y + damping;
      const bool there = stiffness > 0.0f;
      softness[i] = there ? inverse(stiffness) : 0.0f;
      const float middle = 1.0f + ratio[i];
      const float b_before = i > 0 ? b[i > 0 ? i - 1 : 0] : before.w, b_after = i + 1 < EACH ? b[i + 1 < EACH ? i + 1 : i] : after.w;
      const float diagonal = fmaf(middle * middle, b[i], fmaf(ratio[i] * ratio[i], b_before, b_after + softness[i]));
      scale[i] = there ? inverse(diagonal) : 0.0f;
      const Vec3 way_before = i > 0 ? way[i > 0 ? i - 1 : 0] : xyz(before), way_after = i + 1 < EACH ? way[i + 1 < EACH ? i + 1 : i] : xyz(after);
      const Vec3 turned = plus(start[i], -ratio[i], i > 0 ? start[i > 0 ? i - 1 : 0] : start_before);
      const Vec3 turning = plus(way_after - way[i], -ratio[i], way[i] - way_before);
      // At the end of the sub-step, less the share of damping that there was before.
      residual[i] = there ? plus(turning, 1.0f - damping * softness[i], turned) : none();
      moment[i] = none();
      step[i] = residual[i] * (scale[i] * opening.y);
    }
    for (int round = 0;; round++) {
#pragma unroll
      for (int i = 0; i < EACH; i++) moment[i] = moment[i] + step[i];
      if (round + 1 >= pace.bend_rounds) break;
      Vec3 step_before, step_after, push[EACH], push_before, push_after;
      neighbours<BOTH>(team, step[0], step[EACH - 1], step_before, step_after);
#pragma unroll
      for (int i = 0; i < EACH; i++) {
        const int p = i > 0 ? i - 1 : 0, n = i + 1 < EACH ? i + 1 : i;
        push[i] = pushed(i > 0 ? step[p] : step_before, step[i], ratio[i], i + 1 < EACH ? step[n] : step_after, i + 1 < EACH ? ratio[n] : ratio_after[0]) * b[i];
      }
      neighbours<BOTH>(team, push[0], push[EACH - 1], push_before, push_after);
      const float2 shares = pace.bend_shares[round + 1];
#pragma unroll
      for (int i = 0; i < EACH; i++) {
        const int p = i > 0 ? i - 1 : 0, n = i + 1 < EACH ? i + 1 : i;
        const Vec3 turn = plus(plus(i + 1 < EACH ? push[n] : push_after, ratio[i], i > 0 ? push[p] : push_before), -1.0f - ratio[i], push[i]);
        if (scale[i] > 0.0f) residual[i] = residual[i] - plus(turn, softness[i], step[i]);
        step[i] = plus(step[i] * shares.x, scale[i] * shares.y, residual[i]);
      }
    }
    Vec3 moment_before, moment_after;
    neighbours<BOTH>(team, moment[0], moment[EACH - 1], moment_before, moment_after);
#pragma unroll
    for (int i = 0; i < EACH; i++) {
      const int p = i > 0 ? i - 1 : 0, n = i + 1 < EACH ? i + 1 : i;
      const Vec3 push = pushed(i > 0 ? moment[p] : moment_before, moment[i], ratio[i], i + 1 < EACH ? moment[n] : moment_after, i + 1 < EACH ? ratio[n] : ratio_after[0]);
      way[i] = plus(way[i], -b[i], push);
    }
  }
};
