#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "map/outline_sweep.hpp"

namespace diacut {

/// The rings of regions in a file without a name, which is gone with the process. Errors are
/// InputError and name the folder.
class OutlineStore {
 public:
  /// `folder`: where the file is made. `count`: regions 1..count.
  OutlineStore(const std::string& folder, std::int64_t count);

  void put(std::int32_t label, const std::vector<RingCorners>& rings);
  /// The rings of a region that was put.
  std::vector<RingCorners> get(std::int64_t label) const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void write(const void* from, std::size_t size);
  void read(void* to, std::size_t size) const;
  [[noreturn]] void refuse(const char* what) const;

  std::string folder_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t end_ = 0;
  std::vector<std::uint64_t> place_;  ///< By label: where its rings begin.
};

}  // namespace diacut
