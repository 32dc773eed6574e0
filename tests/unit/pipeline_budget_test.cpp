#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "core/host_memory.hpp"
#include "diacut/errors.hpp"
#include "diacut/memory_plan.hpp"
#include "eigen/eigensolver.hpp"
#include "matchers.hpp"
#include "pipeline/segmentation_plan.hpp"

namespace diacut::testing {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

DeviceInfo device_with(std::uint64_t memory, std::uint64_t piece) {
  DeviceInfo device;
  device.name = "test device";
  device.global_memory = memory;
  device.max_allocation = piece;
  return device;
}

DeviceInfo device_of(DeviceKind kind, std::uint64_t memory = 64 * kGiB) {
  DeviceInfo device = device_with(memory, memory);
  device.kind = kind;
  return device;
}

std::uint64_t most(const PipelineBudget& budget) { return budget.memory().total; }

TEST(PipelineBudget, GrowsWithRadiusAndVectors) {
  const Grid grid = grid_for(100, 80);
  // Without networks, whose memory depends on none of these parameters.
  Parameters plain;
  plain.boundary.kind = BoundaryKind::kGradient;
  plain.contour.spectral = SpectralUse::kFull;
  Parameters direct = plain;
  direct.region.method = RegionMethod::kKway;
  const PipelineBudget budget = pipeline_budget(grid, plain);
  Parameters more = direct;
  more.affinity.radius = 10;
  EXPECT_GT(pipeline_budget(grid, more).regions, 2 * pipeline_budget(grid, direct).regions);
  more = plain;
  more.eigen.vectors = 50;
  EXPECT_GT(pipeline_budget(grid, more).eigen, budget.eigen + 33ull * 8000 * 4);
  EXPECT_GT(pipeline_budget(grid, more).contours, budget.contours + 2 * 33ull * 8000 * 4);
}

TEST(PipelineBudget, FitsByTotalAndByPiece) {
  const PipelineBudget budget = pipeline_budget(grid_for(100, 80), {});
  const auto [total, piece] = budget.memory();
  EXPECT_TRUE(budget.fits(device_with(total, piece), 0));
  EXPECT_FALSE(budget.fits(device_with(total - 1, piece), 0));
  EXPECT_FALSE(budget.fits(device_with(total, piece - 1), 0));
  EXPECT_TRUE(budget.fits(device_with(total - 1, piece), total));  // The limit is what counts.
  EXPECT_FALSE(budget.fits(device_with(total, piece), total - 1));
}

TEST(PlanForImage, NamesTheLargestImageThatFits) {
  const Grid asked = grid_for(3000, 2000);
  for (const DeviceInfo& device :
       {device_with(1000 * kMiB, 1000 * kMiB), device_with(100'000 * kMiB, 128 * kMiB)}) {
    const std::string message =
        message_of<DeviceError>([&] { plan_for_image(asked, {}, device, 0); });
    EXPECT_THAT(message, AllOf(HasSubstr("test device"),
                               HasSubstr("affinity.radius 5 and 17 eigenvectors")));
    const std::size_t size = message.find("megapixels (");
    ASSERT_NE(size, std::string::npos) << message;
    Grid found;
    ASSERT_EQ(
        std::sscanf(message.c_str() + size, "megapixels (%dx%d)", &found.width, &found.height), 2);
    EXPECT_NO_THROW(plan_for_image(found, {}, device, 0));
    EXPECT_THROW(plan_for_image(grid_for(found.width + 2, found.height + 2), {}, device, 0),
                 DeviceError);
    EXPECT_NEAR(static_cast<double>(found.width) / found.height, 1.5, 0.01);
  }
  EXPECT_NO_THROW(plan_for_image(asked, {}, device_with(100'000 * kMiB, 100'000 * kMiB), 0));
  EXPECT_THAT(message_of<DeviceError>([&] { plan_for_image(asked, {}, device_with(100, 100), 0); }),
              HasSubstr("no image fits"));
}

TEST(PlanForImage, SolvesByLanczosOnlyWhereMultilevelDoesNotFitInAnyForm) {
  const Grid grid = grid_for(600, 400);
  Parameters multilevel;
  multilevel.boundary.kind = BoundaryKind::kGradient;  // Networks need more than the solver.
  Parameters lanczos = multilevel;
  lanczos.eigen.solver = SolverKind::kLanczos;
  const auto need = [&](const Parameters& parameters, MatrixForm form) {
    return most(pipeline_budget(grid, parameters, form));
  };
  const std::uint64_t whole = need(multilevel, MatrixForm::kDia);
  const std::uint64_t compressed = need(multilevel, MatrixForm::kCompressed);
  const std::uint64_t other = need(lanczos, MatrixForm::kDia);
  const std::uint64_t other_compressed = need(lanczos, MatrixForm::kCompressed);
  ASSERT_GT(whole, compressed);
  ASSERT_GT(compressed, other);
  ASSERT_GT(other, other_compressed);
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kGpu}) {
    const DeviceInfo device = device_of(kind);
    const auto expect = [&](std::uint64_t limit, SolverKind solver, MatrixForm form) {
      SCOPED_TRACE(limit);
      const SegmentationPlan plan = plan_for_image(grid, multilevel, device, limit);
      EXPECT_EQ(plan.parameters.eigen.solver, solver);
      EXPECT_EQ(plan.form, form);
      EXPECT_TRUE(plan.budget.fits(device, limit));
    };
    expect(0, SolverKind::kMultilevel, MatrixForm::kDia);
    expect(whole, SolverKind::kMultilevel, MatrixForm::kDia);
    expect(whole - 1, SolverKind::kMultilevel, MatrixForm::kCompressed);
    expect(compressed, SolverKind::kMultilevel, MatrixForm::kCompressed);
    expect(compressed - 1, SolverKind::kLanczos, MatrixForm::kDia);
    expect(other - 1, SolverKind::kLanczos, MatrixForm::kCompressed);
    expect(other_compressed, SolverKind::kLanczos, MatrixForm::kCompressed);
    EXPECT_THROW(plan_for_image(grid, multilevel, device, other_compressed - 1), DeviceError);
  }
  const DeviceInfo device = device_of(DeviceKind::kGpu);
  Parameters spectra = multilevel;
  spectra.eigen.solver = SolverKind::kSpectra;
  EXPECT_EQ(plan_for_image(grid, lanczos, device, whole).parameters.eigen.solver,
            SolverKind::kLanczos);
  const SegmentationPlan of_spectra = plan_for_image(grid, spectra, device, other);
  EXPECT_EQ(of_spectra.parameters.eigen.solver, SolverKind::kSpectra);
  EXPECT_EQ(of_spectra.form, MatrixForm::kDia);
  EXPECT_THROW(plan_for_image(grid, spectra, device, other - 1), DeviceError);
  // Direct cuts need the whole matrix later.
  Parameters direct = multilevel;
  direct.region.method = RegionMethod::kKway;
  const SegmentationPlan cut = plan_for_image(grid, direct, device, whole - 1'000'000);
  EXPECT_EQ(cut.parameters.eigen.solver, SolverKind::kLanczos);
  EXPECT_EQ(cut.form, MatrixForm::kDia);
}

TEST(PlanForImage, CompressesTheMatrixOfLargeImagesOnACpu) {
  DeviceInfo device = device_of(DeviceKind::kCpu);
  const Parameters usable;
  const auto form = [&](int width, const Parameters& parameters) {
    return plan_for_image(grid_for(width, 1024), parameters, device, 0).form;
  };
  EXPECT_EQ(form(1023, usable), MatrixForm::kDia);
  EXPECT_EQ(form(1024, usable), MatrixForm::kCompressed);
  Parameters exact = usable;
  exact.eigen.tolerance = 1e-6;  // Less than the rounding of weights.
  EXPECT_EQ(form(1024, exact), MatrixForm::kDia);
  Parameters lanczos = usable;
  lanczos.eigen.solver = SolverKind::kLanczos;
  EXPECT_EQ(form(1024, lanczos), MatrixForm::kDia);
  device.kind = DeviceKind::kGpu;
  EXPECT_EQ(form(1024, usable), MatrixForm::kDia);
}

TEST(PlanForImage, CompressesTheMatrixOfAWalkWhereThatIsFaster) {
  DeviceInfo device = device_with(100'000 * kMiB, 100'000 * kMiB);
  RunParameters walk;
  walk.region.method = RegionMethod::kWalker;
  walk.labels = 4;
  ASSERT_TRUE(walks(walk));
  const auto form = [&](DeviceKind kind, int width) {
    device.kind = kind;
    return plan_for_image(grid_for(width, 1024), walk, device, 0).form;
  };
  EXPECT_EQ(form(DeviceKind::kCpu, 481), MatrixForm::kCompressed);
  EXPECT_EQ(form(DeviceKind::kGpu, 1023), MatrixForm::kDia);
  EXPECT_EQ(form(DeviceKind::kGpu, 1024), MatrixForm::kCompressed);
  walk.labels = 5;
  EXPECT_EQ(form(DeviceKind::kCpu, 1024), MatrixForm::kCompressed);
  EXPECT_EQ(form(DeviceKind::kGpu, 1024), MatrixForm::kDia);
}

TEST(PipelineBudget, OfFourMegapixelsIsWithinThreeGigabytesCompressed) {
  const PipelineBudget budget = pipeline_budget(grid_for(2464, 1640), {}, MatrixForm::kCompressed);
  EXPECT_LT(most(budget), 2'800'000'000u);
  // Compressing takes the whole matrix and the compressed one.
  EXPECT_GT(budget.compression, 400ull * 2464 * 1640);
  EXPECT_GT(budget.piece, 300ull * 2464 * 1640);
}

TEST(PlanForImage, MultipliesByACompressedMatrixForLanczosWhereThereIsRoom) {
  const Grid grid = grid_for(600, 400);
  DeviceInfo device = device_of(DeviceKind::kGpu);
  Parameters lanczos;
  lanczos.eigen.solver = SolverKind::kLanczos;
  lanczos.boundary.kind = BoundaryKind::kGradient;  // Networks need more than the solver.
  const auto product = [&](const Parameters& parameters, std::uint64_t limit = 0) {
    return plan_for_image(grid, parameters, device, limit).product.name();
  };
  EXPECT_EQ(product({}), "unrolled");  // The device has no images.
  EXPECT_EQ(product(lanczos), "symmetric half");
  Parameters compressed = lanczos;
  compressed.matvec = {MatvecKind::kSymmetric, MatvecStorage::kHalf};
  const std::uint64_t room = most(pipeline_budget(grid, compressed));
  ASSERT_GT(room, most(pipeline_budget(grid, lanczos)));
  EXPECT_EQ(product(lanczos, room), "symmetric half");
  EXPECT_EQ(product(lanczos, room - 1), "unrolled");
  EXPECT_EQ(product(compressed, room), "symmetric half");
  EXPECT_THROW(product(compressed, room - 1), DeviceError);  // Asked for is asked for.

  Parameters stored = lanczos;
  stored.matvec.storage = MatvecStorage::kMinifloat;
  EXPECT_EQ(product(stored), "symmetric minifloat");
  stored.matvec.kernel = MatvecKind::kNaive;
  EXPECT_EQ(product(stored), "naive");
  Parameters multilevel = compressed;
  multilevel.eigen.solver = SolverKind::kMultilevel;
  EXPECT_EQ(product(multilevel), "unrolled");
  EXPECT_THAT(plan_for_image(grid, multilevel, device, 0).product.note,
              HasSubstr("--matvec symmetric is for --solver lanczos"));
  multilevel.matvec.kernel = MatvecKind::kNaive;
  const MatvecChoice naive = plan_for_image(grid, multilevel, device, 0).product;
  EXPECT_EQ(naive.kind, MatvecKind::kNaive);
  EXPECT_THAT(naive.note, HasSubstr("--matvec naive is for --solver lanczos"));
  Parameters spectra = lanczos;
  spectra.eigen.solver = SolverKind::kSpectra;
  EXPECT_EQ(product(spectra), "unrolled");
}

TEST(PlanForImage, OfTheNcutPresetIsTheWholeMatrixAtAnySizeAndTellsOfMissingImages) {
  const Parameters ncut = load_parameters("ncut");
  DeviceInfo device = device_with(100'000 * kMiB, 100'000 * kMiB);
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kGpu}) {
    for (const Grid& grid : {grid_for(481, 321), grid_for(4000, 3000)}) {
      device.kind = kind;
      device.images = true;
      device.image_max_width = device.image_max_height = 16384;
      const SegmentationPlan plan = plan_for_image(grid, ncut, device, 0);
      EXPECT_EQ(plan.form, MatrixForm::kDia);
      EXPECT_EQ(plan.parameters.eigen.solver, SolverKind::kLanczos);
      EXPECT_EQ(plan.product.kind, MatvecKind::kImage);
      EXPECT_TRUE(plan.notes.empty());
      EXPECT_FALSE(plan_for_batch(grid, 2, ncut, device, 0));
      // Nothing compresses it where memory is short.
      EXPECT_THROW(plan_for_image(grid, ncut, device, 324 * grid.rows()), DeviceError);

      device.images = false;
      const SegmentationPlan without = plan_for_image(grid, ncut, device, 0);
      EXPECT_EQ(without.form, MatrixForm::kDia);
      EXPECT_EQ(without.product.kind, MatvecKind::kVectorized);
      EXPECT_THAT(without.notes, ElementsAre(AllOf(HasSubstr("has no images"),
                                                   HasSubstr("'vectorized' is used instead"))));
    }
  }
}

TEST(ProductThatFits, RoundsWeightsNoMoreThanTheToleranceAdmits) {
  EigenParameters eigen;
  const auto storages = [&](double tolerance) {
    eigen.solver = SolverKind::kLanczos;
    eigen.tolerance = tolerance;
    return storages_within_tolerance(eigen, MatvecStorage::kAuto);
  };
  using enum MatvecStorage;
  EXPECT_THAT(storages(1e-2), ElementsAre(kMinifloat, kHalf, kFloat32));
  EXPECT_THAT(storages(EigenParameters{}.tolerance), ElementsAre(kHalf, kFloat32));
  EXPECT_THAT(storages(1e-6), ElementsAre(kFloat32));
  eigen.solver = SolverKind::kMultilevel;
  EXPECT_TRUE(storages_within_tolerance(eigen, kAuto).empty());
}

std::vector<std::string> names(const MemoryPlan& plan) {
  std::vector<std::string> result;
  for (const MemoryPhase& phase : plan.phases) result.push_back(phase.phase);
  return result;
}

TEST(MemoryPlan, HasThePhasesOfTheRun) {
  const DeviceInfo device = device_of(DeviceKind::kGpu);
  EXPECT_THAT(names(plan_memory({4000, 3000}, {}, device)),
              ElementsAre("reading", "boundaries", "eigenvectors", "contours", "regions",
                          "placement", "results"));
  Parameters native;
  native.image.detail = 0;
  EXPECT_THAT(
      names(plan_memory({400, 300}, native, device)),
      ElementsAre("reading", "boundaries", "eigenvectors", "contours", "regions", "results"));
  native.region.method = RegionMethod::kKway;
  EXPECT_THAT(names(plan_memory({400, 300}, native, device)),
              ElementsAre("reading", "boundaries", "eigenvectors", "regions", "results"));
}

TEST(MemoryPlan, OfAReducedImageGrowsInMainMemoryAlone) {
  const DeviceInfo device = device_of(DeviceKind::kGpu);
  const MemoryPlan small = plan_memory({4000, 3000}, {}, device);
  const MemoryPlan large = plan_memory({8000, 6000}, {}, device);
  EXPECT_EQ(small.device_bytes(), large.device_bytes());
  // Colours as floats, leaves, contours, labels, and these as PNG takes them.
  constexpr std::uint64_t kResultBytes = 12 + 4 + 4 + 4 + 2;
  EXPECT_EQ(large.host_bytes() - small.host_bytes(), 36'000'000 * kResultBytes);
  const MemoryPlan grey = plan_memory({8000, 6000, 1}, {}, device);
  EXPECT_GT(large.host_bytes() - grey.host_bytes(), 48'000'000u * 8);
}

TEST(MemoryPlan, CountsTheMemoryOfACpuAsMainMemory) {
  const ImageSize image{640, 480};
  const MemoryPlan gpu = plan_memory(image, {}, device_of(DeviceKind::kGpu));
  const MemoryPlan cpu = plan_memory(image, {}, device_of(DeviceKind::kCpu));
  EXPECT_EQ(gpu.device_bytes(), cpu.device_bytes());
  EXPECT_LT(gpu.host_bytes(), gpu.device_bytes());
  EXPECT_GT(cpu.host_bytes(), cpu.device_bytes());
  ASSERT_EQ(gpu.phases.size(), cpu.phases.size());
  for (std::size_t k = 0; k < gpu.phases.size(); ++k) {
    EXPECT_GE(cpu.phases[k].host_bytes, gpu.phases[k].host_bytes + cpu.phases[k].device_bytes);
  }
}

TEST(MemoryPlan, RefusesWhatDoesNotFitTheDeviceAndSaysWhatToDo) {
  Parameters native;
  native.image.detail = 0;
  const DeviceInfo device = device_of(DeviceKind::kGpu, 8 * kGiB);
  EXPECT_NO_THROW(plan_memory({10'000, 7'000}, {}, device));
  EXPECT_THAT(message_of<DeviceError>([&] {
                plan_memory({10'000, 7'000}, native, device);
              }),
              AllOf(HasSubstr("10000x7000"), HasSubstr("not enough device memory"),
                    HasSubstr("8192 MiB"), HasSubstr("--detail 640")));
  EXPECT_THROW(plan_memory({640, 480}, {}, device, 1 << 20), DeviceError);
}

TEST(MemoryPlan, IsHeldAgainstMainMemory) {
  if (host_memory_available() == 0) GTEST_SKIP() << "the system does not tell its memory";
  const DeviceInfo device = device_of(DeviceKind::kCpu);
  const ImageSize image{30'000, 20'000};
  EXPECT_NO_THROW(check_host_memory({{{"results", 0, 1}}}, image, device));
  const std::uint64_t more_than_all = host_memory_available() + kGiB;
  const MemoryPlan plan{{{"eigenvectors", kGiB, more_than_all}, {"results", 0, 1}}};
  EXPECT_THAT(message_of<InputError>([&] { check_host_memory(plan, image, device); }),
              AllOf(HasSubstr("not enough main memory"), HasSubstr("30000x20000"),
                    HasSubstr("1.00 GiB of them"), HasSubstr("--memory")));
}

TEST(MemoryPlan, CountsTheBytesOfTheFileWhileItIsRead) {
  const DeviceInfo device = device_of(DeviceKind::kGpu);
  const MemoryPlan plan = plan_memory({640, 480, 3, 5 * kGiB}, {}, device);
  EXPECT_EQ(plan.phases.front().host_bytes,
            plan_memory({640, 480}, {}, device).phases.front().host_bytes + 5 * kGiB);
  EXPECT_EQ(plan.host_bytes(), plan.phases.front().host_bytes);
  if (host_memory_available() == 0) GTEST_SKIP() << "the system does not tell its memory";
  const ImageSize image{640, 480, 3, host_memory_available() + kGiB};
  EXPECT_THAT([&] { check_host_memory(plan_memory(image, {}, device), image, device); },
              ThrowsMessage<InputError>(HasSubstr("of them for the bytes of its file")));
}

TEST(HostMemory, KnowsTheLimitOfAddresses) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const std::uint64_t available = host_memory_available();
  if (available == 0) GTEST_SKIP() << "the system does not tell its memory";
  std::uint64_t pages = 0;
  ASSERT_TRUE(std::ifstream("/proc/self/statm") >> pages);
  constexpr std::uint64_t kLeft = std::uint64_t{64} << 20;
  rlimit limited = before;
  limited.rlim_cur = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + kLeft;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  const std::uint64_t left = host_memory_available();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_LT(left, available);
  constexpr std::uint64_t kGrowth = std::uint64_t{1} << 20;
  EXPECT_LE(left, host_memory_held() + kLeft + kGrowth);
}

TEST(HostMemory, CountsWhatTheProcessHolds) {
  const std::uint64_t before = host_memory_held();
  if (before == 0) GTEST_SKIP() << "the system does not tell its memory";
  constexpr std::size_t kBytes = 64 << 20;
  const std::vector<char> held(kBytes, 1);
  EXPECT_GE(host_memory_held() + (4 << 20), before + kBytes);
  EXPECT_GE(host_memory_peak() + (4 << 20), before + kBytes);
  EXPECT_GE(host_memory_available(), kBytes);
}

}  // namespace
}  // namespace diacut::testing
