#include "pipeline/run_forms.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "core/enum_names.hpp"
#include "diacut/errors.hpp"
#include "diacut/memory.hpp"
#include "eigen/eigensolver.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

DeviceInfo device_of(DeviceKind kind, std::uint64_t memory = 64 * kGiB,
                     std::uint64_t piece = 64 * kGiB) {
  DeviceInfo device;
  device.name = "test device";
  device.kind = kind;
  device.global_memory = memory;
  device.max_allocation = piece;
  return device;
}

TEST(RunForms, AreTriedInTheOrderOfTheirSpeed) {
  const std::string full = "contour.spectral = 'full'\n";
  const std::string lanczos = full + "eigen.solver = 'lanczos'\n";
  const std::string walker = "region.method = 'walker'\n";
  const auto cpu = DeviceKind::kCpu;
  const auto gpu = DeviceKind::kGpu;  // Without images.
  const std::string whole = "multilevel whole unrolled; ";
  const std::string narrow = "multilevel compressed symmetric half; ";
  const std::string last =
      "lanczos whole symmetric half; lanczos whole unrolled; lanczos compressed symmetric half; ";
  struct Case {
    DeviceKind kind;
    PictureSize size;
    std::string settings;
    int labels;
    std::string forms;
  };
  for (const auto& [kind, size, settings, labels, expected] :
       {Case{gpu, {600, 400}, full, 0, whole + narrow + last},
        {gpu, {1024, 1024}, full, 0, whole + narrow + last},
        {cpu, {1023, 1024}, full, 0, whole + narrow + last},
        // Compressed on a CPU for large images, if rounding the weights is within the tolerance.
        {cpu, {1024, 1024}, full, 0, narrow + last},
        {cpu,
         {1024, 1024},
         full + "eigen.tolerance = 1e-6",
         0,
         whole + narrow +
             "lanczos whole symmetric float32; lanczos whole unrolled; "
             "lanczos compressed symmetric half; "},
        {gpu, {600, 400}, lanczos, 0, last},
        {gpu, {600, 400}, lanczos + "matvec.kernel = 'naive'", 0, "lanczos whole naive; "},
        {gpu, {600, 400}, full + "eigen.solver = 'spectra'", 0, "spectra whole unrolled; "},
        // Direct cuts need the whole matrix later.
        {gpu,
         {600, 400},
         "region.method = 'kway'",
         0,
         whole + "lanczos whole symmetric half; lanczos whole unrolled; "},
        // Compressed for a walk where that is faster.
        {cpu, {481, 1024}, walker, 4, "multilevel compressed unrolled; " + whole},
        {gpu, {1023, 1024}, walker, 4, whole},
        {gpu, {1024, 1024}, walker, 4, "multilevel compressed unrolled; " + whole},
        {gpu, {1024, 1024}, walker, 5, whole}}) {
    RunParameters parameters = parse_parameters(settings, "settings");
    parameters.labels = labels;
    std::string found;
    for (const RunForm& form :
         forms_to_try(Grid{size.width, size.height}, 1, parameters, device_of(kind))) {
      found += fmt::format("{} {} {}; ", enum_name(kSolverNames, form.parameters.eigen.solver),
                           form.matrix == MatrixForm::kDia ? "whole" : "compressed",
                           form.product.name());
    }
    EXPECT_EQ(found, expected) << settings;
  }
}

TEST(RunForms, OfTheNcutPresetNoteMissingImages) {
  const Parameters ncut = load_parameters("ncut");
  for (const DeviceKind kind : {DeviceKind::kGpu, DeviceKind::kCpu}) {
    DeviceInfo device = device_of(kind);
    device.image_max_width = device.image_max_height = 16384;
    for (const bool images : {true, false}) {
      device.images = images;
      const bool own_images = images && kind == DeviceKind::kGpu;
      const std::vector<RunForm> forms = forms_to_try(Grid{4000, 3000}, 1, ncut, device);
      ASSERT_THAT(forms, SizeIs(1));
      EXPECT_EQ(forms[0].matrix, MatrixForm::kDia);
      EXPECT_EQ(forms[0].parameters.eigen.solver, SolverKind::kLanczos);
      EXPECT_EQ(forms[0].product.kind, own_images ? MatvecKind::kImage : MatvecKind::kUnrolled);
      EXPECT_THAT(forms[0].notes, SizeIs(own_images ? 0 : 1));
      EXPECT_THAT(forms[0].notes,
                  Each(AllOf(HasSubstr(images ? "emulates images" : "has no images"),
                             HasSubstr("'unrolled' is used instead"))));
      EXPECT_TRUE(forms_to_try(Grid{481, 321}, 2, ncut, device).empty());
    }
  }
}

TEST(RunForms, RoundWeightsNoMoreThanTheToleranceAdmits) {
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

TEST(Memory, ThatIsMissingOnADeviceIsRefusedWithASizeThatFits) {
  Parameters native = parse_parameters("image.detail = 'native'", "settings");
  const WantedResults results{.eigenvectors = true};
  for (const DeviceInfo& device : {device_of(DeviceKind::kGpu, 1000 * kMiB),
                                   device_of(DeviceKind::kGpu, 64 * kGiB, 128 * kMiB)}) {
    const std::string message = message_of<DeviceMemoryError>([&] {
      check_memory({3000, 2000}, native, device, 0, results);
    });
    EXPECT_THAT(message, AllOf(HasSubstr("an image of 3000x2000"), HasSubstr("test device"),
                               HasSubstr("affinity.radius 5 and 17 eigenvectors")));
    const std::size_t size = message.find("megapixels (");
    ASSERT_NE(size, std::string::npos) << message;
    Grid found;
    ASSERT_EQ(
        std::sscanf(message.c_str() + size, "megapixels (%dx%d)", &found.width, &found.height), 2);
    EXPECT_NO_THROW(check_memory({found.width, found.height}, native, device, 0, results));
    EXPECT_NEAR(static_cast<double>(found.width) / found.height, 1.5, 0.01);
  }
  const DeviceInfo tiny = device_of(DeviceKind::kGpu, 100);
  EXPECT_THAT(message_of<DeviceMemoryError>([&] {
                check_memory({9, 9}, native, tiny);
              }),
              HasSubstr("no image fits"));
}

TEST(Memory, OfAReducedImageGrowsWithTheImageInMainMemoryAlone) {
  const DeviceInfo device = device_of(DeviceKind::kGpu);
  const MemoryNeed small = check_memory({400, 300}, {}, device);
  const MemoryNeed large = check_memory({8000, 6000, 1}, {}, device);
  EXPECT_LT(large.device_bytes, 2 * check_memory({640, 480}, {}, device).device_bytes);
  // A grey sample, and a label with what a tree keeps, of each pixel.
  EXPECT_GE(large.host_bytes, 48'000'000 * 18ull);
  EXPECT_LT(small.host_bytes, large.host_bytes / 50);
  EXPECT_GT(check_memory({640, 480, 3, kGiB}, {}, device).host_bytes, kGiB);
}

TEST(Memory, OfDirectCutsGrowsWithTheRadiusInMainMemory) {
  const auto cutting = [](int radius) {
    const std::string settings =
        fmt::format("region.method = 'kway'\naffinity.radius = {}", radius);
    return check_memory({100, 80}, parse_parameters(settings, "settings"),
                        device_of(DeviceKind::kGpu))
        .host_bytes;
  };
  // Half of the 317 and 81 neighbours.
  EXPECT_EQ(cutting(10) - cutting(5), 8000ull * 4 * (158 - 40));
}

TEST(Memory, OfACpuIsMainMemory) {
  const MemoryNeed gpu = check_memory({640, 480}, {}, device_of(DeviceKind::kGpu));
  const MemoryNeed cpu = check_memory({640, 480}, {}, device_of(DeviceKind::kCpu));
  EXPECT_EQ(gpu.device_bytes, cpu.device_bytes);
  EXPECT_EQ(gpu.waiting_bytes, cpu.waiting_bytes);
  EXPECT_EQ(gpu.host_bytes, gpu.waiting_bytes);
  EXPECT_GT(cpu.host_bytes, cpu.device_bytes);
}

TEST(Memory, ThatTheMachineLacksIsRefused) {
  if (host_memory_available() == 0) GTEST_SKIP() << "the system does not report its memory";
  const ImageSize image{640, 480, 3, host_memory_available() + kGiB};
  EXPECT_THAT(
      message_of<InputError>([&] { check_memory(image, {}, device_of(DeviceKind::kGpu)); }),
      AllOf(HasSubstr("not enough main memory"), HasSubstr("640x480"), HasSubstr("of its file")));
  const std::uint64_t all = host_memory_available();
  const Parameters native = parse_parameters("image.detail = 'native'", "settings");
  const int side = static_cast<int>(std::sqrt(static_cast<double>(all) / 200));
  EXPECT_THAT(message_of<InputError>([&] {
                check_memory({side, side}, native, device_of(DeviceKind::kCpu, 4 * all, 4 * all));
              }),
              AllOf(HasSubstr("memory of the device, which is a CPU"), HasSubstr("--memory")));
}

}  // namespace
}  // namespace diacut::testing
