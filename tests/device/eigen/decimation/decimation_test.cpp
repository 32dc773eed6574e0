// Decimated grids against dense matrices in double.
#include "eigen/decimation/decimation.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <span>

#include "answers/problems.hpp"
#include "right.hpp"

namespace diacut {
namespace {

/// Rows are pixels, one row of the image after the other.
using Matrix = Eigen::MatrixXd;
using Floats = std::span<const float>;

bool contains(const Grid& grid, int x, int y) {
  return x >= 0 && x < grid.width && y >= 0 && y < grid.height;
}
Grid grid_of(const PlaneGrid& plane) { return {plane.width, plane.height}; }

/// Calls visit(x, y, parity) for the pixels of all cells, also for those outside of the image.
template <class Visit>
void each_pixel(const PlaneGrid& cells, const Visit& visit) {
  for (int y = 0; y < 2 * cells.height; ++y) {
    for (int x = 0; x < 2 * cells.width; ++x) {
      visit(x, y, static_cast<std::size_t>(x % 2 + 2 * (y % 2)));
    }
  }
}

/// Calls visit(x, y, element of the weight, cell of the neighbour) for their kept neighbours.
template <class Visit>
void each_neighbour(const PlaneGrid& cells, int radius, const Visit& visit) {
  const KeptNeighbours neighbours(radius);
  each_pixel(cells, [&](int x, int y, std::size_t parity) {
    for (int k = neighbours.first[parity]; k < neighbours.first[parity + 1]; ++k) {
      const auto plane = static_cast<std::size_t>(k);
      const auto& [dx, dy] = neighbours.cells[plane];
      visit(x, y, plane * cells.pitch + cells.element(x / 2, y / 2),
            StencilOffset{x / 2 + dx, y / 2 + dy});
    }
  });
}

/// The weights of an interpolation from kept pixels, the columns, to the pixels of an image.
Matrix interpolation_matrix(const PlaneGrid& cells, const Grid& image, int radius, Floats weights) {
  const Grid kept = grid_of(cells);
  Matrix result = Matrix::Zero(image.rows(), kept.rows());
  each_neighbour(cells, radius, [&](int x, int y, std::size_t at, const StencilOffset& cell) {
    if (contains(image, x, y) && contains(kept, cell.dx, cell.dy)) {
      result(y * image.width + x, cell.dy * kept.width + cell.dx) = weights[at];
    } else {
      EXPECT_EQ(weights[at], 0) << x << ", " << y;
    }
  });
  return result;
}

/// The roots of an interpolation.
Matrix roots_of(const PlaneGrid& cells, const Grid& image, Floats roots) {
  Matrix result(image.rows(), 1);
  each_pixel(cells, [&](int x, int y, std::size_t parity) {
    const float root = roots[parity * cells.pitch + cells.element(x / 2, y / 2)];
    if (contains(image, x, y)) {
      result(y * image.width + x) = root;
    } else {
      EXPECT_EQ(root, 0) << x << ", " << y;
    }
  });
  return result;
}

/// The pixels of planes, a column each.
Matrix columns_of(const PlaneGrid& grid, Floats planes) {
  Matrix result(grid.pixels(), planes.size() / grid.pitch);
  for (Eigen::Index k = 0; k < result.cols(); ++k) {
    for (int y = 0; y < grid.height; ++y) {
      const auto row = planes.subspan(static_cast<std::size_t>(k) * grid.pitch + grid.element(0, y),
                                      at_size(grid.width));
      for (int x = 0; x < grid.width; ++x) result(y * grid.width + x, k) = row[at_size(x)];
    }
  }
  return result;
}

/// The matrix whose diagonals are planes.
Matrix stencil_matrix(const PlaneGrid& plane, const Stencil& stencil, Floats planes) {
  const Grid grid = grid_of(plane);
  const Matrix diagonals = columns_of(plane, planes);
  Matrix result = Matrix::Zero(grid.rows(), grid.rows());
  for (Eigen::Index d = 0; d < diagonals.cols(); ++d) {
    const auto& [dx, dy] = stencil.entries[static_cast<std::size_t>(d)];
    for (int i = 0; i < diagonals.rows(); ++i) {
      const int x = i % grid.width + dx;
      const int y = i / grid.width + dy;
      if (contains(grid, x, y)) {
        result(i, y * grid.width + x) = diagonals(i, d);
      } else {
        EXPECT_EQ(diagonals(i, d), 0) << "diagonal " << d << ", pixel " << i;
      }
    }
  }
  return result;
}

/// An interpolation of random weights, of two images, on the host and on the device.
struct DrawnInterpolation {
  Interpolation device;
  std::vector<float> weights;
  std::vector<float> roots;

  DrawnInterpolation(Trial& trial, const Grid& image, int radius)
      : device{PlaneGrid(image.width, image.height, radius).decimated(), radius, 2, {}, {}} {
    const PlaneGrid& cells = device.cells;
    const std::size_t planes = KeptNeighbours(radius).size() * cells.pitch;
    weights.assign(2 * planes + kBehindPlanes, 0.0f);
    roots.assign(8 * cells.pitch + kBehindPlanes, 0.0f);
    const std::vector<float> drawn = trial.uniform(weights.size());
    for (std::size_t k = 0; k < 2; ++k) {
      each_neighbour(cells, radius, [&](int x, int y, std::size_t at, const StencilOffset& cell) {
        const bool inside = contains(image, x, y) && contains(grid_of(cells), cell.dx, cell.dy);
        if (inside) weights[k * planes + at] = 0.01F + drawn[k * planes + at];
      });
      each_pixel(cells, [&](int x, int y, std::size_t parity) {
        const std::size_t at = (4 * k + parity) * cells.pitch + cells.element(x / 2, y / 2);
        if (contains(image, x, y)) roots[at] = 0.01F + drawn[at];
      });
    }
    device.weights = trial.uploaded(weights);
    device.roots = trial.uploaded(roots);
  }
};

/// Random vectors in planes, 0 in the margin.
std::vector<float> drawn_planes(Trial& trial, const PlaneGrid& grid, int vectors) {
  std::vector<float> planes(static_cast<std::size_t>(vectors) * grid.pitch + kBehindPlanes, 0.0f);
  const std::vector<float> drawn = trial.uniform(planes.size());
  for (std::size_t v = 0; v < static_cast<std::size_t>(vectors); ++v) {
    for (int y = 0; y < grid.height; ++y) {
      for (int x = 0; x < grid.width; ++x) {
        const std::size_t at = v * grid.pitch + grid.element(x, y);
        planes[at] = 2 * drawn[at] - 1;
      }
    }
  }
  return planes;
}

class Decimations : public testing::GuardedTest {
 protected:
  /// Holds a matrix of floats to numbers, of whose magnitudes it may be off by so many roundings.
  void expect_close(const char* what, const Matrix& found, const Matrix& expected,
                    const Matrix& magnitude, double roundings) {
    ASSERT_EQ(found.cols(), expected.cols()) << what;
    const Eigen::MatrixXf floats = found.cast<float>();
    const auto size = static_cast<std::size_t>(found.size());
    trial_.expect(what, {floats.data(), size},
                  std::span(expected.data(), static_cast<std::size_t>(expected.size())),
                  {magnitude.data(), size}, roundings);
  }
};

struct DecimationSize {
  Grid image;
  int radius;
};
constexpr DecimationSize kDecimationSizes[] = {{{1, 1}, 5},   {{2, 1}, 5},   {{1, 9}, 2},
                                               {{17, 3}, 5},  {{31, 22}, 5}, {{40, 33}, 3},
                                               {{64, 21}, 5}, {{23, 50}, 10}};

TEST_F(Decimations, AreThoseOfDenseMatricesAtAwkwardSizes) {
  constexpr int kColumns = 2 * Decimation::kGroup;
  for (const auto& [image, radius] : kDecimationSizes) {
    SCOPED_TRACE(::testing::Message()
                 << image.width << "x" << image.height << " radius " << radius);
    DrawnInterpolation drawn(trial_, image, radius);
    Decimation decimation(context_, radius, 2);
    const PlaneGrid& grid = drawn.device.cells;

    const Buffer<float> matrix = decimation.matrix(drawn.device);
    const std::vector<float> values = matrix.download();
    const Interpolation split = decimation.split(matrix, grid);
    const std::vector<float> weights = split.weights.download();
    const std::vector<float> roots = split.roots.download();

    const std::vector<float> x = drawn_planes(trial_, grid, 2 * kColumns);
    const std::vector<float> before = drawn_planes(trial_, grid, 2 * kColumns);
    Buffer<float> on_device = decimation.zeros(grid, kColumns);
    on_device.upload(x);
    Buffer<float> out = decimation.zeros(grid, kColumns);
    out.upload(before);
    // Two steps; the second one, with factors of each image's own, is taken.
    const std::vector<float> factors = {9, 9, 9, 0, 9, 9, 9, 0, 1.5f, -0.5f, 2, 0, 1, 0.25f, -1, 0};
    const Buffer<float> steps = trial_.uploaded(factors);
    const Buffer<std::int32_t> offsets = decimation.offsets(grid);
    Buffer<float> degrees = trial_.empty(2 * grid.pitch);
    decimation.step({matrix, grid, offsets, steps, kColumns, degrees}, 1, on_device, out, out);
    const std::vector<float> stepped = out.download();
    const std::vector<float> sums = degrees.download();

    Buffer<float> fine = trial_.empty(2 * kColumns * image.rows());
    decimation.interpolate(drawn.device, kColumns, on_device,
                           {image.width, image.height, image.width, image.rows(), 0}, fine);
    const std::vector<float> interpolated = fine.download();

    const auto most = static_cast<double>(4 * (radius + 1) * (radius + 1));
    for (std::size_t k = 0; k < 2; ++k) {
      // The part of a buffer of two images that belongs to this one.
      const auto part = [&](const std::vector<float>& both, std::size_t planes, std::size_t pitch) {
        return Floats(both).subspan(k * planes * pitch, planes * pitch);
      };
      const std::size_t neighbours = KeptNeighbours(radius).size();
      const Matrix g =
          interpolation_matrix(grid, image, radius, part(drawn.weights, neighbours, grid.pitch));
      const Matrix w = stencil_matrix(grid, decimation.stencil(),
                                      part(values, decimation.stencil().size(), grid.pitch));
      const Matrix product = g.transpose() * g;
      expect_close("matrix", w, product, product, most + 2);

      const PlaneGrid& cells = split.cells;
      Matrix to_kept(w.rows(), cells.pixels());
      for (int i = 0; i < to_kept.cols(); ++i) {
        to_kept.col(i) = w.col(i / cells.width * 2 * grid.width + i % cells.width * 2);
      }
      Matrix root = to_kept.rowwise().sum();
      for (double& each : root.reshaped()) each = each > 0 ? 1 / std::sqrt(each) : 0;
      to_kept = root.col(0).asDiagonal() * to_kept;
      expect_close("split weights",
                   interpolation_matrix(cells, grid_of(grid), radius,
                                        part(weights, neighbours, cells.pitch)),
                   to_kept, to_kept, most);
      expect_close("split roots", roots_of(cells, grid_of(grid), part(roots, 4, cells.pitch)), root,
                   root, most);

      const float* factor = factors.data() + 8 + 4 * k;
      const Matrix vectors = columns_of(grid, part(x, kColumns, grid.pitch));
      const Eigen::VectorXd degree = w.rowwise().sum();
      Matrix laplacian = vectors - degree.cwiseInverse().asDiagonal() * (w * vectors);
      for (Eigen::Index i = 0; i < degree.size(); ++i) {
        if (degree(i) == 0) laplacian.row(i).setZero();
      }
      // |x| is at most 1, so |L x| is at most 2 and rounds by the sums' roundings.
      expect_close("step", columns_of(grid, part(stepped, kColumns, grid.pitch)),
                   factor[0] * laplacian + factor[1] * vectors +
                       factor[2] * columns_of(grid, part(before, kColumns, grid.pitch)),
                   Matrix::Constant(vectors.rows(), kColumns, 6.0),
                   static_cast<double>(3 * decimation.stencil().size()));
      expect_close("degrees", columns_of(grid, part(sums, 1, grid.pitch)), degree, degree, most);

      const Eigen::VectorXd own = roots_of(grid, image, part(drawn.roots, 4, grid.pitch)).col(0);
      const auto pixels = static_cast<Eigen::Index>(image.rows());
      expect_close("interpolation",
                   Eigen::Map<const Eigen::MatrixXf>(
                       part(interpolated, kColumns, image.rows()).data(), pixels, kColumns)
                       .cast<double>(),
                   own.asDiagonal() * (g * vectors), own.asDiagonal() * (g * vectors.cwiseAbs()),
                   most + 2);
    }
  }
}

TEST_F(Decimations, ReachNoFartherThanTheRadius) {
  for (const int radius : {2, 3, 5, 10}) {
    const KeptNeighbours neighbours(radius);
    const Stencil stencil = disc_stencil(radius);
    EXPECT_EQ(neighbours.size(), stencil.size());
    for (std::size_t p = 0; p < 4; ++p) {
      for (int j = neighbours.first[p]; j < neighbours.first[p + 1]; ++j) {
        for (int k = neighbours.first[p]; k < neighbours.first[p + 1]; ++k) {
          const auto& first = neighbours.cells[static_cast<std::size_t>(j)];
          const auto& second = neighbours.cells[static_cast<std::size_t>(k)];
          EXPECT_LT(stencil.index({second.dx - first.dx, second.dy - first.dy}), stencil.size());
        }
      }
    }
  }
}

}  // namespace
}  // namespace diacut
