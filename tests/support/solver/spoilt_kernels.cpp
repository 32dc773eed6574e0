#include "spoilt_kernels.hpp"

#include <filesystem>
#include <fstream>

#include "device_profiles.hpp"

namespace diacut::testing {

namespace fs = std::filesystem;

SpoiltKernels::SpoiltKernels(const std::string& file, const std::string& from,
                             const std::string& to) {
  fs::copy(DIACUT_SOURCE_DIR "/kernels", path(), fs::copy_options::recursive);
  const std::string spoilt = (fs::path(path()) / file).string();
  const std::string text = replaced(read_bytes(spoilt), from, to);
  std::ofstream(spoilt) << text;
}

}  // namespace diacut::testing
