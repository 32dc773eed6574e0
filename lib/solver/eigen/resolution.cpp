#include "eigen/resolution.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace diacut {

namespace {

/// From values[k] to where the nearest of the other eigenvalues may be; negative where that may be
/// beyond values[k]. Nothing is known of what comes after the last one.
double gap_of(std::span<const double> values, std::span<const double> errors, std::size_t k) {
  if (k + 1 == values.size()) return 0;
  double gap = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (j != k) gap = std::min(gap, std::abs(values[j] - values[k]) - errors[j]);
  }
  return gap;
}

}  // namespace

std::vector<EigenResolution> resolution_of(std::span<const double> values,
                                           std::span<const double> residuals, std::size_t known) {
  std::vector<double> errors;
  for (std::size_t k = 0; k < values.size(); ++k) {
    errors.push_back(k < known ? 0 : std::max(residuals[k], kResidualRounding));
  }
  std::vector<EigenResolution> result(values.size());
  for (std::size_t k = std::min(known, values.size()); k < values.size(); ++k) {
    const double r = errors[k];
    const double gap = gap_of(values, errors, k);
    EigenResolution& each = result[k];
    each.error = gap > r ? r * r / gap : r;
    each.angle = gap > r ? r / gap : 1;
    each.resolved = each.error < values[k];
  }
  return result;
}

std::optional<std::string> resolution_note(const EigenReport& report) {
  if (report.resolved() == report.resolution.size()) return std::nullopt;
  return fmt::format(
      "the residuals of the eigenvectors resolve {} of {} eigenvalues, including the known one: "
      "the errors of the others may be larger than themselves",
      report.resolved(), report.resolution.size());
}

}  // namespace diacut
