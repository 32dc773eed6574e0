#include "eigen_accuracy.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "contour/combined_contour.hpp"
#include "core/parallel.hpp"
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

/// How far a solution is from the tight one.
struct Distance {
  double largest_error = 0;  ///< Of the eigenvalues, relative to the tight ones.
  double median_error = 0;
  double angle = 0;         ///< Largest angle between the subspaces of `vectors` vectors, degrees.
  double contour_most = 0;  ///< Largest difference of contours, in units of the largest contour.
  double contour_rms = 0;   ///< Root mean square of the difference over that of the contour.
};

Solution solve(Context& context, NormalizedMatrix& matrix, const BoundaryMap& boundary,
               const EigenParameters& parameters, int repeats) {
  using Clock = std::chrono::steady_clock;
  Solution solution;
  std::vector<double> wall;
  for (int round = 0; round <= repeats; ++round) {
    context.finish();
    const Clock::time_point start = Clock::now();
    const std::vector<DeviceEigenvectors> found = eigenvectors(context, matrix, {parameters});
    context.finish();
    wall.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    if (round < repeats) continue;
    solution.found = to_host(found.front(), matrix);
    ContourParameters spectral_alone;
    spectral_alone.cue_weight = 0;
    spectral_alone.spectral_weight = 1;
    spectral_alone.spectral_power = 1;
    spectral_alone.spectral_scale = kContourScale;
    solution.contour = combined_contour(context, boundary.grid, found.front(), matrix.sqrt_degree(),
                                        boundary.values, spectral_alone)
                           .download();
  }
  solution.wall_ms = repeats > 0 ? median({wall.begin() + 1, wall.end()}) : wall.front();
  return solution;
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

Distance distance(const Solution& tight, const Solution& other, int vectors) {
  Distance result;
  std::vector<double> errors;
  for (std::size_t k = 1; k < tight.found.values.size(); ++k) {
    errors.push_back(std::abs(other.found.values[k] - tight.found.values[k]) /
                     tight.found.values[k]);
  }
  result.largest_error = *std::max_element(errors.begin(), errors.end());
  result.median_error = median(errors);
  result.angle = subspace_angle(tight.found, other.found, vectors);
  double largest = 0;
  double square = 0;
  double difference = 0;
  for (std::size_t i = 0; i < tight.contour.size(); ++i) {
    const double exact = tight.contour[i];
    const double off = exact - other.contour[i];
    largest = std::max(largest, exact);
    square += exact * exact;
    difference += off * off;
    result.contour_most = std::max(result.contour_most, std::abs(off));
  }
  result.contour_most /= largest;
  result.contour_rms = std::sqrt(difference / square);
  return result;
}

/// How many of the computed eigenvalues are resolved: the first one is known.
std::size_t resolved(const EigenReport& report) { return report.resolved() - 1; }

double largest_residual(const EigenReport& report) {
  return *std::max_element(report.residuals.begin(), report.residuals.end());
}

nlohmann::json row(const std::string& goal, const Solution& solution, const Distance& from_tight) {
  const EigenReport& report = solution.found.report;
  fmt::print(
      "{:<16}{:>10.1f}{:>12}{:>8}{:>10.1e}{:>7}/{:<2}{:>12.1e}{:>10.1e}{:>10.3g}{:>12.1e}"
      "{:>10.1e}  {}{}\n",
      goal, solution.wall_ms, report.restarts, report.passes, largest_residual(report),
      resolved(report), report.resolution.size() - 1, from_tight.largest_error,
      from_tight.median_error, from_tight.angle, from_tight.contour_most, from_tight.contour_rms,
      report.solver, report.converged ? "" : ", NOT converged");
  std::fflush(stdout);
  return {{"goal", goal},
          {"wall_ms", solution.wall_ms},
          {"solver", report.solver},
          {"converged", report.converged},
          {"iterations", report.restarts},
          {"passes", report.passes},
          {"products", report.products},
          {"residuals", report.residuals},
          {"resolved", resolved(report)},
          {"eigenvalues", solution.found.values},
          {"eigenvalue_error_largest", from_tight.largest_error},
          {"eigenvalue_error_median", from_tight.median_error},
          {"subspace_angle_degrees", from_tight.angle},
          {"contour_difference_largest", from_tight.contour_most},
          {"contour_difference_rms", from_tight.contour_rms}};
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
  fmt::print("{:<16}{:>10}{:>12}{:>8}{:>10}{:>10}{:>12}{:>10}{:>10}{:>12}{:>10}  {}\n", "asked for",
             "wall ms", "iterations", "passes", "residual", "resolved", "largest", "median",
             "degrees", "largest", "rms", "solver");
  nlohmann::json rows = nlohmann::json::array();
  rows.push_back(row(fmt::format("{:g} (tight)", options.tight), tight, {}));
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
