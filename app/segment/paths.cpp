#include "paths.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "text.hpp"

namespace diacut::app {

namespace fs = std::filesystem;

std::optional<Identity> identity(const fs::path& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return Identity(status.st_dev, status.st_ino);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_input_folder(const fs::path& input) {
  struct stat status = {};
  if (stat(input.c_str(), &status) == 0) return S_ISDIR(status.st_mode);
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw InputError(fmt::format("'{}' cannot be read: {}", input.string(),
                               std::generic_category().message(errno)));
}

bool exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool has_image_extension(const fs::path& path) { return has_extension(path, image_extensions()); }

fs::path with_suffix(fs::path name, const char* suffix) {
  name += suffix;
  return name;
}

fs::path whole_path(const fs::path& path) {
  std::error_code failed;
  const fs::path whole = fs::canonical(path, failed);
  return failed ? path : whole;
}

void make_folder_of(const fs::path& result) {
  std::error_code ignored;
  if (const fs::path folder = result.parent_path(); !folder.empty()) {
    fs::create_directories(folder, ignored);
  }
}

ResultNames::ResultNames(const std::vector<std::string>& inputs) {
  for (const std::string& read : inputs) {
    if (const auto id = identity(read)) inputs_.emplace(*id, read);
  }
}

void ResultNames::add(const std::string& option, const std::string& result,
                      const std::string& input) {
  if (result.empty() || result == "-") return;
  if (const auto id = identity(result)) {
    if (const auto found = inputs_.find(*id); found != inputs_.end()) {
      throw ConfigError(
          fmt::format("{}: '{}' is an input ({}) and would be overwritten; choose another place",
                      option, result, quoted_input_name(found->second)));
    }
  }
  // Several results may go to one device or pipe.
  std::error_code unknown;
  if (exists(result) && !fs::is_regular_file(result, unknown) && !is_folder(result)) return;
  const std::string key = fs::absolute(result).lexically_normal().string();
  const auto [other, is_new] = names_.emplace(key, std::pair(option, input));
  if (is_new) return;
  const auto& [other_option, other_input] = other->second;
  if (other_option != option) {
    throw ConfigError(fmt::format("{} and {} would both write '{}'; choose different places",
                                  other_option, option, result));
  }
  throw ConfigError(fmt::format("{}: {} and {} would both give '{}'; segment them in separate runs",
                                option, quoted_input_name(other_input), quoted_input_name(input),
                                result));
}

}  // namespace diacut::app
