// A device that reports success and leaves wrong numbers: no result is made of them. Kernels from a
// folder, each with one line that computes something else, stand for the device.
#include <gtest/gtest.h>

#include <string>

#include "diacut/segmenter.hpp"
#include "matchers.hpp"
#include "spoilt_kernels.hpp"
#include "support.hpp"
#include "two_discs.hpp"

namespace diacut::testing {
namespace {

/// A line of a kernel, and what stands for it.
struct Fault {
  std::string name;
  std::string file;
  std::string line;
  std::string wrong;
  std::string stage;
  std::string value;  ///< What the message shows.
};

std::ostream& operator<<(std::ostream& stream, const Fault& fault) { return stream << fault.name; }

class SegmenterWrongData : public ::testing::TestWithParam<Fault> {
 protected:
  /// The parameters of a run that has the fault's stage.
  static Parameters parameters() {
    Parameters parameters;
    if (GetParam().file.find("network") == std::string::npos) {
      parameters.boundary.kind = BoundaryKind::kGradient;
    }
    // Lanczos, which has another kernel, takes over where the multilevel solver does not converge.
    if (GetParam().stage == "eigenvectors") parameters.eigen.tolerance = 1e-2;
    return parameters;
  }
};

TEST_P(SegmenterWrongData, IsAnErrorOfItsStage) {
  const SpoiltKernels kernels(GetParam().file, GetParam().line, GetParam().wrong);
  Segmenter segmenter(parameters(), test_device(), kernels.path());
  segmenter.keep_eigenvectors(true);
  const Image image = two_discs(64, 48);
  Seeds seeds{64, 48, std::vector<std::int32_t>(64 * 48, 0)};
  seeds.labels[64 * 24 + 20] = 1;
  seeds.labels[0] = 2;
  EXPECT_THAT(
      [&] {
        if (GetParam().stage == "random walk") segmenter.grow({image, seeds});
        segmenter.segment(image);
      },
      ThrowsMessage<DeviceError>(AllOf(HasSubstr("stage " + GetParam().stage),
                                       HasSubstr(GetParam().value), HasSubstr("--list-devices"))));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, SegmenterWrongData,
    ::testing::Values(Fault{"Network", "boundary/network/output.cl", "1.0f / (1.0f + exp(-value));",
                            "3.0f;", "boundaries", "a strength of 3"},
                      Fault{"Degrees", "affinity/normalize.cl", "sqrt_degree[row] = root;",
                            "sqrt_degree[row] = row == 99 ? 0.25f : root;", "affinity", "0.25"},
                      Fault{"Eigenvalues", "matrix/block_quadratic.cl", "s[row + i] * sums[i];",
                            "(Set)(100.0f);", "eigenvectors", "eigenvalue"},
                      Fault{"Contours", "contour/spectral_contour.cl",
                            "const floatw inside = GLOBAL_LOADW(",
                            "for (int i = 0; i < WIDTH; ++i) contour[pixel + i] = -0.5f;\n"
                            "    return;\n    const floatw inside = GLOBAL_LOADW(",
                            "contours", "-0.5"},
                      Fault{"Orientations", "contour/boundary_orientation.cl",
                            "angle = angle < M_PI_F ? angle : (floatw)(0.0f);",
                            "angle = (floatw)(NAN);", "contours", "an orientation"},
                      Fault{"Labels", "walker/seeds.cl", "label = first + c;", "label = 4711;",
                            "random walk", "4711"}),
    [](const auto& fault) { return fault.param.name; });

}  // namespace
}  // namespace diacut::testing
