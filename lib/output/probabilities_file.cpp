#include <span>

#include "diacut/output.hpp"
#include "output/npy.hpp"

namespace diacut {

void write_probabilities(const std::string& path,
                         const std::vector<std::vector<float>>& probabilities, int width,
                         int height) {
  std::vector<float> all;
  for (const std::vector<float>& each : probabilities)
    all.insert(all.end(), each.begin(), each.end());
  write_file(path, encode_npy(std::span<const float>(all),
                              {probabilities.size(), static_cast<std::size_t>(height),
                               static_cast<std::size_t>(width)}));
}

}  // namespace diacut
