#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opencl/context.hpp"

namespace diacut {

/// The diagonals above the main one, as (diagonal, offset), of `offsets` whose middle one that is.
std::vector<cl_int2> upper_diagonals(const std::vector<std::int64_t>& offsets, std::size_t rows);

/// The kernels of kernels/matrix/quadratic_form.cl: for each of `count` vectors z, which lie
/// `pitch` apart in `basis`, the sum over i < j of a_ij s_i s_j (z_i / s_i - z_j / s_j)^2. `values`
/// is symmetric in DIA form with `pitch` and ascending `offsets` whose middle one is the main
/// diagonal; `s` has `rows` elements. Waits.
std::vector<double> quadratic_forms(Context& context, const Buffer<float>& values,
                                    const std::vector<std::int64_t>& offsets, std::size_t rows,
                                    std::size_t pitch, const Buffer<float>& s,
                                    const Buffer<float>& basis, int count);

/// Bytes that a call allocates for its duration.
std::size_t quadratic_forms_memory(std::size_t pitch, std::size_t reach);

}  // namespace diacut
