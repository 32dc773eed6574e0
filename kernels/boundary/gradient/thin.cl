// cue_thin: the ridges of the gradient's magnitude, which are where boundaries run. Planes of
// width * height, pixel (x, y) at y * width + x; work-item (x, y) computes pixel (x, y).
//
// Suppression is soft: a pixel keeps its value if its rival's is no larger, loses it in proportion
// as the rival's is larger, and has lost all where its own is less than 1 - SOFTNESS of the
// rival's. So two pixels that share a ridge both stay, whichever is larger by a rounding error.
#ifndef SOFTNESS
#error "cue_thin.cl: define SOFTNESS, a share in (0, 1]"
#endif

float fade(const float own, const float rival) {
  if (own >= rival) return 1.0f;
  return max(0.0f, 1.0f - (rival - own) / (SOFTNESS * rival));
}

float at(__global const float* plane, const int x, const int y, const int width, const int height) {
  return plane[(size_t)clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)];
}

// Non-maximum suppression (Canny, A computational approach to edge detection, PAMI 1986): the
// rivals lie to both sides across the boundary, on the square of the eight neighbours, where they
// are interpolated between two of them. Across is the direction of steepest slope, the tensor's
// (xx, xy, yy) first eigenvector.
__kernel void cue_thin(__global const float* restrict magnitude, __global const float* restrict xx,
                       __global const float* restrict xy, __global const float* restrict yy,
                       __global float* restrict ridge, const int width, const int height) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width) return;
  const size_t pixel = (size_t)y * width + x;
  const float own = magnitude[pixel];
  // The eigenvector to the larger eigenvalue, in the form that does not cancel.
  const float half_gap = 0.5f * (xx[pixel] - yy[pixel]);
  const float root = hypot(half_gap, xy[pixel]);
  const float across_x = half_gap >= 0.0f ? half_gap + root : xy[pixel];
  const float across_y = half_gap >= 0.0f ? xy[pixel] : root - half_gap;
  const bool steep = fabs(across_y) > fabs(across_x);
  const float longer = steep ? across_y : across_x;
  const float share = longer == 0.0f ? 0.0f : (steep ? across_x : across_y) / longer;
  // One step along the longer axis, `share` of one along the other.
  const int side = share < 0.0f ? -1 : 1;
  const int dx = steep ? 0 : 1;
  const int dy = steep ? 1 : 0;
  const int diagonal_x = steep ? side : 1;
  const int diagonal_y = steep ? 1 : side;
  const float part = fabs(share);
  const float ahead = (1.0f - part) * at(magnitude, x + dx, y + dy, width, height) +
                      part * at(magnitude, x + diagonal_x, y + diagonal_y, width, height);
  const float behind = (1.0f - part) * at(magnitude, x - dx, y - dy, width, height) +
                       part * at(magnitude, x - diagonal_x, y - diagonal_y, width, height);
  ridge[pixel] = own * fade(own, max(ahead, behind));
}

// Closes ridges against diagonal steps. A thin ridge that runs diagonally lets a line slip through
// between two of its pixels that touch at a corner. Of the two pixels beside that corner the one of
// larger magnitude (softly: both of two equals) is raised to the lesser of the ridge's two.
float raised(const float ridge_a, const float ridge_b, const float own, const float rival) {
  return min(ridge_a, ridge_b) * fade(own, rival);
}

__kernel void cue_bridge(__global const float* restrict ridge,
                         __global const float* restrict magnitude, __global float* restrict bridged,
                         const int width, const int height) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width) return;
  const size_t pixel = (size_t)y * width + x;
  const float own = magnitude[pixel];
  float value = ridge[pixel];
  for (int dy = -1; dy <= 1; dy += 2) {
    for (int dx = -1; dx <= 1; dx += 2) {
      if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
      value = max(value,
                  raised(at(ridge, x + dx, y, width, height), at(ridge, x, y + dy, width, height),
                         own, at(magnitude, x + dx, y + dy, width, height)));
    }
  }
  bridged[pixel] = value;
}
