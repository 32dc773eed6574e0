#include "image/decoded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "diacut/errors.hpp"

namespace diacut {

void check_size(std::int64_t width, std::int64_t height, const SizeLimit& limit, int channels) {
  const std::int64_t max_pixels = limit.max_pixels;
  if (width <= 0 || height <= 0) {
    throw InputError(
        fmt::format("its header claims {} x {} pixels: the file is damaged, or has no "
                    "picture",
                    width, height));
  }
  // Divided, because the product may not fit the type.
  if (width > max_pixels / height || std::max(width, height) > std::numeric_limits<int>::max()) {
    throw InputError(
        fmt::format("its header claims {} x {} pixels, more than the limit of {}: "
                    "scale or crop it, or raise image.max_pixels",
                    width, height, max_pixels));
  }
  if (limit.accepts) {
    limit.accepts({static_cast<int>(width), static_cast<int>(height), channels});
  }
}

int choose_page(int asked, int pages) {
  if (asked > pages) {
    throw InputError(pages == 1
                         ? fmt::format("it has one page: there is no page {}", asked)
                         : fmt::format("it has {} pages: there is no page {}", pages, asked));
  }
  return std::max(asked, 1);
}

}  // namespace diacut
