// The basis of Lanczos' iteration.
#include <algorithm>
#include <cmath>

#include "doctor/checks.hpp"
#include "eigen/lanczos/basis.hpp"

namespace diacut {

namespace {

constexpr int kLanczosChecksColumns = 10;
constexpr std::size_t kPitch = 4128;  ///< More than a work-group on any kind of device takes.

/// A vector of a basis, in double.
std::vector<double> vector_of(const std::vector<float>& basis, int column) {
  const auto begin = basis.begin() + static_cast<std::ptrdiff_t>(column) * kPitch;
  return {begin, begin + static_cast<std::ptrdiff_t>(kPitch)};
}

/// w loses its parts along the basis, and its norm is taken.
void orthogonalization(Trial& trial) {
  BasisKernels kernels(trial.context(), kPitch, kLanczosChecksColumns);
  std::vector<float> basis = trial.normal(kLanczosChecksColumns * kPitch);
  for (float& value : basis) value /= 64;
  const std::vector<float> w = trial.normal(kPitch);
  const Buffer<float> device_basis = trial.uploaded(basis);
  Buffer<float> device_w = trial.uploaded(w);
  DeviceSums sums(trial.context(), kLanczosChecksColumns + 1, "sums");
  kernels.dots(device_basis, kLanczosChecksColumns, device_w, sums);
  const std::vector<double> dots = sums.download(kLanczosChecksColumns);
  const std::vector<double> whole(w.begin(), w.end());
  TermSums expected(w);
  for (int c = 0; c < kLanczosChecksColumns; ++c) {
    const std::vector<double> vector = vector_of(basis, c);
    const auto [sum, magnitude] = dot_product(vector, whole);
    const double found = dots[static_cast<std::size_t>(c)];
    // Sums are in double, or compensated: the products' own roundings are left.
    trial.expect_one("dot product", found, sum, 2 * Trial::kEps * magnitude);
    for (std::size_t i = 0; i < kPitch; ++i) expected.add(i, -found * vector[i]);
  }
  kernels.update(device_basis, kLanczosChecksColumns, device_w, sums, 0, kLanczosChecksColumns);
  const std::vector<float> updated = device_w.download();
  trial.expect("vector without its parts along a basis", updated, expected,
               2 * kLanczosChecksColumns + 2);
  const std::vector<double> rest(updated.begin(), updated.end());
  const double square = dot_product(rest, rest).first;
  trial.expect_one("square of a norm", sums.download(kLanczosChecksColumns + 1).back(), square,
                   4 * Trial::kEps * square);
}

void vectors_appended_and_copied(Trial& trial) {
  BasisKernels kernels(trial.context(), kPitch, kLanczosChecksColumns);
  const std::vector<float> w = trial.normal(kPitch);
  Buffer<float> basis = trial.uploaded(trial.normal(kLanczosChecksColumns * kPitch));
  Buffer<float> device_w = trial.uploaded(w);
  Buffer<float> copy = trial.empty(kPitch);
  DeviceSums sums(trial.context(), 1, "sums");
  kernels.update(basis, 0, device_w, sums, 0, 0);
  kernels.append(basis, 3, device_w, copy, sums, 0);
  const std::vector<double> whole(w.begin(), w.end());
  const double norm = std::sqrt(dot_product(whole, whole).first);
  TermSums expected(kPitch);
  for (std::size_t i = 0; i < kPitch; ++i) expected.add(i, whole[i] / norm);
  const std::vector<float> appended = copy.download();
  trial.expect("vector appended", appended, expected, 6);
  Buffer<float> copied = trial.empty(kPitch);
  kernels.copy(basis, 3, -2, copied);
  std::vector<float> twice = appended;
  for (float& value : twice) value *= -2;
  trial.expect_same("vector copied", copied.download(), twice);
}

void rotation(Trial& trial) {
  constexpr int kKept = 4;
  constexpr int kFirst = 1;
  constexpr int kTurned = 7;
  BasisKernels kernels(trial.context(), kPitch, kLanczosChecksColumns);
  const std::vector<float> before = trial.normal(kLanczosChecksColumns * kPitch);
  const std::vector<float> turn = trial.normal(kKept * kTurned);
  Buffer<float> basis = trial.uploaded(before);
  kernels.rotate(basis, kFirst, kTurned, kKept, turn);
  const std::vector<float> after = basis.download();
  for (int k = 0; k < kKept; ++k) {
    TermSums expected(kPitch);
    for (int c = 0; c < kTurned; ++c) {
      const std::vector<double> from = vector_of(before, kFirst + c);
      const double share = turn[static_cast<std::size_t>(k * kTurned + c)];
      for (std::size_t i = 0; i < kPitch; ++i) expected.add(i, share * from[i]);
    }
    const std::span<const float> found(after);
    trial.expect("vector of a rotated basis",
                 found.subspan(static_cast<std::size_t>(kFirst + k) * kPitch, kPitch), expected,
                 kTurned + 1);
  }
}

/// The generator is the kernel's own: its numbers are in [-1, 1), spread evenly, and 0 where they
/// have to be.
void random_numbers_and_peaks(Trial& trial) {
  constexpr std::size_t kRows = 4000;
  BasisKernels kernels(trial.context(), kPitch, kLanczosChecksColumns);
  std::vector<float> mask(kPitch, 1.0F);
  for (std::size_t i = 0; i < kPitch; i += 5) mask[i] = 0;
  Buffer<float> w = trial.empty(kPitch);
  kernels.random(w, trial.uploaded(mask), kRows, 7);
  const std::vector<float> drawn = w.download();
  double sum = 0;
  double squares = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < kPitch; ++i) {
    const bool zero = i >= kRows || mask[i] == 0;
    Trial::require(zero ? drawn[i] == 0 : drawn[i] >= -1 && drawn[i] < 1,
                   "a pseudo-random number is out of range");
    sum += drawn[i];
    squares += drawn[i] * drawn[i];
    count += zero ? 0 : 1;
  }
  // Six standard deviations of the mean, and of the mean square.
  const auto n = static_cast<double>(count);
  trial.expect_one("mean of pseudo-random numbers", sum / n, 0, 6 * std::sqrt(1.0 / 3 / n));
  trial.expect_one("mean square of pseudo-random numbers", squares / n, 1.0 / 3,
                   6 * std::sqrt(4.0 / 45 / n));
  const std::vector<float> basis = trial.normal(kLanczosChecksColumns * kPitch);
  std::vector<float> peaks(kLanczosChecksColumns, 0.0F);
  for (std::size_t at = 0; at < basis.size(); ++at) {
    float& peak = peaks[at / kPitch];
    if (std::abs(basis[at]) > std::abs(peak)) peak = basis[at];
  }
  trial.expect_same("largest entry of a vector",
                    kernels.peaks(trial.uploaded(basis), kLanczosChecksColumns), peaks);
}

}  // namespace

std::vector<DeviceCheck> lanczos_checks() {
  return {{"orthogonalization against a basis", orthogonalization},
          {"vectors appended to a basis", vectors_appended_and_copied},
          {"rotation of a basis", rotation},
          {"pseudo-random vectors and largest entries", random_numbers_and_peaks}};
}

}  // namespace diacut
