#include "opencl/device_sums.hpp"

#include <bit>
#include <cstring>
#include <span>

namespace diacut {

namespace {

std::vector<double> values_of(bool fp64, const std::vector<std::uint64_t>& words) {
  std::vector<double> values(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (fp64) {
      values[i] = std::bit_cast<double>(words[i]);
    } else {
      float pair[2];
      std::memcpy(pair, &words[i], sizeof(pair));
      values[i] = static_cast<double>(pair[0]) + static_cast<double>(pair[1]);
    }
  }
  return values;
}

}  // namespace

std::vector<double> DeviceSums::download(std::size_t count) const {
  std::vector<std::uint64_t> words(count);
  words_.download(std::span<std::uint64_t>(words));
  return values_of(words_.context().fp64(), words);
}

std::vector<double> DeviceSums::Arrival::take() { return values_of(fp64_, words_.take()); }

}  // namespace diacut
