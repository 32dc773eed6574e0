#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "affinity/affinity.hpp"
#include "boundary/network/network_boundary.hpp"
#include "diacut/errors.hpp"
#include "diacut/memory.hpp"
#include "eigen/lobpcg/lobpcg.hpp"
#include "eigen/lobpcg/workspace.hpp"
#include "eigen/solvers.hpp"
#include "pipeline/run_forms.hpp"
#include "pipeline/working_image.hpp"
#include "region/cuts/region_cutter.hpp"
#include "walker/random_walker.hpp"

namespace diacut {

namespace {

/// Measured bytes on the device for each pixel of the working images: so many, and so many more for
/// each diagonal of the matrix and for each column of a block, or eigenvector of Lanczos.
struct PixelBytes {
  double pixel = 0;
  double diagonal = 0;
  double column = 0;
};

constexpr PixelBytes kBoundaries{25};
// The matrices of every other row and column, with those of coarser grids, and their vectors.
constexpr PixelBytes kDecimated{62, 2.4};
// The contours that are made from these, of which the rows that interpolate are left; and what of
// them one image of a batch has at a time.
constexpr PixelBytes kContourBytes{34, 1};
constexpr double kOneContour = 148;
constexpr PixelBytes kMultilevel{24, 5.36, 23.3};
constexpr PixelBytes kMultilevelCompressed{50, 1.52, 23.3};
constexpr PixelBytes kMultilevelCompressing{40, 6.2};
constexpr PixelBytes kLanczos{21, 4, 16};
constexpr PixelBytes kLanczosCopied{35, 5.1, 16};
constexpr PixelBytes kLanczosCompressed{106, 1.04, 16};
constexpr PixelBytes kLanczosCompressing{24, 5.2};
constexpr PixelBytes kWalk{41, 6, 16};
constexpr PixelBytes kWalkCompressed{112, 6.98};
constexpr double kWalkLabel = 4;
/// Masks and embeddings of all images, beside what networks take.
constexpr double kMasks = 2.5;

/// Of compressed matrices, for each pixel of an image's width and height: what their kernels read
/// around the image.
constexpr double kCompressedBorder = 2400;

// Bytes whatever the size: weights of filters and counts; of the copy that Lanczos multiplies by.
constexpr double kOnce = 1 << 18;
constexpr double kCopyOnce = 3.6e6;

/// Columns of the widest block or basis of vectors that is one allocation.
double widest_block(const RunParameters& parameters) {
  if (walks(parameters)) return kWalkerColumns;
  return parameters.eigen.solver == SolverKind::kMultilevel
             ? Lobpcg::columns(parameters.eigen)
             : lanczos_basis_size(parameters.eigen) + 2;
}

/// What a run that has the matrix takes at most beside weights of networks.
double matrix_bytes(const RunForm& form) {
  const bool whole = form.matrix == MatrixForm::kDia;
  const auto diagonals = static_cast<double>(affinity_stencil(form.parameters.affinity).size());
  const Grid& image = form.batch.image;
  const double border =
      whole ? 0 : kCompressedBorder * (image.width + image.height) * form.batch.count;
  const auto bytes = [&](const PixelBytes& each, int columns) {
    return static_cast<double>(form.batch.grid().rows()) *
               (each.pixel + each.diagonal * diagonals + each.column * columns) +
           border;
  };
  if (walks(form.parameters)) {
    const int columns = std::min(narrow_block_columns(form.parameters.labels), kWalkerColumns);
    const int labels = (std::max(form.parameters.labels, 1) + columns - 1) / columns * columns;
    const double of_labels = kWalkLabel * labels * static_cast<double>(form.batch.grid().rows());
    return bytes(whole ? kWalk : kWalkCompressed, columns) + of_labels;
  }
  if (form.parameters.eigen.solver == SolverKind::kMultilevel) {
    const int columns = Lobpcg::columns(form.parameters.eigen);
    const auto sums = static_cast<double>(
        Workspace::memory(form.device, columns, form.batch.segment(), form.batch.count));
    if (whole) return bytes(kMultilevel, columns) + sums;
    return std::max(bytes(kMultilevelCompressed, columns) + sums, bytes(kMultilevelCompressing, 0));
  }
  const int vectors = form.parameters.eigen.vectors;
  if (!whole) {
    return std::max(bytes(kLanczosCompressed, vectors), bytes(kLanczosCompressing, 0));
  }
  const bool copied = form.product.kind == MatvecKind::kSymmetric;
  return copied ? bytes(kLanczosCopied, vectors) + kCopyOnce : bytes(kLanczos, vectors);
}

// Bytes of main memory: for a pixel of the image, of the results and of labels as PNG takes them;
// for a pixel of the working image, of the maps, the watershed and its arcs.
constexpr std::uint64_t kLabelResults = 6;
constexpr std::uint64_t kTreeResults = 14;
constexpr std::uint64_t kTreeMaps = 28;

/// Bytes of main memory for a pixel of the working image that labels without a tree are made from:
/// of direct cuts the weights of half of the neighbours, the eigenvectors, and what RegionCutter
/// holds.
std::uint64_t cut_bytes(const RunParameters& parameters) {
  if (walks(parameters)) return 0;
  const std::size_t neighbours = affinity_stencil(parameters.affinity).size() / 2;
  const auto vectors = static_cast<std::size_t>(parameters.eigen.vectors);
  return sizeof(float) * (neighbours + vectors + 1 + 3 * RegionCutter::kStride) +
         5 * sizeof(std::int32_t) + 22;
}

std::string gib(std::uint64_t bytes) {
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30));
}

/// A form of the same run for images of other sizes.
RunForm scaled(RunForm form, double scale) {
  const auto side = [scale](int length) {
    return std::max(1, static_cast<int>(std::floor(length * scale)));
  };
  form.batch = Grid{side(form.batch.image.width), side(form.batch.image.height)};
  return form;
}

/// Throws DeviceMemoryError, naming an image that would fit by the form, which does not.
[[noreturn]] void refuse(const RunForm& form, const DeviceInfo& device, std::uint64_t limit) {
  const Grid& grid = form.batch.image;
  double scale = 1;
  RunForm smaller = form;
  while (scale * std::max(grid.width, grid.height) > 1 &&
         !device_memory(smaller).fits(device, limit)) {
    scale *= 0.98;
    smaller = scaled(form, scale);
  }
  const Grid& fits = smaller.batch.image;
  const std::string size =
      device_memory(smaller).fits(device, limit)
          ? fmt::format("an image of these proportions fits up to about {:.2f} megapixels ({}x{})",
                        static_cast<double>(fits.rows()) * 1e-6, fits.width, fits.height)
          : std::string("no image fits");
  const char* detail = form.parameters.image.detail == 0
                           ? "find regions in a reduction of it (--detail 640)"
                           : "lower image.detail (--detail), to which it is reduced";
  const std::string advice = fmt::format(
      "with affinity.radius {} and {} eigenvectors {}: make the image, in which regions are found "
      "at {}x{}, smaller, {}, lower radius or eigenvectors, or choose a device with more memory",
      form.parameters.affinity.radius, form.parameters.eigen.vectors, size, grid.width, grid.height,
      detail);
  device_memory(form).check(device, limit, advice);
  throw DeviceMemoryError(advice);  // Not reached.
}

void check_main_memory(const MemoryNeed& need, const ImageSize& image, const DeviceInfo& device) {
  const std::uint64_t available = host_memory_available();
  if (available == 0 || need.host_bytes <= available) return;
  std::string most;
  std::string advice;
  if (image.file_bytes > need.host_bytes / 2) {
    most = fmt::format(", {} of them for the bytes of its file", gib(image.file_bytes));
  } else if (device.kind == DeviceKind::kCpu && need.host_bytes > need.waiting_bytes) {
    most =
        fmt::format(", {} of them as memory of the device, which is a CPU", gib(need.device_bytes));
    advice = "find regions in a smaller reduction (--detail), set --memory lower, ";
  }
  throw InputError(fmt::format(
      "not enough main memory: an image of {}x{} takes {}{}, and {} are there; {}make the image "
      "smaller, or close other programs",
      image.width, image.height, gib(need.host_bytes), most, gib(available), advice));
}

}  // namespace

DeviceMemory device_memory(const RunForm& form) {
  const RunParameters& parameters = form.parameters;
  const auto diagonals = static_cast<double>(affinity_stencil(parameters.affinity).size());
  const auto rows = static_cast<double>(form.batch.grid().rows());
  double most = rows * kBoundaries.pixel;
  double piece = rows * sizeof(float);
  double weights = 0;
  if (parameters.has_boundary() && parameters.boundary.kind == BoundaryKind::kLearned) {
    const Networks networks = load_networks(parameters.boundary.weights);
    for (const auto& each : networks) weights += static_cast<double>(DeviceNetwork::memory(*each));
    const DeviceMemory map =
        network_map_memory(form.batch.image, form.batch.count, networks, parameters.boundary);
    most = std::max(most, static_cast<double>(map.total) + rows * kMasks);
    piece = std::max(piece, static_cast<double>(map.piece));
  }
  if (decimates(parameters)) {
    const double one = rows / form.batch.count;
    most = std::max(
        {most, rows * (kDecimated.pixel + kDecimated.diagonal * diagonals),
         rows * (kContourBytes.pixel + kContourBytes.diagonal * diagonals) + one * kOneContour});
    // Rows of a quarter of the pixels; vectors with a border.
    piece = std::max({piece, rows * diagonals, one * kOneContour / 2});
  }
  if (needs_matrix(parameters)) {
    most = std::max(most, matrix_bytes(form));
    piece = std::max(piece, rows * std::max(diagonals, widest_block(parameters)) * sizeof(float));
  }
  return {static_cast<std::uint64_t>(most + weights + kOnce), static_cast<std::uint64_t>(piece)};
}

const RunForm& first_that_fits(std::span<const RunForm> forms, const DeviceInfo& device,
                               std::uint64_t limit) {
  for (const RunForm& form : forms) {
    if (device_memory(form).fits(device, limit)) return form;
  }
  refuse(forms.back(), device, limit);
}

MemoryNeed memory_need(const RunForm& form, const ImageSize& image, const WantedResults& results) {
  const auto channels = static_cast<std::uint64_t>(image.channels);
  const std::uint64_t full =
      static_cast<std::uint64_t>(image.width) * static_cast<std::uint64_t>(image.height);
  const std::uint64_t working = form.batch.image.rows();
  const std::uint64_t features = results.features.bytes();
  const std::uint64_t samples = full * channels * sizeof(float) + features;
  const bool tree = makes_hierarchy(form.parameters);
  const std::uint64_t copies = results.verified ? 2 : 1;
  // Features may be brought to another order after they are read.
  const std::uint64_t reading = image.file_bytes + samples + std::max(full * channels, features);
  const std::uint64_t finishing =
      samples + copies * std::max(full * (tree ? kTreeResults : kLabelResults),
                                  working * (tree ? kTreeMaps : cut_bytes(form.parameters)));
  MemoryNeed need{device_memory(form).total, 0, std::max(reading, finishing)};
  std::uint64_t computing = samples + working * channels * sizeof(float);
  if (form.device == DeviceKind::kCpu) {
    computing += need.device_bytes + kKernelsOnCpu + working * (tree ? kTreeMaps : 0);
  }
  need.host_bytes = std::max(need.waiting_bytes, computing);
  return need;
}

MemoryNeed check_memory(const ImageSize& image, const Parameters& parameters,
                        const DeviceInfo& device, std::uint64_t limit,
                        const WantedResults& results) {
  const PictureSize full{image.width, image.height};
  const PictureSize working = reduced_size(full, parameters.image.detail);
  const std::vector<RunForm> forms =
      forms_to_try(Grid{working.width, working.height}, 1,
                   working_parameters(parameters, working, full, results), device);
  try {
    const MemoryNeed need = memory_need(first_that_fits(forms, device, limit), image, results);
    check_main_memory(need, image, device);
    return need;
  } catch (const DeviceMemoryError& error) {
    throw DeviceMemoryError(
        fmt::format("an image of {}x{}: {}", full.width, full.height, error.what()));
  }
}

}  // namespace diacut
