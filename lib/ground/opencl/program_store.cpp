#include "opencl/program_store.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/file_bytes.hpp"
#include "diacut/errors.hpp"

namespace diacut {

namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".program";

/// What a file begins with; the program and its binary follow.
struct StoredHead {
  std::array<char, 8> magic = {'d', 'i', 'a', 'c', 'u', 't', 'p', '1'};
  std::uint64_t program_bytes = 0;
  std::uint64_t check = 0;  ///< Of all that follows.
};

std::uint64_t check_of(const unsigned char* bytes, std::size_t size) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes), size});
}

}  // namespace

ProgramStore::ProgramStore(fs::path folder, std::uintmax_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {}

fs::path ProgramStore::path_of(const std::string& program) const {
  return folder_ / fmt::format("{:016x}{}", std::hash<std::string>()(program), kExtension);
}

ProgramStore::Binary ProgramStore::find(const std::string& program) const {
  const fs::path path = path_of(program);
  std::error_code code;
  if (!keeps() || !fs::is_regular_file(path, code)) return {};
  Binary bytes;
  try {
    bytes = read_bytes(
        path.string(), 0, [](const auto&) {}, "a program");
  } catch (const InputError&) {
    return {};
  }
  StoredHead head;
  const std::size_t before = sizeof head + program.size();
  if (bytes.size() <= before) return {};
  std::memcpy(&head, bytes.data(), sizeof head);
  const unsigned char* const rest = bytes.data() + sizeof head;
  if (head.magic != StoredHead().magic || head.program_bytes != program.size() ||
      std::memcmp(rest, program.data(), program.size()) != 0 ||
      head.check != check_of(rest, bytes.size() - sizeof head)) {
    return {};
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), code);  // It is in use.
  return {bytes.begin() + static_cast<std::ptrdiff_t>(before), bytes.end()};
}

void ProgramStore::keep(const std::string& program, const Binary& binary) const {
  StoredHead head;
  const std::size_t size = sizeof head + program.size() + binary.size();
  if (!keeps() || binary.empty() || size > most_bytes_) return;
  Binary bytes(sizeof head);
  bytes.reserve(size);
  bytes.insert(bytes.end(), program.begin(), program.end());
  bytes.insert(bytes.end(), binary.begin(), binary.end());
  head.program_bytes = program.size();
  head.check = check_of(bytes.data() + sizeof head, size - sizeof head);
  std::memcpy(bytes.data(), &head, sizeof head);
  std::error_code code;  // What cannot be kept is built again the next time.
  fs::create_directories(folder_, code);
  // Written whole, then renamed: other processes and threads see all of it or nothing.
  static std::atomic<unsigned> drafts = 0;
  const fs::path path = path_of(program);
  const fs::path draft =
      folder_ / fmt::format(".{}-{}-{}", ::getpid(), ++drafts, path.filename().string());
  std::ofstream file(draft, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file.good()) fs::rename(draft, path, code);
  if (!file.good() || code) fs::remove(draft, code);
  remove_oldest();
}

void ProgramStore::remove_oldest() const {
  struct File {
    fs::file_time_type time;
    std::uintmax_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  std::uintmax_t sum = 0;
  std::error_code code;
  for (fs::directory_iterator each(folder_, code), end; !code && each != end;
       each.increment(code)) {
    if (each->path().extension() != kExtension) continue;
    std::error_code gone;  // Other processes may remove files meanwhile.
    const File file = {each->last_write_time(gone), each->file_size(gone), each->path()};
    if (gone) continue;
    sum += file.bytes;
    files.push_back(file);
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.time < b.time; });
  for (const File& file : files) {
    if (sum <= most_bytes_) return;
    fs::remove(file.path, code);
    sum -= file.bytes;
  }
}

ProgramStore store_for(const DeviceInfo& device) {
  for (const char* platform : {"Portable Computing Language", "NVIDIA CUDA",
                               "Intel(R) OpenCL Graphics", "rusticl", "Clover", "Oclgrind"}) {
    if (device.platform == platform) return {};
  }
  const fs::path folder = data_folder();
  return folder.empty() ? ProgramStore() : ProgramStore(folder / "programs");
}

}  // namespace diacut
