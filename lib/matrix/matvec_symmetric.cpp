#include "matrix/matvec_symmetric.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "opencl/arguments.hpp"
#include "opencl/lanes.hpp"

namespace diacut {

namespace {

/// A work-item's runs may reach below the image, as far as these rows of no weights.
constexpr std::size_t kRowsBelow = 3;

/// Pixels below which a GPU is not filled by items that do eight of them.
constexpr std::size_t kSmall = std::size_t{1} << 19;

/// k of each band's first later neighbour.
std::vector<int> firsts(const SymmetricLayout& layout) {
  std::vector<int> result;
  int next = 0;
  for (std::size_t band = 0; band < layout.reaches.size(); ++band) {
    result.push_back(next);
    next += band == 0 ? layout.reaches[0] : 2 * layout.reaches[band] + 1;
  }
  return result;
}

/// `stride`: the value of STRIDE.
std::string common_options(const SymmetricLayout& layout, const std::string& stride) {
  return fmt::format("-DRADIUS={} -DUPPER={} -DSTRIDE={} -DREACHES={} -DFIRSTS={} -DBITS={}",
                     layout.radius(), layout.upper(), stride, fmt::join(layout.reaches, ","),
                     fmt::join(firsts(layout), ","), layout.bits);
}

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

std::string form_options(const SymmetricLayout& layout, const MatvecSymmetricForm& form,
                         int vectors, int unit) {
  if (form.tiles) {
    return fmt::format(
        "-DLX={} -DLY={} -DPX={} -DPY={} -DPARTS={} -DVECTORS={} -DUNIT={} -DSTEPS={}",
        form.lanes_x, form.lanes_y, form.pixels_x, form.pixels_y, form.parts, vectors, unit,
        steps(layout, form));
  }
  std::string bands;
  for (int band = 0; band <= layout.radius(); ++band) bands += fmt::format("BAND({})", band);
  return fmt::format("-DCOLUMNS={} -DROWS={} -DVECTORS={} -DBANDS={}", form.pixels_x, form.pixels_y,
                     vectors, bands);
}

/// Local memory of a tile for `vectors` vectors.
std::size_t tile_bytes(const SymmetricLayout& layout, const MatvecSymmetricForm& form,
                       int vectors) {
  const auto halo =
      round_up(static_cast<std::size_t>(layout.radius()), static_cast<std::size_t>(form.pixels_x));
  const auto across = static_cast<std::size_t>(form.lanes_x * form.pixels_x);
  const auto down = static_cast<std::size_t>(form.lanes_y * form.pixels_y);
  const std::size_t tile =
      (across + 2 * halo) * (down + 2 * static_cast<std::size_t>(layout.radius()));
  const std::size_t sums = static_cast<std::size_t>(form.parts) * across * down;
  return static_cast<std::size_t>(vectors) * std::max(tile, sums) * sizeof(float);
}

}  // namespace

int SymmetricLayout::upper() const {
  int count = reaches.at(0);
  for (std::size_t band = 1; band < reaches.size(); ++band) count += 2 * reaches[band] + 1;
  return count;
}

std::size_t SymmetricLayout::bytes() const {
  const std::size_t rows = static_cast<std::size_t>(height + radius()) + kRowsBelow;
  return rows * static_cast<std::size_t>(upper()) * stride * static_cast<std::size_t>(bits / 8);
}

SymmetricLayout symmetric_layout(const DeviceInfo& device, int columns, int height, int bits,
                                 std::vector<int> reaches, int padding) {
  constexpr std::size_t kRun = 64;    // The widest that any form reads at once.
  constexpr std::size_t kLine = 128;  // Bytes that a GPU reads at once.
  SymmetricLayout layout{columns, height, bits, std::move(reaches), 0};
  const auto longest = static_cast<std::size_t>(columns + padding);
  if (device.kind == DeviceKind::kCpu) {
    // An odd multiple: rows a power of two apart would share cache sets.
    layout.stride = round_up(longest, kRun);
    if (layout.stride / kRun % 2 == 0) layout.stride += kRun;
  } else {
    layout.stride = round_up(longest, std::max(kRun, kLine * 8 / static_cast<std::size_t>(bits)));
  }
  return layout;
}

namespace {

constexpr char kPackFile[] = "matrix/matvec_symmetric_pack.cl";
constexpr char kDiagonalKept[] = "matvec_symmetric_diagonal_kept";

/// The kernel of that name, of those that pack `layout`.
cl::Kernel pack_kernel(Context& context, const SymmetricLayout& layout, const char* name) {
  return context.kernel(
      kPackFile, name,
      fmt::format("{} -DRUN={}", common_options(layout, "stride"), vector_run(context.info())));
}

/// Writes `upper` by the kernel of that name, whose arguments begin with `inputs`.
template <class... Inputs>
void pack_weights(Context& context, const SymmetricLayout& layout, const SymmetricSource& source,
                  const char* name, Buffer<std::uint8_t>& upper, const Inputs&... inputs) {
  cl::Kernel kernel = pack_kernel(context, layout, name);
  set_arguments(kernel, inputs..., source.width, layout.height, layout.columns, source.pitch,
                layout.stride, upper);
  const auto rows = static_cast<std::size_t>(layout.height + layout.radius()) + kRowsBelow;
  context.launch(kernel, cl::NDRange(layout.stride, rows, static_cast<std::size_t>(layout.upper())),
                 cl::NullRange);
}

/// Writes the main diagonal by the kernel of that name, whose arguments begin with `inputs` and of
/// which a work-item writes `run` elements of an image row.
template <class... Inputs>
void write_diagonal(Context& context, const SymmetricLayout& layout, const SymmetricSource& source,
                    const char* name, std::size_t run, Buffer<float>& diagonal,
                    const Inputs&... inputs) {
  cl::Kernel kernel = pack_kernel(context, layout, name);
  set_arguments(kernel, inputs..., source.width, layout.height, layout.columns, source.pitch,
                layout.stride, diagonal);
  const auto columns = static_cast<std::size_t>(layout.columns);
  launch_rows(context, kernel, round_up(columns, run) / run,
              static_cast<std::size_t>(layout.height));
}

}  // namespace

void launch_symmetric_pack(Context& context, const SymmetricLayout& layout,
                           const SymmetricSource& source, Buffer<std::uint8_t>& upper,
                           Buffer<float>& diagonal) {
  if (layout.upper() > 0)
    pack_weights(context, layout, source, "matvec_symmetric_pack", upper, source.values);
  write_diagonal(context, layout, source, "matvec_symmetric_diagonal", 1, diagonal, source.values);
}

void launch_symmetric_pack(Context& context, const SymmetricLayout& layout,
                           const SymmetricSource& source, const Buffer<float>& roots,
                           Buffer<std::uint8_t>& upper, Buffer<float>& diagonal) {
  if (layout.upper() > 0)
    pack_weights(context, layout, source, "matvec_symmetric_pack", upper, source.values);
  write_diagonal(context, layout, source, "matvec_symmetric_diagonal_rooted", 1, diagonal, roots,
                 upper);
}

void launch_symmetric_pack(Context& context, const SymmetricLayout& layout,
                           const SymmetricSource& source, const Buffer<float>& roots,
                           Buffer<std::uint8_t>& upper, Buffer<float>& diagonal,
                           Buffer<float>& scale) {
  if (layout.upper() > 0) {
    Buffer<std::int64_t> offsets =
        context.allocate<std::int64_t>(static_cast<std::size_t>(layout.upper()), "offsets");
    offsets.upload(
        std::vector<std::int64_t>(source.offsets.end() - layout.upper(), source.offsets.end()));
    pack_weights(context, layout, source, "matvec_symmetric_pack_unscaled", upper, source.values,
                 offsets, roots);
  }
  write_diagonal(context, layout, source, "matvec_symmetric_diagonal_unscaled", 1, diagonal, roots,
                 upper, scale);
}

void launch_symmetric_pack_kept(Context& context, const SymmetricLayout& layout,
                                const SymmetricSource& source, const Buffer<float>& roots,
                                Buffer<std::uint8_t>& upper, Buffer<float>& diagonal) {
  if (layout.upper() > 0)
    pack_weights(context, layout, source, "matvec_symmetric_pack", upper, source.values);
  write_diagonal(context, layout, source, kDiagonalKept, vector_run(context.info()), diagonal,
                 source.values, roots, upper);
}

MatvecSymmetricForm matvec_symmetric_form(const DeviceInfo& device, const SymmetricLayout& layout,
                                          int vectors) {
  MatvecSymmetricForm form;
  if (device.kind == DeviceKind::kCpu) {
    form.tiles = false;
    form.pixels_x = 256;
    form.pixels_y = vectors == 1 ? 16 : 8;
    form.most_vectors = 8;
    return form;
  }
  // As measured on an H200, radius 5, GFLOP/s of 8-bit weights unless said otherwise.
  form.most_vectors = 4;
  const std::size_t pixels =
      static_cast<std::size_t>(layout.columns) * static_cast<std::size_t>(layout.height);
  if (vectors > 1) {
    form.lanes_x = 16;  // 15,300 at 4 megapixels; 8 at once 14,500, 2 at once 13,000.
  } else if (pixels < kSmall) {
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
  while (form.most_vectors > 1 &&
         tile_bytes(layout, form, form.most_vectors) > device.local_memory) {
    form.most_vectors /= 2;
  }
  while (form.lanes_y > 1 && (tile_bytes(layout, form, form.most_vectors) > device.local_memory ||
                              static_cast<std::size_t>(form.lanes_x * form.lanes_y * form.parts) >
                                  device.max_work_group)) {
    form.lanes_y /= 2;
  }
  return form;
}

MatvecSymmetric::MatvecSymmetric(Context& context, SymmetricLayout layout,
                                 const Buffer<std::uint8_t>& upper, const Buffer<float>& diagonal,
                                 const Buffer<float>* scale)
    : context_(&context),
      layout_(std::move(layout)),
      upper_(&upper),
      diagonal_(&diagonal),
      scale_(scale) {}

void MatvecSymmetric::use_form(const MatvecSymmetricForm& form) {
  forced_form_ = form;
  programs_.clear();
}

MatvecSymmetric::Program& MatvecSymmetric::program(const VectorBlock& block, bool recurrence) {
  const bool quads = layout_.columns % 4 == 0 && block.pitch % 4 == 0;
  const Key key{block.count, quads, recurrence};
  if (const auto found = programs_.find(key); found != programs_.end()) return found->second;
  const MatvecSymmetricForm form =
      forced_form_ ? *forced_form_ : matvec_symmetric_form(context_->info(), layout_, block.count);
  // As few passes as can be, with about as many vectors each.
  const int passes = (block.count + form.most_vectors - 1) / form.most_vectors;
  const int vectors = (block.count + passes - 1) / passes;
  const std::string options =
      fmt::format("{} {}{}{}", common_options(layout_, std::to_string(layout_.stride)),
                  form_options(layout_, form, vectors, quads ? 4 : 1),
                  scale_ != nullptr ? " -DSCALED" : "", recurrence ? " -DRECURRENCE" : "");
  const std::string file =
      form.tiles ? "matrix/matvec_symmetric_tile.cl" : "matrix/matvec_symmetric_run.cl";
  Program made{form, vectors, context_->kernel(file, "matvec", options)};
  return programs_.emplace(key, std::move(made)).first->second;
}

cl_uint MatvecSymmetric::bind(cl::Kernel& kernel, const Buffer<float>& in, Buffer<float>& out,
                              const VectorBlock& block) {
  return with_device_errors("binding a symmetric product", [&] {
    cl_uint index = 0;
    kernel.setArg(index++, upper_->cl());
    kernel.setArg(index++, diagonal_->cl());
    if (scale_ != nullptr) kernel.setArg(index++, scale_->cl());
    kernel.setArg(index++, layout_.columns);
    kernel.setArg(index++, layout_.height);
    kernel.setArg(index++, block.count);
    kernel.setArg(index++, static_cast<cl_ulong>(block.pitch));
    kernel.setArg(index++, static_cast<cl_ulong>(block.in_first * block.pitch));
    kernel.setArg(index++, static_cast<cl_ulong>(block.out_first * block.pitch));
    kernel.setArg(index++, in.cl());
    kernel.setArg(index++, out.cl());
    return index;
  });
}

void MatvecSymmetric::launch(const Program& program, const VectorBlock& block) {
  const MatvecSymmetricForm& form = program.form;
  const auto groups = [](int count, int each) {
    return static_cast<std::size_t>((count + each - 1) / each);
  };
  const std::size_t passes = groups(block.count, program.vectors);
  if (!form.tiles) {
    context_->launch(program.kernel,
                     cl::NDRange(groups(layout_.columns, form.pixels_x),
                                 groups(layout_.height, form.pixels_y), passes),
                     cl::NDRange(1, 1, 1));
    return;
  }
  const auto lanes_x = static_cast<std::size_t>(form.lanes_x);
  const auto lanes_y = static_cast<std::size_t>(form.lanes_y);
  const auto parts = static_cast<std::size_t>(form.parts);
  context_->launch(
      program.kernel,
      cl::NDRange(groups(layout_.columns, form.lanes_x * form.pixels_x) * lanes_x,
                  groups(layout_.height, form.lanes_y * form.pixels_y) * lanes_y, passes * parts),
      cl::NDRange(lanes_x, lanes_y, parts));
}

void MatvecSymmetric::product(const Buffer<float>& in, Buffer<float>& out,
                              const VectorBlock& block) {
  if (block.count == 0) return;
  Program& used = program(block, false);
  bind(used.kernel, in, out, block);
  launch(used, block);
}

void MatvecSymmetric::recurrence(const Buffer<float>& in, Buffer<float>& out, float alpha,
                                 float beta, float gamma, const VectorBlock& block) {
  if (block.count == 0) return;
  Program& used = program(block, true);
  const cl_uint next = bind(used.kernel, in, out, block);
  with_device_errors("binding the factors of a recurrence", [&] {
    used.kernel.setArg(next, alpha);
    used.kernel.setArg(next + 1, beta);
    used.kernel.setArg(next + 2, gamma);
  });
  launch(used, block);
}

}  // namespace diacut
