// Launches that a device leaves out while it reports success.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "opencl/arguments.hpp"
#include "opencl/context.hpp"
#include "support.hpp"

namespace diacut {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const KernelTable& table() {
  static const KernelTable files = {
      {"add.cl",
       "__kernel void add(__global int* x, const int y) {\n"
       "  x[get_global_id(0) + get_global_size(0) * get_global_id(1)] += y;\n}\n"
       "__kernel void nothing(void) {}\n"},
      {"wrong.cl", "__kernel void f(\n    __global int* x) {\n  x[0] = nothing_known;\n}\n"}};
  return files;
}

class Launches : public ::testing::Test {
 protected:
  void SetUp() override {
    numbers_.upload(std::vector<int>(64, 1));
    set_arguments(add(), numbers_, 5);
  }
  cl::Kernel& add() { return add_; }
  /// A launch that the device does not count, as if it left it out.
  void launch_uncounted() {
    auto elsewhere = context_.allocate<cl_uint>(1, "a word");
    elsewhere.upload(std::vector<cl_uint>{0});
    cl::Kernel& kernel = nothing_;
    kernel.setArg(0, elsewhere.cl());
    context_.launch(kernel, cl::NDRange(4), cl::NDRange(2));
    context_.finish();
  }
  static auto is_told() { return ThrowsMessage<DeviceError>(HasSubstr("left out work")); }

  Context context_{testing::test_device()};
  Kernel add_ = context_.kernel("add.cl", "add", "", table());
  Kernel nothing_ = context_.kernel("add.cl", "nothing", "", table());
  Buffer<int> numbers_ = context_.allocate<int>(64, "numbers");
};

TEST_F(Launches, OfAnyShapeAreCountedOnce) {
  context_.launch(add(), cl::NDRange(64), cl::NDRange(16));
  context_.launch(add(), cl::NDRange(8, 8), cl::NDRange(4, 2));
  context_.launch(add(), cl::NDRange(64), cl::NullRange);
  context_.launch(add(), cl::NDRange(1), cl::NDRange(1));
  context_.launch(add(), cl::NDRange(0), cl::NullRange);
  std::vector<int> expected(64, 16);
  expected.front() += 5;
  EXPECT_EQ(numbers_.download(), expected);
}

TEST_F(Launches, ThatAreLeftOutAreToldOnce) {
  launch_uncounted();
  context_.launch(add(), cl::NDRange(64), cl::NDRange(16));
  EXPECT_THAT([&] { numbers_.download(); }, is_told());
  EXPECT_EQ(numbers_.download(), std::vector<int>(64, 6));
  context_.launch(add(), cl::NDRange(64), cl::NDRange(16));
  EXPECT_EQ(numbers_.download(), std::vector<int>(64, 11));
  launch_uncounted();
  EXPECT_THAT([&] { numbers_.download(); }, is_told());
}

TEST_F(Launches, ThatAreDoneTwiceAreTold) {
  context_.queue().enqueueNDRangeKernel(add(), cl::NullRange, cl::NDRange(64), cl::NDRange(16));
  EXPECT_EQ(numbers_.download(), std::vector<int>(64, 6)) << "nothing was launched since";
  context_.launch(add(), cl::NDRange(64), cl::NDRange(16));
  EXPECT_THAT([&] { numbers_.download(); }, is_told());
}

TEST_F(Launches, AreHeldAgainstTheNextReadAfterOnesThatDoNotWait) {
  launch_uncounted();
  EXPECT_EQ(numbers_.download_later().take(), std::vector<int>(64, 1));
  EXPECT_THAT([&] { numbers_.download(); }, is_told());
}

TEST_F(Launches, ThatAreLeftOutAreToldToOneWhoAsks) {
  context_.launch(add(), cl::NDRange(64), cl::NDRange(16));
  EXPECT_NO_THROW(context_.finish_and_check_launches());
  launch_uncounted();
  EXPECT_THAT([&] { context_.finish_and_check_launches(); }, is_told());
  EXPECT_NO_THROW(context_.finish_and_check_launches());
}

TEST_F(Launches, LeaveTheLinesOfMessagesAsTheyAre) {
  const Kernel wrong = context_.kernel("wrong.cl", "f", "", table());
  try {
    set_arguments(wrong, numbers_);
    ADD_FAILURE() << "it was built";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.build_log(), ContainsRegex("[^0-9]3[^0-9].*nothing_known"));
  }
}

}  // namespace
}  // namespace diacut
