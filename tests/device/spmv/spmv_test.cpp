// The products of the general sparse formats against their definition, in double.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include "device_profiles.hpp"
#include "diacut/errors.hpp"
#include "matchers.hpp"
#include "right.hpp"
#include "shared_context.hpp"
#include "sparse_matrices.hpp"
#include "spmv/generators.hpp"
#include "spmv/hybrid/hybrid.hpp"
#include "spmv/product.hpp"

namespace diacut {

/// How GoogleTest names a parameter.
static void PrintTo(const Implementation& implementation, std::ostream* stream) {
  *stream << to_string(implementation);
}

}  // namespace diacut

namespace diacut::testing {
namespace {

/// Padding is the business of other tests: here any amount is allowed.
ProductOptions unlimited() {
  ProductOptions options;
  options.limits.fill = 1e9;
  return options;
}

/// Holds two runs of a step of a recurrence on drawn vectors to its definition. A sum of n products
/// in any order is off by at most n u times the sum of their magnitudes, u = 2^-24; the zeros of
/// padding add nothing; the factors and what is added cost six more roundings.
void expect_product(const CsrMatrix& matrix, const SparseProduct& product,
                    const Recurrence& step = {}) {
  expect_right(context(), [&](Trial& trial) {
    EXPECT_EQ(product.rows, matrix.rows);
    EXPECT_EQ(product.cols, matrix.cols);
    const std::vector<float> x = trial.normal(matrix.cols);
    const std::vector<float> before =
        step.gamma != 0 ? trial.normal(matrix.rows) : std::vector<float>(matrix.rows, NAN);
    std::vector<double> allowed;
    std::vector<double> expected =
        reference_product(matrix, std::vector<double>(x.begin(), x.end()), &allowed);
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      const double own = step.beta != 0 ? double{step.beta} * x[row] : 0.0;
      const double there = step.gamma != 0 ? double{step.gamma} * before[row] : 0.0;
      expected[row] = double{step.alpha} * expected[row] + own + there;
      allowed[row] =
          (static_cast<double>(matrix.row_length(row)) + 6.0) *
          std::ldexp(std::abs(step.alpha) * allowed[row] + std::abs(own) + std::abs(there), -24);
    }
    const Buffer<float> in = trial.uploaded(x);
    Buffer<float> out = trial.empty(matrix.rows);
    std::vector<float> first;
    for (int run = 0; run < 2; ++run) {
      out.upload(before);
      product.product(in, out, step);
      const std::vector<float> result = out.download();
      trial.expect_within("product", result, expected, allowed);
      if (run == 0) first = result;
      EXPECT_EQ(0, std::memcmp(first.data(), result.data(), result.size() * sizeof(float)))
          << "two runs differ";
    }
    EXPECT_EQ(in.download(), x);
  });
}

void check(const CsrMatrix& matrix, const Implementation& implementation,
           const ProductOptions& options, const Recurrence& step = {}) {
  expect_product(matrix, make_product(context(), matrix, implementation, options), step);
}

void check_all(const std::vector<NamedMatrix>& matrices, const Implementation& implementation,
               const ProductOptions& options, const Recurrence& step = {}) {
  for (const NamedMatrix& each : matrices) {
    SCOPED_TRACE(each.name);
    check(each.matrix, implementation, options, step);
  }
}

std::string test_name(const ::testing::TestParamInfo<Implementation>& info) {
  std::string name = to_string(info.param);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class TinyFormats : public ::testing::TestWithParam<Implementation> {};
class Formats : public ::testing::TestWithParam<Implementation> {};
INSTANTIATE_TEST_SUITE_P(Products, TinyFormats, ::testing::ValuesIn(all_implementations()),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Products, Formats, ::testing::ValuesIn(all_implementations()), test_name);

TEST_P(TinyFormats, AwkwardShapes) { check_all(tiny_matrices(), GetParam(), unlimited()); }

TEST_P(Formats, AroundWorkGroupsAndTiles) {
  check_all(awkward_matrices(), GetParam(), unlimited());
}

TEST(FormatsParts, AreStepsOfARecurrence) {
  const ProductOptions options = unlimited();
  for (const char* name :
       {"dia/row", "dia/run", "dia/compiled", "dia/compiled-run", "bdia/local", "bdia/cached4",
        "ell/lanes1", "sell/sorted8", "csr/scalar", "csr/vector8", "csr/stream", "coo/group",
        "coo/run", "bcsr-4x4/scalar", "sbell-3x3/lanes1"}) {
    SCOPED_TRACE(name);
    check_all({tiny_matrices().back(), awkward_matrices().back()}, implementation_named(name),
              options, {-0.75F, 0, 1.5F});
    const CsrMatrix square = random_sparse(301, 301, 0.05, 3);
    check(square, implementation_named(name), options, {2, 0.25F, -1});
    check(square, implementation_named(name), options, {1, 0, 1});
  }
}

/// Numbers in 16 bits are known exactly, so that the bound stays that of float32.
TEST(FormatsHalf, NumbersOf16BitsAreThoseThatTheyStandFor) {
  ProductOptions options = unlimited();
  options.half = true;
  CsrMatrix matrix = random_sparse(301, 283, 0.1, 5);
  for (float& value : matrix.values) value *= 1e20F;  // Far beyond what 16 bits hold.
  CsrMatrix rounded = matrix;
  const float scale = half_scale(matrix.values);
  for (std::size_t e = 0; e < rounded.nonzeros(); ++e) {
    const float exact = matrix.values[e];
    rounded.values[e] = scale * half_value(half_bits(exact / scale));
    EXPECT_LE(std::abs(rounded.values[e] - exact), std::ldexp(std::abs(exact), -11));
  }
  for (const char* name :
       {"dia/row", "dia/run", "dia/compiled", "dia/compiled-run", "bdia/local", "bdia/cached4",
        "ell/lanes1", "sell/sorted8", "csr/scalar", "csr/vector8", "csr/parts8", "csr/stream",
        "coo/group", "bcsr-1x4/scalar", "bcsr-2x2/parts8", "bcsr-8x8/scalar", "sbell-3x3/lanes1"}) {
    SCOPED_TRACE(name);
    expect_product(rounded, make_product(context(), matrix, implementation_named(name), options));
  }
}

TEST(FormatsWide, PositionsOf64Bits) {
  ProductOptions options = unlimited();
  options.wide_positions = true;
  for (const char* name : {"csr/scalar", "csr/vector8", "csr/stream", "sell/lanes1", "ell/lanes8",
                           "bcsr-2x2/scalar", "sbell-3x3/sorted1"}) {
    SCOPED_TRACE(name);
    check(awkward_matrices().back().matrix, implementation_named(name), options);
  }
}

TEST(FormatsParts, DiagonalsAloneAndTheRestAddUp) {
  const CsrMatrix matrix = random_sparse(301, 283, 0.1, 5);
  const std::vector<std::int64_t> offsets = {-40, -39, 0, 1, 2, 200};
  // Entries of other diagonals.
  std::vector<MatrixEntry> rest;
  std::vector<MatrixEntry> taken;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t e = matrix.starts[row]; e < matrix.starts[row + 1]; ++e) {
      const auto offset =
          static_cast<std::int64_t>(matrix.columns[e]) - static_cast<std::int64_t>(row);
      const bool on = std::binary_search(offsets.begin(), offsets.end(), offset);
      (on ? taken : rest)
          .push_back(
              {static_cast<std::uint32_t>(row), matrix.columns[e], double{matrix.values[e]}});
    }
  }
  ASSERT_FALSE(taken.empty());
  ProductOptions options = unlimited();
  for (const char* name : {"dia/row", "dia/compiled-run", "bdia/local4"}) {
    SCOPED_TRACE(name);
    expect_product(
        csr_from_entries(matrix.rows, matrix.cols, taken),
        make_diagonal_product(context(), matrix, offsets, implementation_named(name), options));
  }
  check(csr_from_entries(matrix.rows, matrix.cols, rest), implementation_named("coo/group"),
        options, {1, 0, 1});
}

TEST(FormatsHybrid, PartsOfEveryKindAddUp) {
  const auto part = [](HybridPart::Take take, const char* name) {
    HybridPart result;
    result.take = take;
    result.implementation = implementation_named(name);
    return result;
  };
  HybridSplit split;
  split.parts = {part(HybridPart::Take::kDiagonals, "bdia/cached"),
                 part(HybridPart::Take::kBlocks, "sbell-2x2/lanes1"),
                 part(HybridPart::Take::kRowStarts, "ell/lanes1"),
                 part(HybridPart::Take::kRest, "coo/group")};
  split.parts[0].offsets = {-2, -1, 0, 1, 31};
  split.parts[1].block_share = 0.6;
  split.parts[2].width = 3;
  for (const NamedMatrix& each : tiny_matrices()) {
    SCOPED_TRACE(each.name);
    const SparseProduct product = make_hybrid(context(), each.matrix, split, unlimited());
    expect_product(each.matrix, product);
    expect_product(each.matrix, product, {-0.5F, 0, 2});
  }
  split.parts.pop_back();
  EXPECT_THROW(make_hybrid(context(), {}, split), ConfigError);
}

TEST(FormatsHybrid, TheChoiceIsRightAndCheap) {
  for (const char* name : {"quantum", "web", "elements"}) {
    SCOPED_TRACE(name);
    const CsrMatrix matrix = generate_matrix(name, 0.01, 1);
    const HybridChoice choice =
        choose_hybrid(context(), matrix, plausible_format_profile(context().info().kind));
    // Two of up to eight splits, and of the best four three times eight where they are quick.
    EXPECT_LE(choice.sampled_products, 16 + 4 * 3 * 8);
    EXPECT_GT(choice.sampled_products, 0);
    expect_product(matrix, choice.product);
  }
}

TEST(FormatsRefusal, PaddingBeyondTheLimitNamesTheWayOut) {
  // One full row, else the diagonal: ELL would hold n^2 elements.
  std::vector<MatrixEntry> entries;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    entries.push_back({i, i, 1.0});
    if (i != 7) entries.push_back({7, i, 1.0});
  }
  const CsrMatrix matrix = csr_from_entries(3000, 3000, entries);
  for (const char* name : {"ell/lanes1", "bell-2x2/lanes1", "dia/row", "bdia/cached"}) {
    const auto made = [&] { make_product(context(), matrix, implementation_named(name)); };
    EXPECT_THAT(message_of<InputError>(made),
                AllOf(HasSubstr("for 5999 non-zeros"), HasSubstr("use CSR or COO")))
        << name;
  }
  for (const char* name : {"csr/scalar", "csr/stream", "coo/group"}) {
    SCOPED_TRACE(name);
    check(matrix, implementation_named(name), {});
  }
}

TEST(FormatsRefusal, NamesThatDoNotExist) {
  EXPECT_THROW(implementation_named("csr/fast"), ConfigError);
  EXPECT_THROW(make_product(context(), {}, {Format::kCsr, "vector64", {}}), ConfigError);
  EXPECT_THROW(make_diagonal_product(context(), {}, {}, {Format::kCsr, "scalar", {}}), ConfigError);
  for (const Implementation& each : all_implementations()) {
    EXPECT_EQ(implementation_named(to_string(each)), each);
  }
}

TEST(FormatsDevices, NoLocalMemoryLeavesOutWhatNeedsIt) {
  DeviceInfo device;
  device.kind = DeviceKind::kGpu;
  device.local_memory = 1024;
  device.max_work_group = 256;
  std::vector<std::string> names;
  for (const Implementation& each : implementations(device)) names.push_back(to_string(each));
  EXPECT_THAT(names, ::testing::IsSupersetOf({"dia/row", "csr/scalar", "sell/lanes1"}));
  EXPECT_THAT(names, Not(Contains(HasSubstr("local"))));
  EXPECT_THAT(names, Not(Contains(HasSubstr("coo"))));
  EXPECT_THROW(spmv_stream_form(device), DeviceError);
  device.local_memory = 48 << 10;
  std::size_t before = names.size();
  EXPECT_GT(implementations(device).size(), before);
}

TEST(FormatsStream, GroupsHoldNoMoreThanTheirTile) {
  const SpmvStreamForm form{4, 10};
  //                                    rows of 3, 3, 4, 1, 30, 0, 0, 0, 0, 0
  const std::vector<std::uint64_t> starts = {0, 3, 6, 10, 11, 41, 41, 41, 41, 41, 41};
  EXPECT_THAT(spmv_stream_bounds(starts, form), ElementsAre(0, 3, 4, 5, 9, 10));
  EXPECT_THAT(spmv_stream_bounds({0}, form), ElementsAre(0));
}

}  // namespace
}  // namespace diacut::testing
