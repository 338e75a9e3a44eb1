// Stitches in sub-steps and last sweeps.
//
//   pull_stitches   before lengths: who pulls, and how strongly
//   finish_stitches at the end of a step: what is sewn closes now, other seams open no further
//   slacken         before last sweeps: none pulls yet
//   give_up         seams cannot be closed: lengths are kept without them
//   keep_ways       ways before last sweeps, or back

// Lets those pull that are longer than they should be, and those that do already. In sub-step k of a bundle none does at first, and a stitch is a spring with a
// damper: what is open of it at the start goes within its closing time, and no faster than its speed.
extern "C" __global__ void pull_stitches(Sheet sheet, int k, int last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Control &control = *sheet.control;
  if (i >= sheet.stitch_count || control.lost || (last && control.done)) return;
  const Pace &pace = *sheet.pace;
  Stitch stitch = sheet.stitches[i];
  float *tension = (last ? sheet.last_tension : sheet.tension) + stitch.place;
  const double sluggish = pace.closing_time / pace.h;
  if (!last) {
    const double time = pace.time + (double)(control.base + k) * pace.h;
    const double open = fmax(start_of(sheet, stitch) - rest_length(stitch, time), 0.0);
    stitch.goal = rest_length(stitch, time + pace.h) + open - fmin(open / (1.0 + sluggish), pace.closing_speed * pace.h);
    sheet.stitches[i].goal = stitch.goal;
    *tension = 0.0f;
  }
  const bool pulls = isfinite(stitch.give) && !(last && control.given_up) && (*tension > 0.0f || end_of(sheet, stitch) > stitch.goal);
  const double square = stitch.goal * stitch.goal;
  *stitch.edge = pulls ? make_float2((float)square, -(float)(stitch.give / (1.0 + sluggish) * square)) : make_float2(0.0f, 0.0f);
  if (!pulls) *tension = 0.0f;
}

extern "C" __global__ void finish_stitches(Sheet sheet) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= sheet.stitch_count || sheet.control->lost) return;
  const Pace &pace = *sheet.pace;
  Stitch &stitch = sheet.stitches[i];
  const double until = pace.time + (double)pace.count * pace.h;
  stitch.goal = rest_length(stitch, until);
  stitch.counts = until >= stitch.begin + stitch.duration;
  if (!stitch.counts) stitch.goal = fmax(stitch.goal, end_of(sheet, stitch));
}

extern "C" __global__ void slacken(Sheet sheet) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < sheet.stitch_count) sheet.last_tension[sheet.stitches[i].place] = 0.0f;
}

extern "C" __global__ void give_up(Sheet sheet) {
  sheet.control->given_up = 1;
  sheet.control->done = 0;
}

extern "C" __global__ void keep_ways(Sheet sheet, float4 *kept, int back) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= sheet.particles) return;
  if (back)
    sheet.r[i] = kept[i];
  else
    kept[i] = sheet.r[i];
}
