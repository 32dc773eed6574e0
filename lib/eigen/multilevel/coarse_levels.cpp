#include "eigen/multilevel/coarse_levels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "core/parallel.hpp"
#include "eigen/multilevel/coarsest_level.hpp"
#include "eigen/multilevel/level_degrees.hpp"

namespace diacut {

namespace {

/// Of compressed matrices.
constexpr MatvecStorage kStorage = MatvecStorage::kHalf;
/// A grid of at most so many elements is solved densely.
constexpr std::size_t kLastRows = 256;
/// And one of at most so many is, when few of them have data.
constexpr std::size_t kMostLastRows = 1024;
/// The smoother damps the eigenvalues of I - A from here to those below. The interpolation carries
/// what is slower over to the coarser grid.
constexpr double kSmoothFrom = 0.1;
/// Affinities may have negative eigenvalues, coarse matrices, P'A = A gain A, have none.
constexpr double kSmoothTo = 1.36;
constexpr double kSmoothToCoarse = 1.02;

/// Bytes of flags, and of sums of degrees, that there are beside matrices and vectors, at most.
constexpr std::size_t kBuilding = std::size_t{1} << 20;

/// The inverse roots of the Chebyshev polynomial on [from, to]: x += w (b - (I - A) x) for each in
/// turn damps the error there the most.
std::array<double, CoarseLevels::kSmoothing> smoother(bool finest) {
  const double to = finest ? kSmoothTo : kSmoothToCoarse;
  std::array<double, CoarseLevels::kSmoothing> steps{};
  for (int k = 0; k < CoarseLevels::kSmoothing; ++k) {
    const double root = std::cos(std::numbers::pi * (2 * k + 1) / (2 * CoarseLevels::kSmoothing));
    steps[static_cast<std::size_t>(k)] =
        1 / ((to + kSmoothFrom) / 2 - (to - kSmoothFrom) / 2 * root);
  }
  return steps;
}

GridLayout coarser(const GridLayout& fine) {
  GridLayout coarse;
  coarse.width = (fine.width + 1) / 2;
  coarse.height = (fine.height + 1) / 2;
  coarse.stride = coarse.width;
  coarse.pitch = dia_pitch(coarse.rows());
  return coarse;
}

/// How many of the levels, whose images have `counts` elements with data, are of use: none if an
/// image has fewer than `least`; coarse ones as long as each has `coarse_least`.
std::size_t levels_with(const std::vector<std::uint32_t>& counts, std::size_t images,
                        std::size_t least, std::size_t coarse_least) {
  std::size_t level = 0;
  for (; level < counts.size() / images; ++level) {
    const auto own = counts.begin() + static_cast<std::ptrdiff_t>(level * images);
    const auto fewest = *std::min_element(own, own + static_cast<std::ptrdiff_t>(images));
    if (fewest < (level == 0 ? least : coarse_least)) break;
  }
  return level;
}

}  // namespace

std::vector<GridDiagonal> diagonals_of(const Stencil& stencil) {
  std::vector<GridDiagonal> diagonals;
  for (const StencilOffset& entry : stencil.entries) diagonals.push_back({entry.dx, entry.dy});
  return diagonals;
}

CoarseLevels::CoarseLevels(Context& context, const std::vector<GridDiagonal>& diagonals,
                           int columns, int images, MatrixForm form)
    : context_(&context),
      columns_(columns),
      images_(images),
      diagonals_(diagonals),
      active_(std::make_shared<ActiveSegments>(context, images)),
      product_(context, diagonals, columns, form, active_),
      transfer_(context, diagonals, columns, form, active_),
      dense_(context, columns, active_),
      block_columns_(context, columns) {}

GridMatrix CoarseLevels::Level::matrix() const {
  if (compressed == nullptr) return {*values, layout};
  return {compressed->upper, compressed->diagonal, compressed->layout.stride, layout};
}

int CoarseLevels::batched_height(const Grid& image, const Stencil& stencil) {
  GridLayout layout{image.width, image.height + stencil.radius, image.stride, 0};
  int halvings = 0;
  for (; layout.rows() > kLastRows; layout = coarser(layout)) ++halvings;
  return layout.height << halvings;
}

Segments CoarseLevels::segments(int level) const {
  const GridLayout& layout = at(level).layout;
  return {
      static_cast<std::size_t>(layout.stride) * static_cast<std::size_t>(at(level).image_height),
      layout.rows() / static_cast<std::size_t>(images_)};
}

CoarseLevels::Memory CoarseLevels::memory(const Batch& batch, const Stencil& stencil, int columns,
                                          MatrixForm form) {
  Grid grid = batch.grid();
  const auto wide = static_cast<std::size_t>(columns);
  const auto images = static_cast<std::size_t>(batch.count);
  std::size_t floats = images * kMostLastRows * kMostLastRows;
  std::size_t bytes = 0;
  std::size_t building = 0;
  std::size_t levels = 1;
  for (; grid.rows() > kLastRows * images; ++levels) {
    floats += grid.rows();
    grid = {(grid.width + 1) / 2, (grid.height + 1) / 2, (grid.width + 1) / 2};
    floats += grid.rows() * (1 + 2 * wide);
    const std::size_t dia = dia_pitch(grid.rows()) * stencil.size() * sizeof(float);
    if (building == 0) building = dia + kBuilding + 2 * grid.rows() * 4 * sizeof(float);
    if (form == MatrixForm::kDia || grid.rows() <= kMostLastRows * images) {
      bytes += dia;  // The last level is not compressed.
    }
    if (form == MatrixForm::kCompressed) {
      MemoryBudget level;
      budget_symmetric(level, grid, stencil, kStorage, false);
      bytes += level.total();
    }
  }
  bytes += level_degrees_memory(batch.image.pixels(), images, levels);
  return {floats * sizeof(float) + bytes, building};
}

std::optional<CoarseLevels> CoarseLevels::build(Context& context, const DiaMatrix& matrix,
                                                const Batch& batch, const Stencil& stencil,
                                                const Buffer<float>& sqrt_degree, std::size_t least,
                                                int columns) {
  return build(context, matrix, nullptr, nullptr, batch, stencil, sqrt_degree, least, columns);
}

std::optional<CoarseLevels> CoarseLevels::build(Context& context, DiaMatrix&& matrix,
                                                const SymmetricDia& compressed, const Batch& batch,
                                                const Stencil& stencil,
                                                const Buffer<float>& sqrt_degree, std::size_t least,
                                                int columns) {
  return build(context, matrix, &matrix, &compressed, batch, stencil, sqrt_degree, least, columns);
}

std::optional<CoarseLevels> CoarseLevels::build(Context& context, const DiaMatrix& matrix,
                                                DiaMatrix* freed, const SymmetricDia* compressed,
                                                const Batch& batch, const Stencil& stencil,
                                                const Buffer<float>& sqrt_degree, std::size_t least,
                                                int columns) {
  if (stencil.radius < 2) return std::nullopt;  // A pixel between four kept ones reaches none.
  const auto wide = static_cast<std::size_t>(columns);
  const auto images = static_cast<std::size_t>(batch.count);
  const Grid grid = batch.grid();
  std::vector<GridLayout> layouts = {{grid.width, grid.height, grid.stride, matrix.shape.pitch}};
  while (layouts.back().rows() > kLastRows * images) layouts.push_back(coarser(layouts.back()));
  LevelDegrees degrees =
      level_degrees(context, sqrt_degree, grid.width, batch.image.height, grid.stride,
                    batch.segment(), batch.count, static_cast<int>(layouts.size()));
  std::vector<std::uint32_t> counts(degrees.counts.size());
  const auto enough = [&] { return levels_with(counts, images, least, 3 * wide); };
  if (compressed != nullptr) {
    // Levels that turn out to be too many could not be left out again: their matrices are gone.
    degrees.counts.download(std::span(counts));
    layouts.resize(enough());
  }
  if (layouts.size() < 2) return std::nullopt;

  const std::vector<GridDiagonal> diagonals = diagonals_of(stencil);
  CoarseLevels result(context, diagonals, columns, batch.count,
                      compressed != nullptr ? MatrixForm::kCompressed : MatrixForm::kDia);
  Coarsen coarsen(context, diagonals, layouts.size());
  std::vector<std::int32_t> orphans(layouts.size());
  const WaitAtEnd all_read(context);
  for (const GridLayout& layout : layouts) {
    auto level = std::make_unique<Level>();
    level->layout = layout;
    if (result.levels_.empty()) {
      level->image_height = batch.image.height;
      level->values = &matrix.values;
      level->compressed = compressed;
      level->sqrt_degree = &sqrt_degree;
    } else {
      result.coarsen_last(*level, coarsen, stencil);
      if (compressed != nullptr) result.compress_last(*level, freed, coarsen, stencil);
    }
    result.levels_.push_back(std::move(level));
  }
  for (const std::unique_ptr<Level>& level : result.levels_) {
    if (level == result.levels_.front()) continue;
    for (Buffer<float>* block : {&level->b, &level->x}) {
      *block = context.allocate<float>(level->layout.rows() * wide, "a coarse block of vectors");
    }
  }
  result.scales_ = std::move(degrees.scales);

  // What is read later is there with what is read last.
  degrees.counts.download_later(std::span(counts));
  coarsen.orphans().download_later(std::span(orphans));
  LastMatrix last = result.last_matrix();
  const std::size_t found = enough();
  const auto end = orphans.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(found, 1));
  if (found < 2 || std::any_of(orphans.begin(), end - 1, [](int flag) { return flag != 0; })) {
    return std::nullopt;
  }
  if (found < result.levels_.size()) {
    result.levels_.resize(found);
    last = result.last_matrix();
  }
  if (!result.solve_last(last)) return std::nullopt;
  result.choose_cycle();
  return result;
}

/// On a CPU a launch costs little, and blocks of all columns are what it is fast with.
void CoarseLevels::choose_cycle() {
  if (form() != MatrixForm::kDia || context_->info().kind == DeviceKind::kCpu) return;
  const Level& level = at(count() - 2);
  if (BlockCycle::fits(context_->info(), diagonals_, level.layout, level.image_height)) {
    cycle_.emplace(*context_, diagonals_, active_);
  }
}

/// Makes `next`, the level after the last one so far.
void CoarseLevels::coarsen_last(Level& next, Coarsen& coarsen, const Stencil& stencil) {
  Level& fine = *levels_.back();
  next.image_height = (fine.image_height + 1) / 2;
  fine.gain = context_->allocate<float>(fine.layout.rows(), "gains of the interpolation");
  next.own_sqrt_degree =
      context_->allocate<float>(next.layout.rows(), "coarse square roots of the degrees");
  next.sqrt_degree = &next.own_sqrt_degree;
  coarsen.gains({*fine.values, fine.layout}, *fine.sqrt_degree, fine.gain, next.own_sqrt_degree,
                count() - 1);
  next.own_values =
      context_->allocate<float>(next.layout.pitch * stencil.size(), "a coarse matrix");
  next.values = &next.own_values;
  coarsen.matrix(*fine.values, fine.layout, fine.gain, next.own_values, next.layout.pitch);
}

/// Puts the compressed form in place of the matrix of the last level so far, with its gains to
/// `next`.
void CoarseLevels::compress_last(Level& next, DiaMatrix* finest, Coarsen& coarsen,
                                 const Stencil& stencil) {
  Level& level = *levels_.back();
  const bool first = levels_.size() == 1;
  DiaMatrix own;
  DiaMatrix& matrix = first ? *finest : own;
  if (!first) {
    const Grid grid{level.layout.width, level.layout.height, level.layout.stride};
    own = {dia_shape(grid, stencil), std::move(level.own_values)};
    level.own_compressed =
        compress_rooted(*context_, own, grid, stencil, kStorage, *level.sqrt_degree);
    level.compressed = &level.own_compressed;
  }
  coarsen.gains(level.matrix(), *level.sqrt_degree, level.gain, next.own_sqrt_degree, count() - 1);
  context_->finish();  // What is still in use is not free for the next level.
  matrix.values = {};
  level.values = nullptr;
}

/// Waits. Without values if the last level has too many for dense matrices.
CoarseLevels::LastMatrix CoarseLevels::last_matrix() const {
  const Level& last = *levels_.back();
  if (last.layout.rows() > kMostLastRows * static_cast<std::size_t>(images_)) {
    context_->finish();
    return {};
  }
  LastMatrix result{std::vector<float>(last.sqrt_degree->size()),
                    std::vector<float>(last.values->size())};
  last.sqrt_degree->download_later(std::span(result.sqrt_degree));
  last.values->download(std::span(result.values));
  return result;
}

/// The dense solutions on the last level.
bool CoarseLevels::solve_last(const LastMatrix& matrix) {
  if (matrix.values.empty()) return false;
  const Level& last = *levels_.back();
  const std::size_t rows = last.layout.rows();
  DiaShape shape{rows / static_cast<std::size_t>(images_), last.layout.pitch, {}};
  for (const GridDiagonal& diagonal : diagonals_) {
    shape.offsets.push_back(static_cast<std::int64_t>(diagonal.dy) * last.layout.stride +
                            diagonal.dx);
  }
  std::vector<std::optional<LastLevel>> solved(static_cast<std::size_t>(images_));
  parallel_for(images_, [&](int image) {
    const auto at = static_cast<std::size_t>(image);
    const auto degrees = std::span(matrix.sqrt_degree).subspan(at * shape.rows, shape.rows);
    solved[at] = solve_last_level(shape, matrix.values.data() + at * shape.rows, degrees, columns_);
  });
  last_vectors_.clear();
  last_values_.clear();
  std::vector<float> inverses;
  for (const std::optional<LastLevel>& each : solved) {
    if (!each) return false;
    last_vectors_.insert(last_vectors_.end(), each->vectors.begin(), each->vectors.end());
    last_values_.insert(last_values_.end(), each->values.begin(), each->values.end());
    inverses.insert(inverses.end(), each->inverse.begin(), each->inverse.end());
  }
  inverse_ = context_->allocate<float>(inverses.size(), "the inverse on the last level");
  inverse_.upload(inverses);
  return true;
}

void CoarseLevels::step(int level, const Buffer<float>& x, const Buffer<float>& other,
                        Buffer<float>& out, double alpha, double beta, double gamma, int columns) {
  Level& own = at(level);
  product_.launch(own.matrix(), x, other, out, static_cast<float>(alpha), static_cast<float>(beta),
                  static_cast<float>(gamma), columns);
  ++own.passes;
}

void CoarseLevels::laplacian(int level, const Buffer<float>& x, Buffer<float>& out, int columns) {
  step(level, x, x, out, -1, 1, 0, columns);
}

void CoarseLevels::precondition(int level, const Buffer<float>& b, Buffer<float>& x,
                                Buffer<float>& t, int columns) {
  Level& own = at(level);
  if (level + 1 == count()) {
    dense_.launch(inverse_, own.layout.rows() / static_cast<std::size_t>(images_), b, x, columns);
    return;
  }
  const auto w = smoother(level == 0);
  if (level + 2 == count() && cycle_) {
    const std::array<float, kSmoothing> steps{static_cast<float>(w[0]), static_cast<float>(w[1])};
    cycle_->launch(
        {own.matrix(), own.image_height, own.gain, inverse_, steps, static_cast<float>(1 / kHops)},
        b, x, columns);
    own.passes += std::int64_t{2} * kSmoothing;
    return;
  }
  static_assert(kSmoothing % 2 == 0);
  Buffer<float>* current = &x;
  Buffer<float>* spare = &t;
  // The first step from 0 is w[0] b; the second takes it from there in one pass.
  step(level, b, b, *current, w[0] * w[1], (1 - w[1]) * w[0] + w[1], 0, columns);
  for (std::size_t k = 2; k < w.size(); ++k) {
    step(level, *current, b, *spare, w[k], 1 - w[k], w[k], columns);
    std::swap(current, spare);
  }
  step(level, *current, b, *spare, 1, -1, 1, columns);  // b - (I - A) x
  Level& next = at(level + 1);
  transfer_.restrict_to(own.matrix(), own.gain, *spare, static_cast<float>(1 / kHops), next.b,
                        columns);
  // Nothing of this level is in t.
  precondition(level + 1, next.b, next.x, t, columns);
  transfer_.prolong(own.matrix(), own.gain, next.x, true, *current, columns);
  for (std::size_t k = 0; k < w.size(); ++k) {
    step(level, *current, b, *spare, w[k], 1 - w[k], w[k], columns);
    std::swap(current, spare);
  }
  // 2 (kSmoothing - 1) swaps: the result is in x.
}

void CoarseLevels::prolong(int level, const Buffer<float>& coarse, Buffer<float>& fine) {
  const Level& own = at(level);
  transfer_.prolong(own.matrix(), own.gain, coarse, false, fine, columns_);
  const auto images = static_cast<std::size_t>(images_);
  block_columns_.insert(*own.sqrt_degree, scales_, static_cast<std::size_t>(level) * images, images,
                        own.layout.rows() / images, 0, fine);
}

}  // namespace diacut
