#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "run_log.hpp"
#include "temp_folder.hpp"

namespace diacut::app {
namespace {

using ::testing::HasSubstr;

Plan plan_of(std::size_t jobs) {
  Plan plan;
  plan.batch = true;
  plan.jobs.resize(jobs);
  return plan;
}

TEST(Summary, CountsWhatBecameOfTheImages) {
  Plan plan = plan_of(4);
  EXPECT_EQ(summary({.done = 2, .skipped = 1, .failed = 1}, plan, 4, false),
            "2 done, 1 skipped, 1 failed; 0:04 (0.50 images/s)");
  plan.ignored = 3;
  plan.roots.results[Result::kLabels] = "out";
  EXPECT_EQ(summary({.done = 1, .not_converged = 1, .noted = 1}, plan, 10, false),
            "1 done, 0 skipped, 0 failed, 1 of those done not converged, 3 not tried; 0:10 (0.10 "
            "images/s); 3 other files left out; 1 with notes (--verbose or --json shows them); "
            "labels in 'out'");
  EXPECT_EQ(summary({.done = 4, .noted = 1}, plan_of(4), 1, true),
            "4 done, 0 skipped, 0 failed; 0:01 (4.00 images/s)");
}

TEST(Summary, FoldersThatCannotBeReadAreNoTriedImages) {
  Plan plan = plan_of(1);
  plan.failures.push_back({ExitCode::kInputOutput, "a folder"});
  EXPECT_EQ(summary({.failed = 1}, plan, 0, false),
            "0 done, 0 skipped, 1 failed, 1 not tried; 0:00");
}

class RunLogTest : public ::testing::Test {
 protected:
  RunLogTest() {
    options_.verbosity = Verbosity::kQuiet;
    options_.json = folder_ / "lines.jsonl";
    console_.set_verbosity(Verbosity::kQuiet);
  }
  static WrittenImage converged() {
    WrittenImage written;
    written.result.eigenvectors.report.converged = true;
    written.report = "{\n  \"input\": \"a\"\n}\n";
    return written;
  }

  diacut::testing::TempFolder folder_;
  Options options_;
  Console console_{"test"};
};

TEST_F(RunLogTest, EndsWithTheWorstCodeAndWritesALineAnImage) {
  Plan plan = plan_of(3);
  for (const char* name : {"a", "b", "c"})
    plan.jobs[static_cast<std::size_t>(*name - 'a')].input = name;
  {
    RunLog log(options_, plan, console_);
    log.concluded(plan.jobs[0], converged());
    log.concluded(plan.jobs[1], {{}, {}, Failure{ExitCode::kUsage, "too many regions"}, 0});
    log.skipped(plan.jobs[2]);
    EXPECT_EQ(log.end(false), ExitCode::kUsage);
  }
  EXPECT_EQ(diacut::testing::read_bytes(options_.json),
            "{\"input\":\"a\"}\n"
            "{\"input\":\"b\",\"error\":\"too many regions\",\"exit_code\":2}\n"
            "{\"input\":\"c\",\"skipped\":true}\n");
}

TEST_F(RunLogTest, ARunThatGoesOnKeepsTheLinesAndTellsNothingTwice) {
  Plan plan = plan_of(4);
  for (const char* name : {"a", "b", "c", "d"})
    plan.jobs[static_cast<std::size_t>(*name - 'a')].input = name;
  const std::string whole = "{\"input\":\"a\",\"width\":1}\n{\"input\":\"d\",\"error\":\"x\"}\n";
  // The line of c was cut off by what ended the earlier run.
  std::ofstream(options_.json) << whole << "{\"input\":\"c\",\"wi";
  options_.batch.skip_existing = true;
  {
    RunLog log(options_, plan, console_);
    log.skipped(plan.jobs[0]);
    log.skipped(plan.jobs[2]);
    log.concluded(plan.jobs[1], {{}, {}, Failure{ExitCode::kUsage, "y"}, 0});
    log.end(false);
  }
  EXPECT_EQ(diacut::testing::read_bytes(options_.json),
            whole +
                "{\"input\":\"c\",\"skipped\":true}\n"
                "{\"input\":\"b\",\"error\":\"y\",\"exit_code\":2}\n");
}

TEST_F(RunLogTest, ToldOfNoConvergenceOrAnInterruption) {
  const Plan plan = plan_of(1);
  RunLog missed(options_, plan, console_);
  WrittenImage written = converged();
  written.result.eigenvectors.report.converged = false;
  missed.concluded(plan.jobs[0], written);
  EXPECT_EQ(missed.end(false), ExitCode::kNotConverged);

  RunLog interrupted(options_, plan, console_);
  interrupted.concluded(plan.jobs[0], converged());
  EXPECT_EQ(interrupted.end(true), ExitCode::kInterrupted);

  RunLog stopped(options_, plan, console_);
  stopped.stopped({ExitCode::kDevice, "no device"});
  EXPECT_EQ(stopped.end(false), ExitCode::kDevice);
}

}  // namespace
}  // namespace diacut::app
