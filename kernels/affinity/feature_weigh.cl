// feature_weigh: affinities of pixels by their features, some channels at a time, so that the
// device never holds all features.
//
// The matrix is in pitched DIA form: diagonal k of row `row` is values[k * pitch + row], and leads
// to row + offsets[k]. The distances d^2 of pairs are summed where in the end the opposite weights
// stand, so that no other memory is needed: the distance of `row` and its later neighbour on
// diagonal k > CENTRE is at values[(2 CENTRE - k) * pitch + row]. Channel c of a block of CHANNELS
// channels has its plane at features[c * plane]. A plane, and `squares` and `inverse` likewise,
// begins and ends with elements of no row, FRONT of them before row 0, as many as offsets reach, so
// that neighbours need no bound checks; these elements are 0.
//
// feature_norms: work-item `row` adds the squares of the block's channels to squares[row].
// feature_inverse_norms: work-item `row` turns squares[row], the square of the length of a feature
// vector, into the inverse of the length; a vector of length 0, whose square is not a normal float,
// gets 0 and stays what it is.
// feature_distances: work-item (row, j) adds, for diagonal k = CENTRE + 1 + j, the squares of the
// differences of the block's channels, or with `first` 1 stores them. With UNIT 1 features are
// multiplied by `inverse` first.
// feature_weights: work-item (row, j) turns, for diagonal k = CENTRE + j, the squared distance into
// values[k * pitch + row] = exp(-d^2 / (2 scale^2)) (Shi and Malik, Normalized cuts and image
// segmentation, PAMI 2000, equation 11), and with BOUNDARY 1 times the affinity by the boundary map
// that stands there (affinity.cl). It is 0 where there is no such pair of pixels with data, and 1
// on the middle diagonal of a pixel with data.
// feature_mirror: work-item (row, j) copies diagonal k = CENTRE + 1 + j to the opposite diagonal,
// which becomes 0 where no pair stands: the matrix is symmetric to the bit.
//
// CENTRE: the index of the middle stencil entry. BOUNDARY, UNIT: 1 or 0.
#if !defined(CENTRE) || !defined(FRONT) || !defined(CHANNELS)
#error "affinity/feature_weigh.cl needs -DCENTRE, -DFRONT and -DCHANNELS"
#endif
#if !defined(UNIT) || !defined(BOUNDARY)
#error "affinity/feature_weigh.cl needs -DUNIT and -DBOUNDARY, 1 or 0"
#endif

__kernel void feature_norms(__global const float* restrict features, const ulong plane,
                            const ulong rows, __global float* restrict squares) {
  const ulong row = get_global_id(0);
  if (row >= rows) return;
  float sum = squares[FRONT + row];
  for (uint c = 0; c < CHANNELS; ++c) {
    const float value = features[c * plane + FRONT + row];
    sum += value * value;
  }
  squares[FRONT + row] = sum;
}

__kernel void feature_inverse_norms(__global float* restrict squares, const ulong rows) {
  const ulong row = get_global_id(0);
  if (row >= rows) return;
  const float square = squares[FRONT + row];
  squares[FRONT + row] = square >= FLT_MIN ? 1.0f / sqrt(square) : 0.0f;
}

__kernel void feature_distances(__global const float* restrict features, const ulong plane,
                                __global const float* restrict inverse,
                                __global const long* restrict offsets, const ulong rows,
                                const ulong pitch, const int first, __global float* values) {
  const ulong row = get_global_id(0);
  const ulong j = get_global_id(1);
  if (row >= rows) return;
  const ulong own = FRONT + row;
  const ulong other = (ulong)((long)own + offsets[CENTRE + 1 + j]);
  __global float* square = values + (CENTRE - 1 - j) * pitch + row;
  float sum = 0.0f;
#if UNIT
  const float own_length = inverse[own];
  const float other_length = inverse[other];
#endif
  for (uint c = 0; c < CHANNELS; ++c) {
#if UNIT
    const float difference =
        features[c * plane + own] * own_length - features[c * plane + other] * other_length;
#else
    const float difference = features[c * plane + own] - features[c * plane + other];
#endif
    sum += difference * difference;
  }
  *square = first ? sum : *square + sum;
}

__kernel void feature_weights(__global float* values, __global const uchar* restrict valid,
                              __global const int2* restrict entries, const int width,
                              const int height, const ulong pitch, const float inverse_scale) {
  const ulong row = get_global_id(0);
  const ulong j = get_global_id(1);
  if (row >= pitch) return;
  __global float* to = values + (CENTRE + j) * pitch + row;
  const int2 entry = entries[CENTRE + j];
  const int x = (int)(row % (ulong)width);
  const int y = (int)(row / (ulong)width);
  const int to_x = x + entry.x;
  const int to_y = y + entry.y;
  float w = 0.0f;
  if (y < height && to_x >= 0 && to_x < width && to_y < height && valid[row] != 0 &&
      valid[(ulong)to_y * width + to_x] != 0) {
    w = 1.0f;
    if (j > 0) {
      w = exp(-inverse_scale * values[(CENTRE - j) * pitch + row]);
#if BOUNDARY
      w *= *to;
#endif
    }
  }
  *to = w;
}

__kernel void feature_mirror(__global float* values, __global const long* restrict offsets,
                             const ulong rows, const ulong pitch) {
  const long row = get_global_id(0);
  const ulong j = get_global_id(1);
  if (row >= (long)pitch) return;
  __global const float* forward = values + (CENTRE + 1 + j) * pitch;
  const long from = row - offsets[CENTRE + 1 + j];
  const bool pair = row < (long)rows && from >= 0 && from < (long)rows;
  values[(CENTRE - 1 - j) * pitch + row] = pair ? forward[from] : 0.0f;
}
