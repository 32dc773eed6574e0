// random_matrix: fills a pitched DIA matrix with random weights in (0, 1), for measurements.
//
// One work-item writes one element, values[d * pitch + row]: 24 bits of a hash of (d, row), or zero
// where the image row ends or neighbour d of the pixel lies outside the image. Pixel (x, y) is row
// y * width + x; its neighbour d is at (x + steps[2 d], y + steps[2 d + 1]). With a hash instead
// of a sequential generator, the host can compute any single element without downloading the
// matrix. The bits do not compress, so a memory that compresses gains nothing from them.
//
// The hash applies the 32-bit finaliser of MurmurHash3 (Appleby) once for each index.

static uint mix(uint h) {
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

__kernel void random_matrix(__global const int* restrict steps, const int width, const int height,
                            const uint seed, const ulong pitch, __global float* restrict values) {
  const ulong row = get_global_id(0);
  const uint d = get_global_id(1);
  if (row >= pitch) return;
  const long y = row / width;
  const int x = row % width;
  const long to_x = (long)x + steps[2 * d];
  const long to_y = y + steps[2 * d + 1];
  const bool inside = y < height && to_x >= 0 && to_x < width && to_y >= 0 && to_y < height;
  const uint bits = mix(mix((uint)row + 0x9e3779b9u) ^ (seed + d)) >> 8;
  values[d * pitch + row] = inside ? (bits | 1) * 0x1p-24f : 0.0f;
}
