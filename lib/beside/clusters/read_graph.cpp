#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/bytes.hpp"
#include "core/file_bytes.hpp"
#include "core/npy.hpp"
#include "diacut/clusters.hpp"
#include "diacut/errors.hpp"
#include "diacut/memory.hpp"
#include "graph/steps.hpp"
#include "image/naming.hpp"

namespace diacut {

namespace {

constexpr const char* kExpected = "expected a sparse matrix as scipy.sparse.save_npz writes it";
/// Bytes of the shortest ZIP archive.
constexpr std::uint64_t kArchiveBytes = 22;
/// More than any memory, so that sums do not overflow.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;
/// Coordinates do not prove that the nodes of a matrix are there: so many for each entry, and some
/// more, are taken for a mistake.
constexpr std::uint64_t kMostNodesPerEntry = 1000;

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

/// The members of a ZIP archive, as numpy.savez writes them: stored or deflated, not encrypted.
/// Read by libzip.
class ZipArchive {
 public:
  /// Reads the list of members. `file` has to outlive the archive. Throws InputError, whose message
  /// does not name the file, where it is no ZIP archive or is damaged, or two members have one
  /// name.
  explicit ZipArchive(Bytes file) : archive_(nullptr, zip_discard) {
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

  bool has(const std::string& name) const { return members_.contains(name); }
  /// Bytes of a member as the archive's list has them. Precondition: has(name).
  std::uint64_t size(const std::string& name) const {
    return stat_of(archive_.get(), members_.at(name)).size;
  }

  /// The bytes of a member. Nothing is allocated before the member's size is known to be possible:
  /// deflated data grow 1032 times at most. Throws InputError where a member is missing, damaged,
  /// or longer or shorter than the list says, or of another checksum.
  std::vector<std::uint8_t> read(const std::string& name) const {
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

 private:
  std::unique_ptr<zip, void (*)(zip*)> archive_;
  std::map<std::string, std::uint64_t> members_;  ///< Their indices.
};

/// An array of a member of the archive.
class Array {
 public:
  Array(const ZipArchive& archive, const std::string& name)
      : name_(name), bytes_(archive.read(name + ".npy")) {
    if (!is_npy(bytes_)) throw InputError(fmt::format("its member {} is no .npy file", name));
    header_ = parse_npy_header(bytes_);
  }

  /// The text of an array of one text.
  std::string text() const {
    const std::string_view kind = header_.kind();
    const bool wide = kind.front() == 'U';
    if (kind.front() != 'S' && !wide) wrong_type("a text");
    std::string result;
    for (std::size_t at = header_.size; at < bytes_.size(); at += wide ? 4 : 1) {
      if (bytes_[at] != 0) result += static_cast<char>(bytes_[at]);
    }
    return result;
  }

  /// Elements of an array of one dimension.
  std::size_t size() const {
    if (header_.shape.size() != 1) {
      throw InputError(
          fmt::format("its array {} has {} dimensions, expected one", name_, header_.shape.size()));
    }
    return static_cast<std::size_t>(header_.shape[0]);
  }

  /// All elements, which have to be from 0 to `most`.
  std::vector<std::uint64_t> indices(std::uint64_t most) const {
    std::vector<std::uint64_t> result;
    for (const double value : numbers()) {
      if (header_.kind().front() == 'f') wrong_type("integers");
      if (!(value >= 0 && value <= static_cast<double>(most))) {
        throw InputError(fmt::format("its array {} has the entry {} at {}, expected 0 to {}", name_,
                                     static_cast<std::int64_t>(value), result.size(), most));
      }
      result.push_back(static_cast<std::uint64_t>(value));
    }
    return result;
  }

  std::vector<double> numbers() const {
    constexpr std::string_view kTypes = "b1 u1 i1 u2 i2 u4 i4 i8 f4 f8";
    const std::size_t count = checked_size();
    if (kTypes.find(header_.kind()) == kTypes.npos) {
      wrong_type("booleans, integers of up to 63 bits, or floats of 32 or 64 bits");
    }
    return numbers_of(Bytes(bytes_).subspan(header_.size), header_.kind(), count,
                      header_.is_swapped());
  }

 private:
  /// Elements that the member's bytes hold.
  std::size_t checked_size() const {
    const std::size_t count = size();
    const std::string_view kind = header_.kind();
    const std::size_t each = static_cast<std::size_t>(kind.back() - '0');
    if (kind.size() != 2 || each < 1 || each > 8) wrong_type("numbers");
    if (npy_elements(header_, each, bytes_.size() - header_.size) * each !=
        bytes_.size() - header_.size) {
      throw InputError(
          fmt::format("its array {} has {} bytes of elements, not the {} that its "
                      "header says",
                      name_, bytes_.size() - header_.size, count * each));
    }
    return count;
  }

  [[noreturn]] void wrong_type(const char* expected) const {
    throw InputError(fmt::format("its array {} has elements of type '{}', expected {}", name_,
                                 header_.type, expected));
  }

  std::string name_;
  std::vector<std::uint8_t> bytes_;
  NpyHeader header_;
};

/// Throws where reading the arrays would take more main memory than is free: a few times what they
/// take.
void check_memory(const ZipArchive& archive) {
  std::uint64_t bytes = 0;
  for (const char* name : {"data", "indices", "indptr", "row", "col"}) {
    const std::string member = fmt::format("{}.npy", name);
    if (archive.has(member)) bytes += std::min(archive.size(member), kMostBytes - bytes);
  }
  const std::uint64_t free = host_memory_available();
  if (bytes <= free / 5) return;
  throw InputError(
      fmt::format("its arrays claim {} MiB; to read them takes about five times as "
                  "much main memory, of which {} MiB are free",
                  bytes >> 20, free >> 20));
}

std::vector<MatrixEntry> compressed_entries(const ZipArchive& archive, std::uint64_t nodes) {
  const std::vector<double> values = Array(archive, "data").numbers();
  const std::vector<std::uint64_t> columns =
      Array(archive, "indices").indices(std::max<std::uint64_t>(nodes, 1) - 1);
  const std::vector<std::uint64_t> starts = Array(archive, "indptr").indices(values.size());
  if (columns.size() != values.size() || starts.size() != nodes + 1 || starts.front() != 0 ||
      starts.back() != values.size() || !std::is_sorted(starts.begin(), starts.end())) {
    throw InputError(
        fmt::format("its arrays contradict each other: {} values, {} indices, and {} "
                    "row starts for {} rows, which have to ascend from 0 to the values",
                    values.size(), columns.size(), starts.size(), nodes));
  }
  std::vector<MatrixEntry> entries;
  entries.reserve(values.size());
  for (std::uint32_t row = 0; row < nodes; ++row) {
    for (std::uint64_t k = starts[row]; k < starts[row + 1]; ++k) {
      entries.push_back({row, static_cast<std::uint32_t>(columns[k]), values[k]});
    }
  }
  return entries;
}

std::vector<MatrixEntry> coordinate_entries(const ZipArchive& archive, std::uint64_t nodes) {
  const std::uint64_t last = std::max<std::uint64_t>(nodes, 1) - 1;
  const std::vector<double> values = Array(archive, "data").numbers();
  const std::vector<std::uint64_t> row = Array(archive, "row").indices(last);
  const std::vector<std::uint64_t> column = Array(archive, "col").indices(last);
  if (row.size() != values.size() || column.size() != values.size()) {
    throw InputError(fmt::format("its arrays contradict each other: {} values, {} rows, {} columns",
                                 values.size(), row.size(), column.size()));
  }
  if (nodes / kMostNodesPerEntry > values.size() + kMostNodesPerEntry) {
    throw InputError(
        fmt::format("the matrix has {} rows, but only {} entries: leave out nodes "
                    "without edges",
                    nodes, values.size()));
  }
  std::vector<MatrixEntry> entries;
  entries.reserve(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    entries.push_back(
        {static_cast<std::uint32_t>(row[k]), static_cast<std::uint32_t>(column[k]), values[k]});
  }
  return entries;
}

Graph read_archive(Bytes file) {
  const ZipArchive archive(file);
  check_memory(archive);
  const std::string format = Array(archive, "format").text();
  const std::vector<std::uint64_t> shape =
      Array(archive, "shape").indices(std::numeric_limits<std::int32_t>::max() - 1);
  if (shape.size() != 2 || shape[0] != shape[1]) {
    throw InputError(
        fmt::format("the matrix has the shape ({}), expected a square one: a row and a "
                    "column for each node",
                    fmt::join(shape, ", ")));
  }
  const std::uint64_t nodes = shape[0];
  if (format == "csr" || format == "csc") {
    return graph_of(nodes, compressed_entries(archive, nodes));
  }
  if (format == "coo") return graph_of(nodes, coordinate_entries(archive, nodes));
  throw InputError(
      fmt::format("the matrix has the format '{}', expected csr, csc or coo: save "
                  "w.tocsr()",
                  format));
}

}  // namespace

Graph read_graph(const std::string& path) {
  return naming(path, [&] {
    Graph graph;
    if (const auto mapped = MappedFile::open(path, kArchiveBytes)) {
      graph = read_archive(mapped->bytes());
    } else {
      // Standard input, a pipe, or an error that the reader names.
      const auto check = [](const std::vector<std::uint8_t>& head) {
        if (!has_text(head, 0, "PK")) {
          throw InputError(fmt::format("it is no .npz file: {}", kExpected));
        }
      };
      graph = read_archive(read_bytes(path, 2, check, "an .npz file"));
    }
    check_graph(graph);
    return graph;
  });
}

}  // namespace diacut
