#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "diacut/device.hpp"

namespace diacut {

/// Binaries of built programs, in files that a user's processes share.
class ProgramStore {
 public:
  using Binary = std::vector<unsigned char>;

  /// A store that keeps nothing.
  ProgramStore() = default;
  /// Keeps at most `most_bytes` in `folder`: the oldest in use go first.
  explicit ProgramStore(std::filesystem::path folder,
                        std::uintmax_t most_bytes = std::uintmax_t{256} << 20);

  bool keeps() const { return !folder_.empty(); }
  /// The binary of a program: `program` is all that it was made of. Empty where there is none, or
  /// its file is damaged or another program's.
  Binary find(const std::string& program) const;
  /// Says nothing where a file cannot be written.
  void keep(const std::string& program, const Binary& binary) const;

 private:
  std::filesystem::path path_of(const std::string& program) const;
  void remove_oldest() const;

  std::filesystem::path folder_;
  std::uintmax_t most_bytes_ = 0;
};

/// The store for a device, "programs" of data_folder(): none where its driver keeps programs
/// itself, or only simulates one.
ProgramStore store_for(const DeviceInfo& device);

}  // namespace diacut
