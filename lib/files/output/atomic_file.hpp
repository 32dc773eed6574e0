#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "core/descriptor.hpp"

namespace diacut {

/// A file that appears under its name only when it is complete. What is written goes to
/// ".diacut-<pid>-<n>.tmp" in the folder of that name; commit() renames that file to the name. An
/// old file is replaced and its permissions are kept. Without commit() the destructor removes the
/// temporary file. A link is followed. A target that exists and is no regular file (a pipe, a
/// terminal, /dev/null) is opened and written directly. Throws InputError naming the path, what
/// happened and what to do.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);

  void write(const void* bytes, std::size_t size);
  /// Closes the file, so that errors the system reports late are seen; called by commit().
  void close();
  /// Puts the file in its place. To be called once, after everything is written.
  void commit();

 private:
  struct Remove {
    void operator()(char* path) const;
  };

  std::string path_;    ///< The caller's name of the file, for messages.
  std::string target_;  ///< With links followed.
  /// The temporary file's path; null if written directly, or committed.
  std::unique_ptr<char, Remove> temporary_;
  Descriptor file_;
};

/// Removes what programs keep beside a TIFF file, as overviews and masks: that of an earlier file
/// of this name would give it other pixels.
void remove_beside(const std::string& path);

/// Makes a folder and those above it. One that exists is fine. Throws InputError when it cannot be
/// made.
void make_folder(const std::string& path);

}  // namespace diacut
