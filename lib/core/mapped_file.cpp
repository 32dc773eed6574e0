#include "core/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace diacut {

std::optional<MappedFile> MappedFile::open(const std::string& path, std::uint64_t least) {
  // A pipe is not opened: who writes into it would be sent SIGPIPE when it is closed again.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  void* mapped = MAP_FAILED;
  std::size_t size = 0;
  if (::fstat(file, &status) == 0 && static_cast<std::uint64_t>(status.st_size) >= least) {
    size = static_cast<std::size_t>(status.st_size);
    mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  }
  ::close(file);
  if (mapped == MAP_FAILED) return std::nullopt;
  return MappedFile(std::unique_ptr<const std::uint8_t[], Unmap>(
      static_cast<const std::uint8_t*>(mapped), Unmap{size}));
}

void MappedFile::Unmap::operator()(const std::uint8_t* bytes) const {
  ::munmap(const_cast<std::uint8_t*>(bytes), size);
}

}  // namespace diacut
