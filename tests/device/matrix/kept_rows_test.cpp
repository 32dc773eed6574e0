// Products with the affinities between all pixels and every other row and column.
#include "matrix/kept_rows.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <vector>

#include "matrix/dia_matrix.hpp"
#include "right.hpp"

namespace diacut::testing {
namespace {

class KeptRowsTest : public GuardedTest {
 protected:
  /// Drawn entries, on the device and as a matrix of all pixels by the kept ones.
  struct Drawn {
    KeptRows rows;
    Eigen::MatrixXd matrix;
  };

  Drawn drawn(const Batch& batch, int radius) {
    Drawn result{{batch, coarser(batch), disc_stencil(radius), {}}, {}};
    const Grid all = batch.grid();
    const Grid kept = result.rows.kept.grid();
    const std::size_t pitch = result.rows.pitch();
    std::vector<float> values = trial_.uniform(pitch * result.rows.stencil.size());
    result.matrix = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(all.rows()),
                                          static_cast<Eigen::Index>(kept.rows()));
    for (std::size_t d = 0; d < result.rows.stencil.size(); ++d) {
      const auto [dx, dy] = result.rows.stencil.entries[d];
      for (int y = 0; y < kept.height; ++y) {
        for (int x = 0; x < kept.width; ++x) {
          const int px = 2 * x + dx;
          const int py = 2 * y + dy;
          // As affinities are: 0 outside of the image, and from one image to the next.
          const bool inside = px >= 0 && px < all.width && py >= 0 && py < all.height &&
                              py / batch.height == 2 * y / batch.height &&
                              py % batch.height < batch.image.height &&
                              2 * y % batch.height < batch.image.height;
          float& value = values[d * pitch + at_size(y * kept.width + x)];
          if (!inside) value = 0;
          if (inside) result.matrix(py * all.width + px, y * kept.width + x) = value;
        }
      }
    }
    result.rows.values = context_.allocate<float>(values.size(), "rows");
    result.rows.values.upload(values);
    return result;
  }
};

TEST_F(KeptRowsTest, ProductsAgreeWithTheDefinition) {
  const Batch batches[] = {Grid{1, 1},   Grid{2, 9},  Grid{17, 1},          Grid{37, 23},
                           Grid{70, 11}, Grid{33, 6}, {Grid{21, 13}, 3, 24}};
  for (const Batch& batch : batches) {
    for (const int radius : {2, 3, 5}) {
      SCOPED_TRACE(::testing::Message() << batch.image.width << "x" << batch.image.height
                                        << " radius " << radius << ", images " << batch.count);
      const Drawn problem = drawn(batch, radius);
      const Stencil& stencil = problem.rows.stencil;
      const Grid kept = problem.rows.kept.grid();
      const std::size_t pitch = problem.rows.pitch();
      expect_right([&](Trial& trial) {
        Buffer<float> coarse = trial.empty(pitch * stencil.size());
        multiply_kept_rows(context_, problem.rows, stencil, coarse, pitch);
        const Eigen::MatrixXd exact = problem.matrix.transpose() * problem.matrix;
        const std::vector<float> found = coarse.download();
        std::vector<double> expected(found.size(), 0.0);
        for (std::size_t d = 0; d < stencil.size(); ++d) {
          const auto [dx, dy] = stencil.entries[d];
          for (int y = 0; y < kept.height; ++y) {
            for (int x = 0; x < kept.width; ++x) {
              if (x + dx < 0 || x + dx >= kept.width || y + dy < 0 || y + dy >= kept.height)
                continue;
              expected[d * pitch + at_size(y * kept.width + x)] =
                  exact(y * kept.width + x, (y + dy) * kept.width + x + dx);
            }
          }
        }
        trial.expect("product", found, expected, expected, static_cast<double>(stencil.size()) + 4);
      });
      const Grid image = batch.image;
      const Grid small = problem.rows.kept.image;
      const std::size_t fine_pitch = dia_pitch(image.rows());
      const std::size_t small_pitch = dia_pitch(small.rows());
      for (int k = 0; k < batch.count; ++k) {
        expect_right([&](Trial& trial) {
          constexpr int kVectors = 6;
          const std::vector<float> vectors = trial.uniform(kVectors * small_pitch);
          Buffer<float> on_device = context_.allocate<float>(vectors.size(), "vectors");
          on_device.upload(vectors);
          Buffer<float> fine = trial.empty(kVectors * fine_pitch);
          interpolate_kept_rows(context_, problem.rows, k, kVectors, on_device, small_pitch, fine,
                                fine_pitch);
          const std::vector<float> found = fine.download();
          const Eigen::MatrixXd own = problem.matrix.block(
              k * static_cast<Eigen::Index>(batch.segment()),
              k * static_cast<Eigen::Index>(problem.rows.kept.segment()),
              static_cast<Eigen::Index>(image.rows()), static_cast<Eigen::Index>(small.rows()));
          for (std::size_t v = 1; v < kVectors; ++v) {
            const Eigen::VectorXd z =
                Eigen::Map<const Eigen::VectorXf>(vectors.data() + v * small_pitch, own.cols())
                    .cast<double>();
            const Eigen::VectorXd expected = own * z;
            trial.expect("interpolated vector",
                         std::span(found).subspan(v * fine_pitch, image.rows()),
                         std::vector<double>(expected.begin(), expected.end()),
                         std::vector<double>(expected.begin(), expected.end()), 34);
          }
        });
      }
    }
  }
}

}  // namespace
}  // namespace diacut::testing
