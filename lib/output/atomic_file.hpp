#pragma once

#include <cstddef>
#include <string>

namespace diacut {

struct TemporarySlot;

/// A file that appears under its name only when it is complete. What is written goes to
/// ".diacut-<pid>-<n>.tmp" in the same folder; commit() renames that to the name, replacing an old
/// file and keeping its permissions; without commit() the destructor removes it. A link is
/// followed. A target that exists and is no regular file (a pipe, a terminal, /dev/null) is opened
/// and written directly. Throws InputError naming the path, what happened and what to do.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;

  void write(const void* bytes, std::size_t size);
  /// Closes the file, so that errors the system reports late are seen; called by commit().
  void close();
  /// At most once.
  void commit();

 private:
  std::string path_;               ///< As the caller names it, for messages.
  std::string target_;             ///< With links followed.
  std::string temporary_;          ///< Empty: written directly, or committed.
  TemporarySlot* slot_ = nullptr;  ///< Where remove_temporary_files() finds temporary_.
  int descriptor_ = -1;
};

}  // namespace diacut
