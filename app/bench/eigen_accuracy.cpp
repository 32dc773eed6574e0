#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "contour/combined_contour.hpp"
#include "core/parallel.hpp"
#include "eigen.hpp"
#include "eigen/eigensolver.hpp"
#include "measure.hpp"

namespace diacut::bench {

namespace {

struct Solution {
  Eigenvectors found;
  std::vector<float> contour;  ///< The spectral contour, over kContourScale.
  double wall_ms = 0;
};

/// Larger than any spectral contour.
constexpr double kContourScale = 1e6;

constexpr std::array<Column, 12> kAccuracyColumns = {
    {{"goal", "asked for", -16},
     {"wall_ms", "wall ms", 10, "{:.1f}"},
     {"iterations", "iterations", 12},
     {"passes", "passes", 8},
     {"largest_residual", "residual", 10, "{:.1e}"},
     {"resolved_of", "resolved", 10},
     {"eigenvalue_error_largest", "largest", 12, "{:.1e}"},
     {"eigenvalue_error_median", "median", 10, "{:.1e}"},
     {"subspace_angle_degrees", "degrees", 10, "{:.3g}"},
     {"contour_difference_largest", "largest", 12, "{:.1e}"},
     {"contour_difference_rms", "rms", 10, "{:.1e}"},
     {"solver", "  solver", 0}}};

Solution solve(Context& context, NormalizedMatrix& matrix, const BoundaryMap& boundary,
               const EigenParameters& parameters, int repeats) {
  std::vector<DeviceEigenvectors> found;
  const Times times = median_times(
      context, repeats, [&] { found = eigenvectors(context, matrix, {parameters}); },
      [&] { found.clear(); });
  ContourParameters spectral_alone;
  spectral_alone.cue_weight = 0;
  spectral_alone.spectral_weight = 1;
  spectral_alone.spectral_power = 1;
  spectral_alone.spectral_scale = kContourScale;
  return {to_host(found.front(), matrix),
          combined_contour(context, boundary.grid, found.front(), matrix.sqrt_degree(),
                           boundary.values, spectral_alone)
              .download(),
          times.wall};
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

/// The largest angle between the subspaces of vectors 1 to `count` of both, degrees: its sine is
/// the largest singular value of (I - U U') V, of which V'V and U'V tell the square.
double subspace_angle(const Eigenvectors& tight, const Eigenvectors& other, int count) {
  const auto products = [count](const Eigenvectors& left, const Eigenvectors& right) {
    Eigen::MatrixXd result(count, count);
    parallel_for(count * count, [&](int at) {
      const int i = at / count;
      const int j = at % count;
      result(i, j) = dot(left.vectors[static_cast<std::size_t>(i + 1)],
                         right.vectors[static_cast<std::size_t>(j + 1)]);
    });
    return result;
  };
  const Eigen::MatrixXd uu = products(tight, tight);
  const Eigen::MatrixXd vv = products(other, other);
  const Eigen::MatrixXd uv = products(tight, other);
  // V'V - (U'V)' (U'U)^-1 (U'V), relative to V'V.
  const Eigen::MatrixXd rest = vv - uv.transpose() * uu.ldlt().solve(uv);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      (rest + rest.transpose()) / 2, vv, Eigen::EigenvaluesOnly);
  const double sine = std::sqrt(std::clamp(solver.eigenvalues().maxCoeff(), 0.0, 1.0));
  return std::asin(sine) * 180 / std::numbers::pi;
}

/// How many computed vectors lie before the widest gap among the later half of the eigenvalues, in
/// units of the eigenvalue: a subspace that ends within a cluster is not determined.
int vectors_before_gap(const std::vector<double>& values) {
  const std::size_t last = values.size() - 1;
  std::size_t best = last - 1;
  for (std::size_t k = std::max<std::size_t>(last / 2, 1); k < last; ++k) {
    if (values[k + 1] / values[k] > values[best + 1] / values[best]) best = k;
  }
  return static_cast<int>(best);
}

/// How far a solution is from the tight one: eigenvalues relative to the tight ones, the largest
/// angle between the subspaces of `vectors` vectors, and contours in units of the largest contour,
/// or as root mean squares.
nlohmann::json distance(const Solution& tight, const Solution& other, int vectors) {
  std::vector<double> errors;
  for (std::size_t k = 1; k < tight.found.values.size(); ++k) {
    errors.push_back(std::abs(other.found.values[k] - tight.found.values[k]) /
                     tight.found.values[k]);
  }
  const auto view = [](const std::vector<float>& contour) {
    return Eigen::Map<const Eigen::ArrayXf>(contour.data(), std::ssize(contour)).cast<double>();
  };
  const Eigen::ArrayXd exact = view(tight.contour);
  const Eigen::ArrayXd off = exact - view(other.contour);
  return {{"eigenvalue_error_largest", *std::max_element(errors.begin(), errors.end())},
          {"eigenvalue_error_median", median(errors)},
          {"subspace_angle_degrees", subspace_angle(tight.found, other.found, vectors)},
          {"contour_difference_largest", off.abs().maxCoeff() / exact.maxCoeff()},
          {"contour_difference_rms", std::sqrt(off.square().sum() / exact.square().sum())}};
}

/// How many of the computed eigenvalues are resolved: the first one is known.
std::size_t resolved(const EigenReport& report) { return report.resolved() - 1; }

nlohmann::json row(const std::string& goal, const Solution& solution,
                   const nlohmann::json& from_tight) {
  const EigenReport& report = solution.found.report;
  nlohmann::json figures = {
      {"goal", goal},
      {"wall_ms", solution.wall_ms},
      {"solver", report.solver},
      {"converged", report.converged},
      {"iterations", report.restarts},
      {"passes", report.passes},
      {"products", report.products},
      {"residuals", report.residuals},
      {"largest_residual", *std::max_element(report.residuals.begin(), report.residuals.end())},
      {"resolved", resolved(report)},
      {"eigenvalues", solution.found.values}};
  figures.update(from_tight);
  nlohmann::json shown = figures;
  shown["resolved_of"] = fmt::format("{}/{:<2}", resolved(report), report.resolution.size() - 1);
  shown["solver"] = fmt::format("  {}{}", report.solver, report.converged ? "" : ", NOT converged");
  print_row(kAccuracyColumns, shown);
  return figures;
}

}  // namespace

nlohmann::json measure_accuracy(Context& context, NormalizedMatrix& matrix,
                                const BoundaryMap& boundary, const EigenParameters& parameters,
                                const AccuracyOptions& options) {
  EigenParameters asked = parameters;
  asked.solver = SolverKind::kMultilevel;
  asked.tolerance = options.tight;
  asked.relative_tolerance = 0;
  const Solution tight = solve(context, matrix, boundary, asked, options.repeats);
  const int vectors = vectors_before_gap(tight.found.values);
  fmt::print(
      "\nagainst the multilevel solver's solution to {:g}; eigenvalues {:.3g} to {:.3g}; "
      "subspace of the first {} of {} computed vectors\n",
      options.tight, tight.found.values[1], tight.found.values.back(), vectors,
      tight.found.values.size() - 1);
  fmt::print("{:<16}{:>10}{:>12}{:>8}{:>10}{:>10}{:>22}{:>10}{:>22}\n", "", "", "", "", "largest",
             "", "eigenvalue errors", "subspace", "contour difference");
  print_head(kAccuracyColumns);
  nlohmann::json rows = nlohmann::json::array();
  nlohmann::json none = distance(tight, tight, vectors);
  for (nlohmann::json& each : none) each = 0.0;
  rows.push_back(row(fmt::format("{:g} (tight)", options.tight), tight, none));
  const auto add = [&](const std::string& goal) {
    const Solution solution = solve(context, matrix, boundary, asked, options.repeats);
    rows.push_back(row(goal, solution, distance(tight, solution, vectors)));
  };
  for (const double tolerance : options.tolerances) {
    asked.tolerance = tolerance;
    add(fmt::format("{:g}", tolerance));
  }
  asked.tolerance = parameters.tolerance;
  for (const double relative : options.relative) {
    asked.relative_tolerance = relative;
    add(fmt::format("{:g} of lambda", relative));
  }
  return {{"width", boundary.grid.width},
          {"height", boundary.grid.height},
          {"subspace_vectors", vectors},
          {"solutions", rows}};
}

}  // namespace diacut::bench
