#include "core/file_bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "core/bytes.hpp"
#include "core/descriptor.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

/// Appends up to `count` bytes of the file.
void read_more(std::FILE* file, std::size_t count, const char* expected,
               std::vector<std::uint8_t>& bytes) {
  const std::size_t before = bytes.size();
  bytes.resize(before + count);
  errno = 0;
  const std::size_t got = std::fread(bytes.data() + before, 1, count, file);
  const int error = errno;
  bytes.resize(before + got);
  if (std::ferror(file) == 0) return;
  if (error == EISDIR) throw InputError(fmt::format("a folder, expected {}", expected));
  throw InputError("cannot be read: " + std::generic_category().message(error));
}

/// The size of a regular file, bytes; 0 of others.
std::size_t size_of(std::FILE* file) {
  struct stat status {};
  if (::fstat(::fileno(file), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

std::vector<std::uint8_t> read_bytes(const std::string& path, std::size_t head_size,
                                     const HeadCheck& check_head, const char* expected) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(nullptr, &std::fclose);
  std::FILE* file = stdin;
  if (path != "-") {
    opened.reset(std::fopen(path.c_str(), "rb"));
    if (!opened) throw InputError("cannot be opened: " + std::generic_category().message(errno));
    file = opened.get();
  }
  std::vector<std::uint8_t> bytes;
  read_more(file, head_size, expected, bytes);
  check_head(bytes);
  constexpr std::size_t kStep = std::size_t{1} << 20;
  // At once, because a vector that grows holds its bytes twice; one byte more than the file has to
  // meet its end.
  const std::size_t size = size_of(file);
  std::size_t step = size > bytes.size() ? size - bytes.size() + 1 : kStep;
  while (std::feof(file) == 0) {
    read_more(file, step, expected, bytes);
    step = std::max(kStep, bytes.size() / 2);
  }
  return bytes;
}

std::string read_text(const std::string& path, const char* expected) {
  const std::vector<std::uint8_t> bytes = read_bytes(
      path, 0, [](const std::vector<std::uint8_t>&) {}, expected);
  if (has_text(bytes, 0, "\xFF\xFE") || has_text(bytes, 0, "\xFE\xFF")) {
    throw InputError("it is text of 16 bits: save it as UTF-8");
  }
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  const bool is_marked = has_text(bytes, 0, kMark);
  return {bytes.begin() + static_cast<std::ptrdiff_t>(is_marked ? kMark.size() : 0), bytes.end()};
}

std::filesystem::path data_folder() {
  // An empty or relative XDG_DATA_HOME counts as none (XDG Base Directory Specification).
  const char* const data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && std::filesystem::path(data).is_absolute()) {
    return std::filesystem::path(data) / "diacut";
  }
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return std::filesystem::path(home) / ".local" / "share" / "diacut";
}

std::optional<MappedFile> MappedFile::open(const std::string& path, std::uint64_t least) {
  // A pipe is not opened: who writes into it would be sent SIGPIPE when it is closed again.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.get() < 0 ? std::nullopt : of(file.get(), least);
}

std::optional<MappedFile> MappedFile::of(int file, std::uint64_t least) {
  const off_t end = ::lseek(file, 0, SEEK_END);  // A sandbox refuses fstat().
  const auto size = static_cast<std::size_t>(std::max<off_t>(end, 0));
  if (size < least) return std::nullopt;
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (mapped == MAP_FAILED) return std::nullopt;
  return MappedFile(std::unique_ptr<const std::uint8_t[], Unmap>(
      static_cast<const std::uint8_t*>(mapped), Unmap{size}));
}

void MappedFile::Unmap::operator()(const std::uint8_t* bytes) const {
  ::munmap(const_cast<std::uint8_t*>(bytes), size);
}

}  // namespace diacut
