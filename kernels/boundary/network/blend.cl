// network_blend: the weighted sum of maps of different sizes. Work-item (x, y) adds `share` times a
// map, resized to picture_width x picture_height pixels, at pixel (left + x, top + y) to element
// y * width + x of the boundary map; with `first` it overwrites the element instead. The map has
// map_width x map_height pixels; pixel (x, y) is its element first_pixel + x * step_x + y * step_y,
// so that the map of a turned picture is read as that of the upright one. It is resized bilinearly
// with half-pixel centres, its edge pixels repeated. first_pixel is the two's complement of a
// number that is negative where the map's first pixels are not in memory. The result is 0 where
// valid is 0.
__kernel void network_blend(__global const float* restrict map, const ulong first_pixel,
                            const int step_x, const int step_y, const int map_width,
                            const int map_height, __global const uchar* restrict valid,
                            const float share, const int first, __global float* restrict boundary,
                            const int width, const int left, const int top, const int picture_width,
                            const int picture_height) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  if (x >= width) return;
  const size_t element = (size_t)y * width + x;
  float value = 0.0f;
  if (valid[element] != 0) {
    const float u = clamp((left + x + 0.5f) * ((float)map_width / picture_width) - 0.5f, 0.0f,
                          map_width - 1.0f);
    const float v = clamp((top + y + 0.5f) * ((float)map_height / picture_height) - 0.5f, 0.0f,
                          map_height - 1.0f);
    const int column = (int)u;
    const int right = min(column + 1, map_width - 1);
    const long upper = (long)first_pixel + (long)(int)v * step_y;
    const long lower = (long)first_pixel + (long)min((int)v + 1, map_height - 1) * step_y;
    const long from = (long)column * step_x;
    const long to = (long)right * step_x;
    const float above = mix(map[upper + from], map[upper + to], u - column);
    const float below = mix(map[lower + from], map[lower + to], u - column);
    value = share * mix(above, below, v - (int)v) + (first ? 0.0f : boundary[element]);
  }
  boundary[element] = value;
}
