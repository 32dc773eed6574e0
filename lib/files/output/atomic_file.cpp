#include "output/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <set>
#include <system_error>

#include "core/extension.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"

namespace diacut {
namespace {

/// The path of a temporary file, where a signal handler can find it. Who takes it out owns it.
struct KnownFile {
  std::atomic<char*> path{nullptr};
  char* removed = nullptr;  ///< By the handler; kept, because others may still read it.
};
std::array<KnownFile, 4096> known_files;
static_assert(std::atomic<char*>::is_always_lock_free, "used in a signal handler");

/// Makes a path known. Where there is no room, remove_temporary_files() passes over it.
char* make_known(const std::string& path) {
  char* const own = ::strdup(path.c_str());
  if (own == nullptr) throw std::bad_alloc();
  for (KnownFile& file : known_files) {
    char* none = nullptr;
    if (file.path.compare_exchange_strong(none, own)) break;
  }
  return own;
}

void forget(char* path) {
  for (KnownFile& file : known_files) {
    char* expected = path;
    if (file.path.compare_exchange_strong(expected, nullptr)) return std::free(path);
  }
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Whether a process of this id may be running.
bool is_running(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

/// Removes a temporary file of a process that is gone: no process of its id runs, and nobody holds
/// the lock that its writer held. The lock protects writers whose ids mean nothing here, such as
/// those in another container.
void remove_if_left(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  int process = 0;
  unsigned number = 0;
  int length = 0;
  if (std::sscanf(name.c_str(), ".diacut-%d-%u.tmp%n", &process, &number, &length) != 2 ||
      static_cast<std::size_t>(length) != name.size() || process <= 0 || is_running(process)) {
    return;
  }
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
}

/// Removes what killed processes left in a folder, the first time that this process writes there.
void remove_leftovers(const std::string& folder) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  {
    const std::lock_guard lock(mutex);
    if (!seen.insert(folder).second) return;
  }
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(folder, ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    remove_if_left(at->path());
  }
}

/// Why a file cannot be written, and what to do; {} is its folder.
const char* reason_of(int error, const std::string& folder) {
  switch (error) {
    case ENOENT:
      return ::access(folder.c_str(), F_OK) == 0
                 ? "the system takes no new files in {}; choose another folder"
                 : "the folder {} does not exist; create it first";
    case ENOTDIR:
      return "a part of {} is a file, not a folder; choose another place";
    case EISDIR:
      return "it is a folder; give the name of a file";
    case EACCES:
    case EPERM:
      return "no permission to write in {}; change it or choose another folder";
    case EROFS:
      return "{} is on a read-only file system; choose another folder";
    case ENOSPC:
    case EDQUOT:
      return "the disk is full; free some space or choose another place";
    case EFBIG:
      return "the file would be larger than the system allows (see ulimit -f)";
    case ENAMETOOLONG:
      return "the name is too long; choose a shorter one";
    case EPIPE:
      return "the program that reads it has gone";
    default:
      return nullptr;
  }
}

[[noreturn]] void fail(const std::string& path, int error) {
  const std::string folder = folder_of(path);
  const char* const known = reason_of(error, folder);
  const std::string reason = known != nullptr
                                 ? fmt::format(fmt::runtime(known), folder)
                                 : fmt::format("{}; choose another place", std::strerror(error));
  throw InputError(fmt::format("{}: cannot be written: {}", path, reason));
}

/// What lies at a path that is to be written.
struct Target {
  std::string path;     ///< With links followed, if something lies there.
  bool exists = false;  ///< Whether something lies there.
  bool direct = false;  ///< Whether it takes bytes and is no regular file.
  mode_t permissions = 0;
};

Target find_target(const std::string& path) {
  if (path.empty()) throw InputError("the name of a file to write is empty; give a name");
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail(path, errno);
    if (path.back() == '/') fail(path, EISDIR);
    return {path};
  }
  if (S_ISDIR(status.st_mode)) fail(path, EISDIR);
  if (!S_ISREG(status.st_mode)) return {path, true, true};
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) fail(path, errno);
  return {real.get(), true, false, status.st_mode & 0777};
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  const Target target = find_target(path);
  if (target.direct) {
    file_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file_.get() < 0) fail(path, errno);
    return;
  }
  target_ = target.path;
  remove_leftovers(folder_of(target_));
  static std::atomic<unsigned> counter{0};
  char* known = nullptr;
  do {
    forget(known);
    // Before the file exists: a signal between the two finds nothing to remove, while the other
    // order would leave a file behind.
    known =
        make_known(fmt::format("{}/.diacut-{}-{}.tmp", folder_of(target_), ::getpid(), ++counter));
    file_ = Descriptor(::open(known, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    // EEXIST: a process that had this process's id was killed and left a file of this name.
  } while (file_.get() < 0 && errno == EEXIST);
  if (file_.get() < 0) {
    const int error = errno;
    forget(known);
    fail(path, error);
  }
  temporary_.reset(known);
  ::flock(file_.get(), LOCK_EX | LOCK_NB);  // For remove_if_left(); some file systems have none.
  // On a file system without permissions this fails, and the file keeps its default ones.
  if (target.exists) ::fchmod(file_.get(), target.permissions);
}

void AtomicFile::Remove::operator()(char* path) const {
  ::unlink(path);
  forget(path);
}

void AtomicFile::write(const void* bytes, std::size_t size) {
  const int error = write_all(file_.get(), bytes, size);
  if (error != 0) fail(path_, error);
}

void AtomicFile::close() {
  if (file_.get() < 0) return;
  if (::close(file_.release()) != 0 && errno != EINTR) fail(path_, errno);
}

void AtomicFile::commit() {
  close();
  if (!temporary_) return;
  if (::rename(temporary_.get(), target_.c_str()) != 0) {
    if (errno != ENOENT) fail(path_, errno);
    throw InputError(path_ +
                     ": cannot be written: someone removed its temporary file or its folder "
                     "meanwhile; run again");
  }
  forget(temporary_.release());
  if (has_extension(target_, ".tif, .tiff, .png")) remove_beside(target_);
}

void remove_beside(const std::string& path) {
  for (const char* extension : {".ovr", ".msk", ".msk.ovr", ".aux.xml"}) {
    std::error_code ignored;
    std::filesystem::remove(path + extension, ignored);
  }
}

void write_file(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  if (path == "-") {
    std::fflush(stdout);
    const int error = write_all(STDOUT_FILENO, bytes.data(), bytes.size());
    if (error != 0) fail("standard output", error);
    return;
  }
  AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

void write_file(const std::string& path, const std::string& text) {
  write_file(path, std::vector<std::uint8_t>(text.begin(), text.end()));
}

void check_writable(const std::string& path) {
  if (path == "-") return;
  const Target target = find_target(path);
  const std::string written = target.direct ? target.path : folder_of(target.path);
  if (::access(written.c_str(), target.direct ? W_OK : W_OK | X_OK) != 0) fail(path, errno);
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return;
  throw InputError(fmt::format("{}: the folder cannot be made: {}; choose another place", path,
                               error.message()));
}

void remove_temporary_files() noexcept {
  const int saved = errno;
  for (KnownFile& file : known_files) {
    char* const path = file.path.exchange(nullptr);
    if (path == nullptr) continue;
    ::unlink(path);
    file.removed = path;
  }
  errno = saved;
}

}  // namespace diacut
