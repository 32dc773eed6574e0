// gradient_thin: the ridges of the magnitude of the gradient, along which boundaries run. Planes of
// width * height, pixel (x, y) at y * width + x; work-item (x, y) computes pixel (x, y).
//
// Suppression is soft: a pixel keeps its value if the value of its rival is no larger, loses more
// of it the larger the rival is, and becomes 0 where its value is less than 1 - SOFTNESS times the
// rival's value. So two pixels that share a ridge both stay, although one of them is larger by a
// rounding error.
#ifndef SOFTNESS
#error "boundary/gradient/thin.cl needs -DSOFTNESS: a number in (0, 1]"
#endif

float fade(const float own, const float rival) {
  if (own >= rival) return 1.0f;
  return max(0.0f, 1.0f - (rival - own) / (SOFTNESS * rival));
}

float at(__global const float* plane, const int x, const int y, const int width, const int height) {
  return plane[(size_t)clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)];
}

// Non-maximum suppression (Canny, A computational approach to edge detection, PAMI 1986): the
// rivals lie on both sides across the boundary, on the square through the eight neighbours, and are
// interpolated between two neighbours. The direction across the boundary is the direction of
// steepest slope, the first eigenvector of the structure tensor (xx, xy, yy).
__kernel void gradient_thin(__global const float* restrict magnitude,
                            __global const float* restrict xx, __global const float* restrict xy,
                            __global const float* restrict yy, __global float* restrict ridge,
                            const int width, const int height) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width) return;
  const size_t pixel = (size_t)y * width + x;
  const float own = magnitude[pixel];
  // The eigenvector of the larger eigenvalue, in the form without cancellation.
  const float half_gap = 0.5f * (xx[pixel] - yy[pixel]);
  const float root = hypot(half_gap, xy[pixel]);
  const float across_x = half_gap >= 0.0f ? half_gap + root : xy[pixel];
  const float across_y = half_gap >= 0.0f ? xy[pixel] : root - half_gap;
  const bool steep = fabs(across_y) > fabs(across_x);
  const float longer = steep ? across_y : across_x;
  const float share = longer == 0.0f ? 0.0f : (steep ? across_x : across_y) / longer;
  // One pixel along the axis in which the vector is longer, `share` of a pixel along the other
  // axis.
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

// gradient_bridge closes ridges at diagonal steps. Between two pixels of a thin ridge that touch
// only at a corner, a line could pass without crossing the ridge. Of the two pixels beside that
// corner the one of larger magnitude is raised to the lesser value of the two ridge pixels; softly,
// so that of two equal magnitudes both are raised.
float raised(const float ridge_a, const float ridge_b, const float own, const float rival) {
  return min(ridge_a, ridge_b) * fade(own, rival);
}

__kernel void gradient_bridge(__global const float* restrict ridge,
                              __global const float* restrict magnitude,
                              __global float* restrict bridged, const int width, const int height) {
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
