// image_gradient: the gradient of an image at a scale, as the structure tensor summed over channels
// (Di Zenzo, A note on the gradient of a multi-image, CVGIP 33, 1986): xx, xy and yy are the sums
// of gx gx, gx gy and gy gy, with gx and gy the derivatives of Gaussian of a channel. The filters
// are separable: rows first, then columns. Outside of the image, and where there is no data, the
// nearest pixel with data is repeated, so that neither a border nor a mask makes a boundary.
//
// A plane holds one channel, pixel (x, y) at y * width + x; valid is 1 where there is data, pixel
// (x, y) at y * stride + x. Work-item (x, y) computes pixel (x, y). weights[t], t = 0 to RADIUS, is
// the Gaussian t pixels from its centre, weights[RADIUS + t], t = 1 to RADIUS, the weight
// of the difference between the pixels t ahead and t behind. Differences are taken before they are
// weighted, so that the gradient of a flat image is zero, not almost zero.
#ifndef RADIUS
#error "boundary/gradient/image_gradient.cl needs -DRADIUS: pixels that the Gaussian reaches"
#endif

// Writes to pixels without data the value of the nearest pixel with data, by Euclidean distance; of
// equally near ones the first in reading order. It searches as far as the corners of the square
// that the convolution of a pixel with data reads; farther pixels without data are never read.
#define REACH ((RADIUS * 3 + 1) / 2)

__kernel void gradient_fill(__global float* plane, __global const uchar* restrict valid,
                            const int width, const int height, const int stride) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width || valid[(size_t)y * stride + x] != 0) return;
  int nearest = INT_MAX;
  float value = 0.0f;
  for (int dy = max(-REACH, -y); dy <= min(REACH, height - 1 - y); ++dy) {
    for (int dx = max(-REACH, -x); dx <= min(REACH, width - 1 - x); ++dx) {
      const int distance = dx * dx + dy * dy;
      if (distance < nearest && valid[(size_t)(y + dy) * stride + (x + dx)] != 0) {
        nearest = distance;
        value = plane[(size_t)(y + dy) * width + (x + dx)];
      }
    }
  }
  plane[(size_t)y * width + x] = value;
}

// smooth becomes the plane smoothed along x, slope its derivative along x.
__kernel void gradient_rows(__global const float* restrict plane, __constant float* weights,
                            __global float* restrict smooth, __global float* restrict slope,
                            const int width) {
  const int x = (int)get_global_id(0);
  const size_t row = (size_t)get_global_id(1) * width;
  if (x >= width) return;
  float sum = weights[0] * plane[row + x];
  float difference = 0.0f;
  for (int t = 1; t <= RADIUS; ++t) {
    const float behind = plane[row + max(x - t, 0)];
    const float ahead = plane[row + min(x + t, width - 1)];
    sum += weights[t] * (ahead + behind);
    difference += weights[RADIUS + t] * (ahead - behind);
  }
  smooth[row + x] = sum;
  slope[row + x] = difference;
}

// Adds a channel to the tensor; with `first` it overwrites the tensor, whose old values are not
// read.
__kernel void gradient_columns(__global const float* restrict smooth,
                               __global const float* restrict slope, __constant float* weights,
                               __global float* restrict xx, __global float* restrict xy,
                               __global float* restrict yy, const int width, const int height,
                               const int first) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width) return;
  const size_t pixel = (size_t)y * width + x;
  float gx = weights[0] * slope[pixel];
  float gy = 0.0f;
  for (int t = 1; t <= RADIUS; ++t) {
    const size_t behind = (size_t)max(y - t, 0) * width + x;
    const size_t ahead = (size_t)min(y + t, height - 1) * width + x;
    gx += weights[t] * (slope[ahead] + slope[behind]);
    gy += weights[RADIUS + t] * (smooth[ahead] - smooth[behind]);
  }
  xx[pixel] = gx * gx + (first ? 0.0f : xx[pixel]);
  xy[pixel] = gx * gy + (first ? 0.0f : xy[pixel]);
  yy[pixel] = gy * gy + (first ? 0.0f : yy[pixel]);
}

// The square root of the larger eigenvalue of the tensor, which is the steepest slope in any
// direction; 0 where there is no data.
__kernel void gradient_magnitude(__global const float* restrict xx,
                                 __global const float* restrict xy,
                                 __global const float* restrict yy,
                                 __global const uchar* restrict valid,
                                 __global float* restrict magnitude, const int width,
                                 const int stride) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width) return;
  const size_t pixel = (size_t)y * width + x;
  const float spread = hypot(xx[pixel] - yy[pixel], 2.0f * xy[pixel]);
  const float larger = 0.5f * (xx[pixel] + yy[pixel] + spread);
  magnitude[pixel] = valid[(size_t)y * stride + x] != 0 ? sqrt(larger) : 0.0f;
}
