#include "eigen/lobpcg/block_ritz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "opencl/arguments.hpp"

namespace diacut {

namespace {

constexpr char kFile[] = "eigen/lobpcg/block_ritz.cl";
/// Elements that are summed in float before the sum goes on in double.
constexpr std::size_t kFloats = 32;

/// At most so many lists of tiles are in use: of one, two and three blocks, and of two with each
/// other, for each width.
constexpr std::size_t kTileLists = 4;

bool is_cpu(const DeviceInfo& device) { return device.kind == DeviceKind::kCpu; }

int tile_of(bool cpu) { return cpu ? 8 : 4; }

/// Elements of one group of partial sums. On a CPU they stay in its cache while all tiles pass over
/// them.
std::size_t chunk_for(bool cpu, std::size_t rows) {
  const std::size_t most_groups = 512;
  const std::size_t least = cpu ? 512 : 64;
  return std::max(least, round_up(round_up(rows, most_groups) / most_groups, kFloats));
}

/// The same for sums of columns, of which there is little to keep: a GPU wants many.
std::size_t column_chunk(bool cpu, std::size_t rows) {
  return cpu ? chunk_for(true, rows) : std::max<std::size_t>(256, chunk_for(false, rows) / 16);
}

/// Tiles on and above the diagonal of both Gram matrices of `blocks` blocks.
std::size_t tile_count(int columns, int tile, int blocks) {
  const std::size_t side =
      static_cast<std::size_t>(columns / tile) * static_cast<std::size_t>(blocks);
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

/// Floats at a multiple of which parts of a buffer begin.
constexpr std::size_t kAligned = 16;

/// Work-items of a group of block_gram on a GPU: with blocks of 24 vectors all 342 tiles.
constexpr std::size_t kGramGroup = 352;

}  // namespace

std::size_t BlockRitz::memory(int columns, std::size_t max_rows, std::size_t segments) {
  const auto wide = static_cast<std::size_t>(columns);
  std::size_t most = 0;
  for (const bool cpu : {false, true}) {
    const std::size_t tiles = tile_count(columns, tile_of(cpu), 3);
    const std::size_t tile_values =
        static_cast<std::size_t>(tile_of(cpu)) * static_cast<std::size_t>(tile_of(cpu));
    most = std::max(most, partial_count(cpu, columns, max_rows, segments) * sizeof(std::uint64_t) +
                              tiles * (segments * tile_values * sizeof(std::uint64_t) +
                                       kTileLists * wide / 4 * sizeof(cl_int4)));
  }
  return most + (2 * kAligned + segments * (3 * wide * wide + 8 * wide + 1)) * sizeof(float);
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
      sum_values_(is_cpu(context.info()) ? 8 : 16),
      sum_lanes_(is_cpu(context.info()) || context.info().max_work_group < 256 ? 1 : 16),
      partials_(context, partial_count(is_cpu(context.info()), columns, max_rows, active_->all()),
                "partial dot products"),
      sums_(context,
            active_->all() * tile_count(columns, tile_, 3) * static_cast<std::size_t>(tile_) *
                static_cast<std::size_t>(tile_),
            "dot products"),
      step_(
          context,
          2 * kAligned + active_->all() * static_cast<std::size_t>((3 * columns + 2) * columns + 1),
          "a rotation of blocks"),
      chosen_(context, active_->all() * static_cast<std::size_t>(2 * columns),
              "columns of a block"),
      order_(context, active_->all() * static_cast<std::size_t>(columns), "columns of a block") {
  const std::string options = fmt::format(
      "{} -DTILE={} -DFLOATS={} -DLINES={} -DROWS={} -DAT_ONCE={} -DGROUP={} "
      "-DVALUES={} -DLANES={}",
      block_options(context.info(), columns), tile_, kFloats, lines_, combined_rows_,
      std::min<std::size_t>(combined_rows_, is_cpu(context.info()) ? 8 : 4), combine_group_,
      sum_values_, sum_lanes_);
  gram_ = context.kernel(kFile, "block_gram", options);
  sum_ = context.kernel(kFile, "block_sum", options);
  combine_ = context.kernel(kFile, "block_combine", options);
  project_ = context.kernel(kFile, "block_project", options);
  gather_ = context.kernel(kFile, "block_gather", options);
  rest_ = context.kernel(kFile, "block_rest", options);
  residual_ = context.kernel(kFile, "block_residual", options);
  squares_ = context.kernel(kFile, "block_squares", options);
  columns_sums_ = context.kernel(kFile, "block_columns", options);
  dense_ = context.kernel(kFile, "block_dense", options);
  insert_ = context.kernel(kFile, "block_insert", options);
  extract_ = context.kernel(kFile, "block_extract", options);
  divide_ = context.kernel(kFile, "block_divide", options);
  peaks_ = context.kernel(kFile, "block_peaks", options);
  peaks_join_ = context.kernel(kFile, "block_peaks_join", options);
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
  return groups_of(rows, column_chunk(is_cpu(context_->info()), rows.rows));
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
  return wait_for_sums(wide * active_->count());
}

std::vector<double> BlockRitz::wait_for_sums(std::size_t count) {
  std::vector<double> sums = sums_.download(count);
  uploaded_.clear();
  return sums;
}

std::span<const std::int32_t> BlockRitz::keep(std::vector<std::int32_t> words) {
  return uploaded_.emplace_back(std::move(words));
}

int BlockRitz::correction_columns(int wanted) const {
  return static_cast<int>(
      round_up(static_cast<std::size_t>(std::max(wanted, 1)), static_cast<std::size_t>(tile_)));
}

/// Those on and above the diagonal.
const BlockRitz::Tiles& BlockRitz::gram_tiles(int blocks, int known, int width) {
  Tiles& tiles = tiles_[{blocks, known, width}];
  if (!tiles.host.empty()) return tiles;
  const auto has_product = [&](int block) { return (known >> block & 1) != 0; };
  for (const bool with_product : {false, true}) {
    for (int first = 0; first < blocks; ++first) {
      for (int second = first; second < blocks; ++second) {
        // M is symmetric: one of the two has to have a product.
        const bool turned = with_product && !has_product(second);
        if (turned && !has_product(first)) continue;
        for (int i = 0; i < parts_of(first, width); ++i) {
          for (int j = first == second ? i : 0; j < parts_of(second, width); ++j) {
            const int product = with_product ? 3 : 0;
            if (turned) {
              tiles.host.push_back({second, j, product + first, i});
            } else {
              tiles.host.push_back({first, i, product + second, j});
            }
          }
        }
      }
    }
  }
  finish_tiles(tiles, width);
  return tiles;
}

const BlockRitz::Tiles& BlockRitz::cross_tiles(int width) {
  Tiles& tiles = tiles_[{0, 0, width}];
  if (!tiles.host.empty()) return tiles;
  for (int i = 0; i < parts_of(0, width); ++i) {
    for (int j = 0; j < parts_of(1, width); ++j) tiles.host.push_back({0, i, 1, j});
  }
  for (int i = 0; i < parts_of(0, width); ++i) tiles.host.push_back({0, i, 0, i});
  finish_tiles(tiles, width);
  return tiles;
}

/// On a GPU the tiles name parts of a line that holds those blocks alone which have tiles.
void BlockRitz::finish_tiles(Tiles& tiles, int width) {
  std::array<int, 6> first{};
  std::vector<cl_int2> parts;
  for (int block = 0; block < 6; ++block) {
    const bool used = std::any_of(tiles.host.begin(), tiles.host.end(), [block](const auto& tile) {
      return tile[0] == block || tile[2] == block;
    });
    first[static_cast<std::size_t>(block)] = static_cast<int>(parts.size());
    for (int i = 0; used && i < parts_of(block, width); ++i) parts.push_back({{block, i}});
  }
  const bool cpu = is_cpu(context_->info());
  std::vector<cl_int4>& all = tiles.all;
  for (const auto& [left, i, right, j] : tiles.host) {
    if (cpu) {
      all.push_back({{left, i, right, j}});
    } else {
      all.push_back({{first[static_cast<std::size_t>(left)] + i,
                      first[static_cast<std::size_t>(right)] + j, 0, 0}});
    }
  }
  tiles.parts = parts.size();
  for (std::size_t i = 0; i < parts.size(); i += 2) {
    const cl_int2 second = parts[std::min(i + 1, parts.size() - 1)];
    all.push_back({{parts[i].s[0], parts[i].s[1], second.s[0], second.s[1]}});
  }
  tiles.device = context_->allocate<cl_int4>(all.size(), "tiles of the Gram matrices");
  tiles.device.upload_later(all);
}

void BlockRitz::launch_gram(const std::array<const Buffer<float>*, 6>& blocks, const Tiles& tiles,
                            int width, const Segments& rows) {
  const std::size_t count = tiles.host.size();
  const bool cpu = is_cpu(context_->info());
  const std::size_t group =
      cpu ? 1 : std::min({round_up(count, 32), kGramGroup, context_->info().max_work_group});
  const Groups groups = few_groups(rows);
  cl_uint index = 0;
  with_device_errors("setting a kernel's arguments", [&] {
    for (const Buffer<float>* block : blocks) {
      gram_.setArg(index++, (block != nullptr ? *block : *blocks[0]).cl());
    }
    // Local memory of size 0 is no argument.
    const std::size_t line = cpu ? 1 : lines_ * tiles.parts * static_cast<std::size_t>(tile_);
    set_arguments_from(gram_, index, width, tiles.device, static_cast<int>(count),
                       static_cast<int>(tiles.parts), rows.rows, rows.pitch, groups.chunk,
                       static_cast<int>(groups.each), active_->list());
    gram_.setArg(index + 9, partials_.cl());
    gram_.setArg(index + 10, cl::Local(line * sizeof(float)));
  });
  context_->launch(gram_, cl::NDRange(round_up(count, group), groups.all), cl::NDRange(group, 1));
  const std::size_t values = count * static_cast<std::size_t>(tile_ * tile_);
  with_device_errors("setting a kernel's arguments", [&] {
    sum_.setArg(0, partials_.cl());
    sum_.setArg(1, static_cast<cl_uint>(groups.each));
    sum_.setArg(2, static_cast<cl_uint>(values));
    sum_.setArg(3, sums_.cl());
  });
  context_->launch(sum_, cl::NDRange(round_up(values, sum_values_) * sum_lanes_, active_->count()),
                   cl::NDRange(sum_values_ * sum_lanes_, 1));
}

std::vector<BlockRitz::Gram> BlockRitz::gram(const std::array<Buffer<float>*, 3>& s,
                                             const std::array<Buffer<float>*, 3>& ms, int blocks,
                                             int width, const Segments& rows) {
  int known = 0;
  std::array<const Buffer<float>*, 6> all{};
  for (int b = 0; b < blocks; ++b) {
    const auto at = static_cast<std::size_t>(b);
    all[at] = s[at];
    all[at + 3] = ms[at];
    if (ms[at] != nullptr) known |= 1 << b;
  }
  const Tiles& tiles = gram_tiles(blocks, known, width);
  launch_gram(all, tiles, width, rows);
  const std::size_t values = tiles.host.size() * static_cast<std::size_t>(tile_ * tile_);
  const std::vector<double> sums = wait_for_sums(values * active_->count());
  std::vector<Gram> result;
  for (std::size_t segment = 0; segment < active_->count(); ++segment) {
    result.push_back(
        gram_of(std::span(sums).subspan(segment * values, values), tiles, blocks, width));
  }
  return result;
}

/// Both triangles out of the tiles' sums.
BlockRitz::Gram BlockRitz::gram_of(std::span<const double> sums, const Tiles& tiles, int blocks,
                                   int width) const {
  Gram result;
  result.side = columns_ + (blocks - 1) * width;
  const auto side = static_cast<std::size_t>(result.side);
  result.with_self.assign(side * side, 0);
  result.with_product.assign(side * side, 0);
  const auto tile_side = static_cast<std::size_t>(tile_);
  const std::size_t tile_values = tile_side * tile_side;
  const auto first_of = [&](int block, int part) {
    return (block == 0 ? 0 : columns_ + (block - 1) * width) + part * tile_;
  };
  for (std::size_t t = 0; t < tiles.host.size(); ++t) {
    const auto& tile = tiles.host[t];
    std::vector<double>& out = tile[2] >= 3 ? result.with_product : result.with_self;
    const int first_row = first_of(tile[0], tile[1]);
    const int first_col = first_of(tile[2] % 3, tile[3]);
    for (int i = 0; i < tile_; ++i) {
      for (int j = 0; j < tile_; ++j) {
        const double value = sums[t * tile_values + static_cast<std::size_t>(i * tile_ + j)];
        const auto row = static_cast<std::size_t>(first_row) + static_cast<std::size_t>(i);
        const auto col = static_cast<std::size_t>(first_col) + static_cast<std::size_t>(j);
        out[row * side + col] = value;
        out[col * side + row] = value;
      }
    }
  }
  return result;
}

void BlockRitz::project(const Buffer<float>& x, int width, const Segments& rows, Buffer<float>& w) {
  launch_gram({&x, &w}, cross_tiles(width), width, rows);
  const Groups groups = groups_of(rows, combined_rows_);
  with_device_errors("setting a kernel's arguments", [&] {
    project_.setArg(0, x.cl());
    project_.setArg(1, sums_.cl());
    set_arguments_from(project_, 2, width, rows.rows, rows.pitch, static_cast<int>(groups.each),
                       active_->list(), w);
    project_.setArg(8, cl::Local(static_cast<std::size_t>(columns_ * width) * sizeof(float)));
  });
  context_->launch(project_, cl::NDRange(groups.all * combine_group_), cl::NDRange(combine_group_));
}

void BlockRitz::step(std::span<const float> theta, std::span<const std::int32_t> places,
                     std::span<const float> rotation) {
  places_at_ = round_up(theta.size(), kAligned);
  rotation_at_ = round_up(places_at_ + places.size(), kAligned);
  std::vector<std::int32_t> words(rotation.empty() ? theta.size() : rotation_at_ + rotation.size());
  const auto bits = [](float value) { return std::bit_cast<std::int32_t>(value); };
  std::transform(theta.begin(), theta.end(), words.begin(), bits);
  if (!rotation.empty()) {
    std::copy(places.begin(), places.end(), words.data() + places_at_);
    std::transform(rotation.begin(), rotation.end(), words.data() + rotation_at_, bits);
  }
  step_.upload_later(keep(std::move(words)));
}

void BlockRitz::combine(const std::array<Buffer<float>*, 3>& s, int blocks, int width,
                        const Segments& rows, Buffer<float>& out) {
  const std::size_t old =
      combined_rows_ * static_cast<std::size_t>(columns_ + (blocks - 1) * width) * sizeof(float);
  const Groups groups = groups_of(rows, combined_rows_);
  const Buffer<float>& w = blocks > 1 ? *s[1] : *s[0];
  const Buffer<float>& p = blocks > 2 ? *s[2] : *s[0];
  set_arguments(combine_, *s[0], w, p, out, step_, static_cast<int>(places_at_),
                static_cast<int>(rotation_at_), blocks, width, rows.rows, rows.pitch,
                static_cast<int>(groups.each), active_->list());
  with_device_errors("setting a kernel's arguments", [&] { combine_.setArg(13, cl::Local(old)); });
  context_->launch(combine_, cl::NDRange(groups.all * combine_group_), cl::NDRange(combine_group_));
}

void BlockRitz::choose(std::span<const std::int32_t> of_rest,
                       std::span<const std::int32_t> of_gather) {
  std::vector<std::int32_t> both(of_rest.begin(), of_rest.end());
  both.insert(both.end(), of_gather.begin(), of_gather.end());
  gathered_at_ = of_rest.size();
  chosen_.upload_later(keep(std::move(both)));
}

void BlockRitz::launch_gather(cl::Kernel& kernel, const Segments& rows, int width) {
  const auto sets = static_cast<std::size_t>(width / block_vector(context_->info()));
  context_->launch(kernel, cl::NDRange(round_up(rows.pitch * sets, kRowGroup), active_->count()),
                   cl::NDRange(kRowGroup, 1));
}

void BlockRitz::rest(const Buffer<float>& x, const Buffer<float>& product, int width,
                     const Segments& rows, Buffer<float>& out) {
  set_arguments(rest_, x, product, step_, chosen_, width, rows.rows, rows.pitch, active_->list(),
                out);
  launch_gather(rest_, rows, width);
}

void BlockRitz::gather(const Buffer<float>& in, int from, int width, const Segments& rows,
                       Buffer<float>& out) {
  set_arguments(gather_, in, from, chosen_, static_cast<int>(gathered_at_), width, rows.rows,
                rows.pitch, active_->list(), out);
  launch_gather(gather_, rows, width);
}

std::vector<double> BlockRitz::residual(const Buffer<float>& x, const Segments& rows,
                                        const Buffer<float>& product) {
  const Groups groups = many_groups(rows);
  set_arguments(residual_, x, step_, rows.rows, rows.pitch, groups.chunk,
                static_cast<int>(groups.each), active_->list(), product);
  with_device_errors("setting a kernel's arguments", [&] { residual_.setArg(8, partials_.cl()); });
  context_->launch(residual_, cl::NDRange(groups.all * combine_group_),
                   cl::NDRange(combine_group_));
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
  BlockQuadratic& quadratic =
      quadratics_.try_emplace(matrix.form(), *context_, diagonals, columns_, matrix.form())
          .first->second;
  quadratic.launch(matrix, s, y, rows.pitch * active_->all(), t);
  const Groups groups = many_groups(rows);
  set_arguments(columns_sums_, t, rows.rows, rows.pitch, groups.chunk,
                static_cast<int>(groups.each), active_->list());
  with_device_errors("setting a kernel's arguments",
                     [&] { columns_sums_.setArg(6, partials_.cl()); });
  context_->launch(columns_sums_, cl::NDRange(groups.all * combine_group_),
                   cl::NDRange(combine_group_));
  return column_sums(groups);
}

std::vector<float> BlockRitz::peaks(const Buffer<float>& x, const Segments& rows,
                                    Buffer<float>& t) {
  const Groups groups = few_groups(rows);
  const auto wide = static_cast<std::size_t>(columns_);
  set_arguments(peaks_, x, rows.rows, rows.pitch, groups.chunk, static_cast<int>(groups.each),
                active_->list(), t);
  context_->launch(peaks_, cl::NDRange(round_up(wide, 8), groups.all), cl::NullRange);
  const auto found = context_->allocate<float>(active_->count() * wide, "entries of vectors");
  set_arguments(peaks_join_, t, static_cast<int>(groups.each), found);
  context_->launch(peaks_join_, cl::NDRange(wide * combine_group_, active_->count()),
                   cl::NDRange(combine_group_, 1));
  return found.download();
}

void BlockRitz::dense(const Buffer<float>& matrices, std::size_t rows, const Buffer<float>& b,
                      Buffer<float>& out, int columns) {
  const std::size_t each = rows / active_->all();
  const int sets = columns / block_vector(context_->info());
  set_arguments(dense_, matrices, static_cast<int>(each), b, out, active_->list(), sets);
  context_->launch(
      dense_,
      cl::NDRange(round_up(each * static_cast<std::size_t>(sets), kRowGroup), active_->count()),
      cl::NDRange(kRowGroup, 1));
}

void BlockRitz::insert(const Buffer<float>& vector, const Buffer<float>& factors, std::size_t at,
                       std::size_t rows, int column, Buffer<float>& x) {
  set_arguments(insert_, vector, factors, at, rows / active_->all(), rows, column, x);
  context_->launch(insert_, cl::NDRange(round_up(rows, kRowGroup)), cl::NDRange(kRowGroup));
}

void BlockRitz::columns_wanted(std::vector<std::int32_t> columns) {
  order_.upload_later(keep(std::move(columns)));
}

void BlockRitz::extract(const Buffer<float>& x, std::size_t first, std::size_t rows, std::size_t at,
                        int count, std::size_t pitch, Buffer<float>& basis) {
  set_arguments(extract_, x, first, rows, pitch, order_, static_cast<int>(at), count, basis);
  const std::size_t lines =
      combined_rows_ * (static_cast<std::size_t>(columns_) + 1) * sizeof(float);
  with_device_errors("setting a kernel's arguments", [&] { extract_.setArg(8, cl::Local(lines)); });
  const std::size_t groups = round_up(pitch, combined_rows_) / combined_rows_;
  context_->launch(extract_, cl::NDRange(groups * combine_group_), cl::NDRange(combine_group_));
}

}  // namespace diacut
