#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "contour/combined_contour.hpp"
#include "diacut/segmenter.hpp"
#include "eigen_checks.hpp"
#include "pipeline/run_forms.hpp"
#include "support.hpp"
#include "turned_picture.hpp"
#include "two_discs.hpp"

namespace diacut::testing {
namespace {

/// The middle of one of the project's photographs.
Image middle_of(const std::string& name, int width, int height) {
  const Image whole = read_image(std::string(DIACUT_SOURCE_DIR) + "/images/" + name);
  const cv::Mat picture(whole.height, whole.width, CV_32FC3,
                        const_cast<float*>(whole.pixels.data()));
  const cv::Point corner((whole.width - width) / 2, (whole.height - height) / 2);
  return image_of(picture(cv::Rect(corner, cv::Size(width, height))).clone());
}

Eigenvectors solved(const Image& image, SolverKind solver, BoundaryKind kind, double tolerance) {
  Parameters parameters;
  parameters.boundary.kind = kind;
  parameters.eigen.solver = solver;
  parameters.eigen.tolerance = tolerance;
  return keeping_eigenvectors(parameters).segment(image).eigenvectors;
}

/// The first `count` vectors as columns.
Eigen::MatrixXd columns(const Eigenvectors& found, int count) {
  Eigen::MatrixXd result(static_cast<Eigen::Index>(found.sqrt_degree.size()), count);
  for (int k = 0; k < count; ++k) {
    const std::vector<float>& z = found.vectors[static_cast<std::size_t>(k)];
    result.col(k) = Eigen::Map<const Eigen::VectorXf>(z.data(), result.rows()).cast<double>();
  }
  return result;
}

class Photographs : public ::testing::TestWithParam<SolverKind> {};

TEST_P(Photographs, AgreeWithSpectra) {
  constexpr double kTolerance = 1e-5;
  for (const char* name : {"cat.jpg", "coffee.jpg"}) {
    for (const BoundaryKind kind : {BoundaryKind::kGradient, BoundaryKind::kLearned}) {
      SCOPED_TRACE(::testing::Message() << name << ", kind " << static_cast<int>(kind));
      const Image image = middle_of(name, 97, 71);
      const Eigenvectors ours = solved(image, GetParam(), kind, kTolerance);
      const Eigenvectors theirs = solved(image, SolverKind::kSpectra, kind, kTolerance);
      ASSERT_TRUE(ours.report.converged);
      ASSERT_TRUE(theirs.report.converged);
      ASSERT_EQ(ours.vectors.size(), 17u);
      ASSERT_EQ(theirs.vectors.size(), 17u);
      int split = 8;
      double gap = 0;
      for (int k = 1; k < 17; ++k) {
        const auto at = static_cast<std::size_t>(k);
        EXPECT_LE(ours.report.residuals[at], kTolerance);
        EXPECT_LE(theirs.report.residuals[at], kTolerance);
        // A Rayleigh quotient is off by no more than the residual.
        EXPECT_NEAR(ours.values[at], theirs.values[at], 2 * kTolerance);
        if (k >= 8 && theirs.values[at] - theirs.values[at - 1] > gap) {
          gap = theirs.values[at] - theirs.values[at - 1];
          split = k;
        }
      }
      // The spaces before the widest gap: each is off by sqrt(k) residuals over the gap at most
      // (Davis and Kahan 1970).
      EXPECT_LE(subspace_sine(columns(ours, split), columns(theirs, split)),
                2 * std::sqrt(split) * kTolerance / gap + 1e-5);
      EXPECT_GT(correlation(reference_spectral_contour(ours), reference_spectral_contour(theirs)),
                0.9999);
    }
  }
}

TEST_P(Photographs, MeetARelativeTolerance) {
  constexpr double kRelative = 0.03;
  const Image image = middle_of("cat.jpg", 150, 110);
  Parameters parameters;
  parameters.boundary.kind = BoundaryKind::kGradient;
  parameters.eigen.solver = GetParam();
  parameters.eigen.tolerance = 1e-3;
  const auto largest_share = [&] {
    const HierarchyCut result = keeping_eigenvectors(parameters).segment(image);
    const Eigenvectors& found = result.eigenvectors;
    EXPECT_TRUE(found.report.converged);
    EXPECT_EQ(found.report.resolution.size(), found.values.size());
    double share = 0;
    for (std::size_t k = 1; k < found.values.size(); ++k) {
      share = std::max(share, found.report.residuals[k] / found.values[k]);
      EXPECT_TRUE(found.report.resolution[k].resolved) << k;
    }
    return share;
  };
  EXPECT_GT(largest_share(), kRelative);
  parameters.eigen.relative_tolerance = kRelative;
  // Ritz values, which the solver compares with, differ from the eigenvalues by rounding.
  EXPECT_LE(largest_share(), 1.01 * kRelative);
}

TEST(PhotographsCompressed, GiveTheSameContours) {
  for (const char* name : {"cat.jpg", "coffee.jpg"}) {
    const Image image = middle_of(name, 97, 71);
    Parameters parameters;
    parameters.eigen.solver = SolverKind::kLanczos;
    const auto solve = [&](MatvecKind kernel, MatvecStorage storage, const std::string& product) {
      parameters.matvec.kernel = kernel;
      parameters.matvec.storage = storage;
      HierarchyCut result = keeping_eigenvectors(parameters).segment(image);
      EXPECT_EQ(result.eigenvectors.report.matvec, product);
      EXPECT_LE(result.costs.device_peak_bytes, result.costs.announced.device_bytes);
      return std::move(result.eigenvectors);
    };
    using enum MatvecStorage;
    const Eigenvectors whole = solve(MatvecKind::kUnrolled, kAuto, "unrolled");
    for (const auto& [kernel, storage, product] :
         {std::tuple(MatvecKind::kSymmetric, kFloat32, "symmetric float32"),
          {MatvecKind::kSymmetric, kHalf, "symmetric half"},
          {MatvecKind::kSymmetric, kMinifloat, "symmetric minifloat"},
          {MatvecKind::kAuto, kAuto, "symmetric half"}}) {
      SCOPED_TRACE(::testing::Message() << name << ", " << product << ", " << to_string(kernel));
      const Eigenvectors compressed = solve(kernel, storage, product);
      const bool chosen = kernel == MatvecKind::kAuto;
      EXPECT_GT(
          correlation(reference_spectral_contour(compressed), reference_spectral_contour(whole)),
          chosen ? 0.99995 : 0.9999);
      for (std::size_t k = 1; chosen && k < whole.values.size(); ++k) {
        // Rayleigh quotients with the whole matrix: off by the residuals at most.
        EXPECT_NEAR(compressed.values[k], whole.values[k], 2 * parameters.eigen.tolerance);
      }
    }
  }
}

TEST(PhotographsCompressed, AreWhatFitsWhereTheWholeMatrixDoesNot) {
  for (const char* name : {"cat.jpg", "coffee.jpg"}) {
    SCOPED_TRACE(name);
    const Image image = middle_of(name, 97, 71);
    const Grid grid = Grid{97, 71};
    Parameters parameters;
    parameters.boundary.kind = BoundaryKind::kGradient;  // Networks need more than the solver.
    parameters.contour.spectral = SpectralUse::kFull;
    Segmenter segmenter = keeping_eigenvectors(parameters);
    const auto contour = [&](SolverKind solver, MatrixForm form, std::uint64_t less) {
      const std::vector<RunForm> forms = forms_to_try(grid, 1, parameters, segmenter.device());
      const auto found = std::find_if(forms.begin(), forms.end(), [&](const RunForm& each) {
        return each.parameters.eigen.solver == solver && each.matrix == form;
      });
      const std::uint64_t limit = device_memory(*found).total - less;
      segmenter.limit_device_memory(limit);
      const HierarchyCut result = segmenter.segment(image);
      EXPECT_LE(result.costs.device_peak_bytes, limit);
      const EigenReport& report = result.eigenvectors.report;
      const auto notes =
          std::count_if(result.notes.begin(), result.notes.end(), [](const std::string& note) {
            return note.find("eigenvalues") == std::string::npos;  // What is resolved.
          });
      return std::tuple(report.solver, report.matvec, notes,
                        reference_spectral_contour(result.eigenvectors));
    };
    using enum SolverKind;
    const auto [solver, product, notes, whole] = contour(kMultilevel, MatrixForm::kDia, 0);
    EXPECT_EQ(solver, "multilevel");
    EXPECT_EQ(product, "block");
    EXPECT_EQ(notes, 0);
    for (const auto& [asked, form, less, expected, expected_notes] :
         {std::tuple(kMultilevel, MatrixForm::kDia, 1, "multilevel", 1),
          std::tuple(kMultilevel, MatrixForm::kCompressed, 0, "multilevel", 1),
          std::tuple(kLanczos, MatrixForm::kCompressed, 0, "lanczos", 2)}) {
      const auto [found, matvec, told, compressed] =
          contour(asked, form, static_cast<std::uint64_t>(less));
      EXPECT_EQ(found, expected);
      EXPECT_EQ(matvec, found == "multilevel" ? "block half" : "symmetric half");
      EXPECT_EQ(told, expected_notes);
      EXPECT_GT(correlation(compressed, whole), 0.9999);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, Photographs,
                         ::testing::Values(SolverKind::kMultilevel, SolverKind::kLanczos),
                         [](const auto& each) {
                           return std::string(each.param == SolverKind::kMultilevel ? "Multilevel"
                                                                                    : "Lanczos");
                         });

}  // namespace
}  // namespace diacut::testing
