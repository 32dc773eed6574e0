// Programs that are built when a kernel is first used, and several of them as one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "opencl/arguments.hpp"
#include "opencl/context.hpp"
#include "support.hpp"

namespace diacut {
namespace {

using ::testing::HasSubstr;

const KernelTable& program_table() {
  // Both files define names and macros of their own that the other defines otherwise. The product
  // of `contracted` has an error that shows whether it was rounded.
  static const KernelTable files = {
      {"first.cl",
       "#define SCALE 2\n"
       "#pragma OPENCL FP_CONTRACT OFF\n"
       "typedef float number;\n"
       "inline number twice(number x) { return SCALE * x; }\n"
       "__kernel void apply(__global float* x) { x[0] = twice(x[0]) + OFFSET; }\n"
       "__kernel void rounded(__global float* x) { x[0] = x[0] * x[0] - x[1]; }\n"},
      {"second.cl",
       "#ifdef SCALE\n#error \"SCALE of another file\"\n#endif\n"
       "#ifdef OFFSET\n#error \"OFFSET of another file\"\n#endif\n"
       "typedef int number;\n"
       "inline float twice(float x) { number k = 3; return k * x; }\n"
       "__kernel void apply(__global float* x) { x[0] = twice(x[0]); }\n"
       "__kernel void contracted(__global float* x) { x[0] = x[0] * x[0] - x[1]; }\n"},
      {"wrong.cl", "__kernel void apply(__global float* x) { x[0] = nothing_known; }\n"},
  };
  return files;
}

class Programs : public ::testing::Test {
 protected:
  Kernel kernel(const std::string& file, const std::string& name, const std::string& options = "") {
    return context_.kernel(file, name, options, program_table());
  }
  float run(const Kernel& kernel, std::vector<float> values) {
    auto buffer = context_.allocate<float>(values.size(), "values");
    buffer.upload(values);
    cl::Kernel& made = kernel;
    set_arguments(made, buffer);
    context_.launch(made, cl::NDRange(1), cl::NDRange(1));
    return buffer.download().front();
  }
  /// The programs of three files, and that of the context's own kernels, which is built with them.
  int of_three_files() const { return joins() ? 1 : 4; }
  bool joins() const { return context_.info().kind == DeviceKind::kCpu; }

  Context context_{testing::test_device()};
};

TEST_F(Programs, AreBuiltTogetherAtTheFirstUse) {
  const Kernel one = kernel("first.cl", "apply", "-DOFFSET=0.5f");
  const Kernel other = kernel("first.cl", "apply", "-DOFFSET=0.25f");
  const Kernel second = kernel("second.cl", "apply");
  EXPECT_EQ(context_.builds().programs, 0);
  EXPECT_EQ(run(second, {5}), 15.0f);
  EXPECT_EQ(context_.builds().programs, of_three_files());
  EXPECT_EQ(run(one, {5}), 10.5f);
  EXPECT_EQ(run(other, {5}), 10.25f);
  EXPECT_EQ(context_.builds().programs, of_three_files());
  EXPECT_GT(context_.builds().milliseconds, 0);
  // What is built stays built.
  EXPECT_EQ(run(kernel("second.cl", "apply"), {1}), 3.0f);
  EXPECT_EQ(context_.builds().programs, of_three_files());
}

TEST_F(Programs, AreBuiltSideBySideAndThoseThatDoNotBuildAreTold) {
  context_.build_side_by_side_always();
  const Kernel wrong = kernel("wrong.cl", "apply");
  const Kernel one = kernel("first.cl", "apply", "-DOFFSET=0.5f");
  const Kernel second = kernel("second.cl", "apply");
  EXPECT_EQ(run(second, {5}), 15.0f);
  constexpr int kBuilt = 2;  // The two that are right.
  EXPECT_EQ(context_.builds().programs, kBuilt);
  EXPECT_EQ(run(one, {5}), 10.5f);
  EXPECT_EQ(context_.builds().programs, kBuilt);
  try {
    run(wrong, {1});
    FAIL() << "it was built";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'wrong.cl'"));
    EXPECT_THAT(error.build_log(), HasSubstr("nothing_known"));
  }
}

TEST_F(Programs, KeepTheirOwnRounding) {
  // (1 + e)^2 = 1 + 2e + e^2, whose last term is lost in a product of its own.
  const float e = 1.0f / 8192.0f;
  const std::vector<float> values = {1 + e, 1 + 2 * e};
  const float alone = run(kernel("second.cl", "contracted"), values);
  Context other(testing::test_device());
  const Kernel rounded = other.kernel("first.cl", "rounded", "-DOFFSET=0", program_table());
  const Kernel contracted = other.kernel("second.cl", "contracted", "", program_table());
  for (const auto& [kernel, expected] : {std::pair(rounded, 0.0f), std::pair(contracted, alone)}) {
    auto buffer = other.allocate<float>(2, "values");
    buffer.upload(values);
    cl::Kernel& made = kernel;
    set_arguments(made, buffer);
    other.launch(made, cl::NDRange(1), cl::NDRange(1));
    EXPECT_EQ(buffer.download().front(), expected);
  }
}

TEST_F(Programs, AFileThatDoesNotBuildLeavesTheOthers) {
  const Kernel wrong = kernel("wrong.cl", "apply");
  const Kernel second = kernel("second.cl", "apply");
  EXPECT_EQ(run(second, {2}), 6.0f);
  try {
    run(wrong, {1});
    FAIL() << "it was built";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'wrong.cl'"));
    EXPECT_THAT(error.build_log(), HasSubstr("nothing_known"));
  }
  EXPECT_THROW(kernel("missing.cl", "apply"), DeviceError);
}

// The second attempt has another option, which a kernel that fails without it shows.
TEST_F(Programs, AreBuiltASecondTimeWhereTheFirstFails) {
  static const KernelTable files = {
      {"damaged.cl",
       "#ifndef DIACUT_SECOND_BUILD\n#error \"as a damaged program that a driver kept\"\n#endif\n"
       "__kernel void apply(__global float* x) { x[0] = x[0] + 1; }\n"},
      {"without.cl",
       "#ifdef DIACUT_SECOND_BUILD\n"
       "__kernel void apply(__global float* x) { x[0] = x[0] + 2; }\n#endif\n"},
  };
  EXPECT_EQ(run(context_.kernel("damaged.cl", "apply", "", files), {5}), 6.0f);
  EXPECT_EQ(run(context_.kernel("without.cl", "apply", "", files), {5}), 7.0f);
  EXPECT_THROW(run(context_.kernel("without.cl", "nothing", "", files), {5}), DeviceError);
}

}  // namespace
}  // namespace diacut
