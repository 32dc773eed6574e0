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
constexpr int kDegree = 16;  ///< Of the filter, at most.
/// The least value of the filter at the last eigenvalue wanted. Where the filter is smaller,
/// rounding errors and the vectors before hide that vector.
constexpr double kLeast = 0.1;
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

/// At most `vectors` vectors of an image on the coarsest grid, in planes, and their eigenvalues.
Spectrum solve_densely(const PlaneGrid& grid, const Stencil& stencil, const float* matrix,
                       int vectors, float* planes) {
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
  for (Eigen::Index k = 0; k < std::min<Eigen::Index>(vectors, n - 1); ++k) {
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
  RayleighRitz(const PlaneGrid& grid, std::size_t images, const float* vectors,
               const float* products, const float* degrees)
      : grid_(grid),
        images_(images),
        rows_(std::max(1, kPartPixels / grid.width)),
        parts_(static_cast<std::size_t>((grid.height + rows_ - 1) / rows_)),
        vectors_(vectors),
        products_(products),
        degrees_(degrees),
        pixels_(images * parts_) {}

  /// The first kContourVectors of each image, into as many planes of it.
  std::vector<Spectrum> run(float* planes) {
    std::vector<Sums> sums(images_ * parts_);
    each(images_ * parts_, [&](std::size_t part) {
      pixels_[part] = gathered(part);
      sums[part].add(pixels_[part]);
    });
    std::vector<Rotation> rotations(images_);
    each(images_, [&](std::size_t image) {
      Sums all;
      for (std::size_t k = 0; k < parts_; ++k) all.add(sums[image * parts_ + k]);
      rotations[image] = rotation_of(all, kContourVectors);
    });
    std::vector<Eigen::VectorXd> squares(images_ * parts_);
    each(images_ * parts_,
         [&](std::size_t part) { squares[part] = rotate(part, rotations[part / parts_], planes); });
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
  static constexpr int kPartPixels = 128;

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
  Eigen::VectorXd rotate(std::size_t part, const Rotation& rotation, float* planes) {
    const Pixels& pixels = pixels_[part];
    Matrix vectors = pixels.x * rotation.matrix;
    Matrix images = pixels.laplacian * rotation.matrix;
    for (Eigen::Index k = 0; k < vectors.cols(); ++k) {
      vectors.col(k) =
          (pixels.degrees.array() > 0).select(vectors.col(k).array() - rotation.constant(k), 0.0);
      images.col(k) -= rotation.values[static_cast<std::size_t>(k)] * vectors.col(k);
    }
    planes += part / parts_ * kContourVectors * grid_.pitch;
    for_rows(part, [&](std::size_t from, Eigen::Index to, Eigen::Index width) {
      for (Eigen::Index k = 0; k < vectors.cols(); ++k) {
        Eigen::Map<Eigen::VectorXf>(planes + static_cast<std::size_t>(k) * grid_.pitch + from,
                                    width) = vectors.col(k).segment(to, width).cast<float>();
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
  const float* vectors_;
  const float* products_;
  const float* degrees_;
  std::vector<Pixels> pixels_;  ///< Of the parts of the first image, of the second, ...
};

/// The factors of each step of the filter, for step() of Decimation: the scaled Chebyshev
/// polynomial that damps eigenvalues of L in [from, 1] and is 1 at 0. Its degree is the largest at
/// which it is not below kLeast at the eigenvalue `wanted`; further steps change nothing. The last
/// step is L alone.
void add_filter(std::vector<float>& steps, std::size_t image, std::size_t images, double from,
                double wanted) {
  const double centre = (1 + from) / 2;
  const double half = (1 - from) / 2;
  const double first = -half / centre;
  const double at = (wanted - centre) / half;
  double before = 1;        // The factor of the step before.
  double value_before = 0;  // Of the polynomial at `wanted`.
  double value = 1;
  for (std::size_t k = 0; k < kDegree; ++k) {
    float* step = steps.data() + 4 * (k * images + image);
    const double next = k == 0 ? first : 1 / (2 / first - before);
    const double scale = k == 0 ? next : 2 * next;
    const double back = k == 0 ? 0 : before * next;
    const double value_next = scale * at * value - back * value_before;
    if (value_next < kLeast) {
      for (; k < kDegree; ++k) steps[4 * (k * images + image) + 1] = 1;
      break;
    }
    step[0] = static_cast<float>(scale / half);
    step[1] = static_cast<float>(-scale * centre / half);
    step[2] = static_cast<float>(-back);
    before = next;
    value_before = std::exchange(value, value_next);
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

  ContourEigenvectors run() {
    build_levels();
    std::vector<float> planes = solve_coarsest();
    if (levels_.size() - 1 > solved_) {
      upload(planes);
      for (std::size_t level = levels_.size() - 1; level-- > solved_;) {
        interpolate(level + 1, kVectors);
        filter(level);
      }
      planes = ritz_vectors();
      watch_.report("eigenvectors", 0.9);
    }
    upload(planes);
    for (std::size_t level = solved_; level > 0; --level) interpolate(level, kContourVectors);
    ContourEigenvectors result;
    result.rows = grid_.rows();
    result.pitch = dia_pitch(result.rows);
    result.count = kContourVectors;
    result.vectors =
        context_.allocate<float>(images_ * kContourVectors * result.pitch, "eigenvectors");
    decimation_.interpolate(kept_, kContourVectors, x_,
                            {grid_.width, grid_.height, grid_.width, result.pitch, 0},
                            result.vectors);
    const std::size_t pitch = levels_[solved_].grid.pitch;
    for (std::size_t image = 0; image < images_; ++image) {
      result.images.push_back(described(image, planes.data() + image * kContourVectors * pitch,
                                        of_pixels_.data() + image * pitch));
    }
    return result;
  }

 private:
  const Interpolation& to_finer(std::size_t level) const {
    return level == 0 ? kept_ : levels_[level].to_finer;
  }

  void build_levels() {
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

  /// Returns the vectors in planes of the coarsest grid, as many for each image as the next step
  /// takes.
  std::vector<float> solve_coarsest() {
    const PlaneGrid& grid = levels_.back().grid;
    const int vectors = levels_.size() - 1 == solved_ ? kContourVectors : kVectors;
    const std::size_t own = static_cast<std::size_t>(vectors) * grid.pitch;
    const std::vector<float> matrices = levels_.back().matrix.download();
    std::vector<float> planes(images_ * own + kBehindPlanes, 0.0F);
    of_pixels_.assign(images_ * grid.pitch, 0.0F);
    spectra_.resize(images_);
    const Stencil& stencil = decimation_.stencil();
    parallel_for(static_cast<int>(images_), [&](int each) {
      const auto image = static_cast<std::size_t>(each);
      const float* matrix = matrices.data() + image * stencil.size() * grid.pitch;
      spectra_[image] = solve_densely(grid, stencil, matrix, vectors, planes.data() + image * own);
      float* degrees = of_pixels_.data() + image * grid.pitch;
      for (int y = 0; y < grid.height; ++y) {
        for (int x = 0; x < grid.width; ++x) {
          const std::size_t element = grid.element(x, y);
          for (std::size_t d = 0; d < stencil.size(); ++d) {
            degrees[element] += matrix[d * grid.pitch + element];
          }
        }
      }
    });
    return planes;
  }

  /// Filters x_ on a level. On the level that is solved also computes laplacian_ and degrees_.
  void filter(std::size_t level) {
    const PlaneGrid& grid = levels_[level].grid;
    const double hops = std::pow(kHops, static_cast<double>(levels_.size() - 1 - level));
    std::vector<float> factors(4 * (kDegree + 1) * images_, 0.0F);
    for (std::size_t image = 0; image < images_; ++image) {
      const std::vector<double>& values = spectra_[image].values;
      const double last = values.empty() ? 1 : values.back() / hops;
      const double wanted =
          values.size() < kContourVectors ? last : values[kContourVectors - 1] / hops;
      add_filter(factors, image, images_, std::clamp(last, 0.0, 0.5), wanted);
    }
    auto steps = context_.allocate<float>(factors.size(), "steps of the filter");
    steps.upload_later(factors);
    const Buffer<std::int32_t> offsets = decimation_.offsets(grid);
    degrees_ = context_.allocate<float>(images_ * grid.pitch, "degrees");
    degrees_.fill(0);
    laplacian_ = decimation_.zeros(grid, kVectors);
    const Decimation::Step fixed{levels_[level].matrix, grid, offsets, steps, kVectors, degrees_};
    for (int k = 0; k < kDegree; ++k) {
      decimation_.step(fixed, k, x_, laplacian_, laplacian_);
      std::swap(x_, laplacian_);
    }
    passes_ += kDegree;
    if (level > solved_) return;
    decimation_.step(fixed, kDegree, x_, laplacian_, laplacian_);
    ++passes_;
  }

  /// Makes x_ Ritz vectors on the level that is solved: kContourVectors planes an image.
  std::vector<float> ritz_vectors() {
    Arriving<float> vectors = x_.download_later();
    Arriving<float> products = laplacian_.download_later();
    of_pixels_ = degrees_.download();
    const PlaneGrid& grid = levels_[solved_].grid;
    std::vector<float> planes(images_ * kContourVectors * grid.pitch + kBehindPlanes, 0.0F);
    spectra_ = RayleighRitz(grid, images_, vectors.wait(), products.wait(), of_pixels_.data())
                   .run(planes.data());
    return planes;
  }

  /// Brings vectors in planes from the host into x_.
  void upload(const std::vector<float>& planes) {
    x_ = context_.allocate<float>(planes.size(), "vectors of the decimated grid");
    x_.upload_later(planes);
  }

  /// Brings `vectors` vectors of each image in x_ from a level to the next finer one.
  void interpolate(std::size_t level, int vectors) {
    const PlaneGrid& finer = levels_[level - 1].grid;
    Buffer<float> fine = decimation_.zeros(finer, vectors);
    decimation_.interpolate(to_finer(level), vectors, x_, Decimation::in_planes(finer), fine);
    x_ = std::move(fine);
  }

  /// `planes`, `degrees`: of the image on the level that is solved.
  ContourEigenvectors::Image described(std::size_t image, const float* planes,
                                       const float* degrees) const {
    const PlaneGrid& grid = levels_[solved_].grid;
    const Spectrum& spectrum = spectra_[image];
    ContourEigenvectors::Image result;
    const double finer = std::pow(kHops, static_cast<double>(solved_ + 1));
    const std::size_t count = spectrum.values.size();
    EigenReport& report = result.report;
    report.residuals.push_back(0);
    result.least.resize(count);
    result.extent.resize(count);
    parallel_for(static_cast<int>(count), [&](int k) {
      const float* y = planes + static_cast<std::size_t>(k) * grid.pitch;
      float least = INFINITY;
      float largest = -INFINITY;
      for (std::size_t i = 0; i < grid.elements(); ++i) {
        if (!(degrees[i] > 0)) continue;
        least = std::min(least, y[i]);
        largest = std::max(largest, y[i]);
      }
      const bool flat =
          !(largest - least > kRounding * std::max(std::abs(least), std::abs(largest)));
      result.least[static_cast<std::size_t>(k)] = least;
      result.extent[static_cast<std::size_t>(k)] = flat ? 0 : largest - least;
    });
    for (std::size_t k = 0; k < count; ++k) {
      result.values.push_back(spectrum.values[k] / finer);
      report.residuals.push_back(k < spectrum.residuals.size() ? spectrum.residuals[k] : 0);
    }
    const int diagonals = decimation_.diagonals();
    report.solver = "decimated";
    report.matvec = "decimation_step";
    report.converged = true;
    report.levels = static_cast<int>(levels_.size()) + 1;
    report.restarts = levels_.size() - 1 > solved_ ? 1 : 0;
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

  Context& context_;
  const Interpolation& kept_;
  Grid grid_;
  const Watch& watch_;
  std::size_t images_;
  Decimation decimation_;
  std::vector<Level> levels_;     ///< From the first decimation on.
  std::size_t solved_ = 0;        ///< The level from which on vectors are interpolated alone.
  Buffer<float> x_;               ///< Vectors on the level in question.
  Buffer<float> laplacian_;       ///< L x_.
  Buffer<float> degrees_;         ///< A plane for each image.
  std::vector<float> of_pixels_;  ///< degrees_ on the host.
  std::vector<Spectrum> spectra_;
  std::int64_t passes_ = 0;
};

}  // namespace

ContourEigenvectors contour_eigenvectors(Context& context, const Interpolation& kept,
                                         const Grid& grid, const Watch& watch) {
  return Solver(context, kept, grid, watch).run();
}

}  // namespace diacut
