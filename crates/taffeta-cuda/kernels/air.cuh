// Forces of the air on triangles, held over some sub-steps: `forces/air.rs` and `forces/wind.rs` of the engine.

struct Air {
  double density, drag, skin_friction, lift;
  double wind[3];
  double gust[3];   // amplitude [m/s], frequency [1/s], length [m]
  u64 seed;
  double time;      // [s]
  double duration;  // for which forces are held [s]
};

// Another key for every key and number (SplitMix64).
DEVICE u64 hash(u64 key, i64 number) {
  u64 z = (key ^ (u64)number) + 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

DEVICE double unit_of(u64 key, int shift) { return (double)((key >> shift) & 0x1FFFFF) / (double)(1 << 20) - 1.0 + 0.5 / (double)(1 << 20); }

// Velocity of gusts [m/s]: value noise on a lattice of space and time.
DEVICE Point gust(const Air &air, Point where) {
  const double axes[4] = {where.x / air.gust[2], where.y / air.gust[2], where.z / air.gust[2], air.time * air.gust[1]};
  Point sum = point(0.0, 0.0, 0.0);
  for (int corner = 0; corner < 16; corner++) {
    u64 key = air.seed;
    double weight = 1.0;
    for (int axis = 0; axis < 4; axis++) {
      const double below = floor(axes[axis]), t = axes[axis] - below;
      const double above = t * t * t * (10.0 + t * (6.0 * t - 15.0));
      const bool up = corner >> axis & 1;
      key = hash(key, (i64)below + (up ? 1 : 0));
      weight *= up ? above : 1.0 - above;
    }
    sum = sum + point(unit_of(key, 0), unit_of(key, 21), unit_of(key, 42)) * weight;
  }
  return sum * air.gust[0];
}

// A part of the force for a part of the stream, which it may not turn round while it is held.
DEVICE Point part(Point stream, double coefficient, double more, const Air &air, double area_mass) {
  const double pressure = 0.5 * air.density * coefficient * length(stream) + 0.5 * air.density * more;
  return stream * (pressure / fmax(air.duration * pressure / area_mass, 1.0));
}

DEVICE Point at(const Sheet &sheet, int i) { return point(sheet.x[i].x, sheet.x[i].y, sheet.x[i].z); }
DEVICE Point lead(const Sheet &sheet, int i) { return point(sheet.v[i].x, sheet.v[i].y, sheet.v[i].z); }

// A third of the force on a triangle [N].
DEVICE float4 third_of_force(const Sheet &sheet, const Air &air, int4 corners, float area_mass) {
  const Point a = at(sheet, corners.x), b = at(sheet, corners.y), c = at(sheet, corners.z);
  const Point velocity = (lead(sheet, corners.x) + lead(sheet, corners.y) + lead(sheet, corners.z)) * (1.0 / (3.0 * sheet.pace->h));
  const Point wind = point(air.wind[0], air.wind[1], air.wind[2]);
  Point stream = wind - velocity;
  if (air.gust[0] != 0.0) stream = stream + gust(air, (a + b + c) * (1.0 / 3.0) - wind * air.time);
  const Point normal = cross(b - a, c - a);
  const double squared = dot(normal, normal);
  Point force = point(0.0, 0.0, 0.0);
  if (squared > 0.0) {
    const Point across = normal * (dot(stream, normal) / squared), along = stream - across;
    const double lift = air.lift * length(along), mass = (double)area_mass;
    force = (part(across, air.drag, lift, air, mass) + part(along, air.skin_friction, 0.0, air, mass)) * (0.5 * sqrt(squared) / 3.0);
  }
  return make_float4((float)force.x, (float)force.y, (float)force.z, 0.0f);
}

// What the thirds of the triangles around a particle come to [N].
DEVICE Vec3 sum_of_thirds(Vec3 force, const int *around_from, const int *around, const float4 *thirds, int i) {
  for (int k = around_from[i]; k < around_from[i + 1]; k++) force = force + xyz(thirds[around[k]]);
  return force;
}
