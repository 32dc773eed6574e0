#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace diacut::app {

std::string bytes_text(double bytes) {
  static constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

double largest_residual(const EigenReport& report) {
  const auto worst = std::max_element(report.residuals.begin(), report.residuals.end());
  return worst == report.residuals.end() ? 0 : *worst;
}

namespace {

std::string describe_eigenvectors(const Eigenvectors& eigenvectors) {
  if (eigenvectors.values.empty()) {
    return "  no eigenvectors: contours are those of the boundary map alone (contour.spectral)\n";
  }
  const EigenReport& eigen = eigenvectors.report;
  const MatrixReport& matrix = eigen.matrix;
  const bool filtered = eigen.solver == "filtered";
  return fmt::format(
      "  affinity matrix {}: {} rows, {} diagonals in {} bands, pitch {}, {}, form {}\n"
      "  {} eigenvectors by the {} solver on {} grids, kernel {}: {} products in {} passes over "
      "the matrix, {} restarts or iterations, eigenvalues {:.2e} to {:.2e}, largest residual "
      "{:.1e}, {} eigenvalues resolved{}\n",
      filtered ? "of every other row and column" : "of the image", matrix.rows, matrix.diagonals,
      matrix.bands, matrix.pitch, bytes_text(static_cast<double>(matrix.bytes)), matrix.form,
      eigenvectors.values.size(), eigen.solver, eigen.levels, eigen.matvec, eigen.products,
      eigen.passes, eigen.restarts, eigenvectors.values.size() > 1 ? eigenvectors.values[1] : 0.0,
      eigenvectors.values.back(), largest_residual(eigen), eigen.resolved(),
      filtered ? "; --eigenvectors DIR computes those of the image and shows them" : "");
}

std::string describe_walk(const WalkReport& walk) {
  return fmt::format("  {} labels by the random walker, {} iterations, error {:.1e}\n", walk.labels,
                     walk.iterations, walk.error);
}

}  // namespace

std::string describe_run(const Segmentation& segmentation) {
  std::string text;
  std::size_t width = 0;
  for (const StageTime& time : segmentation.costs.times) width = std::max(width, time.stage.size());
  for (const StageTime& time : segmentation.costs.times) {
    text += fmt::format("  {:<{}}  {:>9.1f} ms", time.stage, width, time.wall_ms);
    if (time.device_ms > 0) text += fmt::format("  ({:.1f} ms on the device)", time.device_ms);
    text += '\n';
  }
  const auto* const growth = dynamic_cast<const SeedGrowth*>(&segmentation);
  text += growth != nullptr ? describe_walk(growth->walk)
                            : describe_eigenvectors(segmentation.eigenvectors);
  const auto* const tree = dynamic_cast<const HierarchyCut*>(&segmentation);
  if (tree != nullptr && tree->contour_parameters.spectral != SpectralUse::kNever) {
    const ContourParameters& contour = tree->contour_parameters;
    text += fmt::format(
        "  contours: {} of the boundary map and {} of the spectral contour, of which {} counts as "
        "1, "
        "to the power {}\n",
        contour.boundary_weight, contour.spectral_weight, contour.spectral_scale,
        contour.spectral_power);
  }
  if (const auto* const cuts = dynamic_cast<const KwayCut*>(&segmentation)) {
    text += fmt::format(
        "  {} regions by direct cuts, normalized cut {:.2e}: the weight that leaves each region "
        "divided by its degrees, summed\n",
        segmentation.labels.count, cuts->normalized_cut);
  }
  if (segmentation.costs.programs_built > 0) {
    text += fmt::format("  {} programs of kernels built in {:.0f} ms\n",
                        segmentation.costs.programs_built, segmentation.costs.programs_ms);
  }
  const auto bytes = [](std::uint64_t count) { return bytes_text(static_cast<double>(count)); };
  const MemoryNeed& announced = segmentation.costs.announced;
  const std::uint64_t taken =
      segmentation.costs.host_peak_bytes -
      std::min(segmentation.costs.host_peak_bytes, segmentation.costs.host_before_bytes);
  text += fmt::format(
      "  memory taken: {} on the device ({} announced), {} of main memory ({} announced) beyond "
      "{} before",
      bytes(segmentation.costs.device_peak_bytes), bytes(announced.device_bytes), bytes(taken),
      bytes(announced.host_bytes), bytes(segmentation.costs.host_before_bytes));
  if (segmentation.costs.device_kept_bytes > 0) {
    text += fmt::format("; {} kept on the device for later steps",
                        bytes_text(static_cast<double>(segmentation.costs.device_kept_bytes)));
  }
  return text;
}

std::string device_table(const std::vector<DeviceInfo>& devices, const DeviceInfo* chosen) {
  std::vector<std::array<std::string, 8>> rows = {
      {"", "INDEX", "KIND", "UNITS", "MEMORY", "FP64", "IMAGES", "NAME (PLATFORM)"}};
  for (const DeviceInfo& device : devices) {
    rows.push_back({chosen != nullptr && chosen->index() == device.index() ? "*" : "",
                    device.index(), to_string(device.kind), std::to_string(device.compute_units),
                    bytes_text(static_cast<double>(device.global_memory)),
                    device.fp64 ? "yes" : "no", device.images ? "yes" : "no",
                    fmt::format("{} ({})", device.name, device.platform)});
  }
  std::array<std::size_t, 8> widths = {};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      line += fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    text += line + row.back() + '\n';
  }
  if (chosen != nullptr) text += "* marks the device that a run uses.\n";
  return text;
}

}  // namespace diacut::app
