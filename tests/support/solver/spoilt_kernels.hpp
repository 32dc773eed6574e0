#pragma once

#include <string>

#include "temp_folder.hpp"

namespace diacut::testing {

/// The kernels in a folder, of which one file has some text replaced.
class SpoiltKernels {
 public:
  SpoiltKernels(const std::string& file, const std::string& from, const std::string& to);
  std::string path() const { return folder_ / "kernels"; }

 private:
  TempFolder folder_;
};

}  // namespace diacut::testing
