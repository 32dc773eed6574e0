// Known answers for every kernel: nothing is left out, and what is wrong is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "diacut/errors.hpp"
#include "diacut/segmenter.hpp"
#include "doctor/checks.hpp"
#include "matchers.hpp"
#include "opencl/context.hpp"
#include "spoilt_kernels.hpp"
#include "support.hpp"
#include "temp_folder.hpp"

namespace diacut {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SpoiltKernels;

const fs::path kKernels = fs::path(DIACUT_SOURCE_DIR) / "kernels";

/// The kernels that the files of kernels/ define, without those that only measure devices.
std::set<std::string> kernels_in_files() {
  std::set<std::string> kernels;
  for (const auto& entry : fs::recursive_directory_iterator(kKernels)) {
    const std::string file = fs::relative(entry.path(), kKernels).generic_string();
    if (!file.ends_with(".cl") || file.starts_with("spmv/measure/")) continue;
    const std::string code = testing::read_bytes(entry.path().string());
    for (std::size_t at = code.find("__kernel"); at != std::string::npos;
         at = code.find("__kernel", at + 1)) {
      const std::size_t name = code.find("void ", at) + 5;
      kernels.insert(file + ":" + code.substr(name, code.find('(', name) - name));
    }
  }
  return kernels;
}

TEST(Examination, HoldsEveryKernelToAKnownAnswer) {
  const std::set<std::string> all = kernels_in_files();
  ASSERT_GT(all.size(), 100U);
  const std::vector<std::string> listed = kernels_of_library();
  EXPECT_EQ(std::set<std::string>(listed.begin(), listed.end()), all);
  // Kernels for CPUs and for GPUs compute the same, so that a CPU can run both kinds. Compilers of
  // GPUs do not build all of those for CPUs.
  const DeviceKind own = Context(testing::test_device()).info().kind;
  const bool runs_both = own == DeviceKind::kCpu;
  std::set<std::string> missing = all;
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kGpu}) {
    if (!runs_both && kind == DeviceKind::kCpu) continue;
    const DeviceExamination examination =
        examine({.device = testing::test_device(), .kernel_dir = "", .as_kind = kind}, {});
    EXPECT_TRUE(examination.sound()) << examination.failure;
    for (const CheckResult& check : examination.checks) {
      EXPECT_TRUE(check.passed) << check.name << ": " << check.finding;
      EXPECT_LE(check.error, 1) << check.name;
      for (const std::string& kernel : check.kernels) {
        EXPECT_TRUE(all.contains(kernel)) << kernel;
        missing.erase(kernel);
      }
    }
  }
  if (runs_both) {
    EXPECT_THAT(missing, IsEmpty()) << "lib/judge/doctor needs a check for each of these kernels";
  } else {
    EXPECT_LT(missing.size(), all.size() / 4) << "most kernels are for any device";
  }
}

/// The checks whose names hold `only`, with these kernels.
DeviceExamination examine_spoilt(const SpoiltKernels& kernels, const std::string& only) {
  return examine({testing::test_device(), kernels.path(), {}, only}, {});
}

TEST(Examination, NamesTheKernelThatIsWrong) {
  const SpoiltKernels kernels("contour/boundary_contour.cl", "fmin(weight", "fmin(1.001f * weight");
  const DeviceExamination found = examine_spoilt(kernels, "contours");
  EXPECT_FALSE(found.sound());
  ASSERT_GT(found.checks.size(), 1U);
  EXPECT_THAT(found.suspects(), ElementsAre("contour/boundary_contour.cl:boundary_contour"));
  for (const CheckResult& check : found.checks) {
    EXPECT_EQ(check.passed, check.name != "contours from boundary maps") << check.name;
  }
}

TEST(Examination, AKernelThatDoesNothingLeavesNoEarlierAnswer) {
  const SpoiltKernels kernels("contour/boundary_contour.cl", "if (i < elements)", "if (i < 0)");
  for (int run = 0; run < 2; ++run) {
    const DeviceExamination found = examine_spoilt(kernels, "contours from boundary maps");
    EXPECT_FALSE(found.sound());
    for (const CheckResult& check : found.checks) {
      EXPECT_THAT(check.passed ? "is nan" : check.finding, ::testing::ContainsRegex("is -?nan"));
    }
  }
}

/// Parameters whose runs go through other stages, by what is different.
std::map<std::string, Parameters> parameters_of_runs() {
  std::map<std::string, Parameters> all;
  all["the default"] = {};
  all["gradient"].boundary.kind = BoundaryKind::kGradient;
  all["gradient, no eigenvectors"].boundary.kind = BoundaryKind::kGradient;
  all["gradient, no eigenvectors"].contour.spectral = SpectralUse::kNever;
  for (const std::string name :
       {"spectral contours", "spectral contours by Lanczos", "40 eigenvectors"}) {
    all[name].contour.spectral = SpectralUse::kFull;
    all[name].boundary.weights = "fast";
  }
  all["spectral contours by Lanczos"].eigen.solver = SolverKind::kLanczos;
  all["40 eigenvectors"].eigen.vectors = 41;
  all["direct cuts"].region.method = RegionMethod::kKway;
  all["direct cuts"].boundary.weights = "fast";
  all["strides"].boundary.kind = BoundaryKind::kGradient;
  all["strides"].affinity.strides = {1, 2};
  all["seeds"].region.method = RegionMethod::kWalker;
  all["seeds"].boundary.weights = "fast";
  return all;
}

TEST(CheckOfASegmenter, ASoundDevicePasses) {
  for (const auto& [name, parameters] : parameters_of_runs()) {
    Segmenter segmenter(parameters, testing::test_device());
    for (const bool own_maps : {false, true, false}) {
      EXPECT_NO_THROW(segmenter.check_device(own_maps)) << name << ", own maps " << own_maps;
    }
  }
}

TEST(CheckOfASegmenter, LeavesResultsAsTheyAre) {
  const Image image = drawn_scene(48, 36);
  for (const bool spectral : {false, true}) {
    Parameters parameters;
    if (spectral) parameters.contour.spectral = SpectralUse::kFull;
    Segmenter checked(parameters, testing::test_device());
    checked.check_device();
    const HierarchyCut after = checked.segment(image);
    Segmenter other(parameters, testing::test_device());
    const HierarchyCut alone = other.segment(image);
    EXPECT_EQ(after.labels.values, alone.labels.values);
    EXPECT_EQ(after.contours, alone.contours);
    EXPECT_EQ(after.costs.programs_built, 0) << spectral;
  }
}

/// A kernel that is spoilt, a run that uses it, and the stage that the check of it names.
struct SpoiltStage {
  std::string run, stage, file, from, to;
};

TEST(CheckOfASegmenter, NamesTheStageThatIsWrong) {
  const std::vector<SpoiltStage> all = {
      {"gradient", "eigenvectors", "eigen/lobpcg/residuals.cl", "  product[", "  1.01f * product["},
      {"gradient", "eigenvectors", "eigen/lobpcg/basis_update.cl", "factor, sums[r])",
       "1.01f * factor, sums[r])"},
      {"spectral contours by Lanczos", "eigenvectors", "eigen/lanczos/basis.cl",
       "if (get_local_id(0) == 0) sums[at + c] = sum;", ""},
      {"seeds", "random walk", "walker/seeds.cl", "clamp(block", "clamp(1.01f * block"},
      {"gradient, no eigenvectors", "contours: contour of a boundary map",
       "contour/boundary_contour.cl", "fmin(weight", "fmin(1.001f * weight"}};
  for (const SpoiltStage& each : all) {
    SCOPED_TRACE(each.file);
    const SpoiltKernels kernels(each.file, each.from, each.to);
    Segmenter segmenter(parameters_of_runs().at(each.run), testing::test_device(), kernels.path());
    segmenter.keep_eigenvectors(true);
    for (int time = 0; time < 2; ++time) {
      EXPECT_THAT(testing::message_of<DeviceError>([&] { segmenter.check_device(true); }),
                  AllOf(HasSubstr("computes wrongly (stage " + each.stage),
                        HasSubstr(segmenter.device().name)));
    }
  }
}

TEST(Examination, GoesOnAfterAKernelThatDoesNotBuild) {
  const SpoiltKernels kernels("affinity/normalize.cl", "__kernel",
                              "#error spoilt on purpose\n__kernel");
  const DeviceExamination found = examine_spoilt(kernels, "affinit");
  EXPECT_FALSE(found.sound());
  EXPECT_THAT(found.failure, IsEmpty());
  ASSERT_GT(found.checks.size(), 1U);
  std::size_t wrong = 0;
  for (const CheckResult& check : found.checks) {
    if (check.passed) continue;
    ++wrong;
    EXPECT_THAT(check.finding, HasSubstr("spoilt on purpose"));
  }
  EXPECT_EQ(wrong, 1U);
}

TEST(Examination, StopsWhenAsked) {
  CancelToken cancel;
  const Watch watch{[&](std::string_view, double share) {
                      EXPECT_LE(share, 1);
                      cancel.cancel();
                    },
                    &cancel};
  EXPECT_THROW(examine_device(testing::test_device(), "", watch), CancelledError);
}

}  // namespace
}  // namespace diacut
