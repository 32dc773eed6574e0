#include "opencl/device_sums.hpp"

#include <bit>
#include <cstring>
#include <span>

namespace diacut {

DeviceSums::DeviceSums(Context& context, std::size_t count, const std::string& what)
    : words_(context, count, what) {}

std::vector<double> DeviceSums::download(std::size_t count) const {
  std::vector<std::uint64_t> words(count);
  words_.download(std::span<std::uint64_t>(words));
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (words_.context().fp64()) {
      values[i] = std::bit_cast<double>(words[i]);
    } else {
      float pair[2];
      std::memcpy(pair, &words[i], sizeof(pair));
      values[i] = static_cast<double>(pair[0]) + static_cast<double>(pair[1]);
    }
  }
  return values;
}

}  // namespace diacut
