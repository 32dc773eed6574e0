#include "opencl/launchers/block_ritz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "opencl/arguments.hpp"
#include "opencl/launchers/quadratic_form.hpp"

namespace diacut {

namespace {

constexpr char kFile[] = "block_ritz.cl";
/// Elements that are summed in float before the sum goes on in double.
constexpr std::size_t kFloats = 32;

/// At most so many lists of tiles: of one, two and three blocks.
constexpr std::size_t kTileLists = 1 + 4 + 8;

bool is_cpu(const DeviceInfo& device) { return device.kind == DeviceKind::kCpu; }

int tile_of(bool cpu) { return cpu ? 8 : 4; }

/// Elements of one group of partial sums. On a CPU they stay in its cache while all tiles pass over
/// them.
std::size_t chunk_for(bool cpu, std::size_t rows) {
  const std::size_t most_groups = cpu ? 512 : 256;
  const std::size_t least = cpu ? 512 : 64;
  return std::max(least, round_up(round_up(rows, most_groups) / most_groups, kFloats));
}

/// The same for residuals, of which an item takes one chunk of one set: a GPU wants many.
std::size_t residual_chunk(bool cpu, std::size_t rows) {
  return cpu ? chunk_for(true, rows) : std::max<std::size_t>(32, chunk_for(false, rows) / 16);
}

/// Tiles on and above the diagonal of both Gram matrices of `blocks` blocks.
std::size_t tile_count(int columns, int tile, int blocks) {
  const auto side = static_cast<std::size_t>(columns / tile * blocks);
  return side * (side + 1);
}

/// Of all groups; fewer elements never need more.
std::size_t partial_count(bool cpu, int columns, std::size_t rows, std::size_t segments) {
  const int tile = tile_of(cpu);
  const std::size_t chunk = chunk_for(cpu, rows);
  return round_up(rows, chunk) / chunk * segments * tile_count(columns, tile, 3) *
         static_cast<std::size_t>(tile * tile);
}

std::size_t rows_at_once(const DeviceInfo& device, int columns) {
  const std::size_t bytes = 3 * static_cast<std::size_t>(columns) * sizeof(float);
  const std::size_t fit = device.local_memory / 2 / bytes;
  if (fit == 0) {
    throw DeviceError(
        fmt::format("blocks of {} vectors are more than {} can combine in its {} bytes of local "
                    "memory: lower eigen.vectors or use --solver lanczos",
                    columns, device.name, device.local_memory));
  }
  return std::min<std::size_t>(std::bit_floor(fit), is_cpu(device) ? 16 : 64);
}

/// Elements of all six blocks that fit half of the local memory, for block_gram.
std::size_t lines_at_once(const DeviceInfo& device, int columns) {
  if (is_cpu(device)) return kFloats;
  const std::size_t bytes = 6 * static_cast<std::size_t>(columns) * sizeof(float);
  return std::clamp<std::size_t>(std::bit_floor(device.local_memory / 2 / bytes), 1, kFloats);
}

/// Work-items of a group of block_gram on a GPU: with blocks of 24 vectors all 342 tiles.
constexpr std::size_t kGramGroup = 352;

/// The blocks of S and M S that Gram matrices are made of, as block_gram takes them.
struct UsedBlocks {
  cl_uint count = 0;
  cl_uint slots = 0;
  cl_uint places = 0;
};

UsedBlocks used_blocks(int blocks, int known) {
  UsedBlocks used;
  for (int b = 0; b < 6; ++b) {
    if (b < 3 ? b >= blocks : (known >> (b - 3) & 1) == 0) continue;
    used.slots |= static_cast<cl_uint>(b) << (4 * used.count);
    used.places |= used.count << (4 * b);
    ++used.count;
  }
  return used;
}

}  // namespace

std::size_t BlockRitz::memory(int columns, std::size_t max_rows, std::size_t segments) {
  const auto wide = static_cast<std::size_t>(columns);
  std::size_t most = 0;
  for (const bool cpu : {false, true}) {
    const std::size_t tiles = tile_count(columns, tile_of(cpu), 3);
    const auto tile_values = static_cast<std::size_t>(tile_of(cpu) * tile_of(cpu));
    most = std::max(most, partial_count(cpu, columns, max_rows, segments) * sizeof(std::uint64_t) +
                              tiles * (segments * tile_values * sizeof(std::uint64_t) +
                                       kTileLists * sizeof(cl_int4)));
  }
  return most + segments * (3 * wide * wide + 3 * wide + 1) * sizeof(float);
}

BlockRitz::BlockRitz(Context& context, int columns, std::size_t max_rows,
                     std::shared_ptr<const ActiveSegments> active)
    : context_(&context),
      columns_(columns),
      active_(or_one_image(context, std::move(active))),
      tile_(tile_of(is_cpu(context.info()))),
      lines_(lines_at_once(context.info(), columns)),
      sets_(static_cast<std::size_t>(columns / block_vector(context.info()))),
      combined_rows_(rows_at_once(context.info(), columns)),
      combine_group_(is_cpu(context.info()) ? 1
                                            : std::bit_floor(std::clamp<std::size_t>(
                                                  context.info().max_work_group, 1, 128))),
      partials_(context, partial_count(is_cpu(context.info()), columns, max_rows, active_->all()),
                "partial dot products"),
      sums_(context,
            active_->all() * tile_count(columns, tile_, 3) * static_cast<std::size_t>(tile_) *
                static_cast<std::size_t>(tile_),
            "dot products"),
      rotation_(context,
                active_->all() * 3 * static_cast<std::size_t>(columns) *
                    static_cast<std::size_t>(columns),
                "a rotation of blocks"),
      theta_(context, active_->all() * static_cast<std::size_t>(columns), "Ritz values"),
      factors_(context, active_->all(), "factors of a column"),
      order_(context, active_->all() * static_cast<std::size_t>(columns), "columns of a block") {
  options_ = fmt::format(
      "{} -DTILE={} -DFLOATS={} -DLINES={} -DROWS={} -DAT_ONCE={} -DGROUP={}",
      block_options(context.info(), columns), tile_, kFloats, lines_, combined_rows_,
      std::min<std::size_t>(combined_rows_, is_cpu(context.info()) ? 8 : 4), combine_group_);
  gram_ = context.kernel(kFile, "block_gram", options_);
  sum_ = context.kernel(kFile, "block_sum", options_);
  combine_ = context.kernel(kFile, "block_combine", options_);
  residual_ = context.kernel(kFile, "block_residual", options_);
  squares_ = context.kernel(kFile, "block_squares", options_);
  columns_sums_ = context.kernel(kFile, "block_columns", options_);
  dense_ = context.kernel(kFile, "block_dense", options_);
  insert_ = context.kernel(kFile, "block_insert", options_);
  extract_ = context.kernel(kFile, "block_extract", options_);
  divide_ = context.kernel(kFile, "block_divide", options_);
  peaks_ = context.kernel(kFile, "block_peaks", options_);
}

BlockRitz::Groups BlockRitz::groups_of(const Segments& rows, std::size_t chunk) const {
  Groups groups;
  groups.segments = rows;
  groups.chunk = chunk;
  groups.each = round_up(rows.rows, chunk) / chunk;
  groups.all = groups.each * active_->count();
  return groups;
}

BlockRitz::Groups BlockRitz::few_groups(const Segments& rows) const {
  return groups_of(rows, chunk_for(is_cpu(context_->info()), rows.rows));
}

BlockRitz::Groups BlockRitz::many_groups(const Segments& rows) const {
  return groups_of(rows, residual_chunk(is_cpu(context_->info()), rows.rows));
}

std::vector<double> BlockRitz::column_sums(const Groups& groups) {
  with_device_errors("setting a kernel's arguments", [&] {
    squares_.setArg(0, partials_.cl());
    squares_.setArg(1, static_cast<cl_uint>(groups.each));
    squares_.setArg(2, sums_.cl());
  });
  const auto wide = static_cast<std::size_t>(columns_);
  context_->launch(squares_, cl::NDRange(wide * combine_group_, active_->count()),
                   cl::NDRange(combine_group_, 1));
  return sums_.download(wide * active_->count());
}

/// Those on and above the diagonal.
const BlockRitz::Tiles& BlockRitz::tiles_of(int blocks, int known) {
  Tiles& tiles = tiles_[{blocks, known}];
  if (!tiles.host.empty()) return tiles;
  const int per_block = columns_ / tile_;
  const auto has_product = [&](int block) { return (known >> block & 1) != 0; };
  for (const bool with_product : {false, true}) {
    for (int i = 0; i < blocks * per_block; ++i) {
      for (int j = i; j < blocks * per_block; ++j) {
        // M is symmetric: one of the two has to have a product.
        const bool turned = with_product && !has_product(j / per_block);
        if (turned && !has_product(i / per_block)) continue;
        const int left = turned ? j : i;
        const int right = turned ? i : j;
        tiles.host.push_back({left / per_block, left % per_block,
                              (with_product ? 3 : 0) + right / per_block, right % per_block});
      }
    }
  }
  std::vector<cl_int4> all;
  for (const auto& tile : tiles.host) all.push_back({{tile[0], tile[1], tile[2], tile[3]}});
  tiles.device = context_->allocate<cl_int4>(all.size(), "tiles of the Gram matrices");
  tiles.device.upload(all);
  return tiles;
}

std::vector<BlockRitz::Gram> BlockRitz::gram(const std::array<Buffer<float>*, 3>& s,
                                             const std::array<Buffer<float>*, 3>& ms, int blocks,
                                             const Segments& rows) {
  int known = 0;
  for (int b = 0; b < blocks; ++b) {
    if (ms[static_cast<std::size_t>(b)] != nullptr) known |= 1 << b;
  }
  const Tiles& tiles = tiles_of(blocks, known);
  const auto count = static_cast<int>(tiles.host.size());
  const bool cpu = is_cpu(context_->info());
  const std::size_t group = cpu ? 1
                                : std::min({round_up(static_cast<std::size_t>(count), 32),
                                            kGramGroup, context_->info().max_work_group});
  const Groups groups = few_groups(rows);
  const UsedBlocks used = used_blocks(blocks, known);
  cl_uint index = 0;
  with_device_errors("setting a kernel's arguments", [&] {
    for (const auto& set : {s, ms}) {
      for (int b = 0; b < 3; ++b) {
        const Buffer<float>* block = b < blocks ? set[static_cast<std::size_t>(b)] : nullptr;
        gram_.setArg(index++, (block != nullptr ? *block : *s[0]).cl());
      }
    }
    gram_.setArg(index++, tiles.device.cl());
    gram_.setArg(index++, static_cast<cl_uint>(count));
    for (const cl_uint value : {used.count, used.slots, used.places}) gram_.setArg(index++, value);
    gram_.setArg(index++, static_cast<cl_ulong>(rows.rows));
    gram_.setArg(index++, static_cast<cl_ulong>(rows.pitch));
    gram_.setArg(index++, static_cast<cl_ulong>(groups.chunk));
    gram_.setArg(index++, static_cast<cl_uint>(groups.each));
    gram_.setArg(index++, active_->list().cl());
    gram_.setArg(index++, partials_.cl());
    // Local memory of size 0 is no argument.
    gram_.setArg(index++, cl::Local((cpu ? 1 : lines_ * used.count) *
                                    static_cast<std::size_t>(columns_) * sizeof(float)));
  });
  context_->launch(gram_, cl::NDRange(round_up(static_cast<std::size_t>(count), group), groups.all),
                   cl::NDRange(group, 1));
  const auto values = static_cast<std::size_t>(count * tile_ * tile_);
  with_device_errors("setting a kernel's arguments", [&] {
    sum_.setArg(0, partials_.cl());
    sum_.setArg(1, static_cast<cl_uint>(groups.each));
    sum_.setArg(2, static_cast<cl_uint>(values));
    sum_.setArg(3, sums_.cl());
  });
  context_->launch(sum_, cl::NDRange(round_up(values, kRowGroup), active_->count()),
                   cl::NDRange(kRowGroup, 1));
  const std::vector<double> sums = sums_.download(values * active_->count());
  std::vector<Gram> result;
  for (std::size_t segment = 0; segment < active_->count(); ++segment) {
    result.push_back(gram_of(std::span(sums).subspan(segment * values, values), tiles, blocks));
  }
  return result;
}

/// Both triangles out of the tiles' sums.
BlockRitz::Gram BlockRitz::gram_of(std::span<const double> sums, const Tiles& tiles,
                                   int blocks) const {
  Gram result;
  result.side = blocks * columns_;
  const auto side = static_cast<std::size_t>(result.side);
  result.with_self.assign(side * side, 0);
  result.with_product.assign(side * side, 0);
  const auto tile_values = static_cast<std::size_t>(tile_ * tile_);
  for (std::size_t t = 0; t < tiles.host.size(); ++t) {
    const auto& tile = tiles.host[t];
    std::vector<double>& out = tile[2] >= 3 ? result.with_product : result.with_self;
    const int first_row = tile[0] * columns_ + tile[1] * tile_;
    const int first_col = tile[2] % 3 * columns_ + tile[3] * tile_;
    for (int i = 0; i < tile_; ++i) {
      for (int j = 0; j < tile_; ++j) {
        const double value = sums[t * tile_values + static_cast<std::size_t>(i * tile_ + j)];
        const auto row = static_cast<std::size_t>(first_row + i);
        const auto col = static_cast<std::size_t>(first_col + j);
        out[row * side + col] = value;
        out[col * side + row] = value;
      }
    }
  }
  return result;
}

void BlockRitz::rotation(const std::vector<float>& rotation) { rotation_.upload(rotation); }

void BlockRitz::combine(const std::array<Buffer<float>*, 3>& s, int blocks, const Segments& rows) {
  const std::size_t old = 3 * combined_rows_ * static_cast<std::size_t>(columns_) * sizeof(float);
  const Groups groups = groups_of(rows, combined_rows_);
  with_device_errors("setting a kernel's arguments", [&] {
    combine_.setArg(0, s[0]->cl());
    combine_.setArg(1, s[1]->cl());
    combine_.setArg(2, s[2]->cl());
    combine_.setArg(3, rotation_.cl());
    combine_.setArg(4, static_cast<cl_uint>(blocks));
    combine_.setArg(5, static_cast<cl_ulong>(rows.rows));
    combine_.setArg(6, static_cast<cl_ulong>(rows.pitch));
    combine_.setArg(7, static_cast<cl_uint>(groups.each));
    combine_.setArg(8, active_->list().cl());
    combine_.setArg(9, cl::Local(old));
  });
  context_->launch(combine_, cl::NDRange(groups.all * combine_group_), cl::NDRange(combine_group_));
}

void BlockRitz::theta(const std::vector<float>& theta) { theta_.upload(theta); }

std::vector<double> BlockRitz::residual(const Buffer<float>& x, const Segments& rows,
                                        Buffer<float>& product) {
  const Groups groups = many_groups(rows);
  set_arguments(residual_, x, theta_, rows.rows, rows.pitch, groups.chunk,
                static_cast<int>(groups.each), active_->list(), product);
  with_device_errors("setting a kernel's arguments", [&] { residual_.setArg(8, partials_.cl()); });
  context_->launch(residual_, cl::NDRange(sets_, groups.all), cl::NullRange);
  std::vector<double> norms = column_sums(groups);
  for (double& norm : norms) norm = std::sqrt(std::max(norm, 0.0));
  return norms;
}

void BlockRitz::divide(const Buffer<float>& x, const Buffer<float>& s, std::size_t rows,
                       Buffer<float>& y) {
  set_arguments(divide_, x, s, rows, y);
  context_->launch(divide_, cl::NDRange(round_up(rows * sets_, kRowGroup)), cl::NDRange(kRowGroup));
}

std::vector<double> BlockRitz::quadratic_form(const GridMatrix& matrix,
                                              std::span<const GridDiagonal> diagonals,
                                              const Buffer<float>& s, const Buffer<float>& y,
                                              const Segments& rows, Buffer<float>& t) {
  const auto stride = static_cast<std::size_t>(matrix.layout.stride);
  std::vector<std::int64_t> offsets;
  for (const GridDiagonal& each : diagonals) {
    offsets.push_back(static_cast<std::int64_t>(each.dy) * matrix.layout.stride + each.dx);
  }
  std::vector<cl_int2> upper = upper_diagonals(offsets, matrix.layout.rows());
  const std::size_t count = upper.size();
  if (count == 0) upper.push_back({{0, 0}});  // No buffer is empty.
  auto device_upper = context_->allocate<cl_int2>(upper.size(), "upper diagonals");
  device_upper.upload(upper);
  cl::Kernel& kernel = quadratics_[matrix.form()];
  if (kernel() == nullptr) {
    kernel =
        context_->kernel(kFile, "block_quadratic",
                         fmt::format("{} {}", options_, matrix_options(diagonals, matrix.form())));
  }
  const std::size_t total = rows.pitch * active_->all();
  set_arguments_from(kernel, set_matrix(kernel, matrix), stride, device_upper,
                     static_cast<int>(count), s, y, total, t);
  context_->launch(kernel, cl::NDRange(round_up(total * sets_, kRowGroup)), cl::NDRange(kRowGroup));
  const Groups groups = many_groups(rows);
  set_arguments(columns_sums_, t, rows.rows, rows.pitch, groups.chunk,
                static_cast<int>(groups.each), active_->list());
  with_device_errors("setting a kernel's arguments",
                     [&] { columns_sums_.setArg(6, partials_.cl()); });
  context_->launch(columns_sums_, cl::NDRange(sets_, groups.all), cl::NullRange);
  return column_sums(groups);
}

std::vector<float> BlockRitz::peaks(const Buffer<float>& x, const Segments& rows,
                                    Buffer<float>& t) {
  const Groups groups = few_groups(rows);
  const auto wide = static_cast<std::size_t>(columns_);
  set_arguments(peaks_, x, rows.rows, rows.pitch, groups.chunk, static_cast<int>(groups.each),
                active_->list(), t);
  context_->launch(peaks_, cl::NDRange(round_up(wide, 8), groups.all), cl::NullRange);
  std::vector<float> each(groups.all * wide);
  t.download(std::span<float>(each));
  std::vector<float> result(active_->count() * wide, 0.0F);
  for (std::size_t at = 0; at < each.size(); ++at) {
    float& peak = result[at / wide / groups.each * wide + at % wide];
    if (std::abs(each[at]) > std::abs(peak)) peak = each[at];
  }
  return result;
}

void BlockRitz::dense(const Buffer<float>& matrices, std::size_t rows, const Buffer<float>& b,
                      Buffer<float>& out) {
  const std::size_t each = rows / active_->all();
  set_arguments(dense_, matrices, static_cast<int>(each), b, out, active_->list());
  context_->launch(dense_, cl::NDRange(round_up(each * sets_, kRowGroup), active_->count()),
                   cl::NDRange(kRowGroup, 1));
}

void BlockRitz::insert(const Buffer<float>& vector, const std::vector<float>& factors,
                       std::size_t rows, int column, Buffer<float>& x) {
  factors_.upload(factors);
  set_arguments(insert_, vector, factors_, rows / active_->all(), rows, column, x);
  context_->launch(insert_, cl::NDRange(round_up(rows, kRowGroup)), cl::NDRange(kRowGroup));
}

void BlockRitz::columns_wanted(const std::vector<std::int32_t>& columns) { order_.upload(columns); }

void BlockRitz::extract(const Buffer<float>& x, std::size_t first, std::size_t rows, std::size_t at,
                        int count, std::size_t pitch, Buffer<float>& basis) {
  set_arguments(extract_, x, first, rows, pitch, order_, static_cast<int>(at), basis);
  launch_rows(*context_, extract_, pitch, static_cast<std::size_t>(count));
}

}  // namespace diacut
