#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "core/enum_names.hpp"
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

/// Settings with boundaries by the gradient: networks need more memory than the solver.
RunParameters with(const std::string& settings) {
  return parse_parameters("boundary.kind = 'gradient'\n" + settings, "settings");
}

TEST(PipelineBudget, GrowsWithRadiusAndVectors) {
  const auto budget = [](const std::string& settings) {
    return pipeline_budget(grid_for(100, 80), with("contour.spectral = 'full'\n" + settings));
  };
  const auto cutting = [](int radius) {
    return plan_memory({100, 80},
                       with(fmt::format("region.method = 'kway'\naffinity.radius = {}", radius)),
                       device_of(DeviceKind::kGpu))
        .host_bytes();
  };
  // Half of the 317 and 81 neighbours.
  EXPECT_EQ(cutting(10) - cutting(5), 8000 * 4 * (158 - 40));
  const PipelineBudget more = budget("eigen.vectors = 50");
  EXPECT_GT(more.eigen, budget("").eigen + 33ull * 8000 * 4);
  EXPECT_GT(more.contours, budget("").contours + 2 * 33ull * 8000 * 4);
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

TEST(PlanForImage, ChoosesTheSolverTheFormOfTheMatrixAndTheProduct) {
  const std::string lanczos = "eigen.solver = 'lanczos'\n";
  const std::string spectra = "eigen.solver = 'spectra'\n";
  const std::string walker = "region.method = 'walker'\n";
  const std::string naive = "matvec.kernel = 'naive'\n";
  const std::string minifloat = "matvec.storage = 'minifloat'\n";
  const std::string half = "matvec = {kernel = 'symmetric', storage = 'half'}\n";
  const auto need = [&](const std::string& settings, MatrixForm form = MatrixForm::kDia) {
    return pipeline_budget(grid_for(600, 400), with(settings), form).memory().total;
  };
  const std::uint64_t whole = need("");
  const std::uint64_t compressed = need("", MatrixForm::kCompressed);
  const std::uint64_t other = need(lanczos);
  const std::uint64_t other_compressed = need(lanczos, MatrixForm::kCompressed);
  const std::uint64_t room = need(lanczos + half);
  ASSERT_GT(whole, compressed);
  ASSERT_GT(compressed, other);
  ASSERT_GT(other, other_compressed);
  ASSERT_GT(room, other);
  using Kinds = std::vector<DeviceKind>;
  const Kinds cpu = {DeviceKind::kCpu};
  const Kinds gpu = {DeviceKind::kGpu};  // Without images.
  const Kinds any = {DeviceKind::kCpu, DeviceKind::kGpu};
  struct Case {
    Kinds kinds;
    PictureSize size;
    std::string settings;
    int labels;
    std::uint64_t limit;
    const char* plan;
  };
  for (const auto& [kinds, size, settings, labels, limit, expected] :
       {// By Lanczos only where multilevel does not fit in any form.
        Case{any, {600, 400}, "", 0, 0, "multilevel, whole, "},
        {any, {600, 400}, "", 0, whole, "multilevel, whole, "},
        {any, {600, 400}, "", 0, whole - 1, "multilevel, compressed, "},
        {any, {600, 400}, "", 0, compressed, "multilevel, compressed, "},
        {any, {600, 400}, "", 0, compressed - 1, "lanczos, whole, "},
        {any, {600, 400}, "", 0, other - 1, "lanczos, compressed, "},
        {any, {600, 400}, "", 0, other_compressed, "lanczos, compressed, "},
        {any, {600, 400}, "", 0, other_compressed - 1, "nothing"},
        {any, {600, 400}, lanczos, 0, whole, "lanczos, whole, "},
        {any, {600, 400}, spectra, 0, other, "spectra, whole, "},
        {any, {600, 400}, spectra, 0, other - 1, "nothing"},
        // Direct cuts need the whole matrix later.
        {any, {600, 400}, "region.method = 'kway'", 0, whole - 1'000'000, "lanczos, whole, "},
        // Compressed on a CPU for large images, if rounding the weights is within the tolerance.
        {cpu, {1023, 1024}, "", 0, 0, "multilevel, whole, "},
        {cpu, {1024, 1024}, "", 0, 0, "multilevel, compressed, "},
        {gpu, {1024, 1024}, "", 0, 0, "multilevel, whole, "},
        {cpu, {1024, 1024}, "eigen.tolerance = 1e-6", 0, 0, "multilevel, whole, "},
        {cpu, {1024, 1024}, lanczos, 0, 0, "lanczos, whole, "},
        // Compressed for a walk where that is faster.
        {cpu, {481, 1024}, walker, 4, 0, "multilevel, compressed, "},
        {gpu, {1023, 1024}, walker, 4, 0, "multilevel, whole, "},
        {gpu, {1024, 1024}, walker, 4, 0, "multilevel, compressed, "},
        {cpu, {1024, 1024}, walker, 5, 0, "multilevel, compressed, "},
        {gpu, {1024, 1024}, walker, 5, 0, "multilevel, whole, "},
        // Multiplied by a compressed copy for Lanczos, where there is room or it is asked for.
        {gpu, {600, 400}, "", 0, 0, "multilevel, whole, unrolled"},
        {gpu, {600, 400}, half, 0, 0, "multilevel, whole, unrolled"},
        {gpu, {600, 400}, naive, 0, 0, "multilevel, whole, naive"},
        {gpu, {600, 400}, spectra, 0, 0, "spectra, whole, unrolled"},
        {gpu, {600, 400}, lanczos, 0, 0, "lanczos, whole, symmetric half"},
        {gpu, {600, 400}, lanczos, 0, room, "lanczos, whole, symmetric half"},
        {gpu, {600, 400}, lanczos, 0, room - 1, "lanczos, whole, unrolled"},
        {gpu, {600, 400}, lanczos + half, 0, room, "lanczos, whole, symmetric half"},
        {gpu, {600, 400}, lanczos + half, 0, room - 1, "nothing"},
        {gpu, {600, 400}, lanczos + minifloat, 0, 0, "lanczos, whole, symmetric minifloat"},
        {gpu, {600, 400}, lanczos + naive, 0, 0, "lanczos, whole, naive"}}) {
    for (const DeviceKind kind : kinds) {
      SCOPED_TRACE(::testing::Message() << settings << ", limit " << limit);
      RunParameters parameters = with(settings);
      parameters.labels = labels;
      std::string found = "nothing";
      try {
        const SegmentationPlan plan =
            plan_for_image(grid_for(size.width, size.height), parameters, device_of(kind), limit);
        EXPECT_TRUE(plan.budget.fits(device_of(kind), limit));
        found = fmt::format("{}, {}, {}", enum_name(kSolverNames, plan.parameters.eigen.solver),
                            plan.form == MatrixForm::kDia ? "whole" : "compressed",
                            plan.product.name());
      } catch (const DeviceError&) {
      }
      EXPECT_THAT(found, StartsWith(expected));
    }
  }
}

TEST(PipelineBudget, OfFourMegapixelsIsWithinThreeGigabytesCompressed) {
  const PipelineBudget budget = pipeline_budget(grid_for(2464, 1640), {}, MatrixForm::kCompressed);
  EXPECT_LT(budget.memory().total, 2'800'000'000u);
  // Compressing takes the whole matrix and the compressed one.
  EXPECT_GT(budget.compression, 400ull * 2464 * 1640);
  EXPECT_GT(budget.piece, 300ull * 2464 * 1640);
}

TEST(PlanForImage, OfTheNcutPresetIsTheWholeMatrixAtAnySizeAndTellsOfMissingImages) {
  const Parameters ncut = load_parameters("ncut");
  DeviceInfo device = device_with(100'000 * kMiB, 100'000 * kMiB);
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kGpu}) {
    for (const Grid& grid : {grid_for(481, 321), grid_for(4000, 3000)}) {
      device.kind = kind;
      device.image_max_width = device.image_max_height = 16384;
      for (const bool images : {true, false}) {
        device.images = images;
        const SegmentationPlan plan = plan_for_image(grid, ncut, device, 0);
        EXPECT_EQ(plan.form, MatrixForm::kDia);
        EXPECT_EQ(plan.parameters.eigen.solver, SolverKind::kLanczos);
        const bool own_images = images && kind == DeviceKind::kGpu;
        EXPECT_EQ(plan.product.kind, own_images ? MatvecKind::kImage : MatvecKind::kUnrolled);
        EXPECT_THAT(plan.notes, SizeIs(own_images ? 0 : 1));
        EXPECT_THAT(plan.notes, Each(AllOf(HasSubstr(images ? "emulates images" : "has no images"),
                                           HasSubstr("'unrolled' is used instead"))));
        EXPECT_FALSE(plan_for_batch(grid, 2, ncut, device, 0));
        // Nothing compresses it where memory is short.
        EXPECT_THROW(plan_for_image(grid, ncut, device, 324 * grid.rows()), DeviceError);
      }
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

TEST(MemoryPlan, HasThePhasesOfTheRun) {
  const auto phases = [](const ImageSize& image, const std::string& settings) {
    std::string names;
    for (const MemoryPhase& each :
         plan_memory(image, with(settings), device_of(DeviceKind::kGpu)).phases) {
      names += each.phase + " ";
    }
    return names;
  };
  EXPECT_EQ(phases({4000, 3000}, ""),
            "reading boundaries eigenvectors contours regions placement results ");
  EXPECT_EQ(phases({400, 300}, "image.detail = 'native'"),
            "reading boundaries eigenvectors contours regions results ");
  EXPECT_EQ(phases({400, 300}, "image.detail = 'native'\nregion.method = 'kway'"),
            "reading boundaries eigenvectors regions results ");
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
