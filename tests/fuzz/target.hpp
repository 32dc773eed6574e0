#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "image_files.hpp"

/// The readers of files, as a fuzzer sees them.
namespace diacut::fuzz {

using testing::FileBytes;

/// A file that is whole in all but one thing, and part of the message by which it is refused.
struct SpoiltFile {
  FileBytes bytes;
  std::string told;

  SpoiltFile(FileBytes file = {}, std::string part = "")
      : bytes(std::move(file)), told(std::move(part)) {}
};

/// A reader of one kind of file.
struct Target {
  std::string name;  ///< Also that of its folder of inputs and of its words.
  /// Reads a file as the programs do and checks what comes out. A file may be refused with an
  /// InputError or a ConfigError; anything else that is thrown is a finding.
  std::function<void(const FileBytes& file)> read;
  /// Small whole files, from which a fuzzer starts.
  std::function<std::vector<FileBytes>()> seeds;
  /// The sources of the reader, whose coverage is told; parts of paths.
  std::vector<std::string> sources;
  /// Files that are whole in all but one thing, each of which is to be refused; null: none.
  std::function<std::vector<SpoiltFile>()> spoilt = nullptr;
  /// Whether a whole file that is cut off anywhere is to be refused.
  bool needs_every_byte = false;

  /// All of these files.
  std::vector<FileBytes> inputs() const;
};

/// All targets, by kind.
std::vector<Target> picture_targets();
std::vector<Target> array_targets();
std::vector<Target> text_targets();
std::vector<Target> scene_targets();

/// All targets.
const std::vector<Target>& targets();

/// The target of this name; throws std::invalid_argument where there is none.
const Target& target(const std::string& name);

/// Reads a file by a target. Returns why the file was refused, nothing if it was accepted; lets
/// through what is a finding.
std::string read(const Target& target, const FileBytes& file);

/// Reads a file by all of these readers. Throws what the last one throws where all refuse the file.
void read_by_any(const std::vector<std::function<void()>>& readers);

/// Ends the process with a message where a promise of a reader is broken.
void require(bool kept, const char* promise);

/// There are as many values as a size says.
template <class Values>
void require_size(const Values& values, std::int64_t width, std::int64_t height,
                  std::int64_t channels = 1) {
  require(static_cast<std::int64_t>(values.size()) == width * height * channels,
          "there are as many values as the size says");
}

/// A picture's values are as many as its size says, and lie in [0, 1].
void require_well_formed(const Image& image);

/// Pictures of more pixels are refused, so that no input takes long.
constexpr std::int64_t kMostPixels = std::int64_t{1} << 16;

/// A file whose path readers are given. Its bytes are in memory.
class FileInMemory {
 public:
  /// `extension`: the end of the path, with its dot, where readers go by it.
  explicit FileInMemory(const FileBytes& bytes, const std::string& extension = "");
  ~FileInMemory();
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;
  const std::string& path() const { return path_; }

 private:
  int descriptor_ = -1;
  std::string link_;  ///< Empty: none.
  std::string path_;
};

/// The bytes of a text.
FileBytes bytes_of(const std::string& text);
/// The text of bytes.
std::string text_of(const FileBytes& bytes);

}  // namespace diacut::fuzz
