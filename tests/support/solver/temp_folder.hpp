#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace diacut::testing {

/// A new empty folder, removed with all that is in it at the end.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::vector<std::uint8_t>& bytes) const;
  /// Names of what it holds, hidden files too, sorted.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

/// A file's bytes; an absent or unreadable file fails the test.
std::string read_bytes(const std::string& path);

}  // namespace diacut::testing
