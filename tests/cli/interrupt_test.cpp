#include <chrono>
#include <csignal>
#include <thread>

#include "cli_test.hpp"
#include "matchers.hpp"
#include "spoilt_kernels.hpp"

namespace diacut::testing {
namespace {

constexpr int kInterrupted = 130;

class CliInterrupt : public CliTest, public ::testing::WithParamInterface<int> {};

TEST_P(CliInterrupt, KeepsWhatIsDoneInABatch) {
  constexpr int kImages = 60;
  make_folder("photos");
  for (int i = 0; i < kImages; ++i) {
    write_picture("photos/" + std::to_string(100 + i) + ".png");
  }
  const std::set<std::string> inputs = files();
  const auto process = start("photos -o out --overlay over");
  ASSERT_TRUE(process->wait_until([&] { return exists("out/101.png"); }));
  process->send(GetParam());
  const Result result = process->wait();
  EXPECT_EQ(result.exit_code, kInterrupted) << result.err;
  EXPECT_THAT(result.err, HasSubstr("interrupted"));
  int done = 0;
  for (const std::string& name : files()) {
    if (inputs.count(name) != 0) continue;
    // All results are whole, and the labels are written last.
    ASSERT_EQ(name.find("/."), std::string::npos) << name;
    if (name.rfind("out/", 0) != 0) continue;
    ++done;
    expect_labels(read_picture(name));
  }
  EXPECT_LT(done, kImages);
  EXPECT_THAT(result.err, HasSubstr(std::to_string(done) + " done, 0 skipped, 0 failed, " +
                                    std::to_string(kImages - done) + " not tried"));
}

TEST_P(CliInterrupt, LeavesNothingOfASingleImage) {
  write_picture("a.png");
  const auto process = start("a.png -o x.png --eigenvectors vectors --verbose");
  // The program tells of the device before the work on the device begins.
  ASSERT_TRUE(
      process->wait_until([&] { return process->err().find("device") != std::string::npos; }));
  process->send(GetParam());
  const Result result = process->wait();
  EXPECT_EQ(result.exit_code, kInterrupted) << result.err;
  EXPECT_THAT(files(), ::testing::UnorderedElementsAre("a.png"));
}

TEST_P(CliInterrupt, EndsWaitingForStandardInput) {
  const auto process = start("- -o x.png", {.input = "some", .keep_input_open = true});
  ASSERT_TRUE(process->wait_until([&] { return process->has_read_input(); }));
  process->send(GetParam());
  const Result result = process->wait();
  EXPECT_EQ(result.exit_code, kInterrupted) << result.err;
  EXPECT_TRUE(files().empty());
}

TEST_P(CliInterrupt, EndsAlthoughTheDeviceHangs) {
  // A kernel that never ends stands for a driver that hangs.
  const SpoiltKernels kernels(
      "affinity/affinity.cl", "padded[p * plane + (size_t)y * padded_stride + x] = value;",
      "volatile __global float* place = padded;\n  while (place[x] < 2.0f) place[x] = 1.0f;");
  write_picture("a.png");
  const std::set<std::string> before = files();
  const auto process =
      start("a.png -o x.png --boundary gradient --verbose --kernel-dir " + kernels.path());
  ASSERT_TRUE(
      process->wait_until([&] { return process->err().find("device") != std::string::npos; }));
  std::this_thread::sleep_for(std::chrono::seconds(2));  // In which kernels are built and begun.
  const auto sent = std::chrono::steady_clock::now();
  process->send(GetParam());
  const Result result = process->wait();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - sent;
  EXPECT_EQ(result.exit_code, kInterrupted) << result.err;
  EXPECT_LT(taken.count(), 5.0);
  EXPECT_EQ(files(), before);
}

INSTANTIATE_TEST_SUITE_P(Signals, CliInterrupt, ::testing::Values(SIGINT, SIGTERM));

TEST_F(CliTest, TheSecondInterruptEndsAtOnce) {
  write_picture("a.png");
  const auto process = start("a.png -o x.png --verbose");
  ASSERT_TRUE(
      process->wait_until([&] { return process->err().find("device") != std::string::npos; }));
  process->send(SIGINT);
  process->send(SIGTERM);
  const Result result = process->wait();
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(files(), ::testing::UnorderedElementsAre("a.png"));
}

class CliTimeLimit : public CliTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(CliTimeLimit, EndsARunWhoseDeviceHangs) {
  write_picture("a.png");
  Surroundings around;
  around.environment = {{"LD_PRELOAD", DIACUT_OPENCL_SHIM}, {"DIACUT_FAULT_OPENCL", GetParam()}};
  const Result result = start("a.png -o x.png --boundary gradient --time-limit 3", around)->wait();
  EXPECT_EQ(result.exit_code, kInterrupted) << result.err;
  EXPECT_THAT(result.err, HasSubstr("--time-limit"));
  EXPECT_GE(result.seconds, 3);
  EXPECT_LT(result.seconds, 3 + 5);
  EXPECT_THAT(files(), ::testing::UnorderedElementsAre("a.png"));
}

// A call that never returns, commands that never end, and an event that stays in its state.
INSTANTIATE_TEST_SUITE_P(Hangs, CliTimeLimit,
                         ::testing::Values("clEnqueueNDRangeKernel:2:hang",
                                           "clEnqueueNDRangeKernel:2:stall",
                                           "clGetEventInfo:1+:never"));

TEST_F(CliTest, ACrashOfALibraryIsToldWithItsCure) {
  for (const int signal : {SIGABRT, SIGSEGV}) {
    const auto process = start("- -o x.png", {.input = "some", .keep_input_open = true});
    ASSERT_TRUE(process->wait_until([&] { return process->has_read_input(); }));
    process->send(signal);
    const Result result = process->wait();
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("POCL_CACHE_DIR"));
  }
}

TEST_F(CliTest, WithoutMemoryToStartThereIsAMessage) {
  // Each library takes memory while it is initialised: for each there is a limit at which that
  // fails.
  int started = 0;
  for (int mebibytes = 150; mebibytes <= 300; ++mebibytes) {
    const Result result = run({"/usr/bin/prlimit", "--as=" + std::to_string(mebibytes << 20),
                               DIACUT_SEGMENT, "--print-config"});
    EXPECT_EQ(result.signal, 0) << mebibytes << ": " << result.err;
    EXPECT_TRUE(result.exit_code == 0 || !result.err.empty()) << mebibytes;
    started += result.exit_code == 0 ? 1 : 0;
  }
  EXPECT_GT(started, 0);
}

}  // namespace
}  // namespace diacut::testing
