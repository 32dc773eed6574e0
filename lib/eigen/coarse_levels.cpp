#include "eigen/coarse_levels.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "core/parallel.hpp"
#include "eigen/dense.hpp"

namespace diacut {

namespace {

/// Of compressed matrices.
constexpr MatvecStorage kStorage = MatvecStorage::kHalf;
/// A grid of at most so many elements is solved densely.
constexpr std::size_t kLastRows = 256;
/// And one of at most so many is, when few of them have data.
constexpr std::size_t kMostLastRows = 1024;
/// Eigenvalues of I - A below this are 0: other pieces of the image than the first.
constexpr double kZero = 1e-6;
/// And below this may be, as far as float eigenvalues tell.
constexpr double kLooksZero = 1e-4;
/// Vectors beyond those wanted that subspace iteration on the last level carries along, and its
/// iterations.
constexpr Eigen::Index kMoreColumns = 16;
constexpr int kSubspaceIterations = 3;
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

/// Eigenvectors of A, those of the largest eigenvalues first, without the trivial one, and the
/// inverse of I - A on what is orthogonal to that one. In float, which is twice as fast: what the
/// finer levels start from, and a part of their preconditioner, is about right anyway.
struct DenseSolution {
  Eigen::MatrixXf vectors;
  Eigen::MatrixXf inverse;
};

/// The inverse by Cholesky's factors, and `columns` - 1 vectors by subspace iteration with it: much
/// quicker than all eigenvectors. Nothing where an eigenvalue of I - A may be 0.
std::optional<DenseSolution> by_inverse(const DenseProblem& problem, int columns) {
  const auto n = static_cast<Eigen::Index>(problem.element.size());
  const Eigen::Index size = std::min<Eigen::Index>(n - 1, columns + kMoreColumns);
  // problem.a has -2 in place of the trivial eigenvalue: 3 here.
  const Eigen::LLT<Eigen::MatrixXf> factors(
      (Eigen::MatrixXd::Identity(n, n) - problem.a).cast<float>());
  if (factors.info() != Eigen::Success) return std::nullopt;
  const Eigen::VectorXf trivial = problem.trivial.cast<float>();
  DenseSolution solution;
  solution.inverse = factors.solve(Eigen::MatrixXf::Identity(n, n));
  solution.inverse.noalias() -= trivial * (trivial.transpose() / 3);
  // Any start does that no eigenvector is orthogonal to: pixels far apart, one a column.
  Eigen::MatrixXf basis = Eigen::MatrixXf::Zero(n, size);
  for (Eigen::Index i = 0; i < n; ++i) basis(i, i % size) = (i / size) % 2 == 0 ? 1.0F : -0.5F;
  for (int k = 0; k < kSubspaceIterations; ++k) {
    const Eigen::HouseholderQR<Eigen::MatrixXf> orthonormal(solution.inverse * basis);
    basis = orthonormal.householderQ() * Eigen::MatrixXf::Identity(n, size);
  }
  const Eigen::MatrixXf image = solution.inverse * basis;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXf> ritz(basis.transpose() * image);
  const float largest = ritz.eigenvalues()(size - 1);
  if (ritz.info() != Eigen::Success || !(largest * kLooksZero < 1)) return std::nullopt;
  solution.vectors = basis * ritz.eigenvectors().rowwise().reverse();
  return solution;
}

std::optional<DenseSolution> by_all_eigenvectors(const DenseProblem& problem) {
  const auto n = static_cast<Eigen::Index>(problem.element.size());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXf> solver(problem.a.cast<float>());
  if (solver.info() != Eigen::Success) return std::nullopt;
  const Eigen::MatrixXf& vectors = solver.eigenvectors();
  Eigen::VectorXf inverse_values(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    double lambda = 1 - static_cast<double>(solver.eigenvalues()(k));
    if (lambda < kLooksZero) {  // These are looked at in double.
      const Eigen::VectorXd vector = vectors.col(k).cast<double>();
      lambda = 1 - vector.dot(problem.a * vector) / vector.squaredNorm();
    }
    inverse_values(k) = lambda > kZero && k > 0 ? static_cast<float>(1 / lambda) : 0.0F;
  }
  return DenseSolution{vectors.rightCols(n - 1).rowwise().reverse(),
                       vectors * inverse_values.asDiagonal() * vectors.transpose()};
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
  return {floats * sizeof(float) + bytes + BlockRitz::memory(columns, kMostLastRows, images),
          building};
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
  std::vector<float> own_degrees = degrees;
  const auto wide = static_cast<std::size_t>(columns);
  for (;;) {
    Level& fine = *result.levels_.back();
    if (fine.layout.rows() <= kLastRows * static_cast<std::size_t>(stack.count)) break;
    const GridLayout coarse = coarser(fine.layout);
    Decimated kept = decimate(own_degrees, fine.layout, coarse, stack.count);
    if (kept.with_data < 3 * wide) break;
    auto level = std::make_unique<Level>();
    level->layout = coarse;
    level->image_height = (fine.image_height + 1) / 2;
    const std::size_t rows = level->layout.rows();
    fine.gain = context.allocate<float>(fine.layout.rows(), "gains of the interpolation");
    if (!coarsen.gains({*fine.values, fine.layout}, *fine.sqrt_degree, fine.gain)) {
      return std::nullopt;
    }
    level->own_values =
        context.allocate<float>(level->layout.pitch * stencil.size(), "a coarse matrix");
    level->values = &level->own_values;
    coarsen.matrix(*fine.values, fine.layout, fine.gain, level->own_values, level->layout.pitch);
    level->own_sqrt_degree = context.allocate<float>(rows, "coarse square roots of the degrees");
    level->own_sqrt_degree.upload(kept.values);
    level->sqrt_degree = &level->own_sqrt_degree;
    level->scales = std::move(kept.scales);
    if (compressed != nullptr && !result.compress_last(freed, coarsen, stencil)) {
      return std::nullopt;
    }
    own_degrees = std::move(kept.values);
    result.levels_.push_back(std::move(level));
  }
  for (const std::unique_ptr<Level>& level : result.levels_) {
    if (level == result.levels_.front()) continue;
    for (Buffer<float>* block : {&level->b, &level->x}) {
      *block = context.allocate<float>(level->layout.rows() * wide, "a coarse block of vectors");
    }
  }
  if (result.count() < 2 || !result.finish(own_degrees)) return std::nullopt;
  return result;
}

/// Puts the compressed form in place of the matrix of the last level so far, with its gains. False
/// as gains() is.
bool CoarseLevels::compress_last(DiaMatrix* finest, Coarsen& coarsen, const Stencil& stencil) {
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
  const bool reached = coarsen.gains(level.matrix(), *level.sqrt_degree, level.gain);  // Waits.
  matrix.values = {};
  level.values = nullptr;
  return reached;
}

/// The dense solutions on the last level.
bool CoarseLevels::finish(const std::vector<float>& degrees) {
  const Level& last = *levels_.back();
  const std::size_t rows = last.layout.rows();
  if (rows > kMostLastRows * static_cast<std::size_t>(images_)) return false;
  const std::vector<float> values = last.values->download();
  std::vector<std::optional<Last>> solved(static_cast<std::size_t>(images_));
  parallel_for(images_, [&](int image) {
    solved[static_cast<std::size_t>(image)] = solve_last(image, values, degrees);
  });
  last_vectors_.clear();
  std::vector<float> inverses;
  for (const std::optional<Last>& each : solved) {
    if (!each) return false;
    last_vectors_.insert(last_vectors_.end(), each->vectors.begin(), each->vectors.end());
    inverses.insert(inverses.end(), each->inverse.begin(), each->inverse.end());
  }
  inverse_ = context_->allocate<float>(inverses.size(), "the inverse on the last level");
  inverse_.upload(inverses);
  kernels_ = std::make_unique<BlockRitz>(*context_, columns_, segments(count() - 1).pitch, active_);
  return true;
}

std::optional<CoarseLevels::Last> CoarseLevels::solve_last(
    int image, const std::vector<float>& values, const std::vector<float>& degrees) const {
  const GridLayout& layout = levels_.back()->layout;
  const std::size_t rows = layout.rows() / static_cast<std::size_t>(images_);
  const Degrees own = segment_of(degrees, image, images_);
  HostDiaMatrix matrix{{rows, rows, {}}, {}};
  for (std::size_t d = 0; d < diagonals_.size(); ++d) {
    matrix.shape.offsets.push_back(static_cast<std::int64_t>(diagonals_[d].dy) * layout.stride +
                                   diagonals_[d].dx);
    const auto first =
        values.begin() +
        static_cast<std::ptrdiff_t>(d * layout.pitch + static_cast<std::size_t>(image) * rows);
    matrix.values.insert(matrix.values.end(), first, first + static_cast<std::ptrdiff_t>(rows));
  }
  const DenseProblem problem = dense_problem(matrix, {own.begin(), own.end()});
  const auto n = static_cast<Eigen::Index>(problem.element.size());
  if (n < columns_ || !problem.a.allFinite()) return std::nullopt;
  std::optional<DenseSolution> solution = by_inverse(problem, columns_);
  if (!solution) solution = by_all_eigenvectors(problem);
  if (!solution) return std::nullopt;
  const auto& [vectors, inverse] = *solution;
  const auto wide = static_cast<std::size_t>(columns_);
  Last last{std::vector<float>(rows * wide, 0.0F), std::vector<float>(rows * rows, 0.0F)};
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(problem.element[static_cast<std::size_t>(i)]);
    last.vectors[row * wide] = static_cast<float>(problem.trivial(i));
    for (int k = 1; k < columns_; ++k) {
      last.vectors[row * wide + static_cast<std::size_t>(k)] = vectors(i, k - 1);
    }
    for (Eigen::Index j = 0; j < n; ++j) {
      const auto column = static_cast<std::size_t>(problem.element[static_cast<std::size_t>(j)]);
      last.inverse[row * rows + column] = inverse(i, j);
    }
  }
  return last;
}

void CoarseLevels::step(int level, const Buffer<float>& x, const Buffer<float>& other,
                        Buffer<float>& out, double alpha, double beta, double gamma) {
  Level& own = at(level);
  product_.launch(own.matrix(), x, other, out, static_cast<float>(alpha), static_cast<float>(beta),
                  static_cast<float>(gamma));
  ++own.passes;
}

void CoarseLevels::laplacian(int level, const Buffer<float>& x, Buffer<float>& out) {
  step(level, x, x, out, -1, 1, 0);
}

void CoarseLevels::precondition(int level, const Buffer<float>& b, Buffer<float>& x,
                                Buffer<float>& t) {
  Level& own = at(level);
  if (level + 1 == count()) {
    kernels_->dense(inverse_, own.layout.rows(), b, x);
    return;
  }
  const auto w = smoother(level == 0);
  static_assert(kSmoothing % 2 == 0);
  Buffer<float>* current = &x;
  Buffer<float>* spare = &t;
  // The first step from 0 is w[0] b; the second takes it from there in one pass.
  step(level, b, b, *current, w[0] * w[1], (1 - w[1]) * w[0] + w[1], 0);
  for (std::size_t k = 2; k < w.size(); ++k) {
    step(level, *current, b, *spare, w[k], 1 - w[k], w[k]);
    std::swap(current, spare);
  }
  step(level, *current, b, *spare, 1, -1, 1);  // b - (I - A) x
  Level& next = at(level + 1);
  transfer_.restrict_to(own.matrix(), own.gain, *spare, static_cast<float>(1 / kHops), next.b);
  // Nothing of this level is in t.
  precondition(level + 1, next.b, next.x, t);
  transfer_.prolong(own.matrix(), own.gain, next.x, true, *current);
  for (std::size_t k = 0; k < w.size(); ++k) {
    step(level, *current, b, *spare, w[k], 1 - w[k], w[k]);
    std::swap(current, spare);
  }
  // 2 (kSmoothing - 1) swaps: the result is in x.
}

void CoarseLevels::prolong(int level, const Buffer<float>& coarse, Buffer<float>& fine) {
  const Level& own = at(level);
  transfer_.prolong(own.matrix(), own.gain, coarse, false, fine);
  kernels_->insert(*own.sqrt_degree, own.scales, own.layout.rows(), 0, fine);
}

}  // namespace diacut
