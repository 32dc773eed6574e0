#include "eigen/coarse_levels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numbers>
#include <span>

#include "core/parallel.hpp"
#include "eigen/last_level.hpp"

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
/// I - A between interpolated vectors is about twice that of the coarse grid: two hops for one.
constexpr double kHops = 2;

/// Bytes of tables that Coarsen keeps, at most.
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

using Degrees = std::span<const float>;

/// The elements of one of `images` images.
Degrees segment_of(const std::vector<float>& elements, int image, int images) {
  const std::size_t each = elements.size() / static_cast<std::size_t>(images);
  return Degrees(elements).subspan(static_cast<std::size_t>(image) * each, each);
}

float scale_of(Degrees degrees) {
  double sum = 0;
  for (const float value : degrees) sum += static_cast<double>(value) * value;
  return static_cast<float>(1 / std::sqrt(sum));
}

std::vector<float> scales_of(const std::vector<float>& degrees, int images) {
  std::vector<float> scales(static_cast<std::size_t>(images));
  parallel_for(images, [&](int image) {
    scales[static_cast<std::size_t>(image)] = scale_of(segment_of(degrees, image, images));
  });
  return scales;
}

/// What is left of degrees on every other row and column.
struct Decimated {
  std::vector<float> values;
  std::vector<float> scales;
  std::size_t with_data = 0;  ///< Of the image that has the fewest.
};

Decimated decimate(const std::vector<float>& degrees, const GridLayout& fine,
                   const GridLayout& coarse, int images) {
  Decimated result{std::vector<float>(coarse.rows()),
                   std::vector<float>(static_cast<std::size_t>(images)), coarse.rows()};
  std::vector<std::size_t> with_data(static_cast<std::size_t>(images));
  const int lines = coarse.height / images;
  const auto wide = static_cast<std::size_t>(coarse.width);
  parallel_for(images, [&](int image) {
    for (int y = image * lines; y < (image + 1) * lines; ++y) {
      const float* from =
          degrees.data() + static_cast<std::size_t>(2 * y) * static_cast<std::size_t>(fine.stride);
      float* to = result.values.data() + static_cast<std::size_t>(y) * wide;
      for (std::size_t x = 0; x < wide; ++x) to[x] = from[2 * x];
    }
    const Degrees own = segment_of(result.values, image, images);
    const auto at = static_cast<std::size_t>(image);
    result.scales[at] = scale_of(own);
    with_data[at] = static_cast<std::size_t>(
        std::count_if(own.begin(), own.end(), [](float s) { return s > 0; }));
  });
  result.with_data = *std::min_element(with_data.begin(), with_data.end());
  return result;
}

GridLayout coarser(const GridLayout& fine) {
  GridLayout coarse;
  coarse.width = (fine.width + 1) / 2;
  coarse.height = (fine.height + 1) / 2;
  coarse.stride = coarse.width;
  coarse.pitch = dia_pitch(coarse.rows());
  return coarse;
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
      transfer_(context, diagonals, columns, form, active_) {}

GridMatrix CoarseLevels::Level::matrix() const {
  if (compressed == nullptr) return {*values, layout};
  return {compressed->upper, compressed->diagonal, compressed->layout.stride, layout};
}

int CoarseLevels::stacked_height(const Grid& image, const Stencil& stencil) {
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

CoarseLevels::Memory CoarseLevels::memory(const Stack& stack, const Stencil& stencil, int columns,
                                          MatrixForm form) {
  Grid grid = stack.grid();
  const auto wide = static_cast<std::size_t>(columns);
  const auto images = static_cast<std::size_t>(stack.count);
  std::size_t floats = images * kMostLastRows * kMostLastRows;
  std::size_t bytes = 0;
  std::size_t building = 0;
  while (grid.rows() > kLastRows * images) {
    floats += grid.rows();
    grid = {(grid.width + 1) / 2, (grid.height + 1) / 2, (grid.width + 1) / 2};
    floats += grid.rows() * (1 + 2 * wide);
    const std::size_t dia = dia_pitch(grid.rows()) * stencil.size() * sizeof(float);
    if (building == 0) building = dia + kBuilding + 2 * grid.rows() * 4 * sizeof(float);
    if (form == MatrixForm::kDia || grid.rows() <= kMostLastRows * images) {
      bytes += dia;  // The last level is not compressed.
    }
    if (form == MatrixForm::kCompressed) {
      MemoryPlan level;
      plan_symmetric(level, grid, stencil, kStorage, false);
      bytes += level.total();
    }
  }
  return {floats * sizeof(float) + bytes, building};
}

std::optional<CoarseLevels> CoarseLevels::build(Context& context, const DiaMatrix& matrix,
                                                const Stack& stack, const Stencil& stencil,
                                                const Buffer<float>& sqrt_degree,
                                                const std::vector<float>& degrees, int columns) {
  return build(context, matrix, nullptr, nullptr, stack, stencil, sqrt_degree, degrees, columns);
}

std::optional<CoarseLevels> CoarseLevels::build(Context& context, DiaMatrix&& matrix,
                                                const SymmetricDia& compressed, const Stack& stack,
                                                const Stencil& stencil,
                                                const Buffer<float>& sqrt_degree,
                                                const std::vector<float>& degrees, int columns) {
  return build(context, matrix, &matrix, &compressed, stack, stencil, sqrt_degree, degrees,
               columns);
}

std::optional<CoarseLevels> CoarseLevels::build(Context& context, const DiaMatrix& matrix,
                                                DiaMatrix* freed, const SymmetricDia* compressed,
                                                const Stack& stack, const Stencil& stencil,
                                                const Buffer<float>& sqrt_degree,
                                                const std::vector<float>& degrees, int columns) {
  if (stencil.radius < 2) return std::nullopt;  // A pixel between four kept ones reaches none.
  const std::vector<GridDiagonal> diagonals = diagonals_of(stencil);
  CoarseLevels result(context, diagonals, columns, stack.count,
                      compressed != nullptr ? MatrixForm::kCompressed : MatrixForm::kDia);
  Coarsen coarsen(context, diagonals);

  auto finest = std::make_unique<Level>();
  const Grid grid = stack.grid();
  finest->layout = {grid.width, grid.height, grid.stride, matrix.shape.pitch};
  finest->image_height = stack.image.height;
  finest->values = &matrix.values;
  finest->compressed = compressed;
  finest->sqrt_degree = &sqrt_degree;
  finest->scales = scales_of(degrees, stack.count);
  result.levels_.push_back(std::move(finest));
  std::deque<std::vector<float>> coarse_degrees;
  const WaitAtEnd uploaded(context);
  const auto wide = static_cast<std::size_t>(columns);
  for (;;) {
    Level& fine = *result.levels_.back();
    if (fine.layout.rows() <= kLastRows * static_cast<std::size_t>(stack.count)) break;
    const GridLayout coarse = coarser(fine.layout);
    const std::vector<float>& own_degrees =
        coarse_degrees.empty() ? degrees : coarse_degrees.back();
    Decimated kept = decimate(own_degrees, fine.layout, coarse, stack.count);
    if (kept.with_data < 3 * wide) break;
    auto level = std::make_unique<Level>();
    level->layout = coarse;
    level->image_height = (fine.image_height + 1) / 2;
    const std::size_t rows = level->layout.rows();
    fine.gain = context.allocate<float>(fine.layout.rows(), "gains of the interpolation");
    coarsen.gains({*fine.values, fine.layout}, *fine.sqrt_degree, fine.gain);
    level->own_values =
        context.allocate<float>(level->layout.pitch * stencil.size(), "a coarse matrix");
    level->values = &level->own_values;
    coarsen.matrix(*fine.values, fine.layout, fine.gain, level->own_values, level->layout.pitch);
    level->own_sqrt_degree = context.allocate<float>(rows, "coarse square roots of the degrees");
    coarse_degrees.push_back(std::move(kept.values));
    level->own_sqrt_degree.upload_later(coarse_degrees.back());
    level->sqrt_degree = &level->own_sqrt_degree;
    level->scales = std::move(kept.scales);
    if (compressed != nullptr) result.compress_last(freed, coarsen, stencil);
    result.levels_.push_back(std::move(level));
  }
  for (const std::unique_ptr<Level>& level : result.levels_) {
    if (level == result.levels_.front()) continue;
    for (Buffer<float>* block : {&level->b, &level->x}) {
      *block = context.allocate<float>(level->layout.rows() * wide, "a coarse block of vectors");
    }
  }
  result.kernels_ = std::make_unique<BlockRitz>(context, columns, stack.segment(), result.active_);
  if (result.count() < 2 || coarsen.orphans() || !result.finish(coarse_degrees.back())) {
    return std::nullopt;
  }
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

/// Puts the compressed form in place of the matrix of the last level so far, with its gains.
void CoarseLevels::compress_last(DiaMatrix* finest, Coarsen& coarsen, const Stencil& stencil) {
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
  coarsen.gains(level.matrix(), *level.sqrt_degree, level.gain);
  context_->finish();  // What is still in use is not free for the next level.
  matrix.values = {};
  level.values = nullptr;
}

/// The dense solutions on the last level.
bool CoarseLevels::finish(const std::vector<float>& degrees) {
  const Level& last = *levels_.back();
  const std::size_t rows = last.layout.rows();
  if (rows > kMostLastRows * static_cast<std::size_t>(images_)) return false;
  const std::vector<float> values = last.values->download();
  DiaShape shape{rows / static_cast<std::size_t>(images_), last.layout.pitch, {}};
  for (const GridDiagonal& diagonal : diagonals_) {
    shape.offsets.push_back(static_cast<std::int64_t>(diagonal.dy) * last.layout.stride +
                            diagonal.dx);
  }
  std::vector<std::optional<LastLevel>> solved(static_cast<std::size_t>(images_));
  parallel_for(images_, [&](int image) {
    const auto at = static_cast<std::size_t>(image);
    solved[at] = solve_last_level(shape, values.data() + at * shape.rows,
                                  segment_of(degrees, image, images_), columns_);
  });
  last_vectors_.clear();
  std::vector<float> inverses;
  for (const std::optional<LastLevel>& each : solved) {
    if (!each) return false;
    last_vectors_.insert(last_vectors_.end(), each->vectors.begin(), each->vectors.end());
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
    kernels_->dense(inverse_, own.layout.rows(), b, x, columns);
    return;
  }
  const auto w = smoother(level == 0);
  if (level + 2 == count() && cycle_) {
    const std::array<float, kSmoothing> steps{static_cast<float>(w[0]), static_cast<float>(w[1])};
    cycle_->launch(
        {own.matrix(), own.image_height, own.gain, inverse_, steps, static_cast<float>(1 / kHops)},
        b, x, columns);
    own.passes += 2 * kSmoothing;
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
  kernels_->insert(*own.sqrt_degree, own.scales, own.layout.rows(), 0, fine);
}

}  // namespace diacut
