// A shim before the C library's functions for files: a disk that is full or broken, and processes
// that are killed between any two steps. fault_plan.hpp says what shims have in common. The plan is
// the environment variable DIACUT_FAULT_FILES:
//
//   LD_PRELOAD=build/release/tests/libdiacut_files_shim.so DIACUT_FAULT_FOLDERS=$PWD
//   DIACUT_FAULT_FILES=write:1:fail=28 segment photo.jpg -o labels.png
//
// DIACUT_FAULT_FOLDERS: folders, separated by colons. Calls for files in them and below them are
// counted and go wrong; all others, such as those for the files of an OpenCL driver, do not.
//
// A KIND is what a call does: open, openfile (a FILE), list (a folder is opened), next (its next
// entry), stat, access, realpath, read (of a descriptor), readfile (of a FILE), write, writefile,
// close, closefile, rename, unlink, mkdir, map, lock, chmod, cut (ftruncate), sync. The actions are
//
//   fail     The call does nothing, and errno is the value, or EIO.
//   short    read, write: the call does only half of what it was asked to.
//   kill     The process ends by SIGKILL before the call.
//   after    The process ends by SIGKILL after the call.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fault_plan.hpp"

// The headers promise that pointers are not null, which callers need not keep.
#pragma GCC diagnostic ignored "-Wnonnull-compare"

namespace {

using namespace diacut::fault;

constinit Kind kOpen("open");
constinit Kind kOpenFile("openfile");
constinit Kind kList("list");
constinit Kind kNext("next");
constinit Kind kStat("stat");
constinit Kind kAccess("access");
constinit Kind kRealPath("realpath");
constinit Kind kRead("read");
constinit Kind kReadFile("readfile");
constinit Kind kWrite("write");
constinit Kind kWriteFile("writefile");
constinit Kind kClose("close");
constinit Kind kCloseFile("closefile");
constinit Kind kRename("rename");
constinit Kind kUnlink("unlink");
constinit Kind kMkdir("mkdir");
constinit Kind kMap("map");
constinit Kind kLock("lock");
constinit Kind kChmod("chmod");
constinit Kind kCut("cut");
constinit Kind kSync("sync");

bool ready = false;

/// Whether an absolute path is one of DIACUT_FAULT_FOLDERS, or lies in one.
bool is_in_folders(const char* path) {
  const char* folder = std::getenv("DIACUT_FAULT_FOLDERS");
  while (folder != nullptr && *folder != '\0') {
    const std::size_t length = std::strcspn(folder, ":");
    if (length > 0 && std::strncmp(path, folder, length) == 0 &&
        (path[length] == '/' || path[length] == '\0')) {
      return true;
    }
    folder += length;
    if (*folder == ':') ++folder;
  }
  return false;
}

bool is_watched(const char* path) {
  if (!ready || path == nullptr) return false;
  if (path[0] == '/') return is_in_folders(path);
  const int before = errno;
  char whole[2 * PATH_MAX];
  bool watched = false;
  if (getcwd(whole, PATH_MAX) != nullptr) {
    const std::size_t length = std::strlen(whole);
    std::snprintf(whole + length, sizeof whole - length, "/%s", path);
    watched = is_in_folders(whole);
  }
  errno = before;
  return watched;
}

bool is_watched(int descriptor) {
  if (!ready || descriptor < 0) return false;
  const int before = errno;
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  char path[PATH_MAX];
  const ssize_t length = readlink(link, path, sizeof path - 1);
  errno = before;
  if (length <= 0) return false;
  path[length] = '\0';
  return is_in_folders(path);
}

bool is_watched(int at, const char* path) {
  if (path != nullptr && path[0] == '/') return is_watched(path);
  return at == AT_FDCWD ? is_watched(path) : is_watched(at);
}

bool is_watched(FILE* file) { return ready && file != nullptr && is_watched(fileno(file)); }

constexpr std::size_t kUnsized = SIZE_MAX;

/// The call `real(size)` for `size` bytes or elements, which can be short unless it is kUnsized;
/// `failed` where the plan has it fail.
template <class Result, class Real>
Result sized_call(Kind& kind, bool watched, std::size_t size, Result failed, const Real& real) {
  const Fault* const fault = watched ? kind.count() : nullptr;
  if (fault == nullptr) return real(size);
  if (fault->is("kill")) kill_process();
  if (fault->is("short") && size != kUnsized) {
    return real(std::max<std::size_t>(size / 2, std::min(size, std::size_t{1})));
  }
  if (fault->is("after")) {
    real(size);
    kill_process();
  }
  if (!fault->is("fail")) fail("no action of this call", fault->action);
  errno = static_cast<int>(fault->value_or(EIO));
  return failed;
}

template <class Result, class Real>
Result call(Kind& kind, bool watched, Result failed, const Real& real) {
  return sized_call(kind, watched, kUnsized, failed, [&](std::size_t) { return real(); });
}

/// What ferror() looks at.
void mark_failed(FILE* file) { file->_flags |= 0x20; }

/// fread() or fwrite().
template <class Real>
std::size_t stream_call(Kind& kind, FILE* file, const Real& real) {
  constexpr std::size_t kFailed = SIZE_MAX;
  const std::size_t done = call(kind, is_watched(file), kFailed, real);
  if (done == kFailed) mark_failed(file);
  return done == kFailed ? 0 : done;
}

__attribute__((constructor)) void begin() {
  read_plan("DIACUT_FAULT_FILES");
  ready = is_active();
}
__attribute__((destructor)) void end() {
  report_calls();
  ready = false;
}

}  // namespace

extern "C" {

#define OPEN(NAME)                                                                           \
  int NAME(const char* path, int flags, ...) {                                               \
    va_list arguments;                                                                       \
    va_start(arguments, flags);                                                              \
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;              \
    va_end(arguments);                                                                       \
    return call(kOpen, is_watched(path), -1, [&] { return REAL(NAME)(path, flags, mode); }); \
  }
OPEN(open)
OPEN(open64)

#define OPEN_AT(NAME)                                                           \
  int NAME(int at, const char* path, int flags, ...) {                          \
    va_list arguments;                                                          \
    va_start(arguments, flags);                                                 \
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0; \
    va_end(arguments);                                                          \
    return call(kOpen, is_watched(at, path), -1,                                \
                [&] { return REAL(NAME)(at, path, flags, mode); });             \
  }
OPEN_AT(openat)
OPEN_AT(openat64)

#define OPEN_FILE(NAME)                                                   \
  FILE* NAME(const char* path, const char* mode) {                        \
    return call(kOpenFile, is_watched(path), static_cast<FILE*>(nullptr), \
                [&] { return REAL(NAME)(path, mode); });                  \
  }
OPEN_FILE(fopen)
OPEN_FILE(fopen64)

DIR* opendir(const char* path) {
  return call(kList, is_watched(path), static_cast<DIR*>(nullptr),
              [&] { return REAL(opendir)(path); });
}
DIR* fdopendir(int descriptor) {
  return call(kList, is_watched(descriptor), static_cast<DIR*>(nullptr),
              [&] { return REAL(fdopendir)(descriptor); });
}
dirent* readdir(DIR* folder) {
  return call(kNext, is_watched(dirfd(folder)), static_cast<dirent*>(nullptr),
              [&] { return REAL(readdir)(folder); });
}
dirent64* readdir64(DIR* folder) {
  return call(kNext, is_watched(dirfd(folder)), static_cast<dirent64*>(nullptr),
              [&] { return REAL(readdir64)(folder); });
}

// A function NAME of KIND, with PARAMETERS and ARGUMENTS, that returns 0, or -1 with errno.
// WATCHED is the file or folder that it is for.
#define STATUS(KIND, NAME, WATCHED, PARAMETERS, ARGUMENTS)                           \
  int NAME PARAMETERS {                                                              \
    return call(KIND, is_watched WATCHED, -1, [&] { return REAL(NAME) ARGUMENTS; }); \
  }
STATUS(kStat, stat, (path), (const char* path, struct stat* status), (path, status))
STATUS(kStat, stat64, (path), (const char* path, struct stat64* status), (path, status))
STATUS(kStat, lstat, (path), (const char* path, struct stat* status), (path, status))
STATUS(kStat, lstat64, (path), (const char* path, struct stat64* status), (path, status))
STATUS(kStat, fstat, (descriptor), (int descriptor, struct stat* status), (descriptor, status))
STATUS(kStat, fstat64, (descriptor), (int descriptor, struct stat64* status), (descriptor, status))
STATUS(kStat, fstatat, (at, path), (int at, const char* path, struct stat* status, int flags),
       (at, path, status, flags))
STATUS(kAccess, access, (path), (const char* path, int mode), (path, mode))
STATUS(kClose, close, (descriptor), (int descriptor), (descriptor))
STATUS(kCloseFile, fclose, (file), (FILE * file), (file))
STATUS(kRename, rename, (to), (const char* from, const char* to), (from, to))
STATUS(kUnlink, unlink, (path), (const char* path), (path))
STATUS(kUnlink, unlinkat, (at, path), (int at, const char* path, int flags), (at, path, flags))
STATUS(kUnlink, remove, (path), (const char* path), (path))
STATUS(kUnlink, rmdir, (path), (const char* path), (path))
STATUS(kMkdir, mkdir, (path), (const char* path, mode_t mode), (path, mode))
STATUS(kLock, flock, (descriptor), (int descriptor, int operation), (descriptor, operation))
STATUS(kChmod, fchmod, (descriptor), (int descriptor, mode_t mode), (descriptor, mode))
STATUS(kCut, ftruncate, (descriptor), (int descriptor, off_t size), (descriptor, size))
STATUS(kCut, ftruncate64, (descriptor), (int descriptor, off64_t size), (descriptor, size))
STATUS(kSync, fsync, (descriptor), (int descriptor), (descriptor))
STATUS(kSync, fdatasync, (descriptor), (int descriptor), (descriptor))

char* realpath(const char* path, char* resolved) {
  return call(kRealPath, is_watched(path), static_cast<char*>(nullptr),
              [&] { return REAL(realpath)(path, resolved); });
}

void* mmap(void* at, std::size_t size, int protection, int flags, int descriptor, off_t offset) {
  return call(kMap, is_watched(descriptor), MAP_FAILED,
              [&] { return REAL(mmap)(at, size, protection, flags, descriptor, offset); });
}
void* mmap64(void* at, std::size_t size, int protection, int flags, int descriptor,
             off64_t offset) {
  return call(kMap, is_watched(descriptor), MAP_FAILED,
              [&] { return REAL(mmap64)(at, size, protection, flags, descriptor, offset); });
}

#define TRANSFER(KIND, NAME, PARAMETERS, ARGUMENTS)                                       \
  ssize_t NAME PARAMETERS {                                                               \
    return sized_call(KIND, is_watched(descriptor), size, ssize_t{-1},                    \
                      [&](std::size_t part) -> ssize_t { return REAL(NAME) ARGUMENTS; }); \
  }
TRANSFER(kRead, read, (int descriptor, void* data, std::size_t size), (descriptor, data, part))
TRANSFER(kRead, pread, (int descriptor, void* data, std::size_t size, off_t offset),
         (descriptor, data, part, offset))
TRANSFER(kRead, pread64, (int descriptor, void* data, std::size_t size, off64_t offset),
         (descriptor, data, part, offset))
TRANSFER(kWrite, write, (int descriptor, const void* data, std::size_t size),
         (descriptor, data, part))
TRANSFER(kWrite, pwrite, (int descriptor, const void* data, std::size_t size, off_t offset),
         (descriptor, data, part, offset))
TRANSFER(kWrite, pwrite64, (int descriptor, const void* data, std::size_t size, off64_t offset),
         (descriptor, data, part, offset))

ssize_t writev(int descriptor, const iovec* parts, int count) {
  // Short: one part alone.
  return sized_call(kWrite, is_watched(descriptor), static_cast<std::size_t>(count), ssize_t{-1},
                    [&](std::size_t some) -> ssize_t {
                      return REAL(writev)(descriptor, parts, static_cast<int>(some));
                    });
}

std::size_t fread(void* data, std::size_t size, std::size_t count, FILE* file) {
  return stream_call(kReadFile, file, [&] { return REAL(fread)(data, size, count, file); });
}
std::size_t fwrite(const void* data, std::size_t size, std::size_t count, FILE* file) {
  return stream_call(kWriteFile, file, [&] { return REAL(fwrite)(data, size, count, file); });
}

}  // extern "C"
