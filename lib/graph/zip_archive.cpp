#include "graph/zip_archive.hpp"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>

#include "diacut/errors.hpp"

namespace diacut {

namespace {

/// Deflate's best: 258 bytes in two bits.
constexpr std::uint64_t kMostGrowth = 1032;

InputError damaged(const std::string& what) {
  return InputError(
      fmt::format("the .npz archive is damaged or cut off ({}): copy or save it again "
                  "with scipy.sparse.save_npz",
                  what));
}

zip_stat_t stat_of(zip_t* archive, std::uint64_t index) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, 0, &stat) != 0) throw damaged(zip_strerror(archive));
  return stat;
}

}  // namespace

ZipArchive::ZipArchive(Bytes file) : archive_(nullptr, zip_discard) {
  if (!has_text(file, 0, "PK")) throw InputError("it is no .npz file, which is a ZIP archive");
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(file.data(), file.size(), 0, &error);
  if (source != nullptr) {
    archive_.reset(zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error));
    if (!archive_) zip_source_free(source);
  }
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (!archive_) throw damaged(why);
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  for (zip_int64_t k = 0; k < count; ++k) {
    const auto index = static_cast<std::uint64_t>(k);
    const char* name = zip_get_name(archive_.get(), index, ZIP_FL_ENC_RAW);
    if (name == nullptr) throw damaged(zip_strerror(archive_.get()));
    if (!members_.emplace(name, index).second) throw damaged("two members have one name");
  }
}

std::uint64_t ZipArchive::size(const std::string& name) const {
  return stat_of(archive_.get(), members_.at(name)).size;
}

std::vector<std::uint8_t> ZipArchive::read(const std::string& name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) {
    throw InputError(
        fmt::format("the archive has no member {}: it is no sparse matrix that "
                    "scipy.sparse.save_npz wrote",
                    name));
  }
  const zip_stat_t stat = stat_of(archive_.get(), found->second);
  const bool stored = stat.comp_method == ZIP_CM_STORE;
  if (!stored && stat.comp_method != ZIP_CM_DEFLATE) {
    throw InputError(fmt::format("{} is packed by method {}: expected 0 (stored) or 8 (deflated)",
                                 name, stat.comp_method));
  }
  if (stat.size > (stored ? stat.comp_size : stat.comp_size * kMostGrowth + kMostGrowth)) {
    throw damaged(
        fmt::format("{} claims {} bytes out of {} packed ones", name, stat.size, stat.comp_size));
  }
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> member(
      zip_fopen_index(archive_.get(), found->second, 0), zip_fclose);
  if (!member) throw damaged(fmt::format("{}: {}", name, zip_strerror(archive_.get())));
  // One byte more than the member has shows whether data go on; at their end libzip compares the
  // checksum.
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(stat.size) + 1);
  std::size_t size = 0;
  zip_int64_t step = 1;
  while (step > 0 && size < bytes.size()) {
    step = zip_fread(member.get(), bytes.data() + size, bytes.size() - size);
    size += static_cast<std::size_t>(std::max<zip_int64_t>(step, 0));
  }
  if (step != 0 || size != stat.size) {
    throw damaged(fmt::format("{} does not inflate to the bytes that its header says", name));
  }
  bytes.pop_back();
  return bytes;
}

}  // namespace diacut
