#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "matrix/matvec.hpp"

namespace diacut {

namespace {

/// Pixels below which a GPU is not filled by items that do eight of them.
constexpr std::size_t kSmall = std::size_t{1} << 19;

/// The part of two that does each band, so that both have about as many neighbours.
std::vector<int> halves(const SymmetricLayout& layout) {
  std::vector<std::size_t> order(layout.reaches.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return layout.reaches[a] > layout.reaches[b];
  });
  std::vector<int> half(order.size(), 0);
  std::array<int, 2> load{};
  for (const std::size_t band : order) {
    const int to = load[1] < load[0] ? 1 : 0;
    half[band] = to;
    load[static_cast<std::size_t>(to)] += layout.reaches[band];
  }
  return half;
}

/// Each band of later and of earlier neighbours, rows of x in ascending order.
std::string steps(const SymmetricLayout& layout, const MatvecSymmetricForm& form) {
  const std::vector<int> half = halves(layout);
  std::string result;
  for (int row = -layout.radius(); row < form.pixels_y + layout.radius(); ++row) {
    for (int run = 0; run < form.pixels_y; ++run) {
      for (const bool earlier : {false, true}) {
        const int band = earlier ? run - row : row - run;
        if (band < 0 || band > layout.radius()) continue;
        int part = 0;
        if (form.parts >= 2) part = earlier ? form.parts / 2 : 0;
        if (form.parts == 4) part += half[static_cast<std::size_t>(band)];
        result += fmt::format("STEP({},{},{},{})", part, run, band, earlier ? 1 : 0);
      }
    }
  }
  return result;
}

std::string form_options(const SymmetricLayout& layout, const MatvecSymmetricForm& form) {
  if (form.tiles) {
    return fmt::format("-DLX={} -DLY={} -DPX={} -DPY={} -DPARTS={} -DUNIT={} -DSTEPS={}",
                       form.lanes_x, form.lanes_y, form.pixels_x, form.pixels_y, form.parts,
                       layout.columns % 4 == 0 ? 4 : 1, steps(layout, form));
  }
  std::string bands;
  for (int band = 0; band <= layout.radius(); ++band) bands += fmt::format("BAND({})", band);
  return fmt::format("-DCOLUMNS={} -DROWS={} -DBANDS={}", form.pixels_x, form.pixels_y, bands);
}

/// Local memory of a tile.
std::size_t tile_bytes(const SymmetricLayout& layout, const MatvecSymmetricForm& form) {
  const auto halo =
      round_up(static_cast<std::size_t>(layout.radius()), static_cast<std::size_t>(form.pixels_x));
  const auto across = static_cast<std::size_t>(form.lanes_x * form.pixels_x);
  const auto down = static_cast<std::size_t>(form.lanes_y * form.pixels_y);
  const std::size_t tile =
      (across + 2 * halo) * (down + 2 * static_cast<std::size_t>(layout.radius()));
  const std::size_t sums = static_cast<std::size_t>(form.parts) * across * down;
  return std::max(tile, sums) * sizeof(float);
}

}  // namespace

MatvecSymmetricForm matvec_symmetric_form(const DeviceInfo& device, const SymmetricLayout& layout) {
  MatvecSymmetricForm form;
  if (device.kind == DeviceKind::kCpu) {
    form.tiles = false;
    form.pixels_x = 256;
    form.pixels_y = 16;
    return form;
  }
  // As measured on an H200, radius 5, GFLOP/s of 8-bit weights unless said otherwise.
  const std::size_t pixels =
      static_cast<std::size_t>(layout.columns) * static_cast<std::size_t>(layout.height);
  if (pixels < kSmall) {
    form.lanes_y = 4;  // 3,890 at 0.15 megapixels; with two parts 3,490, with one 2,900.
    form.parts = 4;
  } else if (layout.bits == 32) {
    form.lanes_x = 16;  // 3,360 of floats at 16 megapixels; with two parts 3,120, with one 2,370.
    form.lanes_y = 4;
    form.parts = 4;
  } else if (layout.bits == 16) {
    form.lanes_x = 16;  // 6,120 of halves at 16 megapixels; with 32 5,670, with one part 4,970.
    form.parts = 2;
  } else {
    form.pixels_x = 8;  // 10,460 at 16 megapixels; runs of 4 pixels 9,840.
  }
  // Devices with little local memory, or small groups.
  while (form.lanes_y > 1 && (tile_bytes(layout, form) > device.local_memory ||
                              static_cast<std::size_t>(form.lanes_x * form.lanes_y * form.parts) >
                                  device.max_work_group)) {
    form.lanes_y /= 2;
  }
  return form;
}

void SymmetricOperator::launch(const Buffer<float>& in, Buffer<float>& out,
                               const Recurrence* recurrence) {
  const SymmetricLayout& layout = matrix_->layout;
  const bool recurs = recurrence != nullptr;
  auto kernels = kernels_.find(recurs);
  if (kernels == kernels_.end()) {
    const KernelFile made(
        *context_,
        form_.tiles ? "matrix/matvec_symmetric_tile.cl" : "matrix/matvec_symmetric_run.cl",
        fmt::format("{} {}{}{}", layout.options(std::to_string(layout.stride)),
                    form_options(layout, form_), matrix_->scale ? " -DSCALED" : "",
                    recurs ? " -DRECURRENCE" : ""));
    kernels = kernels_.emplace(recurs, made).first;
  }
  const auto groups = [](int count, int each) {
    return static_cast<std::size_t>((count + each - 1) / each);
  };
  const auto lanes_x = static_cast<std::size_t>(form_.lanes_x);
  const auto lanes_y = static_cast<std::size_t>(form_.lanes_y);
  const auto parts = static_cast<std::size_t>(form_.parts);
  const cl::NDRange local = form_.tiles ? cl::NDRange(lanes_x, lanes_y, parts) : cl::NDRange(1, 1);
  const cl::NDRange global =
      form_.tiles
          ? cl::NDRange(groups(layout.columns, form_.lanes_x * form_.pixels_x) * lanes_x,
                        groups(layout.height, form_.lanes_y * form_.pixels_y) * lanes_y, parts)
          : cl::NDRange(groups(layout.columns, form_.pixels_x),
                        groups(layout.height, form_.pixels_y));
  const auto run = [&](const auto&... scale) {
    kernels->second.launch("matvec", global, local, matrix_->upper, matrix_->diagonal, scale...,
                           layout.columns, layout.height, in, out, recurrence);
  };
  matrix_->scale ? run(matrix_->scale) : run();
}

std::string SymmetricOperator::name() const {
  return MatvecChoice{MatvecKind::kSymmetric, matrix_->storage, {}}.name();
}

}  // namespace diacut
