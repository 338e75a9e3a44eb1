// Stitches of seams: edges of strips that only pull, and whose length is that of the thread at the time. `step/methods/impulse/stitches.rs` of the engine.

struct Stitch {
  int ends[2];
  int place;             // of its tension
  int counts;            // whether its sewing is over: it counts for the tolerance of seams
  float2 *edge;          // what it is in its lane
  double start_length;   // [m]
  double stitch_length;  // once sewn [m]
  double begin, duration, end; // of sewing, and when it is undone [s]
  double give;           // how far it opens per force; infinite where nothing pulls [m/N]
  double goal;           // length to which it is drawn [m]
};

DEVICE double rest_length(const Stitch &stitch, double time) {
  // What is undone is longer than anything gets.
  if (time >= stitch.end) return 1e4;
  const double sewn_for = time - stitch.begin;
  const double s = sewn_for < 0.0 ? 0.0 : sewn_for < stitch.duration ? sewn_for / stitch.duration : 1.0;
  const double left = 1.0 - s * s * (3.0 - 2.0 * s);
  return stitch.stitch_length + left * (stitch.start_length - stitch.stitch_length);
}

// How long it is at the start of the sub-step, and where it was moved to [m].
DEVICE double start_of(const Sheet &sheet, const Stitch &stitch) {
  const Place a = sheet.x[stitch.ends[0]], b = sheet.x[stitch.ends[1]];
  return length(point(b.x - a.x, b.y - a.y, b.z - a.z));
}
DEVICE double end_of(const Sheet &sheet, const Stitch &stitch) {
  const Place a = sheet.x[stitch.ends[0]], b = sheet.x[stitch.ends[1]];
  const float4 ra = sheet.r[stitch.ends[0]], rb = sheet.r[stitch.ends[1]];
  return length(point((b.x + (double)rb.x) - (a.x + (double)ra.x), (b.y + (double)rb.y) - (a.y + (double)ra.y), (b.z + (double)rb.z) - (a.z + (double)ra.z)));
}

// How far sewn seams are open at most.
DEVICE void measure_seams(const Sheet &sheet, int first, int all) {
  for (int i = first; i < sheet.stitch_count; i += all) {
    const Stitch stitch = sheet.stitches[i];
    const double open = stitch.counts ? end_of(sheet, stitch) - stitch.goal : 0.0;
    // What is not a number is open.
    if (!(open <= 0.0)) atomicMax(&sheet.control->open, (u64)__double_as_longlong(open < 1e9 ? open : 1e9));
  }
}
