#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "commands.hpp"
#include "core/enum_names.hpp"
#include "diacut/errors.hpp"
#include "matrix/device_profile.hpp"
#include "matrix/matvec.hpp"
#include "matrix/matvec_symmetric.hpp"
#include "measure.hpp"
#include "sparse_bench.hpp"
#include "stencil_problem.hpp"
#include "tune_formats.hpp"

namespace diacut::bench {

namespace {

struct TuneOptions {
  CommonOptions common;
  std::string output;
  std::vector<std::string> formats = {"all"};
  std::size_t most = std::size_t{1} << 23;
};

/// The largest stencil matrix has this many times the elements of the largest matrix of another
/// format, because its layout needs no building.
constexpr std::size_t kStencilShare = 256;

/// A stencil matrix of random weights, and vectors, on the device.
struct StencilMatrix {
  StencilMatrix(Context& context, const Grid& of, const Stencil& stencil)
      : grid(of),
        matrix{dia_shape(grid, stencil), {}},
        in(context.allocate<float>(matrix.shape.rows, "a vector")),
        out(context.allocate<float>(matrix.shape.rows, "a product")) {
    matrix.values = context.allocate<float>(matrix.shape.stored(), "the matrix");
    random_matrix(context, random_shape(grid, stencil, matrix.shape.pitch), 1, matrix.values);
    in.fill(1.0F);
  }

  Grid grid;
  DiaMatrix matrix;
  Buffer<float> in;
  Buffer<float> out;
};

/// Measures and prints one kernel.
MatvecProfile::Rate measured_rate(Context& context, StencilMatrix& on, DeviceOperator& product,
                                  const MatvecChoice& choice, int repeats) {
  const double milliseconds =
      median_milliseconds(context, repeats, [&] { product.perform_op(on.in, on.out); });
  const DiaShape& shape = on.matrix.shape;
  const double gflops = 2e-6 * static_cast<double>(shape.rows * shape.diagonals()) / milliseconds;
  fmt::print("{}x{} {:<20}{:>10.1f} GFLOP/s\n", on.grid.width, on.grid.height, choice.name(),
             gflops);
  return {shape.rows, choice.kind, choice.storage, gflops};
}

/// The fastest of the kernels that read the whole matrix.
MatvecProfile::Rate fastest_whole(Context& context, StencilMatrix& on, int repeats) {
  MatvecProfile::Rate best;
  for (const auto& [kind, name] : kMatvecNames) {
    if (kind == MatvecKind::kAuto || kind == MatvecKind::kSymmetric) continue;
    const MatvecChoice choice = choose_matvec({kind}, context.info(), on.matrix.shape);
    if (choice.kind != kind) continue;
    DiaOperator product(context, on.matrix, kind);
    const MatvecProfile::Rate rate = measured_rate(context, on, product, choice, repeats);
    if (rate.gflops > best.gflops) best = rate;
  }
  return best;
}

/// Every kernel of the stencil's product at the sizes of small and large photographs.
MatvecProfile tune_matvec(Context& context, const TuneOptions& options) {
  MatvecProfile profile;
  const Stencil stencil = disc_stencil(5);
  const int repeats = options.common.repeats;
  for (const int width : {240, 481, 1024, 2048}) {
    const Grid grid{width, width * 2 / 3, width};
    if (dia_shape(grid, stencil).stored() > kStencilShare * options.most) continue;
    StencilMatrix on(context, grid, stencil);
    profile.rates.push_back(fastest_whole(context, on, repeats));
    for (const auto& [storage, name] : kMatvecStorageNames) {
      if (storage == MatvecStorage::kAuto) continue;
      const SymmetricDia compressed = compress(context, on.matrix, grid, stencil, storage);
      SymmetricOperator product(context, compressed);
      profile.rates.push_back(
          measured_rate(context, on, product, {MatvecKind::kSymmetric, storage, {}}, repeats));
    }
  }
  return profile;
}

void run(const TuneOptions& options) {
  Context context(options.common.device, options.common.kernel_dir);
  const std::string output = options.output.empty() ? profile_path(context.info()) : options.output;
  if (output.empty()) {
    throw ConfigError(
        "neither XDG_DATA_HOME nor HOME names a folder for the profile; give --output FILE");
  }
  const std::vector<Implementation> implementations =
      chosen_implementations(options.formats, false, context.info());
  const CopyBandwidth copy = printed_copy_bandwidth(context, options.common);
  FormatProfile formats =
      tune_formats(context, implementations, options.most, options.common.repeats);
  formats.copy = copy.gigabytes_per_second;
  const MatvecProfile matvec = tune_matvec(context, options);
  const std::filesystem::path folder = std::filesystem::path(output).parent_path();
  std::error_code code;
  if (!folder.empty()) std::filesystem::create_directories(folder, code);
  if (code) {
    throw InputError(
        fmt::format("cannot make the folder '{}': {}", folder.string(), code.message()));
  }
  write_text(output, profile_text(formats.device,
                                  {format_profile_part(formats), matvec_profile_part(matvec)}));
  fmt::print("profile written to {}\n", output);
}

}  // namespace

Command tune_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("tune",
                         "Measures the products on the device and writes its profile, from which "
                         "segment --matvec auto and cocktail choose.");
  const auto options = std::make_shared<TuneOptions>();
  options->common.repeats = 3;
  command->add_option("--output", options->output,
                      "The profile (default: diacut/profiles in the user's data folder)");
  add_formats_option(*command, options->formats,
                     "Formats or products by name, or all; the profile knows no others");
  command->add_option("--most", options->most, "Elements of the largest matrix")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1} << 14, std::size_t{1} << 30));
  add_common_options(*command, options->common);
  return {command, [options] { run(*options); }};
}

}  // namespace diacut::bench
