// Forces of the air, held over some sub-steps.

extern "C" __global__ void air_on_triangles(Sheet sheet, Air air, const int4 *triangles, const float *area_mass, float4 *thirds, int count) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < count && !sheet.control->lost) thirds[t] = third_of_force(sheet, air, triangles[t], area_mass[t]);
}

// The sum of all forces on every particle, those from outside first [N].
extern "C" __global__ void air_on_particles(Sheet sheet, const float4 *outside, const int *around_from, const int *around, const float4 *thirds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= sheet.particles || sheet.control->lost) return;
  const Vec3 force = outside ? xyz(outside[i]) : none();
  sheet.held[i] = with(thirds ? sum_of_thirds(force, around_from, around, thirds, i) : force, 0.0f);
}
