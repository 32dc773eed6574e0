#include "eigen/decimation/contour_eigenvectors.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "eigen/decimation/decimation.hpp"
#include "eigen/resolution.hpp"

namespace diacut {

namespace {

constexpr std::size_t kDensePixels = 100;  ///< Of the grid on which the problem is solved densely.
constexpr std::size_t kSolvedPixels = 6000;  ///< Of the grid above which vectors are interpolated.
/// Those wanted, and guard vectors, by which the last wanted ones converge.
constexpr int kVectors = 24;
constexpr int kDegree = 16;  ///< Of the filter.
/// Columns of which less than this share of the squared norm is independent of the others are left
/// out: rounding errors of float vectors.
constexpr double kDependent = 1e-6;
/// A vector of which the entries differ by less than this share is flat.
constexpr float kRounding = 1e-6F;
/// Eigenvalues of I - A halve from one grid to the next finer one, because one step on the coarse
/// grid stands for two.
constexpr double kHops = 2;

using Matrix = Eigen::MatrixXd;

/// One grid: the matrix of the affinities of its pixels, and the interpolation to the next finer
/// grid, which is the image's own for the first.
struct Level {
  PlaneGrid grid;
  Interpolation to_finer;
  Buffer<float> matrix;  ///< Empty on grids that vectors are only interpolated through.
};

/// What is known of an image's vectors on one grid. Columns without a vector are 0.
struct Spectrum {
  std::vector<double> values;  ///< Ritz values of L, ascending.
  std::vector<double> residuals;
};

/// The vectors of an image on the coarsest grid, in planes, and their eigenvalues.
Spectrum solve_densely(const PlaneGrid& grid, const Stencil& stencil, const float* matrix,
                       float* planes) {
  std::vector<std::size_t> elements;
  Eigen::VectorXd degrees(static_cast<Eigen::Index>(grid.pixels()));
  std::vector<Eigen::Index> place(grid.elements(), -1);
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      const std::size_t element = grid.element(x, y);
      double degree = 0;
      for (std::size_t d = 0; d < stencil.size(); ++d) degree += matrix[d * grid.pitch + element];
      if (!std::isfinite(degree)) {
        throw NumericalError("the affinity matrix holds NaN or infinity");
      }
      if (!(degree > 0)) continue;
      place[element] = static_cast<Eigen::Index>(elements.size());
      degrees(place[element]) = degree;
      elements.push_back(element);
    }
  }
  const auto n = static_cast<Eigen::Index>(elements.size());
  Spectrum found;
  if (n < 2) return found;
  const Eigen::VectorXd root = degrees.head(n).cwiseSqrt();
  // The trivial eigenvector gets the eigenvalue -1 of A, below all others.
  Matrix a = root * root.transpose() * (-2 / degrees.head(n).sum());
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::size_t from = elements[static_cast<std::size_t>(i)];
    const auto stride = static_cast<std::size_t>(grid.stride);
    const int x = static_cast<int>(from % stride) - grid.columns;
    const int y = static_cast<int>(from / stride) - grid.rows;
    for (std::size_t d = 0; d < stencil.size(); ++d) {
      const auto [dx, dy] = stencil.entries[d];
      const float value = matrix[d * grid.pitch + from];
      if (value == 0) continue;
      const bool inside = x + dx >= 0 && x + dx < grid.width && y + dy >= 0 && y + dy < grid.height;
      const Eigen::Index j = inside ? place[grid.element(x + dx, y + dy)] : -1;
      if (j < 0) throw NumericalError("the affinity matrix leads to a pixel without data");
      a(i, j) += value / (root(i) * root(j));
    }
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(a);
  for (Eigen::Index k = 0; k < std::min<Eigen::Index>(kVectors, n - 1); ++k) {
    const Eigen::Index column = n - 1 - k;
    found.values.push_back(std::max(1 - solver.eigenvalues()(column), 0.0));
    for (Eigen::Index i = 0; i < n; ++i) {
      planes[static_cast<std::size_t>(k) * grid.pitch + elements[static_cast<std::size_t>(i)]] =
          static_cast<float>(solver.eigenvectors()(i, column) / root(i));
    }
  }
  return found;
}

/// The pixels of some rows of an image, one after another: their vectors, products and degrees.
struct Pixels {
  Matrix x;
  Matrix laplacian;
  Eigen::VectorXd degrees;
};

/// What the Rayleigh-Ritz procedure needs of an image's pixels, as sums.
struct Sums {
  Matrix gram = Matrix::Zero(kVectors, kVectors);                 ///< X' D X.
  Matrix projected = Matrix::Zero(kVectors, kVectors);            ///< X' D L X.
  Eigen::RowVectorXd along = Eigen::RowVectorXd::Zero(kVectors);  ///< 1' D X.
  double degrees = 0;

  void add(const Pixels& pixels) {
    const Matrix dx = pixels.degrees.asDiagonal() * pixels.x;
    gram.noalias() += pixels.x.transpose() * dx;
    projected.noalias() += dx.transpose() * pixels.laplacian;
    along += dx.colwise().sum();
    degrees += pixels.degrees.sum();
  }
  void add(const Sums& other) {
    gram += other.gram;
    projected += other.projected;
    along += other.along;
    degrees += other.degrees;
  }
};

/// How an image's columns become Ritz vectors.
struct Rotation {
  std::vector<double> values;   ///< Ritz values, ascending.
  Matrix matrix;                ///< Of kVectors rows and a column for each value.
  Eigen::RowVectorXd constant;  ///< To subtract from each vector, along the trivial one.
};

/// Ritz vectors of D-norm 1 and D-orthogonal to the trivial one: the first `wanted` of them.
Rotation rotation_of(const Sums& sums, int wanted) {
  const Eigen::RowVectorXd along = sums.along / std::max(sums.degrees, 1e-300);
  Matrix gram = sums.gram - sums.degrees * along.transpose() * along;
  Matrix projected = 0.5 * (sums.projected + sums.projected.transpose());
  Eigen::VectorXd scale = gram.diagonal();
  for (double& each : scale) each = each > 0 ? 1 / std::sqrt(each) : 0;
  gram = scale.asDiagonal() * gram * scale.asDiagonal();
  projected = scale.asDiagonal() * projected * scale.asDiagonal();

  // An orthonormal basis, without what depends on the other columns.
  const Eigen::SelfAdjointEigenSolver<Matrix> basis(gram);
  const Eigen::VectorXd& sizes = basis.eigenvalues();
  Eigen::Index first = 0;
  while (first < sizes.size() && sizes(first) <= kDependent * sizes(sizes.size() - 1)) ++first;
  const Eigen::Index rank = sizes.size() - first;
  if (rank == 0) return {{}, Matrix(kVectors, 0), Eigen::RowVectorXd(0)};
  const Matrix orthonormal =
      basis.eigenvectors().rightCols(rank) *
      sizes.tail(rank).cwiseMax(1e-300).cwiseSqrt().cwiseInverse().asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Matrix> ritz(orthonormal.transpose() * projected *
                                                   orthonormal);
  const Eigen::Index kept = std::min<Eigen::Index>(rank, wanted);
  Rotation found;
  found.matrix = scale.asDiagonal() * orthonormal * ritz.eigenvectors().leftCols(kept);
  found.constant = along * found.matrix;
  for (Eigen::Index k = 0; k < kept; ++k) {
    found.values.push_back(std::max(ritz.eigenvalues()(k), 0.0));
  }
  return found;
}

/// Makes the vectors of some images Ritz vectors, pixel by pixel and in parts that many cores take.
class RayleighRitz {
 public:
  /// vectors, products: y and L y of kVectors planes an image. degrees: of a plane an image.
  RayleighRitz(const PlaneGrid& grid, std::size_t images, float* vectors, const float* products,
               const float* degrees)
      : grid_(grid),
        images_(images),
        rows_(std::max(1, kPartPixels / grid.width)),
        parts_(static_cast<std::size_t>((grid.height + rows_ - 1) / rows_)),
        vectors_(vectors),
        products_(products),
        degrees_(degrees),
        pixels_(images * parts_) {}

  /// The first `wanted` vectors of each image; its other columns become 0.
  std::vector<Spectrum> run(int wanted) {
    std::vector<Sums> sums(images_ * parts_);
    each(images_ * parts_, [&](std::size_t part) {
      pixels_[part] = gathered(part);
      sums[part].add(pixels_[part]);
    });
    std::vector<Rotation> rotations(images_);
    each(images_, [&](std::size_t image) {
      Sums all;
      for (std::size_t k = 0; k < parts_; ++k) all.add(sums[image * parts_ + k]);
      rotations[image] = rotation_of(all, wanted);
    });
    std::vector<Eigen::VectorXd> squares(images_ * parts_);
    each(images_ * parts_,
         [&](std::size_t part) { squares[part] = rotate(part, rotations[part / parts_]); });
    std::vector<Spectrum> found(images_);
    for (std::size_t image = 0; image < images_; ++image) {
      Eigen::VectorXd sum = squares[image * parts_];
      for (std::size_t k = 1; k < parts_; ++k) sum += squares[image * parts_ + k];
      found[image].values = rotations[image].values;
      for (const double square : sum) found[image].residuals.push_back(std::sqrt(square));
    }
    return found;
  }

 private:
  static constexpr int kPartPixels = 512;

  static void each(std::size_t count, const std::function<void(std::size_t)>& work) {
    parallel_for(static_cast<int>(count), [&](int i) { work(static_cast<std::size_t>(i)); });
  }

  int first_row(std::size_t part) const { return static_cast<int>(part % parts_) * rows_; }
  int rows_of(std::size_t part) const { return std::min(rows_, grid_.height - first_row(part)); }

  /// Calls work(from, to, count) for each row of a part: its first element in a plane, its first
  /// pixel in the part, and its pixels.
  template <class Work>
  void for_rows(std::size_t part, const Work& work) const {
    const int first = first_row(part);
    for (int y = first; y < first + rows_of(part); ++y) {
      work(grid_.element(0, y), Eigen::Index{y - first} * grid_.width, Eigen::Index{grid_.width});
    }
  }

  Pixels gathered(std::size_t part) const {
    const std::size_t image = part / parts_;
    const Eigen::Index count = Eigen::Index{rows_of(part)} * grid_.width;
    Pixels pixels{Matrix(count, kVectors), Matrix(count, kVectors), Eigen::VectorXd(count)};
    for_rows(part, [&](std::size_t from, Eigen::Index to, Eigen::Index width) {
      using Row = Eigen::Map<const Eigen::VectorXf>;
      for (int k = 0; k < kVectors; ++k) {
        const std::size_t at = plane(image, k) + from;
        pixels.x.col(k).segment(to, width) = Row(vectors_ + at, width).cast<double>();
        pixels.laplacian.col(k).segment(to, width) = Row(products_ + at, width).cast<double>();
      }
      pixels.degrees.segment(to, width) =
          Row(degrees_ + image * grid_.pitch + from, width).cast<double>();
    });
    return pixels;
  }

  /// Writes the rotated vectors of a part. Returns the squares of their residuals, summed.
  Eigen::VectorXd rotate(std::size_t part, const Rotation& rotation) {
    const Pixels& pixels = pixels_[part];
    const auto kept = static_cast<Eigen::Index>(rotation.values.size());
    Matrix vectors = Matrix::Zero(pixels.x.rows(), kVectors);
    Matrix images = pixels.laplacian * rotation.matrix;
    vectors.leftCols(kept) = pixels.x * rotation.matrix;
    for (Eigen::Index k = 0; k < kept; ++k) {
      vectors.col(k) =
          (pixels.degrees.array() > 0).select(vectors.col(k).array() - rotation.constant(k), 0.0);
      images.col(k) -= rotation.values[static_cast<std::size_t>(k)] * vectors.col(k);
    }
    for_rows(part, [&](std::size_t from, Eigen::Index to, Eigen::Index width) {
      for (int k = 0; k < kVectors; ++k) {
        Eigen::Map<Eigen::VectorXf>(vectors_ + plane(part / parts_, k) + from, width) =
            vectors.col(k).segment(to, width).cast<float>();
      }
    });
    return images.cwiseAbs2().transpose() * pixels.degrees;
  }

  std::size_t plane(std::size_t image, int k) const {
    return (image * kVectors + static_cast<std::size_t>(k)) * grid_.pitch;
  }

  const PlaneGrid& grid_;
  std::size_t images_;
  int rows_;           ///< Of a part.
  std::size_t parts_;  ///< Of an image.
  float* vectors_;
  const float* products_;
  const float* degrees_;
  std::vector<Pixels> pixels_;  ///< Of the parts of the first image, of the second, ...
};

/// The factors of each step of the filter, for step() of Decimation: the scaled Chebyshev
/// polynomial that damps eigenvalues of L in [from, 1] and is 1 at 0. The last step is L alone.
void add_filter(std::vector<float>& steps, std::size_t image, std::size_t images, double from) {
  const double centre = (1 + from) / 2;
  const double half = (1 - from) / 2;
  const double first = -half / centre;
  double before = first;
  for (std::size_t k = 0; k < kDegree; ++k) {
    float* step = steps.data() + 4 * (k * images + image);
    if (k == 0) {
      step[0] = static_cast<float>(first / half);
      step[1] = static_cast<float>(-first * centre / half);
      continue;
    }
    const double next = 1 / (2 / first - before);
    step[0] = static_cast<float>(2 * next / half);
    step[1] = static_cast<float>(-2 * next * centre / half);
    step[2] = static_cast<float>(-before * next);
    before = next;
  }
  steps[4 * (kDegree * images + image)] = 1;
}

class Solver {
 public:
  Solver(Context& context, const Interpolation& kept, const Grid& grid, const Watch& watch)
      : context_(context),
        kept_(kept),
        grid_(grid),
        watch_(watch),
        images_(static_cast<std::size_t>(kept.images)),
        decimation_(context, kept.radius, kept.images) {}

  ContourEigenvectors run();

 private:
  const Interpolation& to_finer(std::size_t level) const {
    return level == 0 ? kept_ : levels_[level].to_finer;
  }
  void build_levels();
  void solve_coarsest();
  void improve(std::size_t level);
  void upload(std::size_t level, int vectors);
  void interpolate(std::size_t level, int vectors);
  ContourEigenvectors::Image described(std::size_t image, const float* planes,
                                       const float* degrees) const;

  Context& context_;
  const Interpolation& kept_;
  Grid grid_;
  const Watch& watch_;
  std::size_t images_;
  Decimation decimation_;
  std::vector<Level> levels_;  ///< From the first decimation on.
  std::size_t solved_ = 0;     ///< The level from which on vectors are interpolated alone.
  Buffer<float> x_;            ///< Vectors on the level in question.
  std::vector<float> host_;    ///< The same on the host, after improve().
  std::vector<float> degrees_;
  std::vector<Spectrum> spectra_;
  std::int64_t passes_ = 0;
};

void Solver::build_levels() {
  levels_.push_back({kept_.cells, {}, decimation_.matrix(kept_)});
  while (levels_.back().grid.pixels() > kDensePixels) {
    Level& fine = levels_.back();
    Interpolation down = decimation_.split(fine.matrix, fine.grid);
    Buffer<float> matrix = decimation_.matrix(down);
    if (fine.grid.pixels() > kSolvedPixels) {
      fine.matrix = {};
      ++solved_;
    }
    const PlaneGrid cells = down.cells;
    levels_.push_back({cells, std::move(down), std::move(matrix)});
  }
}

void Solver::solve_coarsest() {
  const PlaneGrid& grid = levels_.back().grid;
  const std::vector<float> matrices = levels_.back().matrix.download();
  host_.assign(images_ * kVectors * grid.pitch, 0.0F);
  degrees_.assign(images_ * grid.pitch, 0.0F);
  spectra_.resize(images_);
  const Stencil& stencil = decimation_.stencil();
  parallel_for(static_cast<int>(images_), [&](int each) {
    const auto image = static_cast<std::size_t>(each);
    const float* matrix = matrices.data() + image * stencil.size() * grid.pitch;
    spectra_[image] =
        solve_densely(grid, stencil, matrix, host_.data() + image * kVectors * grid.pitch);
    float* degrees = degrees_.data() + image * grid.pitch;
    for (int y = 0; y < grid.height; ++y) {
      for (int x = 0; x < grid.width; ++x) {
        const std::size_t element = grid.element(x, y);
        for (std::size_t d = 0; d < stencil.size(); ++d) {
          degrees[element] += matrix[d * grid.pitch + element];
        }
      }
    }
  });
}

/// Brings the first `vectors` vectors of each image from the host into x_, on a level.
void Solver::upload(std::size_t level, int vectors) {
  const std::size_t pitch = levels_[level].grid.pitch;
  const std::size_t own = static_cast<std::size_t>(vectors) * pitch;
  std::vector<float> planes(images_ * own + kBehindPlanes, 0.0F);
  for (std::size_t image = 0; image < images_; ++image) {
    const float* from = host_.data() + image * kVectors * pitch;
    std::copy(from, from + own, planes.data() + image * own);
  }
  x_ = context_.allocate<float>(planes.size(), "vectors of the decimated grid");
  x_.upload_later(planes);
}

/// Brings `vectors` vectors of each image in x_ from a level to the next finer one.
void Solver::interpolate(std::size_t level, int vectors) {
  const PlaneGrid& finer = levels_[level - 1].grid;
  Buffer<float> fine = decimation_.zeros(finer, vectors);
  decimation_.interpolate(to_finer(level), vectors, x_, Decimation::in_planes(finer), fine);
  x_ = std::move(fine);
}

/// Filters x_ on a level and makes it Ritz vectors.
void Solver::improve(std::size_t level) {
  const PlaneGrid& grid = levels_[level].grid;
  std::vector<float> factors(4 * (kDegree + 1) * images_, 0.0F);
  for (std::size_t image = 0; image < images_; ++image) {
    const std::vector<double>& values = spectra_[image].values;
    const double last = values.empty() ? 1 : values.back() / kHops;
    add_filter(factors, image, images_, std::clamp(last, 0.0, 0.5));
  }
  auto steps = context_.allocate<float>(factors.size(), "steps of the filter");
  steps.upload_later(factors);
  const Buffer<std::int32_t> offsets = decimation_.offsets(grid);
  auto degrees = context_.allocate<float>(images_ * grid.pitch, "degrees");
  degrees.fill(0);
  Buffer<float> other = decimation_.zeros(grid, kVectors);
  const Decimation::Step fixed{levels_[level].matrix, grid, offsets, steps, kVectors, degrees};
  for (int k = 0; k < kDegree; ++k) {
    decimation_.step(fixed, k, x_, other, other);
    std::swap(x_, other);
  }
  decimation_.step(fixed, kDegree, x_, other, other);
  passes_ += kDegree + 1;

  Arriving<float> vectors = x_.download_later();
  Arriving<float> products = other.download_later();
  degrees_ = degrees.download();
  host_ = vectors.take();
  const std::vector<float> laplacian = products.take();
  const int wanted = level == solved_ ? kContourVectors : kVectors;
  spectra_ =
      RayleighRitz(grid, images_, host_.data(), laplacian.data(), degrees_.data()).run(wanted);
}

/// `planes`, `degrees`: of the image on the level that is solved.
ContourEigenvectors::Image Solver::described(std::size_t image, const float* planes,
                                             const float* degrees) const {
  const PlaneGrid& grid = levels_[solved_].grid;
  const Spectrum& spectrum = spectra_[image];
  ContourEigenvectors::Image result;
  const double finer = std::pow(kHops, static_cast<double>(solved_ + 1));
  const std::size_t count = std::min<std::size_t>(spectrum.values.size(), kContourVectors);
  EigenReport& report = result.report;
  report.residuals.push_back(0);
  for (std::size_t k = 0; k < count; ++k) {
    const float* y = planes + k * grid.pitch;
    float least = INFINITY;
    float largest = -INFINITY;
    for (std::size_t i = 0; i < grid.elements(); ++i) {
      if (!(degrees[i] > 0)) continue;
      least = std::min(least, y[i]);
      largest = std::max(largest, y[i]);
    }
    const bool flat = !(largest - least > kRounding * std::max(std::abs(least), std::abs(largest)));
    result.values.push_back(spectrum.values[k] / finer);
    result.least.push_back(least);
    result.extent.push_back(flat ? 0 : largest - least);
    report.residuals.push_back(k < spectrum.residuals.size() ? spectrum.residuals[k] : 0);
  }
  const int diagonals = decimation_.diagonals();
  report.solver = "decimated";
  report.matvec = "decimation_step";
  report.converged = true;
  report.levels = static_cast<int>(levels_.size()) + 1;
  report.restarts = static_cast<int>(levels_.size() - 1 - solved_);
  report.passes = passes_;
  report.products = passes_ * kVectors;
  report.matrix = {grid.pixels(),
                   grid.pitch,
                   diagonals,
                   2 * kept_.radius + 1,
                   static_cast<std::uint64_t>(diagonals) * grid.pitch * sizeof(float),
                   "dia"};
  std::vector<double> values = {0};
  for (std::size_t k = 0; k < count; ++k) values.push_back(spectrum.values[k]);
  report.resolution = resolution_of(values, report.residuals);
  return result;
}

ContourEigenvectors Solver::run() {
  build_levels();
  solve_coarsest();
  const std::size_t coarsest = levels_.size() - 1;
  for (std::size_t level = coarsest; level-- > solved_;) {
    upload(level + 1, kVectors);
    interpolate(level + 1, kVectors);
    improve(level);
    watch_.report("eigenvectors",
                  0.9 * (1 - static_cast<double>(level) / static_cast<double>(coarsest + 1)));
  }
  ContourEigenvectors result;
  const PlaneGrid& grid = levels_[solved_].grid;
  for (std::size_t image = 0; image < images_; ++image) {
    result.images.push_back(described(image, host_.data() + image * kVectors * grid.pitch,
                                      degrees_.data() + image * grid.pitch));
  }
  upload(solved_, kContourVectors);
  for (std::size_t level = solved_; level > 0; --level) interpolate(level, kContourVectors);
  result.rows = grid_.rows();
  result.pitch = dia_pitch(result.rows);
  result.count = kContourVectors;
  result.vectors =
      context_.allocate<float>(images_ * kContourVectors * result.pitch, "eigenvectors");
  decimation_.interpolate(kept_, kContourVectors, x_,
                          {grid_.width, grid_.height, grid_.stride, result.pitch, 0},
                          result.vectors);
  return result;
}

}  // namespace

ContourEigenvectors contour_eigenvectors(Context& context, const Interpolation& kept,
                                         const Grid& grid, const Watch& watch) {
  return Solver(context, kept, grid, watch).run();
}

}  // namespace diacut
