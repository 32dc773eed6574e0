#include <fmt/format.h>

#include <cstddef>
#include <limits>

#include "core/npy.hpp"
#include "diacut/errors.hpp"
#include "diacut/seeds.hpp"
#include "image/input_checks.hpp"
#include "image/naming.hpp"

namespace diacut {

namespace {

/// The array of a file, without its name in messages of errors.
Probabilities read_array(NpyFile file) {
  const NpyHeader& header = file.header;
  const std::vector<std::uint64_t>& shape = header.shape;
  if (header.kind() != "f4" || header.byte_order() == '>' || header.fortran_order) {
    throw InputError(
        fmt::format("it holds elements of type '{}'{}; expected float32 ('<f4') in C order: save "
                    "numpy.ascontiguousarray(p, '<f4')",
                    header.type, header.fortran_order ? " in Fortran order" : ""));
  }
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  bool fits = shape.size() == 3;
  for (const std::uint64_t size : shape) fits = fits && size > 0 && size <= kMost;
  if (!fits) {
    throw InputError(
        fmt::format("its array has the shape {}: expected (labels, height, width), each at least 1",
                    npy_shape_text(shape)));
  }
  npy_elements(header, sizeof(float), file.available);
  Probabilities result{static_cast<int>(shape[2]), static_cast<int>(shape[1]), {}};
  for (std::uint64_t k = 0; k < shape[0]; ++k) {
    result.of_label.push_back(
        read_npy_elements<float>(file.stream, static_cast<std::size_t>(shape[1] * shape[2])));
  }
  return result;
}

}  // namespace

Probabilities read_probabilities(const std::string& path) {
  return naming(fmt::format("the probabilities '{}'", path), [&] {
    Probabilities result = read_array(open_npy_of(path, "probabilities"));
    check_probabilities(result);
    return result;
  });
}

void check_probabilities(const Probabilities& probabilities) {
  const auto width = static_cast<std::size_t>(probabilities.width);
  const std::size_t pixels = width * static_cast<std::size_t>(probabilities.height);
  for (const std::vector<float>& each : probabilities.of_label) {
    if (each.size() != pixels) {
      throw InputError(fmt::format("they are {} numbers of a label, expected {} for {}x{} pixels",
                                   each.size(), pixels, width, probabilities.height));
    }
    for (std::size_t i = 0; i < pixels; ++i) {
      if (each[i] >= 0 && each[i] <= 1) continue;  // False for NaN.
      throw InputError(fmt::format("they hold {} at column {}, row {}: expected numbers in [0, 1]",
                                   each[i], i % width, i / width));
    }
  }
}

}  // namespace diacut
