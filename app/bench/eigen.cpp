#include "eigen.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "affinity/affinity.hpp"
#include "contour/spectral_contour.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "eigen/eigensolver.hpp"
#include "matrix/matvec.hpp"
#include "matrix/symmetric_dia.hpp"
#include "measure.hpp"
#include "opencl/copy_elements.hpp"
#include "output/npy.hpp"

namespace diacut::bench {

namespace {

struct EigenOptions {
  CommonOptions common;
  int at_once = 1;
  std::string image;
  std::vector<std::string> solvers = {"multilevel", "lanczos", "plain", "spectra"};
  std::vector<double> megapixels;
  std::string by;
  double give_up = 600;
  std::string cue = "learned";
  std::string weights;
  EigenParameters eigen;
  AccuracyOptions accuracy;
  AffinityParameters affinity;
  std::string matvec = "auto";
  std::string save_matrix;
};

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const Eigen::Map<const Eigen::VectorXd> u(a.data(), std::ssize(a));
  const Eigen::Map<const Eigen::VectorXd> v(b.data(), std::ssize(b));
  return (u.array() - u.mean())
      .matrix()
      .normalized()
      .dot((v.array() - v.mean()).matrix().normalized());
}

/// The slope of log(y) over log(x) by least squares: y grows as x to this power.
double growth_exponent(const std::vector<double>& x, const std::vector<double>& y) {
  const Eigen::ArrayXd u = Eigen::Map<const Eigen::ArrayXd>(x.data(), std::ssize(x)).log();
  const Eigen::ArrayXd v = Eigen::Map<const Eigen::ArrayXd>(y.data(), std::ssize(y)).log();
  return ((u - u.mean()) * (v - v.mean())).sum() / (u - u.mean()).square().sum();
}

Eigen::VectorXd doubles(const std::vector<float>& values) {
  return Eigen::Map<const Eigen::VectorXf>(values.data(), std::ssize(values)).cast<double>();
}

/// The solver of a name such as "lanczos:minifloat": "lanczos".
std::string solver_name(const std::string& solver) { return solver.substr(0, solver.find(':')); }

/// The storage of the matrix of such a name: "minifloat"; nothing if the name has none.
std::optional<MatvecStorage> solver_storage(const std::string& solver) {
  const std::size_t colon = solver.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return matvec_storage(solver.substr(colon + 1));
}

/// Throws ConfigError if no solver has such a name.
void check_solver(const std::string& solver) {
  const std::string name = solver_name(solver);
  const std::optional<MatvecStorage> storage = solver_storage(solver);
  if (name == "multilevel" && storage && *storage != MatvecStorage::kHalf) {
    throw ConfigError(
        fmt::format("--solvers '{}': expected multilevel or multilevel:half", solver));
  }
  if (name != "multilevel" && name != "lanczos" && name != "plain" && name != "spectra") {
    throw ConfigError(
        fmt::format("--solvers '{}': expected multilevel, lanczos, plain or spectra", name));
  }
}

SolverParameters solver_of(const std::string& solver, const EigenParameters& parameters,
                           MatvecKind kind, const DeviceInfo& device, const DiaShape& shape) {
  const std::string name = solver_name(solver);
  SolverParameters result{parameters};
  result.eigen.solver = name == "spectra"      ? SolverKind::kSpectra
                        : name == "multilevel" ? SolverKind::kMultilevel
                                               : SolverKind::kLanczos;
  if (name == "plain") result.eigen.filter_degree = 1;
  const std::optional<MatvecStorage> storage = solver_storage(solver);
  if (name == "multilevel" && storage == MatvecStorage::kHalf) {
    result.form = MatrixForm::kCompressed;
  }
  if (!storage || result.form == MatrixForm::kCompressed) {
    result.matvec = choose_matvec({kind}, device, shape);
  } else if (*storage == MatvecStorage::kAuto) {
    result.matvec =
        choose_matvec({}, device, shape, storages_within_tolerance(result.eigen, *storage));
  } else {
    result.matvec = choose_matvec({MatvecKind::kSymmetric, *storage}, device, shape);
  }
  return result;
}

NormalizedMatrix copy_of(Context& context, const NormalizedMatrix& matrix) {
  const auto copy = [&](const Buffer<float>& from) {
    auto to = context.allocate<float>(from.size(), "a copy");
    copy_elements(from, 0, to, 0, from.size());
    return to;
  };
  return {matrix.batch(), matrix.stencil(), copy(matrix.dia().values), copy(matrix.sqrt_degree())};
}

/// The largest norm of A x - theta x, A the whole matrix and theta = x'Ax, whatever product the
/// solver used.
double residual_of_whole(Context& context, const NormalizedMatrix& matrix,
                         const Eigenvectors& found) {
  DiaOperator op(context, matrix.dia(), choose_matvec({}, context.info(), matrix.shape()).kind);
  Buffer<float> in = context.allocate<float>(op.rows(), "a vector");
  Buffer<float> out = context.allocate<float>(op.rows(), "a product");
  double worst = 0;
  for (const std::vector<float>& each : found.vectors) {  // The grid here has no padding.
    in.upload(each);
    op.perform_op(in, out);
    const Eigen::VectorXd x = doubles(each);
    const Eigen::VectorXd product = doubles(out.download());
    worst = std::max(worst, (product - x.dot(product) * x).norm());
  }
  return worst;
}

/// One solver's figures for one matrix: medians over the repeats.
struct SolverRun {
  Times times;
  double residual = 0;           ///< The largest |A x - theta x|, A the whole matrix.
  std::uint64_t peak_bytes = 0;  ///< On the device, beside the matrix.
  Eigenvectors found;
};

/// Solves for the eigenvectors of `matrix`, which is unchanged, as often as --repeats says after a
/// first run that builds kernels (Spectra: once). Lanczos and Spectra multiply by `kind`, or by the
/// compressed matrix that the solver's name asks for, or with ":auto" by what segment chooses.
SolverRun measure_solver(Context& context, NormalizedMatrix& matrix, MatvecKind kind,
                         const std::string& solver, const EigenParameters& parameters,
                         int repeats) {
  const SolverParameters solving =
      solver_of(solver, parameters, kind, context.info(), matrix.shape());
  const std::uint64_t held = context.memory_in_use();
  context.reset_memory_peak();
  SolverRun run;
  std::optional<NormalizedMatrix> copy;  // Compression frees the matrix.
  std::vector<DeviceEigenvectors> found;
  run.times = median_times(
      context, solving.eigen.solver == SolverKind::kSpectra ? 0 : repeats,
      [&] { found = eigenvectors(context, copy ? *copy : matrix, solving); },
      [&] {
        found.clear();
        copy.reset();
        if (solving.form == MatrixForm::kCompressed) copy.emplace(copy_of(context, matrix));
      });
  run.peak_bytes = context.memory_peak() - held;
  run.found = to_host(found.front(), matrix);
  run.residual = residual_of_whole(context, matrix, run.found);
  return run;
}

/// The normalized affinity for other programs to solve: values[d][row] multiplies x[row + offset].
void save_matrix(const std::string& folder, const NormalizedMatrix& matrix) {
  std::filesystem::create_directories(folder);
  const std::filesystem::path path(folder);
  const DiaShape& shape = matrix.shape();
  const std::vector<float> values = matrix.dia().values.download();
  std::vector<float> degrees(shape.rows);
  matrix.sqrt_degree().download(std::span<float>(degrees));
  write_file((path / "values.npy").string(),
             encode_npy<float>(values, {shape.diagonals(), shape.pitch}));
  write_file((path / "offsets.npy").string(),
             encode_npy<std::int64_t>(shape.offsets, {shape.diagonals()}));
  write_file((path / "sqrt_degree.npy").string(), encode_npy<float>(degrees, {shape.rows}));
}

constexpr std::array<Column, 11> kEigenColumns = {
    {{"solver", "solver", -18},
     {"wall_ms", "wall ms", 11, "{:.1f}"},
     {"device_ms", "device ms", 11, "{:.1f}"},
     {"products", "products", 10},
     {"passes", "passes", 8},
     {"levels", "grids", 7},
     {"restarts", "restarts", 10},
     {"residual", "residual", 11, "{:.1e}"},
     {"contour_correlation_with_first", "correlation", 13, "{:.6f}"},
     {"peak_bytes", "peak MiB", 10, "{:.0f}", kMebibytes},
     {"converged", "  converged", 0}}};
constexpr std::array<Column, 5> kTogetherColumns = {
    {{"solver", "solver", -18},
     {"alone_ms", "alone ms", 14, "{:.2f}"},
     {"ms_an_image", "ms an image", 14, "{:.2f}"},
     {"residual", "residual", 11, "{:.1e}"},
     {"peak_bytes", "peak MiB", 10, "{:.0f}", kMebibytes}}};

/// The times of a solver.
struct SolverTimes {
  std::vector<double> megapixels;
  std::vector<double> milliseconds;
};

/// What all sizes of a command's run add up to.
struct EigenFigures {
  nlohmann::json results = nlohmann::json::array();
  nlohmann::json accuracy = nlohmann::json::array();
  std::map<std::string, SolverTimes> times;  ///< By solver.
};

BoundaryMap boundary_of(Context& context, const Image& image, const EigenOptions& options) {
  const Grid grid{image.width, image.height, image.width};
  CueParameters cue;
  cue.kind = options.cue == "gradient" ? CueKind::kGradient : CueKind::kLearned;
  cue.weights = options.weights;
  return boundary_map(context, image, grid, cue);
}

NormalizedMatrix matrix_of(Context& context, const BoundaryMap& boundary, const Batch& batch,
                           const EigenOptions& options) {
  return normalize(context, batch, affinity_matrix(context, boundary, options.affinity),
                   options.affinity);
}

void run_size(Context& context, const Image& image, const EigenOptions& options,
              EigenFigures& figures) {
  const BoundaryMap boundary = boundary_of(context, image, options);
  NormalizedMatrix matrix = matrix_of(context, boundary, Batch(boundary.grid), options);
  if (!options.save_matrix.empty()) save_matrix(options.save_matrix, matrix);
  if (options.accuracy.asked()) {
    fmt::print("\n{}x{}, {:.2f} megapixels\n", image.width, image.height,
               static_cast<double>(image.pixel_count()) * 1e-6);
    figures.accuracy.push_back(
        measure_accuracy(context, matrix, boundary, options.eigen, options.accuracy));
    return;
  }
  const MatvecChoice choice =
      choose_matvec({matvec_kind(options.matvec)}, context.info(), matrix.shape());
  const double megapixels = static_cast<double>(image.pixel_count()) * 1e-6;
  fmt::print("\n{}x{}, {:.2f} megapixels, {} product\n", image.width, image.height, megapixels,
             to_string(choice.kind));
  print_head(kEigenColumns);
  std::vector<double> first_contour;
  for (const std::string& solver : options.solvers) {
    SolverTimes& times = figures.times[solver];
    if (!times.milliseconds.empty() && times.milliseconds.back() > 1e3 * options.give_up) {
      fmt::print("{:<18} left out: it took {:.0f} s for {:.2f} megapixels\n", solver,
                 times.milliseconds.back() * 1e-3, times.megapixels.back());
      continue;
    }
    const SolverRun result =
        measure_solver(context, matrix, choice.kind, solver, options.eigen, options.common.repeats);
    const EigenReport& report = result.found.report;
    const std::vector<double> contour = reference_spectral_contour(result.found);
    if (first_contour.empty()) first_contour = contour;
    times.megapixels.push_back(megapixels);
    times.milliseconds.push_back(result.times.wall);
    figures.results.push_back(
        {{"width", image.width},
         {"height", image.height},
         {"solver", solver},
         {"ran", report.solver},
         {"matvec", report.matvec},
         {"wall_ms", result.times.wall},
         {"device_ms", result.times.device},
         {"products", report.products},
         {"passes", report.passes},
         {"levels", report.levels},
         {"filter_degree", report.filter_degree},
         {"restarts", report.restarts},
         {"residual", result.residual},
         {"contour_correlation_with_first", correlation(contour, first_contour)},
         {"peak_bytes", result.peak_bytes},
         {"converged", report.converged},
         {"eigenvalues", result.found.values}});
    nlohmann::json shown = figures.results.back();
    shown["converged"] = report.converged ? "  yes" : "  NO";
    print_row(kEigenColumns, shown);
  }
}

/// `count` photographs of one size: the first ones of a folder, by name, that have the size of the
/// first of all; or as many times the same one.
std::vector<Image> photographs(const std::string& place, int count) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(place)) {
    return std::vector<Image>(static_cast<std::size_t>(count), read_image(place));
  }
  std::vector<fs::path> files;
  for (const fs::directory_entry& each : fs::directory_iterator(place)) {
    if (each.is_regular_file()) files.push_back(each.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Image> found;
  for (const fs::path& file : files) {
    if (static_cast<int>(found.size()) == count) break;
    Image image = read_image(file.string());
    if (!found.empty() && (image.width != found[0].width || image.height != found[0].height)) {
      continue;
    }
    found.push_back(std::move(image));
  }
  if (static_cast<int>(found.size()) < count) {
    throw InputError(fmt::format("'{}' has {} photographs of one size, --at-once asks for {}",
                                 place, found.size(), count));
  }
  return found;
}

/// Milliseconds for each of several photographs of one size, one after the other and together.
void run_together(Context& context, const std::vector<Image>& images, const EigenOptions& options,
                  EigenFigures& figures) {
  EigenParameters parameters = options.eigen;
  parameters.solver = SolverKind::kMultilevel;
  const Grid grid{images[0].width, images[0].height, images[0].width};
  const Stencil stencil = disc_stencil(options.affinity.radius);
  const std::optional<Batch> batch = batch_for(grid, options.at_once, stencil, parameters);
  if (!batch) throw InputError("images of this size are not solved together");
  std::vector<BoundaryMap> maps;
  double alone = 0;
  for (const Image& image : images) {
    maps.push_back(boundary_of(context, image, options));
    NormalizedMatrix matrix = matrix_of(context, maps.back(), Batch(grid), options);
    alone += measure_solver(context, matrix, matvec_kind(options.matvec), "multilevel", parameters,
                            options.common.repeats)
                 .times.wall;
  }
  NormalizedMatrix matrix = matrix_of(context, batched(context, maps, *batch), *batch, options);
  const std::uint64_t held = context.memory_in_use();
  context.reset_memory_peak();
  std::vector<DeviceEigenvectors> found;
  const Times times = median_times(
      context, options.common.repeats, [&] { found = eigenvectors(context, matrix, {parameters}); },
      [&] { found.clear(); });
  if (found.empty()) {
    throw NumericalError(
        "one of the photographs cannot be solved with the others, or does not converge");
  }
  double residual = 0;
  for (const DeviceEigenvectors& each : found) {
    residual = std::max(
        residual, *std::max_element(each.report.residuals.begin(), each.report.residuals.end()));
  }
  figures.results.push_back({{"width", grid.width},
                             {"height", grid.height},
                             {"solver", "multilevel"},
                             {"at_once", options.at_once},
                             {"alone_ms", alone / options.at_once},
                             {"ms_an_image", times.wall / options.at_once},
                             {"residual", residual},
                             {"peak_bytes", context.memory_peak() - held}});
  fmt::print("\n{} of {}x{} at once\n", options.at_once, grid.width, grid.height);
  print_head(kTogetherColumns);
  print_row(kTogetherColumns, figures.results.back());
}

/// Throws ConfigError where options contradict each other.
void check(const EigenOptions& options) {
  for (const std::string& solver : options.solvers) check_solver(solver);
  if (options.image.empty() && options.megapixels.empty()) {
    throw ConfigError("name a photograph, or sizes of a scene with --megapixels");
  }
  if (options.at_once > 1 && (options.image.empty() || !options.megapixels.empty() ||
                              options.solvers != std::vector<std::string>{"multilevel"})) {
    throw ConfigError(
        "--at-once takes a photograph, of its own size, or a folder of them, and --solvers "
        "multilevel");
  }
}

/// How the photograph gets the sizes of --megapixels.
std::string resizing(const EigenOptions& options) {
  if (!options.by.empty()) return options.by;
  return options.image.empty() ? "scene" : "enlarge";
}

/// `photograph` may be null where options name sizes.
void run_sizes(Context& context, const Image* photograph, const EigenOptions& options,
               EigenFigures& figures) {
  if (options.megapixels.empty()) run_size(context, *photograph, options, figures);
  for (const double megapixels : options.megapixels) {
    run_size(context, sized_image(photograph, resizing(options), megapixels), options, figures);
  }
}

/// Prints by which power of the pixels each solver's time grows, and returns the powers by solver.
nlohmann::json print_growth(const EigenOptions& options, EigenFigures& figures) {
  nlohmann::json growth = nlohmann::json::object();
  for (const std::string& solver : options.solvers) {
    const SolverTimes& times = figures.times[solver];
    if (times.megapixels.size() < 2) continue;
    const double exponent = growth_exponent(times.megapixels, times.milliseconds);
    growth[solver] = exponent;
    fmt::print("{}{}: time grows as pixels to the power of {:.2f}\n",
               growth.size() == 1 ? "\n" : "", solver, exponent);
  }
  return growth;
}

void run(EigenOptions options) {
  check(options);
  options.accuracy.repeats = options.common.repeats;
  std::vector<Image> images;
  if (!options.image.empty()) images = photographs(options.image, options.at_once);
  Context context(options.common.device, options.common.kernel_dir);
  fmt::print("{} ({}), {}, radius {}, {} vectors to {:g}\n", context.info().name,
             context.info().platform,
             options.image.empty() ? std::string("a scene") : options.image,
             options.affinity.radius, options.eigen.vectors, options.eigen.tolerance);
  EigenFigures figures;
  if (options.at_once > 1) {
    run_together(context, images, options, figures);
  } else {
    run_sizes(context, images.empty() ? nullptr : &images[0], options, figures);
  }
  const nlohmann::json growth = print_growth(options, figures);
  write_figures(options.common, context.info(),
                {{"image", options.image},
                 {"by", options.megapixels.empty() ? "itself" : resizing(options)},
                 {"vectors", options.eigen.vectors},
                 {"tolerance", options.eigen.tolerance},
                 {"growth", growth},
                 {"results", figures.results},
                 {"accuracy", figures.accuracy}});
}

void add_image_options(CLI::App& command, EigenOptions& options) {
  command.add_option("image", options.image,
                     "A photograph; without one, --megapixels of a drawn scene");
  command
      .add_option("--megapixels", options.megapixels,
                  "Sizes, ascending (default: the photograph's own)")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  command.add_option("--by", options.by,
                     "How the photograph gets these sizes: enlarge (default), tile, or scene");
  command
      .add_option("--at-once", options.at_once,
                  "Photographs of one size solved in one launch of each kernel: copies of IMAGE, "
                  "or the first ones of a folder")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--cue", options.cue, "learned or gradient")
      ->check(CLI::IsMember({"learned", "gradient"}))
      ->capture_default_str();
  command.add_option("--weights", options.weights,
                     "With --cue learned: the network, as for segment");
  command.add_option("--radius", options.affinity.radius, "Radius of the affinity, pixels")
      ->check(CLI::Range(1, 10))
      ->capture_default_str();
}

void add_solver_options(CLI::App& command, EigenOptions& options) {
  command
      .add_option("--solvers", options.solvers,
                  "Among multilevel, lanczos, plain (lanczos without its filter) and spectra; with "
                  "a compressed matrix lanczos:float32, lanczos:half, lanczos:minifloat, "
                  "multilevel:half; lanczos:auto as segment chooses")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--vectors", options.eigen.vectors, "Vectors, the trivial one included")
      ->check(CLI::Range(2, 256))
      ->capture_default_str();
  command.add_option("--tolerance", options.eigen.tolerance, "Residual norm")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--basis", options.eigen.basis, "Basis vectors; 0 chooses")
      ->check(CLI::Range(0, 1024));
  command
      .add_option("--filter-degree", options.eigen.filter_degree,
                  "Degree of the filter of lanczos; 0 chooses")
      ->check(CLI::Range(0, 200));
  command.add_option("--matvec", options.matvec, "Kernel of the product")->capture_default_str();
  command
      .add_option("--give-up", options.give_up,
                  "Leave out a solver after a size that took it so many seconds")
      ->capture_default_str();
}

void add_accuracy_options(CLI::App& command, AccuracyOptions& options) {
  command
      .add_option("--tolerances", options.tolerances,
                  "Instead of times: solutions by multilevel to each of these residual norms, "
                  "compared with a tight one")
      ->delimiter(',')
      ->check(CLI::Range(1e-7, 0.1));
  command
      .add_option("--relative-tolerances", options.relative,
                  "The same for residuals of at most --tolerance and these times the eigenvalue")
      ->delimiter(',')
      ->check(CLI::Range(1e-6, 1.0));
  command.add_option("--tight", options.tight, "Residual norm of the tight solution")
      ->check(CLI::Range(1e-7, 0.1))
      ->capture_default_str();
}

}  // namespace

Command eigen_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "eigen",
      "The eigenvectors of a normalized cut by each solver: time, products, passes over the "
      "matrix, residuals, memory, correlation of spectral contours with the first solver's, and "
      "growth of the time with the pixels.");
  const auto options = std::make_shared<EigenOptions>();
  add_common_options(*command, options->common);
  add_image_options(*command, *options);
  add_solver_options(*command, *options);
  add_accuracy_options(*command, options->accuracy);
  command->add_option("--save-matrix", options->save_matrix,
                      "Write the matrix of the last size to this folder: values.npy (diagonals by "
                      "pitch), offsets.npy, sqrt_degree.npy");
  return {command, [options] { run(*options); }};
}

}  // namespace diacut::bench
