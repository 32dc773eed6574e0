// Programs that are built when a kernel is first used, and several of them as one.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "matchers.hpp"
#include "opencl/context.hpp"
#include "opencl/kernel_file.hpp"
#include "support.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

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

/// The first of the values that a kernel leaves.
float applied(Context& context, const KernelFile& kernels, const std::vector<float>& values,
              const char* name = "apply") {
  auto buffer = context.allocate<float>(values.size(), "values");
  buffer.upload(values);
  kernels.launch(name, cl::NDRange(1), cl::NDRange(1), buffer);
  return buffer.download().front();
}

class Programs : public ::testing::Test {
 protected:
  KernelFile kernels(const std::string& file, const std::string& options = "",
                     const KernelTable& table = program_table()) {
    return {context_, file, options, table};
  }
  float run(const KernelFile& kernels, const std::vector<float>& values,
            const char* name = "apply") {
    return applied(context_, kernels, values, name);
  }
  /// The programs of two files; a name without a folder counts as one.
  int of_two_files() const { return joins() ? 1 : 2; }
  bool joins() const { return context_.info().kind == DeviceKind::kCpu; }

  Context context_{testing::test_device()};
};

TEST_F(Programs, AreBuiltTogetherAtTheFirstUse) {
  const KernelFile one = kernels("first.cl", "-DOFFSET=0.5f");
  const KernelFile other = kernels("first.cl", "-DOFFSET=0.25f");
  const KernelFile second = kernels("second.cl");
  EXPECT_EQ(context_.builds().programs, 0);
  EXPECT_EQ(run(second, {5}), 15.0f);
  EXPECT_EQ(context_.builds().programs, of_two_files());
  EXPECT_EQ(run(one, {5}), 10.5f);
  EXPECT_EQ(run(other, {5}), 10.25f);
  EXPECT_EQ(context_.builds().programs, of_two_files());
  EXPECT_GT(context_.builds().milliseconds, 0);
  // What is built stays built.
  EXPECT_EQ(run(kernels("second.cl"), {1}), 3.0f);
  EXPECT_EQ(context_.builds().programs, of_two_files());
}

TEST_F(Programs, AreBuiltBeforeTheirFirstUseOnRequest) {
  context_.build_waiting();
  const KernelFile one = kernels("first.cl", "-DOFFSET=0.5f");
  const KernelFile second = kernels("second.cl");
  context_.build_waiting();
  EXPECT_EQ(context_.builds().programs, of_two_files());
  EXPECT_EQ(run(one, {5}), 10.5f);
  EXPECT_EQ(run(second, {5}), 15.0f);
  EXPECT_EQ(context_.builds().programs, of_two_files());
}

TEST_F(Programs, ServeAContextBeside) {
  EXPECT_EQ(run(kernels("second.cl"), {5}), 15.0f);
  Context beside(context_);
  EXPECT_EQ(applied(beside, {beside, "second.cl", "", program_table()}, {5}), 15.0f);
  EXPECT_EQ(beside.builds().programs, 0);
}

TEST_F(Programs, KeepTheirOwnRounding) {
  // (1 + e)^2 = 1 + 2e + e^2, whose last term is lost in a product of its own.
  const float e = 1.0f / 8192.0f;
  const std::vector<float> values = {1 + e, 1 + 2 * e};
  const float alone = run(kernels("second.cl"), values, "contracted");
  Context other(testing::test_device());
  const KernelFile first(other, "first.cl", "-DOFFSET=0", program_table());
  const KernelFile second(other, "second.cl", "", program_table());
  EXPECT_EQ(applied(other, first, values, "rounded"), 0.0f);
  EXPECT_EQ(applied(other, second, values, "contracted"), alone);
}

TEST_F(Programs, AFileThatDoesNotBuildLeavesTheOthers) {
  for (const bool by_folders : {false, true}) {
    SCOPED_TRACE(by_folders);
    Context context(testing::test_device());
    if (by_folders) context.build_by_folders();
    const KernelFile wrong(context, "wrong.cl", "", program_table());
    const KernelFile one(context, "first.cl", "-DOFFSET=0.5f", program_table());
    const KernelFile second(context, "second.cl", "", program_table());
    EXPECT_EQ(applied(context, second, {5}), 15.0f);
    const int built = context.builds().programs;
    EXPECT_EQ(applied(context, one, {5}), 10.5f);
    if (by_folders) {
      EXPECT_EQ(built, 2);  // The two that are right.
      EXPECT_EQ(context.builds().programs, built);
    }
    try {
      applied(context, wrong, {1});
      FAIL() << "it was built";
    } catch (const DeviceError& error) {
      EXPECT_THAT(error.what(), HasSubstr("'wrong.cl'"));
      EXPECT_THAT(error.build_log(), HasSubstr("nothing_known"));
    }
  }
  EXPECT_THROW(kernels("missing.cl"), DeviceError);
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
  EXPECT_EQ(run(kernels("damaged.cl", "", files), {5}), 6.0f);
  EXPECT_EQ(run(kernels("without.cl", "", files), {5}), 7.0f);
  EXPECT_THROW(run(kernels("without.cl", "", files), {5}, "nothing"), DeviceError);
}

// Which binary a program comes from is told by what it computes.
class KeptPrograms : public ::testing::Test {
 protected:
  static float run(int added, const ProgramStore& store) {
    static const KernelTable files = {
        {"add.cl", "__kernel void apply(__global float* x) { x[0] += ADDED; }\n"}};
    Context context(testing::test_device());
    context.keep_programs_in(store);
    const KernelFile kernels(context, "add.cl", "-DADDED=" + std::to_string(added), files);
    return applied(context, kernels, {0});
  }
  ProgramStore store() const { return ProgramStore(folder_.path()); }
  std::vector<std::string> files() const { return folder_.names(); }
  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  testing::TempFolder folder_;
};

TEST_F(KeptPrograms, AreTakenWithoutTheirSource) {
  EXPECT_EQ(run(1, store()), 1.0f);
  ASSERT_EQ(files().size(), 1U);
  const std::string first = files().front();
  const std::string one = testing::read_bytes(path(first));
  EXPECT_EQ(run(2, store()), 2.0f);
  ASSERT_EQ(files().size(), 2U);
  const std::string second = files()[files().front() == first ? 1 : 0];
  const std::string two = testing::read_bytes(path(second));
  // The program of the first with the binary of the second.
  const auto described = [](const std::string& file) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, file.data() + 8, sizeof bytes);
    return file.substr(24, bytes);
  };
  const std::string binary = two.substr(24 + described(two).size());
  store().keep(described(one), {binary.begin(), binary.end()});
  EXPECT_EQ(run(1, store()), 2.0f);

  // Another program's file under this name, and one that the driver refuses, are built anew.
  std::ofstream(path(first), std::ios::binary) << two;
  EXPECT_EQ(run(1, store()), 1.0f);
  EXPECT_EQ(described(testing::read_bytes(path(first))), described(one));
  store().keep(described(one), {1, 2, 3});
  EXPECT_EQ(run(1, store()), 1.0f);
  EXPECT_GT(testing::read_bytes(path(first)).size(), described(one).size() + 100);
}

TEST_F(KeptPrograms, AreNoneWhereTheDriverKeepsThemItself) {
  EXPECT_EQ(run(1, ProgramStore()), 1.0f);
  EXPECT_THAT(files(), ::testing::IsEmpty());
  DeviceInfo device;
  for (const char* platform : {"Portable Computing Language", "NVIDIA CUDA"}) {
    device.platform = platform;
    EXPECT_FALSE(store_for(device).keeps()) << platform;
  }
  device.platform = "Intel(R) OpenCL";
  EXPECT_TRUE(store_for(device).keeps());
}

}  // namespace
}  // namespace diacut::testing
