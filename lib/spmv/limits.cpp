#include "spmv/limits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diacut/errors.hpp"

namespace diacut {

void check_fill(double stored, std::size_t nonzeros, const std::string& format,
                const FormatLimits& limits) {
  const double most =
      std::max(static_cast<double>(limits.free), limits.fill * static_cast<double>(nonzeros));
  if (stored > most) {
    throw InputError(fmt::format(
        "{} would store {:.0f} elements for {} non-zeros, expected at most {:.0f}; use CSR or COO, "
        "which store no padding",
        format, stored, nonzeros, most));
  }
  if (stored * sizeof(float) > static_cast<double>(limits.bytes)) {
    throw InputError(fmt::format("{} would store {:.0f} elements, expected at most {} bytes",
                                 format, stored, limits.bytes));
  }
}

}  // namespace diacut
