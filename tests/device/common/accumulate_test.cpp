#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "opencl/kernel_file.hpp"
#include "support.hpp"
#include "temp_folder.hpp"

namespace diacut {
namespace {

// One work-item does everything: the arithmetic of the header is what is tested, not an order.
constexpr const char* kKernels = R"(
#include "common/accumulate.clh"
__kernel void sum(__global const float* v, const ulong count, __global float* out) {
  ACC_T acc = acc_zero();
  for (ulong i = 0; i < count; ++i) acc = acc_add(acc, v[i]);
  out[0] = acc_value(acc);
}
__kernel void dot_product(__global const float* a, __global const float* b, const ulong count,
                          __global float* out) {
  ACC_T acc = acc_zero();
  for (ulong i = 0; i < count; ++i) acc = acc_add_product(acc, a[i], b[i]);
  out[0] = acc_value(acc);
}
__kernel void joined_sum(__global const float* v, const ulong count, __global float* out) {
  ACC_T acc = acc_zero();
  for (ulong part = 0; part < 7; ++part) {
    ACC_T partial = acc_zero();
    for (ulong i = part; i < count; i += 7) partial = acc_add(partial, v[i]);
    acc = acc_join(acc, partial);
  }
  out[0] = acc_value(acc);
}
__kernel void plain_sum(__global const float* v, const ulong count, __global float* out) {
  float sum = 0.0f;
  for (ulong i = 0; i < count; ++i) sum += v[i];
  out[0] = sum;
}
__kernel void size_of(__global uint* out) { out[0] = sizeof(ACC_T); }
)";

class Accumulate : public ::testing::TestWithParam<bool> {
 protected:
  Accumulate() : context_(testing::test_device(), kernel_dir()) {
    if (!GetParam()) context_.disable_fp64();
  }

  std::string kernel_dir() const {
    std::filesystem::create_directory(folder_ / "common");
    std::filesystem::copy(DIACUT_SOURCE_DIR "/kernels/common/accumulate.clh", folder_ / "common");
    std::ofstream(folder_ / "sums.cl") << kKernels;
    return folder_.path();
  }

  void SetUp() override {
    if (GetParam() && !context_.fp64()) GTEST_SKIP() << "no double precision on this device";
  }

  float run(const std::string& name, const std::vector<float>& a,
            const std::vector<float>& b = {}) {
    Buffer<float> a_buffer = context_.allocate<float>(a.size(), "a");
    a_buffer.upload(a);
    Buffer<float> out = context_.allocate<float>(1, "out");
    const KernelFile kernels(context_, "sums.cl", "");
    const cl::NDRange one(1);
    if (b.empty()) {
      kernels.launch(name.c_str(), one, cl::NullRange, a_buffer, a.size(), out);
    } else {
      Buffer<float> b_buffer = context_.allocate<float>(b.size(), "b");
      b_buffer.upload(b);
      kernels.launch(name.c_str(), one, cl::NullRange, a_buffer, b_buffer, a.size(), out);
    }
    return out.download()[0];
  }

  testing::TempFolder folder_;
  Context context_;
};

INSTANTIATE_TEST_SUITE_P(BothForms, Accumulate, ::testing::Bool(),
                         [](const auto& form) { return form.param ? "Double" : "Compensated"; });

// The bound of a sum carried in about 47 bits and rounded once: half a unit in the last place of
// the result, and count * 2^-46 of the terms' magnitude.
double allowed(double exact, double magnitude, std::size_t count) {
  return std::abs(exact) * std::ldexp(1.0, -24) +
         static_cast<double>(count) * std::ldexp(magnitude, -46);
}

TEST_P(Accumulate, SumsAMillionTermsToTheLastPlace) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  std::vector<float> terms(1'000'000);
  long double exact = 0;
  for (float& term : terms) exact += term = uniform(random);
  const auto expected = static_cast<double>(exact);
  // A bound per term would allow too much here; both forms are far better than it.
  const double limit = expected * std::ldexp(1.0, -23);
  EXPECT_NEAR(run("sum", terms), expected, limit);
  EXPECT_NEAR(run("joined_sum", terms), expected, limit);
  EXPECT_GT(std::abs(run("plain_sum", terms) - expected), limit) << "the test cannot tell";
}

TEST_P(Accumulate, SurvivesCancellation) {
  const std::vector<float> terms = {3e7f, 0.25f, 1.5e-3f, -3e7f, 1e6f, 0.125f, -1e6f};
  double exact = 0;
  double magnitude = 0;
  for (const float term : terms) {
    exact += term;
    magnitude += std::abs(term);
  }
  EXPECT_NEAR(run("sum", terms), exact, allowed(exact, magnitude, terms.size()));
  EXPECT_NEAR(run("joined_sum", terms), exact, allowed(exact, magnitude, terms.size()));
  EXPECT_GT(std::abs(run("plain_sum", terms) - exact), allowed(exact, magnitude, terms.size()));
}

TEST_P(Accumulate, ProductsAreExact) {
  // (1 + e)^2 - 1 - 2 e = e^2, which a rounded product loses.
  const float e = std::ldexp(1.0f, -13);
  EXPECT_EQ(run("dot_product", {1.0f + e, -1.0f, -2.0f}, {1.0f + e, 1.0f, e}), e * e);
}

TEST_P(Accumulate, DotProductOfOrthogonalVectors) {
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  std::vector<float> a(20'000);
  std::vector<float> b(20'000);
  long double exact = 0;
  long double magnitude = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = normal(random);
    // Every odd term almost undoes the one before it.
    b[i] = i % 2 == 0 ? normal(random) : -b[i - 1] * a[i - 1] / a[i];
    exact += static_cast<long double>(a[i]) * b[i];
    magnitude += std::abs(static_cast<long double>(a[i]) * b[i]);
  }
  EXPECT_NEAR(run("dot_product", a, b), static_cast<double>(exact),
              allowed(static_cast<double>(exact), static_cast<double>(magnitude), 64));
}

TEST_P(Accumulate, NotANumberIsNotLost) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(run("sum", {1.0f, nan, 2.0f})));
  EXPECT_FALSE(std::isfinite(run("sum", {1.0f, infinity, 2.0f})));
  EXPECT_TRUE(std::isnan(run("dot_product", {1.0f, 2.0f}, {nan, 2.0f})));
}

TEST_P(Accumulate, AnAccumulatorIsEightBytes) {
  Buffer<std::uint32_t> out = context_.allocate<std::uint32_t>(1, "out");
  KernelFile(context_, "sums.cl", "").launch("size_of", cl::NDRange(1), cl::NullRange, out);
  EXPECT_EQ(out.download()[0], 8u);
}

}  // namespace
}  // namespace diacut
