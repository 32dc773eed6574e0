// The table of bytes a pixel against what runs take on the device.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/enum_names.hpp"
#include "pipeline/run_forms.hpp"
#include "pipeline/stages.hpp"
#include "pipeline/working_image.hpp"
#include "support.hpp"
#include "two_discs.hpp"

namespace diacut::testing {
namespace {

constexpr int kMemoryTableWidth = 480;
constexpr int kMemoryTableHeight = 320;

/// Seeds of so many labels, a few pixels each.
Seeds seeds_of(int labels) {
  Seeds seeds{kMemoryTableWidth, kMemoryTableHeight,
              std::vector<std::int32_t>(std::size_t{kMemoryTableWidth} * kMemoryTableHeight, 0)};
  for (int k = 0; k < labels; ++k) {
    const auto row = static_cast<std::size_t>((2 * k + 1) * kMemoryTableHeight / (2 * labels));
    for (std::size_t x = 20; x < kMemoryTableWidth - 20; x += 40) {
      seeds.labels[row * kMemoryTableWidth + x] = k + 1;
    }
  }
  return seeds;
}

struct MemoryCase {
  std::string settings;
  bool eigenvectors = false;
  int labels = 0;
  int images = 1;
};

class MemoryTable : public ::testing::TestWithParam<MemoryCase> {};

TEST_P(MemoryTable, HoldsWhatEachFormTakesWithin15Percent) {
  const auto& [settings, eigenvectors, labels, images] = GetParam();
  const Image image = two_discs(kMemoryTableWidth, kMemoryTableHeight);
  const PictureSize size{image.width, image.height};
  RunParameters parameters = working_parameters(parse_parameters(settings, "settings"), size, size,
                                                {.eigenvectors = eigenvectors});
  parameters.labels = labels;
  const Seeds seeds = seeds_of(labels);
  const WorkingImage working = labels > 0 ? working_image(SeededImage(image, seeds), parameters)
                                          : working_image(image, parameters);
  const std::vector<WorkingImage> all(static_cast<std::size_t>(images), working);
  Stages stages(test_device(), "");
  const std::vector<RunForm> forms =
      forms_to_try(Grid{size.width, size.height}, images, parameters, stages.device());
  ASSERT_FALSE(forms.empty());
  for (const RunForm& form : forms) {
    const auto begun = stages.run(all, form, {});
    ASSERT_TRUE(begun);
    const std::uint64_t taken = begun->front().result->costs.device_peak_bytes;
    const std::uint64_t announced = device_memory(form).total;
    const auto pixels = static_cast<double>(form.batch.grid().rows());
    SCOPED_TRACE(::testing::Message()
                 << settings << ": " << enum_name(kSolverNames, form.parameters.eigen.solver)
                 << ", " << (form.matrix == MatrixForm::kDia ? "whole" : "compressed") << ", "
                 << form.product.name() << ": " << static_cast<double>(taken) / pixels
                 << " bytes a pixel, announced " << static_cast<double>(announced) / pixels);
    EXPECT_LE(taken, announced);
    EXPECT_LE(static_cast<double>(announced), 1.15 * static_cast<double>(taken));
  }
}

constexpr char kGradient[] = "boundary.kind = 'gradient'\n";

INSTANTIATE_TEST_SUITE_P(
    Runs, MemoryTable,
    ::testing::Values(
        MemoryCase{""}, MemoryCase{"", true}, MemoryCase{"", false, 0, 3},
        MemoryCase{"", true, 0, 2}, MemoryCase{"boundary.weights = 'nuclei'"},
        MemoryCase{"boundary.turns = 8\nimage.detail = 480"}, MemoryCase{kGradient},
        MemoryCase{std::string(kGradient) + "affinity.radius = 8"},
        MemoryCase{std::string(kGradient) + "affinity.radius = 3"},
        MemoryCase{std::string(kGradient) + "contour.spectral = 'never'"},
        MemoryCase{std::string(kGradient) + "contour.spectral = 'full'"},
        MemoryCase{std::string(kGradient) + "contour.spectral = 'full'\neigen.vectors = 33"},
        MemoryCase{std::string(kGradient) + "contour.spectral = 'full'\naffinity.radius = 8"},
        MemoryCase{std::string(kGradient) + "region.method = 'kway'\nregion.regions = 4"},
        MemoryCase{std::string(kGradient) + "region.method = 'walker'", false, 2},
        MemoryCase{std::string(kGradient) + "region.method = 'walker'", false, 4},
        MemoryCase{std::string(kGradient) + "region.method = 'walker'", false, 7},
        MemoryCase{std::string(kGradient) + "region.method = 'walker'", false, 20},
        MemoryCase{std::string(kGradient) + "region.method = 'walker'\naffinity.radius = 8", false,
                   4}));

}  // namespace
}  // namespace diacut::testing
