#include <fmt/format.h>
#include <zip.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "affinity/affinity.hpp"
#include "boundary/boundary.hpp"
#include "contour/combined_contour.hpp"
#include "diacut/errors.hpp"
#include "diacut/image.hpp"
#include "diacut/output.hpp"
#include "eigen/eigensolver.hpp"
#include "matrix/matvec.hpp"
#include "matrix/normalized_matrix.hpp"
#include "matrix/symmetric_dia.hpp"
#include "measure.hpp"
#include "opencl/context.hpp"
#include "output/atomic_file.hpp"
#include "output/npy.hpp"
#include "spmv/formats.hpp"

namespace diacut::bench {

namespace {

struct EigenOptions {
  CommonOptions common;
  std::string image;
  std::vector<std::string> solvers;  ///< Empty: all, or with a matrix to save none.
  std::vector<double> megapixels;
  std::string boundary = "learned";
  std::string weights;
  EigenParameters eigen;
  AffinityParameters affinity;
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

Eigen::VectorXd doubles(const std::vector<float>& values) {
  return Eigen::Map<const Eigen::VectorXf>(values.data(), std::ssize(values)).cast<double>();
}

/// What "lanczos:minifloat" asks for: a solver, and the storage of a compressed matrix.
struct Solver {
  std::string name;
  std::optional<MatvecStorage> storage;
};

/// Throws ConfigError for a name that no solver has.
Solver solver_of(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  Solver solver{text.substr(0, colon), {}};
  if (colon < text.size()) solver.storage = matvec_storage(text.substr(colon + 1));
  if (solver.name == "multilevel" && solver.storage && *solver.storage != MatvecStorage::kHalf) {
    throw ConfigError(fmt::format("--solvers '{}': expected multilevel or multilevel:half", text));
  }
  for (const char* known : {"multilevel", "lanczos", "plain", "spectra"}) {
    if (solver.name == known) return solver;
  }
  throw ConfigError(
      fmt::format("--solvers '{}': expected multilevel, lanczos, plain or spectra", solver.name));
}

SolverParameters parameters_of(const Solver& solver, const EigenParameters& parameters,
                               const DeviceInfo& device, const DiaShape& shape) {
  SolverParameters result{parameters};
  result.eigen.solver = solver.name == "spectra"      ? SolverKind::kSpectra
                        : solver.name == "multilevel" ? SolverKind::kMultilevel
                                                      : SolverKind::kLanczos;
  if (solver.name == "plain") result.eigen.filter_degree = 1;
  if (solver.name == "multilevel" && solver.storage) result.form = MatrixForm::kCompressed;
  result.matvec = solver.storage && solver.name != "multilevel"
                      ? choose_matvec({MatvecKind::kSymmetric, *solver.storage}, device, shape)
                      : choose_matvec({}, device, shape);
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

/// An archive of .npy files, which NumPy reads.
std::vector<std::uint8_t> npz_of(
    const std::vector<std::pair<std::string, std::vector<std::uint8_t>>>& arrays) {
  zip_error_t error;
  zip_error_init(&error);
  const std::unique_ptr<zip_source_t, decltype(&zip_source_free)> bytes(
      zip_source_buffer_create(nullptr, 0, 0, &error), zip_source_free);
  zip_t* const archive = zip_open_from_source(bytes.get(), ZIP_TRUNCATE, &error);
  bool good = archive != nullptr;
  zip_source_keep(bytes.get());
  for (const auto& [name, data] : arrays) {
    if (!good) break;
    const zip_int64_t at = zip_file_add(archive, (name + ".npy").c_str(),
                                        zip_source_buffer(archive, data.data(), data.size(), 0), 0);
    const auto entry = static_cast<zip_uint64_t>(at);
    constexpr std::time_t kSomeTime = 315532800;  // 1980: the same bytes at any time.
    good = at >= 0 && zip_set_file_compression(archive, entry, ZIP_CM_STORE, 0) == 0 &&
           zip_file_set_mtime(archive, entry, kSomeTime, 0) == 0;
  }
  good = good && zip_close(archive) == 0;
  zip_stat_t stat;
  good = good && zip_source_stat(bytes.get(), &stat) == 0 && zip_source_open(bytes.get()) == 0;
  std::vector<std::uint8_t> result(good ? stat.size : 0);
  good = good && zip_source_read(bytes.get(), result.data(), result.size()) ==
                     static_cast<zip_int64_t>(result.size());
  if (!good) throw InputError("the matrix could not be packed into an archive");
  return result;
}

/// The affinities W as scipy.sparse.load_npz() reads them, and beside them their row sums,
/// "degrees".
void save_matrix(const std::string& path, const NormalizedMatrix& matrix) {
  CsrMatrix affinities = csr_of(download(matrix.dia()));
  const Eigen::VectorXd roots = doubles(matrix.sqrt_degree().download());
  const std::vector<std::uint32_t> rows = entry_rows(affinities);
  for (std::size_t k = 0; k < affinities.nonzeros(); ++k) {
    affinities.values[k] =
        static_cast<float>(affinities.values[k] * roots(rows[k]) * roots(affinities.columns[k]));
  }
  const auto whole = [](const auto& numbers) {
    return std::vector<std::int32_t>(numbers.begin(), numbers.end());
  };
  const Eigen::VectorXd degrees = roots.array().square();
  const std::array<std::int64_t, 2> size = {roots.size(), roots.size()};
  std::vector<std::uint8_t> format = npy_header("|S3", {});
  format.insert(format.end(), {'c', 's', 'r'});
  const auto array = [](const auto& elements) {
    using T = typename std::decay_t<decltype(elements)>::value_type;
    return encode_npy<T>(std::span<const T>(elements), {elements.size()});
  };
  write_file(path,
             npz_of({{"format", format},
                     {"shape", array(size)},
                     {"data", array(affinities.values)},
                     {"indices", array(whole(affinities.columns))},
                     {"indptr", array(whole(affinities.starts))},
                     {"degrees", array(std::vector<double>(degrees.begin(), degrees.end()))}}));
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

/// Solves for the eigenvectors of `matrix`, which is unchanged, as often as --repeats says after a
/// first run that builds kernels (Spectra: once), and returns medians. Lanczos and Spectra multiply
/// by the fastest kernel for the whole matrix, or by the compressed matrix that the solver's name
/// asks for. `first_contour`: that of the first solver, which is set if it is empty.
nlohmann::json measure_solver(Context& context, NormalizedMatrix& matrix, const std::string& solver,
                              const EigenOptions& options, std::vector<double>& first_contour) {
  const SolverParameters solving =
      parameters_of(solver_of(solver), options.eigen, context.info(), matrix.shape());
  const std::uint64_t held = context.memory_in_use();
  context.reset_memory_peak();
  std::optional<NormalizedMatrix> copy;  // Compression frees the matrix.
  std::vector<DeviceEigenvectors> solved;
  const Times times = median_times(
      context, solving.eigen.solver == SolverKind::kSpectra ? 0 : options.common.repeats,
      [&] { solved = eigenvectors(context, copy ? *copy : matrix, solving); },
      [&] {
        solved.clear();
        copy.reset();
        if (solving.form == MatrixForm::kCompressed) copy.emplace(copy_of(context, matrix));
      });
  const std::uint64_t peak = context.memory_peak() - held;
  const Eigenvectors found = to_host(solved.front(), matrix);
  const EigenReport& report = found.report;
  const std::vector<double> contour = reference_spectral_contour(found);
  if (first_contour.empty()) first_contour = contour;
  return {{"solver", solver},
          {"ran", report.solver},
          {"matvec", report.matvec},
          {"wall_ms", times.wall},
          {"device_ms", times.device},
          {"products", report.products},
          {"passes", report.passes},
          {"levels", report.levels},
          {"filter_degree", report.filter_degree},
          {"restarts", report.restarts},
          {"residual", residual_of_whole(context, matrix, found)},
          {"contour_correlation_with_first", correlation(contour, first_contour)},
          {"peak_bytes", peak},
          {"converged", report.converged},
          {"eigenvalues", found.values}};
}

void run_size(Context& context, const Image& image, const EigenOptions& options,
              nlohmann::json& results) {
  BoundaryParameters parameters;
  parameters.kind =
      options.boundary == "gradient" ? BoundaryKind::kGradient : BoundaryKind::kLearned;
  parameters.weights = options.weights;
  const DeviceBoundary boundary =
      boundary_map(context, image, Grid{image.width, image.height}, parameters);
  NormalizedMatrix matrix =
      normalize(context, Batch(boundary.grid), affinity_matrix(context, boundary, options.affinity),
                options.affinity);
  if (!options.save_matrix.empty()) save_matrix(options.save_matrix, matrix);
  fmt::print("\n{}x{}, {:.2f} megapixels, {} product\n", image.width, image.height,
             static_cast<double>(image.pixel_count()) * 1e-6,
             to_string(choose_matvec({}, context.info(), matrix.shape()).kind));
  if (options.solvers.empty()) return;
  print_head(kEigenColumns);
  std::vector<double> first_contour;
  for (const std::string& solver : options.solvers) {
    nlohmann::json figures = measure_solver(context, matrix, solver, options, first_contour);
    figures["width"] = image.width;
    figures["height"] = image.height;
    results.push_back(figures);
    figures["converged"] = figures["converged"].get<bool>() ? "  yes" : "  NO";
    print_row(kEigenColumns, figures);
  }
}

/// The photograph by bilinear interpolation in about so many megapixels.
Image resized(Image photograph, double megapixels) {
  const auto view_of = [](Image& image) {
    return cv::Mat(image.height, image.width, CV_32FC(image.channels), image.pixels.data());
  };
  const double factor = std::sqrt(megapixels * 1e6 / static_cast<double>(photograph.pixel_count()));
  const auto side = [&](int pixels) {
    return std::max(1, static_cast<int>(std::lround(factor * pixels)));
  };
  Image image{side(photograph.width), side(photograph.height), photograph.channels, {}, {}, {}};
  image.pixels.resize(image.pixel_count() * static_cast<std::size_t>(image.channels));
  cv::Mat to = view_of(image);
  cv::resize(view_of(photograph), to, to.size(), 0, 0, cv::INTER_LINEAR);
  return image;
}

void run(EigenOptions options) {
  if (options.solvers.empty() && options.save_matrix.empty()) {
    options.solvers = {"multilevel", "lanczos", "plain", "spectra"};
  }
  for (const std::string& solver : options.solvers) solver_of(solver);
  const Image photograph = read_image(options.image);
  Context context(options.common.device, options.common.kernel_dir);
  fmt::print("{} ({}), {}, {} vectors to {:g}\n", context.info().name, context.info().platform,
             options.image, options.eigen.vectors, options.eigen.tolerance);
  nlohmann::json results = nlohmann::json::array();
  if (options.megapixels.empty()) run_size(context, photograph, options, results);
  for (const double megapixels : options.megapixels) {
    run_size(context, resized(photograph, megapixels), options, results);
  }
  write_figures(options.common, context.info(),
                {{"image", options.image},
                 {"vectors", options.eigen.vectors},
                 {"tolerance", options.eigen.tolerance},
                 {"results", results}});
}

}  // namespace

void eigen_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "eigen",
      "The eigenvectors of a normalized cut by each solver: time, products, passes over the "
      "matrix, residuals, memory, and correlation of spectral contours with the first solver's.");
  const auto options = std::make_shared<EigenOptions>();
  add_common_options(*command, options->common);
  command->add_option("image", options->image, "A photograph")->required();
  command
      ->add_option("--megapixels", options->megapixels,
                   "Sizes to which it is resized (default: its own)")
      ->default_str("")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  command->add_option("--boundary", options->boundary, "learned or gradient")
      ->check(CLI::IsMember({"learned", "gradient"}));
  command->add_option("--weights", options->weights,
                      "With --boundary learned: the network, as for segment");
  command
      ->add_option("--solvers", options->solvers,
                   "Among multilevel, lanczos, plain (lanczos without its filter) and spectra; "
                   "with a compressed matrix lanczos:float32, lanczos:half, lanczos:minifloat, "
                   "multilevel:half (default: the four; with --save-matrix none)")
      ->default_str("")
      ->delimiter(',');
  command->add_option("--vectors", options->eigen.vectors, "Vectors, the trivial one included")
      ->check(CLI::Range(2, 256));
  command->add_option("--tolerance", options->eigen.tolerance, "Residual norm")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--save-matrix", options->save_matrix,
                   "Write the affinities W of the last size to this .npz file, which "
                   "scipy.sparse.load_npz reads; the row sums are in it as \"degrees\"")
      ->check([](const std::string& path) {
        return path.ends_with(".npz") ? std::string() : "expected a name that ends with .npz";
      });
  command->callback([options] { run(*options); });
}

}  // namespace diacut::bench
