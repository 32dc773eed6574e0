#include "eigen/multilevel/coarse_levels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <list>
#include <numbers>
#include <span>

#include "core/parallel.hpp"
#include "eigen/multilevel/coarsest_level.hpp"
#include "matrix/kept_rows.hpp"

namespace diacut {

namespace {

/// Levels are added until a grid has at most this many elements for each image.
constexpr std::size_t kCoarsestRows = 256;
/// The most elements of an image that are solved densely. More than kCoarsestRows remain on the
/// coarsest level where coarser ones would have too few elements with data.
constexpr std::size_t kMostDenseRows = 1024;
/// The smoother damps the eigenvalues of I - A from here to those below. The interpolation carries
/// what is slower over to the coarser grid.
constexpr double kSmoothFrom = 0.1;
/// Affinities may have negative eigenvalues, coarse matrices, E'A = A gain A, have none.
constexpr double kSmoothTo = 1.36;
constexpr double kSmoothToCoarse = 1.02;

/// The share of the corrections from below the second level that linear systems take: whole ones
/// are too long there. Of 0.6, 0.7 and 0.8 it needs the fewest iterations on photographs of 0.2 to
/// 4 megapixels together; an eigensolver, which finds the lengths of its steps anew for each
/// vector, needs the same number with any of them.
constexpr double kDefiniteShare = 0.7;

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

/// The grids from the matrix's own to the coarsest one.
std::vector<Batch> grids_of(const Batch& finest) {
  std::vector<Batch> grids = {finest};
  while (grids.back().segment() > kCoarsestRows) grids.push_back(coarser(grids.back()));
  return grids;
}

/// How many levels are of use: none if an image has fewer than `least` elements with data; coarse
/// levels as long as each image has `coarse_least` there. `counts` are LevelDegrees::counts.
std::size_t useful_levels(const std::vector<std::uint32_t>& counts, std::size_t images,
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

CoarseLevels::CoarseLevels(Context& context, NormalizedMatrix& matrix, MatrixForm form, int columns,
                           Use use)
    : context_(&context),
      columns_(columns),
      images_(matrix.batch().count),
      active_(std::make_shared<ActiveSegments>(context, images_)),
      block_columns_(context, columns) {
  if (use == Use::kCycle) dense_.emplace(context, columns, active_);
  auto finest = std::make_unique<Level>();
  finest->matrix = &matrix;
  finest->kernels = std::make_shared<LevelKernels>(kernels_for(matrix.stencil(), form));
  levels_.push_back(std::move(finest));
}

CoarseLevels::LevelKernels CoarseLevels::kernels_for(const Stencil& stencil,
                                                     MatrixForm form) const {
  return {BlockProduct(*context_, stencil, columns_, form, active_),
          BlockTransfer(*context_, stencil, columns_, form, active_)};
}

int CoarseLevels::batched_height(const Grid& image, const Stencil& stencil) {
  const Grid with_gap{image.width, image.height + stencil.radius};
  const std::vector<Batch> grids = grids_of(Batch(with_gap));
  return grids.back().height << (grids.size() - 1);
}

Segments CoarseLevels::segments(int level) const {
  const Batch& batch = matrix(level).batch();
  return {batch.image.rows(), batch.segment()};
}

std::optional<CoarseLevels> CoarseLevels::build(Context& context, NormalizedMatrix& matrix,
                                                MatrixForm form, std::size_t least, int columns,
                                                NullSpace null_space, Use use) {
  if (matrix.stencil().disc_radius < 2)
    return std::nullopt;  // A pixel between four kept ones reaches none.
  const Batch& batch = matrix.batch();
  const auto images = static_cast<std::size_t>(batch.count);
  std::size_t levels = grids_of(batch).size();
  CoarseLevels result(context, matrix, form, columns, use);
  if (null_space == NullSpace::kNone) result.coarse_share_ = kDefiniteShare;
  Coarsen coarsen(context, matrix.stencil(), levels, null_space);
  LevelDegrees degrees =
      level_degrees(context, batch, matrix.sqrt_degree(), static_cast<int>(levels));
  std::vector<std::uint32_t> counts;
  const auto useful = [&] {
    if (counts.empty()) counts = degrees.counts.take();
    // A dense eigenproblem has to have more elements than vectors are wanted.
    const std::size_t coarse_least =
        null_space == NullSpace::kNone ? 1 : 3 * static_cast<std::size_t>(columns);
    return useful_levels(counts, images, least, coarse_least);
  };
  if (form == MatrixForm::kCompressed) {
    // The DIA form of a level that turns out to be the coarsest would be gone: count first.
    levels = useful();
  }
  if (levels < 2) return std::nullopt;

  std::list<Coarsen> further;  // For stencils of coarser levels that differ from the finest one's.
  const auto coarsen_of_coarsest = [&]() -> Coarsen& {
    Coarsen& last = further.empty() ? coarsen : further.back();
    const Stencil& stencil = result.levels_.back()->matrix->stencil();
    if (stencil.strides == last.stencil().strides) return last;
    return further.emplace_back(context, stencil, levels, null_space);
  };
  while (result.levels_.size() < levels) result.add_level(coarsen_of_coarsest(), form);
  if (use == Use::kCycle) result.allocate_blocks();
  result.scales_ = std::move(degrees.scales);

  // They are there when download_coarsest() has waited.
  Arriving<std::int32_t> flagged = coarsen.orphans().download_later();
  std::optional<CoarsestMatrix> coarsest = result.download_coarsest();
  std::vector<std::int32_t> orphans = flagged.take();
  for (const Coarsen& each : further) {
    const std::vector<std::int32_t> own = each.orphans().download();
    std::transform(own.begin(), own.end(), orphans.begin(), orphans.begin(), std::bit_or<>());
  }
  const std::size_t used = useful();
  const auto end = orphans.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(used, 1));
  const bool interpolates = null_space == NullSpace::kNone || use == Use::kVectors ||
                            std::none_of(orphans.begin(), end - 1, [](int flag) { return flag; });
  if (used < 2 || !interpolates) return std::nullopt;
  if (used < result.levels_.size()) {
    result.levels_.resize(used);
    coarsest = result.download_coarsest();
  }
  if (!coarsest || !result.solve_coarsest(*coarsest, null_space)) return std::nullopt;
  return result;
}

/// Makes the level after the coarsest one so far, and then, if that is the form asked for,
/// compresses the matrix it was made from.
void CoarseLevels::add_level(Coarsen& coarsen, MatrixForm form) {
  Level& fine = *levels_.back();
  const int index = count() - 1;
  const Stencil stencil = Coarsen::coarse_stencil(fine.matrix->stencil());
  const Batch batch = coarser(fine.matrix->batch());
  const DiaShape shape = dia_shape(batch.grid(), stencil);
  fine.gain = context_->allocate<float>(fine.matrix->rows(), "gains of the interpolation");
  auto sqrt_degree = context_->allocate<float>(shape.rows, "coarse square roots of the degrees");
  coarsen.gains(*fine.matrix, fine.gain, sqrt_degree, index);
  auto values = context_->allocate<float>(shape.stored(), "a coarse matrix");
  coarsen.matrix(*fine.matrix, fine.gain, values, shape.pitch);
  if (form == MatrixForm::kCompressed) {
    compress(coarsen, fine, sqrt_degree);
  }
  auto next = std::make_unique<Level>();
  next->own.emplace(batch, stencil, std::move(values), std::move(sqrt_degree));
  next->matrix = &*next->own;
  next->kernels = stencil.strides == fine.matrix->stencil().strides
                      ? fine.kernels
                      : std::make_shared<LevelKernels>(kernels_for(stencil, form));
  levels_.push_back(std::move(next));
}

/// `coarse_sqrt_degree`: of the next level, as Coarsen::gains() makes them.
void CoarseLevels::compress(Coarsen& coarsen, Level& level, Buffer<float>& coarse_sqrt_degree) {
  if (coarsen.null_space() == NullSpace::kTrivial) {
    level.matrix->compress(*context_);
    // Gains of the rounded weights interpolate the trivial eigenvector exactly.
    coarsen.gains(*level.matrix, level.gain, coarse_sqrt_degree, count() - 1);
  } else if (level.own) {
    level.own->compress(*context_, MainDiagonal::kKept);
  } else {
    level.own.emplace(level.matrix->compressed_copy(*context_));
    level.matrix = &*level.own;
  }
}

void CoarseLevels::allocate_blocks() {
  for (int level = 1; level < count(); ++level) {
    const std::size_t size = rows(level) * static_cast<std::size_t>(columns_);
    at(level).b = context_->allocate<float>(size, "a coarse block of vectors");
    at(level).x = context_->allocate<float>(size, "a coarse block of vectors");
  }
}

/// Waits. Nothing if the coarsest level has too many elements for dense matrices.
std::optional<CoarseLevels::CoarsestMatrix> CoarseLevels::download_coarsest() const {
  const NormalizedMatrix& coarsest = matrix(count() - 1);
  if (coarsest.batch().segment() > kMostDenseRows) {
    context_->finish();
    return std::nullopt;
  }
  CoarsestMatrix result{{}, std::vector<float>(coarsest.shape().stored())};
  Arriving<float> sqrt_degree = coarsest.sqrt_degree().download_later();
  coarsest.dia().values.download(std::span(result.values));
  result.sqrt_degree = sqrt_degree.take();
  return result;
}

/// Solves the coarsest level densely; false if that is not possible.
bool CoarseLevels::solve_coarsest(const CoarsestMatrix& matrix, NullSpace null_space) {
  const DiaShape& shape = this->matrix(count() - 1).shape();
  const auto inverse = null_space == NullSpace::kNone
                           ? definite_inverse(shape, matrix.values.data(), matrix.sqrt_degree)
                           : solve_all(matrix);
  if (!inverse) return false;
  if (!dense_) return true;
  inverse_ = context_->allocate<float>(inverse->size(), "the inverse on the last level");
  inverse_.upload_later(*inverse);
  return true;
}

/// The inverses on the complement of the trivial eigenvector, image by image. It sets last_vectors_
/// and last_values_.
std::optional<std::vector<float>> CoarseLevels::solve_all(const CoarsestMatrix& matrix) {
  const NormalizedMatrix& coarsest = this->matrix(count() - 1);
  const DiaShape shape{coarsest.batch().segment(), coarsest.shape().pitch,
                       coarsest.shape().offsets};
  std::vector<std::optional<CoarsestLevel>> solved(static_cast<std::size_t>(images_));
  parallel_for(images_, [&](int image) {
    const auto at = static_cast<std::size_t>(image);
    const auto degrees = std::span(matrix.sqrt_degree).subspan(at * shape.rows, shape.rows);
    solved[at] =
        solve_coarsest_level(shape, matrix.values.data() + at * shape.rows, degrees, columns_);
  });
  last_vectors_.clear();
  last_values_.clear();
  std::vector<float> inverses;
  for (const std::optional<CoarsestLevel>& each : solved) {
    if (!each) return std::nullopt;
    last_vectors_.insert(last_vectors_.end(), each->vectors.begin(), each->vectors.end());
    last_values_.insert(last_values_.end(), each->values.begin(), each->values.end());
    inverses.insert(inverses.end(), each->inverse.begin(), each->inverse.end());
  }
  return inverses;
}

void CoarseLevels::step(int level, const Buffer<float>& x, const Buffer<float>& other,
                        Buffer<float>& out, double alpha, double beta, double gamma, int columns) {
  Level& own = at(level);
  // Blocks become narrower where vectors have converged: both kernels for a width are built at
  // once.
  own.kernels->product.prepare(columns);
  own.kernels->transfer.prepare(columns);
  own.kernels->product.launch(*own.matrix, x, other, out, static_cast<float>(alpha),
                              static_cast<float>(beta), static_cast<float>(gamma), columns);
  ++own.passes;
}

void CoarseLevels::step(int level, const Buffer<float>& x, const Buffer<float>& other,
                        Buffer<float>& out, const Buffer<cl_float4>& factors, int first_factor) {
  Level& own = at(level);
  own.kernels->product.launch(*own.matrix, x, other, out, factors, first_factor);
  ++own.passes;
}

float CoarseLevels::correction_factor(int level) const {
  return static_cast<float>((level == 0 ? 1 : coarse_share_) / kHops);
}

void CoarseLevels::laplacian(int level, const Buffer<float>& x, Buffer<float>& out, int columns) {
  step(level, x, x, out, -1, 1, 0, columns);
}

void CoarseLevels::precondition(int level, const Buffer<float>& b, Buffer<float>& x,
                                Buffer<float>& t, int columns) {
  Level& own = at(level);
  if (level + 1 == count()) {
    dense_->launch(inverse_, own.matrix->batch().segment(), b, x, columns);
    return;
  }
  const auto w = smoother(level == 0);
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
  own.kernels->transfer.restrict_to(*own.matrix, own.gain, *spare, correction_factor(level), next.b,
                                    columns);
  // This level has no use for t until the next level has returned.
  precondition(level + 1, next.b, next.x, t, columns);
  own.kernels->transfer.prolong(*own.matrix, own.gain, next.x, true, *current, columns);
  for (std::size_t k = 0; k < w.size(); ++k) {
    step(level, *current, b, *spare, w[k], 1 - w[k], w[k], columns);
    std::swap(current, spare);
  }
  // 2 (kSmoothing - 1) swaps: the result is in x.
}

void CoarseLevels::prolong(int level, const Buffer<float>& coarse, Buffer<float>& fine) {
  const Level& own = at(level);
  own.kernels->transfer.prolong(*own.matrix, own.gain, coarse, false, fine, columns_);
  const auto images = static_cast<std::size_t>(images_);
  block_columns_.insert(own.matrix->sqrt_degree(), scales_,
                        static_cast<std::size_t>(level) * images, images,
                        own.matrix->batch().segment(), 0, fine);
}

}  // namespace diacut
