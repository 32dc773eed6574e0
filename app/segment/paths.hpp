#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace diacut::app {

/// Device and inode: they identify a file by whatever path it is named.
using Identity = std::pair<dev_t, ino_t>;

/// Nothing for a path that leads nowhere.
std::optional<Identity> identity(const std::filesystem::path& path);

bool is_folder(const std::filesystem::path& path);
/// Whether an input is a folder; false where there is nothing of that name. Throws InputError where
/// the system does not report it, as without permission to look.
bool is_input_folder(const std::filesystem::path& input);
bool exists(const std::filesystem::path& path);

/// Whether a file's name has the extension of an image. Files in folders are chosen by it.
bool has_image_extension(const std::filesystem::path& path);

/// `name` with `suffix` after it. Unlike replace_extension() it keeps all of "a.b".
std::filesystem::path with_suffix(std::filesystem::path name, const char* suffix);

/// The path that leads to the folder or file itself, without a "/", "." or ".." at its end; the
/// path as it is if it leads nowhere.
std::filesystem::path whole_path(const std::filesystem::path& path);

/// Makes the folder that a result goes to. If it cannot be made, writing the result fails and says
/// why.
void make_folder_of(const std::filesystem::path& result);

/// The places of all results of a run. No result may take the place of another result, or of a
/// file that the run reads.
class ResultNames {
 public:
  /// `inputs`: the files that the run reads. Empty names and those that lead nowhere are left out.
  explicit ResultNames(const std::vector<std::string>& inputs);

  /// Adds the place of a result. `input`: the image that it is the result of, or empty. Throws
  /// ConfigError when the place is taken.
  void add(const std::string& option, const std::string& result, const std::string& input);

 private:
  std::map<Identity, std::string> inputs_;
  std::map<std::string, std::pair<std::string, std::string>> names_;  ///< Option and input.
};

}  // namespace diacut::app
