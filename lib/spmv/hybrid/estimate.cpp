#include "spmv/hybrid/estimate.hpp"

namespace diacut {

ScatteredEntries::ScatteredEntries(double count, const RowLengths& lengths, bool allow_slices)
    : nonzeros(count),
      longest_row(lengths.longest()),
      padding(lengths.padding(false)),
      sorted_padding(allow_slices ? lengths.padding(true) : 1.0),
      with_slices(allow_slices) {}

double Estimator::milliseconds(const FormatProfile::Rates& of, double stored) const {
  return profile_.expected_milliseconds(of, rows_, stored);
}

template <class Stored>
Estimate Estimator::fastest(const Stored& stored) const {
  Estimate best;
  const FormatProfile::Rates* fastest = nullptr;
  for (const FormatProfile::Rates& each : profile_.rates) {
    const std::optional<double> elements = stored(each.implementation);
    if (!elements) continue;
    const double time = milliseconds(each, *elements);
    if (time < best.milliseconds) {
      best.milliseconds = time;
      fastest = &each;
    }
  }
  if (fastest != nullptr) best.implementation = fastest->implementation;
  return best;
}

Estimate Estimator::diagonals(std::size_t count) const {
  return fastest([&](const Implementation& each) -> std::optional<double> {
    if (each.format != Format::kDia && each.format != Format::kBdia) return std::nullopt;
    return static_cast<double>(count) * rows_;
  });
}

Estimate Estimator::row_starts(std::size_t width) const {
  return fastest([&](const Implementation& each) -> std::optional<double> {
    if (each.format != Format::kEll) return std::nullopt;
    return static_cast<double>(width) * rows_;
  });
}

Estimate Estimator::scattered(const ScatteredEntries& entries) const {
  return fastest([&](const Implementation& each) { return scattered_elements(each, entries); });
}

std::optional<double> Estimator::scattered_elements(const Implementation& implementation,
                                                    const ScatteredEntries& entries) const {
  switch (implementation.format) {
    case Format::kCoo:
      return entries.nonzeros;
    case Format::kCsr:
      return implementation.kernel == "scalar" && profile_.device.kind != DeviceKind::kCpu
                 ? entries.nonzeros * entries.padding
                 : entries.nonzeros;
    case Format::kSell:
      if (!entries.with_slices) return std::nullopt;
      return entries.nonzeros * (implementation.kernel.starts_with("sorted")
                                     ? entries.sorted_padding
                                     : entries.padding);
    case Format::kEll:
      if (!entries.with_slices) return std::nullopt;
      return static_cast<double>(entries.longest_row) * rows_;
    default:
      return std::nullopt;
  }
}

}  // namespace diacut
