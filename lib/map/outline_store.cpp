#include "map/outline_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>

#include "diacut/errors.hpp"

namespace diacut {

namespace {

constexpr std::uint64_t kNowhere = std::numeric_limits<std::uint64_t>::max();

}  // namespace

OutlineStore::OutlineStore(const std::string& folder, std::int64_t count)
    : folder_(folder), place_(static_cast<std::size_t>(count) + 1, kNowhere) {
  std::string path = folder + "/outlines-XXXXXX";
  const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) refuse("cannot be written");
  ::unlink(path.c_str());
  file_.reset(::fdopen(descriptor, "w+b"));
  if (file_) return;
  ::close(descriptor);
  refuse("cannot be written");
}

void OutlineStore::put(std::int32_t label, const std::vector<RingCorners>& rings) {
  place_.at(static_cast<std::size_t>(label)) = end_;
  const std::uint64_t count = rings.size();
  write(&count, sizeof(count));
  for (const RingCorners& ring : rings) {
    const std::uint64_t corners = ring.size();
    write(&corners, sizeof(corners));
    write(ring.data(), ring.size() * sizeof(Corner));
  }
}

std::vector<RingCorners> OutlineStore::get(std::int64_t label) const {
  const std::uint64_t place = place_.at(static_cast<std::size_t>(label));
  if (place == kNowhere) {
    throw InputError(fmt::format("region {} has no outline: run again", label));
  }
  // Which also writes what is left.
  if (::fseeko(file_.get(), static_cast<off_t>(place), SEEK_SET) != 0) refuse("cannot be written");
  std::uint64_t count = 0;
  read(&count, sizeof(count));
  std::vector<RingCorners> rings(static_cast<std::size_t>(count));
  for (RingCorners& ring : rings) {
    std::uint64_t corners = 0;
    read(&corners, sizeof(corners));
    ring.resize(static_cast<std::size_t>(corners));
    read(ring.data(), ring.size() * sizeof(Corner));
  }
  return rings;
}

void OutlineStore::write(const void* from, std::size_t size) {
  if (std::fwrite(from, 1, size, file_.get()) != size) refuse("cannot be written");
  end_ += size;
}

void OutlineStore::read(void* to, std::size_t size) const {
  if (std::fread(to, 1, size, file_.get()) != size) refuse("cannot be read again");
}

void OutlineStore::refuse(const char* what) const {
  throw InputError(fmt::format("{}: outlines {}: {}: make room and run again", folder_, what,
                               std::generic_category().message(errno)));
}

}  // namespace diacut
