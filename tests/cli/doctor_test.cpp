// segment doctor, the check before a batch, and what takes the place of a device that fails.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli_test.hpp"
#include "matchers.hpp"
#include "spoilt_kernels.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

namespace fs = std::filesystem;

/// OpenCL goes wrong by this plan, if it is not empty; of two devices, which PoCL makes of one CPU,
/// the first one alone. No device is named.
Surroundings with_faults(const std::string& plan) {
  Surroundings around = {.environment = {{"POCL_DEVICES", "pthread pthread"},
                                         {"DIACUT_DEVICE", std::nullopt},
                                         {"DIACUT_FAULT_DEVICE", "0:0"}},
                         .limit_seconds = 600};
  if (!plan.empty()) {
    around.environment["LD_PRELOAD"] = DIACUT_OPENCL_SHIM;
    around.environment["DIACUT_FAULT_OPENCL"] = plan;
  }
  return around;
}

class CliDoctor : public CliTest {
 protected:
  nlohmann::json report() const { return nlohmann::json::parse(read("report.json")); }

  /// Whether PoCL is the first platform, and makes two devices of a CPU.
  bool has_two_devices() const {
    const Result list = expect_done(segment("--list-devices --json -", with_faults("")));
    const nlohmann::json devices = nlohmann::json::parse(list.out);
    return devices.size() >= 2 && devices.at(0).at("platform") == devices.at(1).at("platform") &&
           devices.at(0).at("kind") == "cpu";
  }
};

TEST_F(CliDoctor, ASoundDeviceIsTrusted) {
  const Surroundings around = {.limit_seconds = 600};
  const Result result = expect_done(
      segment(fmt::format("doctor --device '{}' --json report.json", test_device()), around));
  EXPECT_THAT(result.err, ::testing::IsEmpty());
  for (const char* part :
       {"All is sound.", "verdict   sound", "answers", "kernels", "PoCL", "memory"}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
  const nlohmann::json found = report();
  EXPECT_EQ(found.at("sound"), true);
  EXPECT_EQ(found.at("devices").size(), 1U);
  const nlohmann::json& device = found.at("devices").at(0);
  EXPECT_EQ(device.at("sound"), true);
  EXPECT_GT(device.at("kernels_checked"), 60);
  EXPECT_GT(device.at("checks").size(), 20U);
  for (const nlohmann::json& check : device.at("checks")) {
    EXPECT_EQ(check.at("passed"), true) << check;
    EXPECT_LE(check.at("error"), 1) << check;
  }
  EXPECT_GT(found.at("main_memory").at("bytes"), 0);
}

TEST_F(CliDoctor, ADeviceWhoseKernelsAreSkippedIsNot) {
  // Launches of the first stage, which leave in their results what was there before.
  Surroundings around = with_faults("clEnqueueNDRangeKernel:3*40:skip");
  const Result result = segment("doctor --device 0:0 --json report.json", around);
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(result.out, HasSubstr("NOT SOUND"));
  EXPECT_THAT(result.out, HasSubstr("WRONG"));
  EXPECT_THAT(result.out, HasSubstr("suspect: "));
  EXPECT_THAT(result.out, HasSubstr("to do"));
  const nlohmann::json device = report().at("devices").at(0);
  EXPECT_EQ(device.at("sound"), false);
  EXPECT_GE(device.at("wrong").size(), 1U);
  ASSERT_GE(device.at("suspects").size(), 1U);
  EXPECT_THAT(device.at("suspects").at(0).get<std::string>(), HasSubstr(".cl:"));
  EXPECT_THAT(device.at("advice").get<std::string>(), HasSubstr("0:0"));
}

TEST_F(CliDoctor, ADriverThatEndsTheProgramIsToldOf) {
  const Result result =
      segment("doctor --device 0:0", with_faults("clEnqueueNDRangeKernel:12:kill"));
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(result.out, HasSubstr("the driver ended the program (signal 9"));
  EXPECT_THAT(result.out, HasSubstr("the network 'default'"));
  EXPECT_THAT(result.out, HasSubstr("NOT SOUND"));
}

class CliFallback : public CliDoctor {
 protected:
  CliFallback() {
    fs::create_directory(path("photos"));
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      // Pictures that differ, so that no result can stand for another one.
      write_picture("photos/" + std::string(name) + ".png", kWidth + name[0] - 'a', kHeight);
    }
  }
  static std::string batch(const std::string& out, const std::string& device = "") {
    const std::string line = fmt::format("photos -o {0} --json {0}.jsonl --boundary gradient", out);
    return device.empty() ? line : fmt::format("{} --device '{}'", line, device);
  }
  void expect_all_files(const std::string& folder) const {
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      const std::string file = fmt::format("/{}.png", name);
      ASSERT_TRUE(exists(folder + file)) << file;
      EXPECT_EQ(read(folder + file), read("alone" + file)) << file;
    }
  }
  /// How many launches `images` images of the batch make.
  long launches(int images) const {
    Surroundings around = with_faults("clEnqueueNDRangeKernel:1000000:fail");
    around.environment["DIACUT_FAULT_REPORT"] = path("calls.txt");
    std::string line = "-o counted --boundary gradient";
    for (int k = 0; k < images; ++k) {
      line += fmt::format(" photos/{}.png", static_cast<char>('a' + k));
    }
    expect_done(segment(line, around));
    std::istringstream report(read("calls.txt"));
    fs::remove(path("calls.txt"));
    for (std::string word; report >> word;) {
      if (word == "clEnqueueNDRangeKernel") {
        long count = 0;
        report >> count;
        return count;
      }
    }
    ADD_FAILURE() << "no launches";
    return 0;
  }
};

TEST_F(CliFallback, WhereAnAllocationFailsTheNextFormRuns) {
  const std::string line = "photos/a.png --boundary gradient --spectral full -o ";
  const std::string report = path("calls.txt");
  Surroundings around = with_faults("clCreateBuffer:1000000:fail");
  around.environment["DIACUT_FAULT_REPORT"] = report;
  expect_done(segment(line + "all.png", around));
  std::istringstream calls(read("calls.txt"));
  long allocations = 0;
  for (std::string word; calls >> word;) {
    if (word == "clCreateBuffer") calls >> allocations;
  }
  ASSERT_GT(allocations, 10);
  const Result result = expect_done(
      segment(line + "l.png", with_faults(fmt::format("clCreateBuffer:{}:fail", allocations / 2))));
  EXPECT_THAT(result.err, HasSubstr("compressed to 16 bits"));
  EXPECT_TRUE(exists("l.png"));
}

TEST_F(CliFallback, TheNextDeviceFinishesTheRun) {
  if (!has_two_devices()) GTEST_SKIP() << "needs PoCL first";
  // Both devices compute the same here, as they are one CPU.
  for (const char* device : {"0:0", "0:1"}) {
    fs::remove_all(path("alone"));
    expect_done(segment(batch("alone", device), with_faults("")));
  }
  // In the middle of the third image.
  const long middle = (launches(2) + launches(3)) / 2;
  const Result result = expect_done(segment(
      batch("out"), with_faults("clEnqueueNDRangeKernel:" + std::to_string(middle) + "+:fail")));
  expect_all_files("out");
  EXPECT_THAT(result.err, HasSubstr("device 0:0"));
  EXPECT_THAT(result.err, HasSubstr("is given up, and device 0:1"));
  EXPECT_THAT(result.err, HasSubstr("5 done, 0 skipped, 0 failed"));
  const std::vector<nlohmann::json> lines = json_lines(read("out.jsonl"));
  ASSERT_EQ(lines.size(), 5U);
  for (std::size_t k = 0; k < lines.size(); ++k) {
    EXPECT_EQ(lines[k].at("device").at("index"), k < 2 ? "0:0" : "0:1") << k;
    EXPECT_EQ(lines[k].at("notes").dump().find("given up") != std::string::npos, k >= 2) << k;
  }
}

TEST_F(CliFallback, OneFailureIsTriedAgainOnTheSameDevice) {
  if (!has_two_devices()) GTEST_SKIP() << "needs PoCL first";
  expect_done(segment(batch("alone", "0:0"), with_faults("")));
  const long middle = (launches(2) + launches(3)) / 2;
  const Result result = expect_done(segment(
      batch("out"), with_faults("clEnqueueNDRangeKernel:" + std::to_string(middle) + ":fail")));
  expect_all_files("out");
  EXPECT_THAT(result.err, Not(HasSubstr("given up")));
}

TEST_F(CliFallback, ANamedDeviceIsNotReplaced) {
  if (!has_two_devices()) GTEST_SKIP() << "needs PoCL first";
  const long middle = (launches(2) + launches(3)) / 2;
  const Result result =
      segment(batch("out", "0:0"),
              with_faults("clEnqueueNDRangeKernel:" + std::to_string(middle) + "+:fail"));
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(result.err, HasSubstr("2 done, 0 skipped, 3 failed"));
  EXPECT_FALSE(exists("out/c.png"));
}

TEST_F(CliFallback, ADeviceThatComputesWronglyIsGivenUpBeforeABatch) {
  if (!has_two_devices()) GTEST_SKIP() << "needs PoCL first";
  expect_done(segment(batch("alone", "0:1"), with_faults("")));
  const std::string plan = "clEnqueueNDRangeKernel:1+:skip";
  const Result result = expect_done(segment(batch("out"), with_faults(plan)));
  expect_all_files("out");
  EXPECT_THAT(result.err, HasSubstr("computes wrongly"));
  EXPECT_THAT(result.err, HasSubstr("is given up, and device 0:1"));
  for (const nlohmann::json& line : json_lines(read("out.jsonl"))) {
    EXPECT_EQ(line.at("device").at("index"), "0:1");
  }
  const Result named = segment(batch("other", "0:0"), with_faults(plan));
  EXPECT_EQ(named.exit_code, 4) << named.err;
  EXPECT_THAT(named.err, HasSubstr("computes wrongly"));
  EXPECT_FALSE(exists("other/a.png"));
}

TEST_F(CliFallback, ADeviceWhoseNumbersAreWrongEndsABatchBeforeItBegins) {
  const std::string right = "GLOBAL_LOADW(kept_inverse + at)";
  const SpoiltKernels kernels("affinity/kept_affinity.cl", right, "1.01f * " + right);
  const Result result = segment(batch("out", test_device()) + " --kernel-dir " + kernels.path());
  EXPECT_EQ(result.exit_code, 4) << result.err;
  for (const char* part : {"computes wrongly", "stage affinity", "segment doctor"}) {
    EXPECT_THAT(result.err, HasSubstr(part));
  }
  EXPECT_FALSE(exists("out/a.png"));
}

TEST_F(CliFallback, ALaunchThatIsSkippedOnceIsMadeAgain) {
  if (!has_two_devices()) GTEST_SKIP() << "needs PoCL first";
  expect_done(segment(batch("alone", "0:0"), with_faults("")));
  // Launches of the check before the batch. What was skipped once is computed again.
  constexpr int kLaunches = 9;
  for (int launch = 1; launch <= kLaunches; ++launch) {
    const std::string number = std::to_string(launch);
    const Result once = expect_done(
        segment(batch("out"), with_faults("clEnqueueNDRangeKernel:" + number + ":skip")));
    expect_all_files("out");
    EXPECT_THAT(once.err, Not(HasSubstr("given up"))) << number;
    fs::remove_all(path("out"));
  }
}

}  // namespace
}  // namespace diacut::testing
