#include "tiles/tile_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/descriptor.hpp"
#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "output/atomic_file.hpp"

namespace diacut {

struct TileFolder::Header {
  std::array<char, 8> magic{'D', 'I', 'A', 'C', 'U', 'T', 'T', '\n'};
  std::uint32_t version = 3;
  std::uint32_t kind = 0;
  std::uint64_t plan = 0;
  std::uint64_t device = 0;
  std::uint64_t tile = 0;
  std::uint64_t bytes = 0;  ///< Of what follows, without the checksum at the end.
};

namespace {

constexpr const char* kAgain = "remove it and run again, which creates it again";

/// In the order of TileFile.
constexpr std::array kNames = {"map",
                               "contours",
                               "plateaus",
                               "basins",
                               "pieces",
                               "regions",
                               "leaves",
                               "rim",
                               "numbers",
                               "joined-map",
                               "joined-contours",
                               "joined-basins",
                               "joined-regions",
                               "painted"};

const char* name_of(TileFile kind) { return kNames.at(static_cast<std::size_t>(kind) - 1); }

bool of_run(TileFile kind) { return kind >= TileFile::kFull; }

class ReadFile {
 public:
  explicit ReadFile(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_.get() < 0 && errno != ENOENT) {
      throw InputError(
          fmt::format("{}: cannot be opened: {}", path, std::generic_category().message(errno)));
    }
  }

  bool exists() const { return file_.get() >= 0; }
  std::uint64_t size() const {
    struct stat status {};
    return ::fstat(file_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  }
  /// Whether all bytes are there.
  bool read(void* to, std::size_t size, std::uint64_t at) const {
    return read_all(file_.get(), to, size, at);
  }

 private:
  Descriptor file_;
};

/// Fewer bytes are not worth another thread; of at most 64 ranges none has 2^32 bytes.
constexpr std::size_t kLeastBytes = std::size_t{1} << 20;

/// The checksum of bytes that follow others, whose checksum is `before`. Calls fill(begin, end) for
/// each range of the bytes before it reads them, on the same core.
template <class Fill>
std::uint32_t checksum_of(const void* bytes, std::size_t size, std::uint32_t before,
                          const Fill& fill) {
  const auto* const first = static_cast<const unsigned char*>(bytes);
  const std::vector<IndexRange> ranges = ranges_of(size, kLeastBytes);
  std::vector<uLong> sums(ranges.size());
  parallel_for(ranges.size(), [&](std::size_t k) {
    const IndexRange& range = ranges[k];
    fill(range.begin, range.end);
    sums[k] = crc32_z(0, first + range.begin, range.end - range.begin);
  });
  uLong sum = before;
  for (std::size_t k = 0; k < ranges.size(); ++k) {
    sum = crc32_combine(sum, sums[k], static_cast<z_off_t>(ranges[k].end - ranges[k].begin));
  }
  return static_cast<std::uint32_t>(sum);
}

}  // namespace

TileFolder::TileFolder(std::string path, const Tiling& tiling, std::uint64_t plan)
    : folder_(std::move(path)), tiling_(tiling), plan_(plan) {}

std::string TileFolder::path(TileFile kind, std::size_t tile) const {
  return of_run(kind) ? fmt::format("{}/{}.bin", folder_, name_of(kind))
                      : fmt::format("{}/{}-{}.bin", folder_, name_of(kind), tile);
}

std::string TileFolder::fault(const Header& header, TileFile kind, std::size_t tile,
                              std::uint64_t bytes) const {
  const auto again = [](const std::string& what) { return fmt::format("{}: {}", what, kAgain); };
  if (header.magic != Header{}.magic) return again("it is no file of a tiled run");
  if (header.version != Header{}.version) {
    return again(
        fmt::format("it was written by another version of the program (format {}, expected {})",
                    header.version, Header{}.version));
  }
  if (header.plan != plan_) return again("it belongs to another plan");
  if (header.kind != static_cast<std::uint32_t>(kind) || header.tile != tile) {
    return again("it is another file under this name");
  }
  if (device_ != 0 && header.device != device_) {
    return "it was computed on another device or driver than the tiles that are joined, and labels "
           "depend on the device: remove it and run again with the --device of the other tiles";
  }
  const std::uint64_t whole = sizeof(Header) + header.bytes + sizeof(std::uint32_t);
  return bytes == whole ? "" : again(fmt::format("it is cut off: {} of {} bytes", bytes, whole));
}

bool TileFolder::has(TileFile kind, std::size_t tile) const {
  const ReadFile file(path(kind, tile));
  Header header;
  return file.exists() && file.read(&header, sizeof(header), 0) &&
         fault(header, kind, tile, file.size()).empty();
}

void TileFolder::write_parts(TileFile kind, std::size_t tile,
                             const std::vector<Bytes>& parts) const {
  Header header;
  header.kind = static_cast<std::uint32_t>(kind);
  header.plan = plan_;
  header.device = device_;
  header.tile = tile;
  std::uint32_t sum = 0;
  for (const Bytes& part : parts) {
    header.bytes += part.size;
    sum = checksum_of(part.data, part.size, sum, [](std::size_t, std::size_t) {});
  }
  AtomicFile file(path(kind, tile));
  file.write(&header, sizeof(header));
  for (const Bytes& part : parts) file.write(part.data, part.size);
  file.write(&sum, sizeof(sum));
  file.commit();
}

template <class File>
TileFolder::Header TileFolder::header_of(const File& file, TileFile kind, std::size_t tile) const {
  if (!file.exists()) {
    throw InputError(
        fmt::format("{}: it is missing: run segment tile again, which makes it", path(kind, tile)));
  }
  Header header{};
  if (!file.read(&header, sizeof(header), 0)) refuse_cut_off(kind, tile);
  const std::string why = fault(header, kind, tile, file.size());
  if (!why.empty()) throw InputError(fmt::format("{}: {}", path(kind, tile), why));
  return header;
}

std::vector<std::uint8_t> TileFolder::read_payload(TileFile kind, std::size_t tile) const {
  const ReadFile file(path(kind, tile));
  const Header header = header_of(file, kind, tile);
  auto payload = large_vector<std::uint8_t>(static_cast<std::size_t>(header.bytes));
  std::atomic<bool> whole = true;
  const std::uint32_t found =
      checksum_of(payload.data(), payload.size(), 0, [&](std::size_t begin, std::size_t end) {
        if (!file.read(payload.data() + begin, end - begin, sizeof(header) + begin)) whole = false;
      });
  std::uint32_t sum = 0;
  if (!whole || !file.read(&sum, sizeof(sum), sizeof(header) + header.bytes) || sum != found) {
    throw InputError(
        fmt::format("{}: it is damaged: its checksum differs: {}", path(kind, tile), kAgain));
  }
  return payload;
}

void TileFolder::refuse_cut_off(TileFile kind, std::size_t tile) const {
  throw InputError(fmt::format("{}: it is cut off: {}", path(kind, tile), kAgain));
}

std::uint64_t TileFolder::device_of(TileFile kind, std::size_t tile) const {
  const ReadFile file(path(kind, tile));
  Header header{};
  if (!file.exists() || !file.read(&header, sizeof(header), 0)) return 0;
  return header.device;
}

void TileFolder::remove(TileFile kind, std::size_t tile) const {
  ::unlink(path(kind, tile).c_str());
}

std::vector<WindowPart> TileFolder::window_parts(const TileArea& area, int margin) const {
  const std::int64_t left = area.x - margin;
  const std::int64_t top = area.y - margin;
  const std::int64_t right = area.x + area.width + margin;
  const std::int64_t bottom = area.y + area.height + margin;
  const auto tile_at = [&](std::int64_t at) {
    return static_cast<std::size_t>(std::max<std::int64_t>(at, 0) / tiling_.side);
  };
  std::vector<WindowPart> parts;
  for (std::size_t row = tile_at(top); row <= tile_at(std::min(bottom, tiling_.height) - 1);
       ++row) {
    for (std::size_t column = tile_at(left); column <= tile_at(std::min(right, tiling_.width) - 1);
         ++column) {
      const std::size_t tile = row * tiling_.columns() + column;
      const TileArea other = tiling_.area(tile);
      const std::int64_t x = std::max(left, other.x);
      const std::int64_t y = std::max(top, other.y);
      const auto width = static_cast<int>(std::min(right, other.x + other.width) - x);
      const auto height = static_cast<int>(std::min(bottom, other.y + other.height) - y);
      parts.push_back({tile,
                       {x - other.x, y - other.y, width, height},
                       static_cast<std::size_t>((y - top) * (right - left) + x - left),
                       static_cast<std::size_t>(right - left)});
    }
  }
  return parts;
}

void TileFolder::read_part(TileFile kind, std::size_t tile, std::size_t array, const TileArea& part,
                           void* to, std::size_t stride) const {
  constexpr std::size_t kValue = 4;
  const TileArea whole = tiling_.area(tile);
  const ReadFile file(path(kind, tile));
  const Header header = header_of(file, kind, tile);
  const std::uint64_t one = sizeof(std::uint64_t) + whole.pixels() * kValue;
  const std::uint64_t begin = sizeof(header) + array * one + sizeof(std::uint64_t);
  if ((array + 1) * one > header.bytes) {
    throw InputError(
        fmt::format("{}: it is of another size than the tile: {}", path(kind, tile), kAgain));
  }
  const auto width = static_cast<std::size_t>(part.width);
  // Rows that follow one another in the file and in memory are read at once.
  const bool rows = part.width == whole.width && width == stride;
  const auto height = static_cast<std::size_t>(part.height);
  if (part.pixels() == 0) return;
  parallel_ranges(height, 1 + kLeastBytes / (width * kValue), [&](std::size_t y, std::size_t end) {
    const std::size_t together = rows ? end - y : 1;
    for (; y < end; y += together) {
      const auto pixel = static_cast<std::uint64_t>(
          (part.y + static_cast<std::int64_t>(y)) * whole.width + part.x);
      auto* const next = static_cast<char*>(to) + y * stride * kValue;
      if (file.read(next, together * width * kValue, begin + pixel * kValue)) continue;
      refuse_cut_off(kind, tile);
    }
  });
}

std::uint64_t number_of(const std::string& text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char each : text) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001B3U;
  }
  return hash;
}

}  // namespace diacut
