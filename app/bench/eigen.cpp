#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "affinity/affinity.hpp"
#include "commands.hpp"
#include "contour/spectral_contour.hpp"
#include "cues/cue.hpp"
#include "diacut/image.hpp"
#include "eigen/eigensolver.hpp"
#include "measure.hpp"
#include "output/npy.hpp"
#include "sparse/dia_operator.hpp"

namespace diacut::bench {

namespace {

struct Options {
  CommonOptions common;
  std::string image;
  std::vector<std::string> solvers = {"multilevel", "lanczos", "plain", "spectra"};
  EigenParameters eigen;
  AffinityParameters affinity;
  std::string matvec = "auto";
  std::string save_matrix;
};

double correlation(const std::vector<float>& a, const std::vector<float>& b) {
  const auto n = static_cast<double>(a.size());
  double sum_a = 0;
  double sum_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum_a += a[i];
    sum_b += b[i];
  }
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double da = a[i] - sum_a / n;
    const double db = b[i] - sum_b / n;
    ab += da * db;
    aa += da * da;
    bb += db * db;
  }
  return ab / std::sqrt(aa * bb);
}

template <typename T>
void save(const std::filesystem::path& path, std::span<const T> elements,
          const std::vector<std::size_t>& shape) {
  const std::vector<std::uint8_t> bytes = encode_npy<T>(elements, shape);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw InputError(fmt::format("cannot write '{}'", path.string()));
}

/// The normalised affinity for other programs to solve: values[d][row] multiplies x[row + offset].
void save_matrix(const std::string& folder, const NormalisedAffinity& affinity) {
  std::filesystem::create_directories(folder);
  const std::filesystem::path path(folder);
  const DiaShape& shape = affinity.matrix.shape;
  const std::vector<float> values = affinity.matrix.values.download();
  std::vector<float> degrees(shape.rows);
  affinity.sqrt_degree.download(std::span<float>(degrees));
  save<float>(path / "values.npy", values, {shape.diagonals(), shape.pitch});
  save<std::int64_t>(path / "offsets.npy", shape.offsets, {shape.diagonals()});
  save<float>(path / "sqrt_degree.npy", degrees, {shape.rows});
}

struct Run {
  std::string solver;
  double wall_ms = 0;
  double device_ms = 0;
  Eigenvectors found;
};

Run measure(Context& context, const NormalisedAffinity& affinity, MatvecKind kind,
            const std::string& solver, EigenParameters parameters, int repeats) {
  using Clock = std::chrono::steady_clock;
  parameters.solver = solver == "spectra"      ? SolverKind::kSpectra
                      : solver == "multilevel" ? SolverKind::kMultilevel
                                               : SolverKind::kLanczos;
  if (solver == "plain") parameters.filter_degree = 1;
  DiaOperator op(context, affinity.matrix, kind);
  std::vector<double> wall;
  std::vector<double> device;
  Run run;
  run.solver = solver;
  // The first of several runs builds kernels and is not counted.
  const int runs = solver == "spectra" ? 1 : repeats + 1;
  for (int i = 0; i < runs; ++i) {
    const cl::Event begin = context.mark();
    const Clock::time_point start = Clock::now();
    const DeviceEigenvectors found =
        eigenvectors(context, op, affinity.matrix, affinity.grid, affinity.stencil,
                     affinity.sqrt_degree, parameters);
    const cl::Event end = context.mark();
    context.finish();
    if (i + 1 < runs && i == 0) continue;
    wall.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    device.push_back(milliseconds_between(begin, end));
    if (i + 1 == runs) run.found = to_host(found, affinity.grid, affinity.sqrt_degree);
  }
  std::sort(wall.begin(), wall.end());
  std::sort(device.begin(), device.end());
  run.wall_ms = wall[wall.size() / 2];
  run.device_ms = device[device.size() / 2];
  return run;
}

void run(const Options& options) {
  for (const std::string& solver : options.solvers) {
    if (solver != "multilevel" && solver != "lanczos" && solver != "plain" && solver != "spectra") {
      throw ConfigError(
          fmt::format("--solvers '{}': expected multilevel, lanczos, plain or spectra", solver));
    }
  }
  const Image image = read_image(options.image);
  Context context(options.common.device, options.common.kernel_dir);
  const Grid grid{image.width, image.height, image.width};
  const CueParameters cue;
  const BoundaryMap boundary = boundary_strength(context, image, grid, cue);
  const NormalisedAffinity affinity = normalise(
      context, boundary, affinity_matrix(context, boundary, options.affinity), options.affinity);
  if (!options.save_matrix.empty()) save_matrix(options.save_matrix, affinity);
  const MatvecChoice choice =
      choose_matvec(matvec_kind(options.matvec), context.info(), affinity.matrix.shape);
  fmt::print("{} ({}), {}: {}x{}, {} diagonals, {} product, {} vectors to {:g}\n",
             context.info().name, context.info().platform, options.image, image.width, image.height,
             affinity.stencil.size(), to_string(choice.kind), options.eigen.vectors,
             options.eigen.tolerance);
  fmt::print("{:<9}{:>11}{:>11}{:>10}{:>8}{:>10}{:>12}{:>13}  {}\n", "solver", "wall ms",
             "device ms", "products", "degree", "restarts", "residual", "correlation", "converged");
  nlohmann::json results = nlohmann::json::array();
  std::vector<float> first_contour;
  for (const std::string& solver : options.solvers) {
    const Run result = measure(context, affinity, choice.kind, solver, options.eigen,
                               std::max(1, options.common.repeats));
    const EigenReport& report = result.found.report;
    const std::vector<float> contour = spectral_contour(result.found);
    if (first_contour.empty()) first_contour = contour;
    const double worst = *std::max_element(report.residuals.begin(), report.residuals.end());
    const double match = correlation(contour, first_contour);
    fmt::print("{:<9}{:>11.1f}{:>11.1f}{:>10}{:>8}{:>10}{:>12.2e}{:>13.6f}  {}\n", solver,
               result.wall_ms, result.device_ms, report.products, report.filter_degree,
               report.restarts, worst, match, report.converged ? "yes" : "NO");
    results.push_back({{"solver", solver},
                       {"wall_ms", result.wall_ms},
                       {"device_ms", result.device_ms},
                       {"products", report.products},
                       {"filter_degree", report.filter_degree},
                       {"restarts", report.restarts},
                       {"residual", worst},
                       {"contour_correlation_with_first", match},
                       {"converged", report.converged},
                       {"eigenvalues", result.found.values}});
  }
  if (options.common.json.empty()) return;
  write_json(options.common.json, {{"device", to_json(context.info())},
                                   {"image", options.image},
                                   {"width", image.width},
                                   {"height", image.height},
                                   {"matvec", to_string(choice.kind)},
                                   {"vectors", options.eigen.vectors},
                                   {"tolerance", options.eigen.tolerance},
                                   {"results", results}});
}

}  // namespace

Command eigen_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "eigen",
      "The eigenvectors of a photograph's normalized cut by each solver: time, products, "
      "residuals, and the correlation of spectral contours with the first solver's");
  const auto options = std::make_shared<Options>();
  add_common_options(*command, options->common);
  command->add_option("image", options->image, "A photograph")->required();
  command
      ->add_option("--solvers", options->solvers,
                   "Among lanczos, plain (lanczos without its filter), spectra")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--vectors", options->eigen.vectors, "Vectors, the trivial one included")
      ->check(CLI::Range(2, 256))
      ->capture_default_str();
  command->add_option("--tolerance", options->eigen.tolerance, "Norm of the residual")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--basis", options->eigen.basis, "Basis vectors; 0 chooses")
      ->check(CLI::Range(0, 1024));
  command
      ->add_option("--filter-degree", options->eigen.filter_degree,
                   "Degree of the filter of lanczos; 0 chooses")
      ->check(CLI::Range(0, 200));
  command->add_option("--radius", options->affinity.radius, "Of the affinity, pixels")
      ->check(CLI::Range(1, 10))
      ->capture_default_str();
  command->add_option("--matvec", options->matvec, "Kernel of the product")->capture_default_str();
  command->add_option("--save-matrix", options->save_matrix,
                      "Folder to write the matrix to, as values.npy (diagonals by pitch), "
                      "offsets.npy and sqrt_degree.npy");
  return {command, [options] { run(*options); }};
}

}  // namespace diacut::bench
