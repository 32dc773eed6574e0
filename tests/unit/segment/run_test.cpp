#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <utility>

#include "diacut/output.hpp"
#include "memory_check.hpp"
#include "reader.hpp"
#include "run_log.hpp"
#include "temp_folder.hpp"

namespace diacut::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ReaderTest : public ::testing::Test {
 protected:
  /// A picture that is `width` pixels wide and 1 pixel high.
  std::string picture(const std::string& name, int width) const {
    const std::string path = folder_ / name;
    const std::vector<std::int32_t> labels(static_cast<std::size_t>(width), 1);
    write_labels(path, {width, 1, 1, labels});
    return path;
  }
  Job job(const std::string& name, int width) const { return {picture(name, width), {}, {}}; }

  diacut::testing::TempFolder folder_;
};

bool nothing(const Job& /*job*/) { return false; }
bool anything(const LoadedImage& /*loaded*/) { return true; }

TEST_F(ReaderTest, TakesWhatItReadAheadAndReadsTheRest) {
  const std::vector<Job> jobs = {job("a.png", 1), job("b.png", 2), job("c.png", 3)};
  Reader reader(jobs, {}, nothing);
  reader.read_ahead(0, 2);
  EXPECT_FALSE(reader.take_if(2, anything));  // Not read ahead.
  EXPECT_EQ(reader.take(0).image.width, 1);
  reader.read_ahead(1, 9);  // More than there are.
  const auto second = reader.take_if(1, anything);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->image.width, 2);
  EXPECT_FALSE(reader.take_if(1, anything));
  EXPECT_EQ(reader.take(2).image.width, 3);
  EXPECT_EQ(reader.take(0).image.width, 1);  // It was taken before, so it is read again.
}

TEST_F(ReaderTest, KeepsWhatIsNotWanted) {
  const std::vector<Job> jobs = {job("a.png", 1), job("b.png", 2)};
  Reader reader(jobs, {}, nothing);
  reader.read_ahead(0, 2);
  int asked = 0;
  const auto not_wanted = [&asked](const LoadedImage& /*loaded*/) {
    ++asked;
    return false;
  };
  EXPECT_FALSE(reader.take_if(0, not_wanted));
  EXPECT_FALSE(reader.take_if(0, not_wanted));
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(reader.take(0).image.width, 1);
}

TEST_F(ReaderTest, StopsBeforeWhatIsSkippedOrMayWait) {
  const std::string pipe = folder_ / "pipe.png";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<Job> jobs = {job("a.png", 1), {pipe, {}, {}}, job("c.png", 3)};
  Reader waits(jobs, {}, nothing);
  waits.read_ahead(0, 3);  // The destructor would wait for ever if the pipe were read.
  EXPECT_TRUE(waits.take_if(0, anything));
  EXPECT_FALSE(waits.take_if(2, anything));

  Reader skips(jobs, {}, [&](const Job& each) { return each.input == jobs[0].input; });
  skips.read_ahead(0, 1);
  EXPECT_FALSE(skips.take_if(0, anything));
}

TEST_F(ReaderTest, PostponesWhatHasNoRoomBesideOtherImages) {
  const std::vector<Job> jobs = {job("a.png", 1), job("b.png", 2)};
  const Options options;
  MemoryCheck memory(options, [] { return std::uint64_t{1}; });
  ASSERT_TRUE(memory.take({1, 1}));
  Reader reader(jobs, {}, nothing, &memory);
  LoadedImage first = reader.take(0);
  EXPECT_FALSE(first.postponed);
  EXPECT_EQ(first.image.width, 1);
  reader.read_ahead(1, 1);
  const LoadedImage second = reader.take(1);
  EXPECT_TRUE(second.postponed);
  EXPECT_FALSE(second.failure);
  EXPECT_TRUE(second.image.pixels.empty());
  first = {};
  const LoadedImage again = reader.take(1);
  EXPECT_FALSE(again.postponed);
  EXPECT_EQ(again.image.width, 2);
  reader.read_ahead(0, 1);
  reader.drop_all();
  EXPECT_FALSE(reader.take_if(0, anything));
}

LoadedImage read(const Job& job, const ImageParameters& parameters) {
  const std::vector<Job> jobs = {job};
  return Reader(jobs, parameters, nothing).take(0);
}

TEST_F(ReaderTest, ASceneHasAFrameAndANoteOfItsReduction) {
  Job scene = job("a.png", 700);
  scene.map = true;
  const auto notes = [&](int detail) {
    ImageParameters parameters;
    parameters.detail = detail;
    const LoadedImage loaded = read(scene, parameters);
    EXPECT_FALSE(loaded.failure);
    EXPECT_TRUE(loaded.frame && loaded.frame->width == 700);
    return loaded.image.notes;
  };
  EXPECT_THAT(notes(640), ::testing::Contains(HasSubstr("--config scene")));
  for (const int detail : {0, 700}) {
    EXPECT_THAT(notes(detail), Not(::testing::Contains(HasSubstr("--config scene"))));
  }
  scene.map = false;
  EXPECT_FALSE(read(scene, {}).frame);
}

TEST_F(ReaderTest, PolygonsOfAPictureAreRefusedBeforeItIsSegmented) {
  for (const bool map : {false, true}) {
    Job picture = job("a.png", 3);
    picture.map = map;
    picture.results[Result::kLabels] = folder_ / "a.gpkg";
    const LoadedImage loaded = read(picture, {});
    ASSERT_TRUE(loaded.failure);
    EXPECT_EQ(loaded.failure->code, ExitCode::kInputOutput);
    EXPECT_THAT(loaded.failure->message, HasSubstr("no coordinates"));
  }
}

const Options kNoOptions;

TEST(MemoryCheck, CountsTheImagesThatAreInMemory) {
  MemoryCheck memory(kNoOptions, [] { return std::uint64_t{100}; });
  const auto waiting = [](std::uint64_t bytes) { return MemoryNeed{0, bytes, bytes}; };
  EXPECT_TRUE(memory.enter(waiting(200)));  // The only one is let in.
  MemoryShare first = memory.enter(waiting(60));
  EXPECT_TRUE(first);
  EXPECT_THROW(memory.enter(waiting(41)), NoRoomBesideOthers);
  EXPECT_EQ(memory.most_together(), 0u);
  MemoryShare second = memory.enter(waiting(40));  // What was refused does not count.
  EXPECT_EQ(memory.most_together(), 100u);
  const MemoryShare moved = std::move(first);
  EXPECT_THROW(memory.enter(waiting(1)), NoRoomBesideOthers);
  second.reset();
  EXPECT_TRUE(memory.enter(waiting(30)));
  EXPECT_EQ(memory.most_together(), 100u);
}

TEST(MemoryCheck, CountsTheDeviceOnce) {
  MemoryCheck memory(kNoOptions, [] { return std::uint64_t{100}; });
  const MemoryNeed need{60, 70, 10};  // On a CPU.
  const MemoryShare first = memory.enter(need);
  const MemoryShare second = memory.enter(need);
  const MemoryShare third = memory.enter(need);
  EXPECT_EQ(memory.most_together(), 90u);
  EXPECT_THROW(memory.enter({80, 91, 10}), NoRoomBesideOthers);
}

TEST(MemoryCheck, RefusesNothingWhereMemoryIsNotKnown) {
  MemoryCheck memory(kNoOptions, [] { return std::uint64_t{0}; });
  constexpr MemoryNeed kMuch{0, std::uint64_t{1} << 50, std::uint64_t{1} << 50};
  const MemoryShare first = memory.enter(kMuch);
  EXPECT_TRUE(memory.enter(kMuch));
}

Plan plan_of(std::size_t jobs) {
  Plan plan;
  plan.batch = true;
  plan.jobs.resize(jobs);
  return plan;
}

TEST(Summary, CountsWhatBecameOfTheImages) {
  Plan plan = plan_of(4);
  EXPECT_EQ(summary({.done = 2, .skipped = 1, .failed = 1}, plan, 4, false),
            "2 done, 1 skipped, 1 failed; 4.0 s (0.50 images/s)");
  plan.ignored = 3;
  plan.roots.results[Result::kLabels] = "out";
  EXPECT_EQ(summary({.done = 1, .not_converged = 1, .noted = 1}, plan, 10, false),
            "1 done, 0 skipped, 0 failed, 1 of those done not converged, 3 not tried; 10.0 s (0.10 "
            "images/s); 3 other files left out; 1 with notes (--verbose or --json shows them); "
            "labels in 'out'");
  EXPECT_EQ(summary({.done = 4, .noted = 1}, plan_of(4), 1, true),
            "4 done, 0 skipped, 0 failed; 1.0 s (4.00 images/s)");
}

TEST(Summary, FoldersThatCannotBeReadAreNoTriedImages) {
  Plan plan = plan_of(1);
  plan.failures.push_back({ExitCode::kInputOutput, "a folder"});
  EXPECT_EQ(summary({.failed = 1}, plan, 0, false),
            "0 done, 0 skipped, 1 failed, 1 not tried; 0 ms");
}

TEST(RunLog, ARunThatGoesOnKeepsTheLinesAndTellsNothingTwice) {
  const diacut::testing::TempFolder folder;
  Options options;
  options.json = folder / "lines.jsonl";
  options.batch.skip_existing = true;
  Console console("test");
  console.set_verbosity(Verbosity::kQuiet);
  Plan plan = plan_of(4);
  for (const char* name : {"a", "b", "c", "d"})
    plan.jobs[static_cast<std::size_t>(*name - 'a')].input = name;
  const std::string whole = "{\"input\":\"a\",\"width\":1}\n{\"input\":\"d\",\"error\":\"x\"}\n";
  // The line of c was cut off by what ended the earlier run.
  std::ofstream(options.json) << whole << "{\"input\":\"c\",\"wi";
  {
    RunLog log(options, plan, console);
    log.skipped(plan.jobs[0]);
    log.skipped(plan.jobs[2]);
    WrittenImage failed;
    failed.job = &plan.jobs[1];
    failed.failure = Failure{ExitCode::kUsage, "y"};
    log.concluded(failed);
    log.end(false);
  }
  EXPECT_EQ(diacut::testing::read_bytes(options.json),
            whole +
                "{\"input\":\"c\",\"skipped\":true}\n"
                "{\"input\":\"b\",\"error\":\"y\",\"exit_code\":2}\n");
}

}  // namespace
}  // namespace diacut::app
