#include "target.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>

#include "diacut/errors.hpp"

namespace diacut::fuzz {

std::vector<FileBytes> Target::inputs() const {
  std::vector<FileBytes> all = seeds();
  if (spoilt != nullptr) {
    for (SpoiltFile& each : spoilt()) all.push_back(std::move(each.bytes));
  }
  return all;
}

const std::vector<Target>& targets() {
  static const std::vector<Target> all = [] {
    std::vector<Target> joined;
    for (const auto& some : {picture_targets(), array_targets(), text_targets(), scene_targets()}) {
      joined.insert(joined.end(), some.begin(), some.end());
    }
    return joined;
  }();
  return all;
}

const Target& target(const std::string& name) {
  const auto found = std::find_if(targets().begin(), targets().end(),
                                  [&](const Target& each) { return each.name == name; });
  if (found == targets().end()) throw std::invalid_argument("there is no target '" + name + "'");
  return *found;
}

std::string read(const Target& target, const FileBytes& file) {
  try {
    target.read(file);
    return "";
  } catch (const InputError& error) {
    return error.what();
  } catch (const ConfigError& error) {
    return error.what();
  }
}

void read_by_any(const std::vector<std::function<void()>>& readers) {
  std::exception_ptr last;
  std::size_t refusals = 0;
  for (const auto& reader : readers) {
    try {
      reader();
    } catch (const InputError&) {
      last = std::current_exception();
      ++refusals;
    }
  }
  if (refusals == readers.size()) std::rethrow_exception(last);
}

void require(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "A reader breaks its promise: %s\n", promise);
  std::abort();
}

void require_well_formed(const Image& image) {
  require(image.width > 0 && image.height > 0, "a picture has pixels");
  require(image.channels == 1 || image.channels == 3, "a picture has one or three channels");
  require_size(image.pixels, image.width, image.height, image.channels);
  if (!image.valid.empty()) require_size(image.valid, image.width, image.height);
  for (const float value : image.pixels) {
    require(value >= 0 && value <= 1, "the values of a picture lie in [0, 1]");
  }
}

FileInMemory::FileInMemory(const FileBytes& bytes, const std::string& extension)
    : descriptor_(::memfd_create("fuzzed", MFD_CLOEXEC)) {
  std::size_t written = 0;
  while (descriptor_ >= 0 && written < bytes.size()) {
    const ssize_t step = ::write(descriptor_, bytes.data() + written, bytes.size() - written);
    if (step <= 0) throw std::runtime_error("a file in memory cannot be written");
    written += static_cast<std::size_t>(step);
  }
  if (descriptor_ < 0) throw std::runtime_error("no file in memory can be made");
  path_ = "/proc/self/fd/" + std::to_string(descriptor_);
  if (extension.empty()) return;
  link_ = (std::filesystem::temp_directory_path() /
           ("diacut-fuzz-" + std::to_string(::getpid()) + extension))
              .string();
  std::filesystem::remove(link_);
  std::filesystem::create_symlink(path_, link_);
  path_ = link_;
}

FileInMemory::~FileInMemory() {
  ::close(descriptor_);
  std::error_code ignored;
  if (!link_.empty()) std::filesystem::remove(link_, ignored);
}

FileBytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

std::string text_of(const FileBytes& bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace diacut::fuzz
