#include "contour/map_size.hpp"

#include <fmt/format.h>

#include "diacut/errors.hpp"

namespace diacut {

void check_map_size(std::size_t found, int width, int height, const char* what) {
  if (width < 1 || height < 1 ||
      found != static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {
    throw InputError(fmt::format("the {} has {} values; {} x {} pixels were expected", what, found,
                                 width, height));
  }
}

}  // namespace diacut
