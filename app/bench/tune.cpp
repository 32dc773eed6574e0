#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>

#include "commands.hpp"
#include "core/enum_names.hpp"
#include "diacut/errors.hpp"
#include "matrix/dia_operator.hpp"
#include "matrix/matvec_profile.hpp"
#include "matrix/symmetric_dia.hpp"
#include "measure.hpp"
#include "output/atomic_file.hpp"
#include "sparse_bench.hpp"
#include "spmv/format_profile.hpp"
#include "spmv/measure/random_matrix.hpp"
#include "spmv/split_mix.hpp"

namespace diacut::bench {

namespace {

struct Options {
  CommonOptions common;
  std::string output;
  std::vector<std::string> formats = {"all"};
  std::size_t most = std::size_t{1} << 23;
};

/// A square matrix of full diagonals in runs of eight at random places: of a kind that every format
/// can hold, its x read as a stencil's or a mesh's is.
CsrMatrix runs_of_diagonals(std::size_t rows, std::size_t row_length, std::uint64_t seed) {
  constexpr std::size_t kRun = 8;
  SplitMix random(seed);
  std::set<std::size_t> runs;
  const std::size_t places = rows / kRun;
  while (runs.size() < std::min(places, (row_length + kRun - 1) / kRun)) {
    runs.insert(random.below(places));
  }
  CsrMatrix matrix;
  matrix.rows = rows;
  matrix.cols = rows;
  matrix.starts.reserve(rows + 1);
  matrix.columns.reserve(rows * row_length);
  std::vector<std::uint32_t> columns;
  for (std::size_t row = 0; row < rows; ++row) {
    // Diagonals that leave the matrix come in on its other side: every row is as long.
    columns.clear();
    for (const std::size_t run : runs) {
      const std::size_t in_run = std::min(kRun, row_length - columns.size());
      for (std::size_t k = 0; k < in_run; ++k) {
        columns.push_back(static_cast<std::uint32_t>((row / kRun * kRun + run * kRun + k) % rows));
      }
    }
    std::sort(columns.begin(), columns.end());
    matrix.columns.insert(matrix.columns.end(), columns.begin(), columns.end());
    matrix.starts.push_back(matrix.columns.size());
  }
  matrix.values.resize(matrix.columns.size());
  for (float& each : matrix.values) each = random.value();
  return matrix;
}

/// The same number of full diagonals, in runs of eight around the main one.
CsrMatrix diagonals(std::size_t rows, std::size_t count, std::uint64_t seed) {
  constexpr std::int64_t kRun = 8;
  SplitMix random(seed);
  const auto gap = static_cast<std::int64_t>(
      std::max<std::size_t>(kRun, std::min<std::size_t>(481, rows / 2 / (count / kRun + 1))));
  std::vector<std::int64_t> offsets;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(count); ++d) {
    const std::int64_t run = d / kRun - static_cast<std::int64_t>(count) / kRun / 2;
    offsets.push_back(run * gap + d % kRun);
  }
  CsrMatrix matrix;
  matrix.rows = rows;
  matrix.cols = rows;
  for (std::size_t row = 0; row < rows; ++row) {
    for (const std::int64_t offset : offsets) {
      const std::int64_t column = static_cast<std::int64_t>(row) + offset;
      if (column < 0 || column >= static_cast<std::int64_t>(rows)) continue;
      matrix.columns.push_back(static_cast<std::uint32_t>(column));
      matrix.values.push_back(random.value());
    }
    matrix.starts.push_back(matrix.columns.size());
  }
  return matrix;
}

/// Elements that the table counts: for blocks the ones that fill them up too.
double stored_elements(const CsrMatrix& matrix, const Implementation& implementation) {
  if (implementation.block == BlockSize{}) return static_cast<double>(matrix.nonzeros());
  return static_cast<double>(count_blocks(matrix, implementation.block) *
                             implementation.block.elements());
}

void measure_products(Context& context, const Options& options, FormatProfile& profile) {
  ProductOptions unlimited;
  unlimited.limits.fill = 64.0;
  const std::vector<Implementation> which =
      chosen_implementations(options.formats, false, context.info());
  for (const Implementation& each : which) {
    profile.rates.push_back(
        {each, std::vector<double>(profile.rows.size() * profile.row_lengths.size(), 0.0)});
  }
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    for (std::size_t j = 0; j < profile.row_lengths.size(); ++j) {
      const auto rows = static_cast<std::size_t>(profile.rows[i]);
      const auto length = static_cast<std::size_t>(profile.row_lengths[j]);
      if (rows * length > options.most || length > rows) continue;
      fmt::print("{} rows of {}\n", rows, length);
      std::fflush(stdout);
      const CsrMatrix scattered = runs_of_diagonals(rows, length, 1);
      const CsrMatrix by_diagonals = diagonals(rows, length, 1);
      Buffer<float> in = context.allocate<float>(rows, "a vector");
      Buffer<float> out = context.allocate<float>(rows, "a product");
      in.fill(1.0F);
      for (FormatProfile::Rates& rates : profile.rates) {
        const Implementation& each = rates.implementation;
        const bool diagonal = each.format == Format::kDia || each.format == Format::kBdia;
        const CsrMatrix& matrix = diagonal ? by_diagonals : scattered;
        // A program for each of a thousand offsets is slow to build and not what anybody would run.
        if (diagonal && length > 512) continue;
        std::unique_ptr<SparseProduct> product;
        try {
          product = make_product(context, matrix, each, unlimited);
        } catch (const DeviceError& error) {
          fmt::print("  {} left out: {}\n", to_string(each), error.what());
          continue;
        }
        const double milliseconds = median_milliseconds(context, options.common.repeats,
                                                        [&] { product->product(in, out); });
        const double stored =
            diagonal ? static_cast<double>(rows * length) : stored_elements(matrix, each);
        if (milliseconds > 0.0) {
          rates.gflops[i * profile.row_lengths.size() + j] = 2e-6 * stored / milliseconds;
        }
      }
    }
  }
}

/// Elements of the largest matrix of a stencil, whose layout needs no building, by those of others.
constexpr std::size_t kStencilShare = 256;

/// Each kernel of the stencil's product at the sizes of small and large photographs.
void measure_matvec(Context& context, const Options& options, MatvecProfile& profile) {
  const Stencil stencil = disc_stencil(5);
  for (const int width : {240, 481, 1024, 2048}) {
    const Grid grid{width, width * 2 / 3, width};
    const DiaShape shape = dia_shape(grid, stencil);
    if (shape.stored() > kStencilShare * options.most) continue;
    DiaMatrix matrix{shape, context.allocate<float>(shape.stored(), "the matrix")};
    RandomMatrixShape random{grid.width, grid.height, grid.stride, shape.pitch, {}};
    for (const StencilOffset& entry : stencil.entries) {
      random.steps.insert(random.steps.end(), {entry.dx, entry.dy});
    }
    random_matrix(context, random, 1, matrix.values);
    Buffer<float> in = context.allocate<float>(shape.rows, "a vector");
    Buffer<float> out = context.allocate<float>(shape.rows, "a product");
    in.fill(1.0F);
    MatvecProfile::Rate best;
    const auto measured = [&](DeviceOperator& op, const MatvecChoice& choice) {
      const double milliseconds =
          median_milliseconds(context, options.common.repeats, [&] { op.perform_op(in, out); });
      const double gflops =
          2e-6 * static_cast<double>(shape.rows * shape.diagonals()) / milliseconds;
      fmt::print("{}x{} {:<20}{:>10.1f} GFLOP/s\n", grid.width, grid.height, choice.name(), gflops);
      return MatvecProfile::Rate{shape.rows, choice.kind, choice.storage, gflops};
    };
    for (const auto& [kind, name] : kMatvecNames) {
      if (kind == MatvecKind::kAuto || kind == MatvecKind::kSymmetric) continue;
      const MatvecChoice choice = choose_matvec({kind}, context.info(), shape);
      if (choice.kind != kind) continue;
      DiaOperator op(context, matrix, kind);
      const MatvecProfile::Rate each = measured(op, choice);
      if (each.gflops > best.gflops) best = each;
    }
    profile.rates.push_back(best);
    for (const auto& [storage, name] : kMatvecStorageNames) {
      if (storage == MatvecStorage::kAuto) continue;
      const SymmetricDia compressed = compress(context, matrix, grid, stencil, storage);
      SymmetricOperator op(context, compressed);
      profile.rates.push_back(measured(op, {MatvecKind::kSymmetric, storage, {}}));
    }
  }
}

void run(const Options& options) {
  Context context(options.common.device, options.common.kernel_dir);
  std::string output = options.output.empty() ? profile_path(context.info()) : options.output;
  if (output.empty()) {
    throw ConfigError(
        "neither XDG_DATA_HOME nor HOME names a folder for the profile; give --output FILE");
  }
  fmt::print("{} ({})\n", context.info().name, context.info().platform);
  FormatProfile profile;
  profile.device = profiled_device(context.info());
  profile.copy =
      best_copy_bandwidth(context, yardstick_bytes(context, options.common), options.common.repeats)
          .gigabytes_per_second;
  profile.rows = {4096, 65'536, 524'288};
  profile.row_lengths = {4, 16, 64, 256, 2048};
  measure_products(context, options, profile);
  MatvecProfile matvec;
  measure_matvec(context, options, matvec);
  const std::filesystem::path folder = std::filesystem::path(output).parent_path();
  std::error_code code;
  if (!folder.empty()) std::filesystem::create_directories(folder, code);
  if (code) {
    throw InputError(
        fmt::format("cannot make the folder '{}': {}", folder.string(), code.message()));
  }
  const std::string text =
      profile_text(profile.device, {format_profile_part(profile), matvec_profile_part(matvec)});
  AtomicFile file(output);
  file.write(text.data(), text.size());
  file.commit();
  fmt::print("profile written to {}\n", output);
}

}  // namespace

Command tune_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tune",
                                         "Measures the products on the device and writes its "
                                         "profile, from which segment --matvec auto "
                                         "and the cocktail choose");
  const auto options = std::make_shared<Options>();
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
