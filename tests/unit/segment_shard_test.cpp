#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "diacut/errors.hpp"
#include "shard.hpp"

namespace diacut::app {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Pair;

/// The share that "auto" means where these variables are set.
std::pair<std::size_t, std::size_t> share_by(const std::map<std::string, std::string>& variables) {
  const Shard shard = parse_shard("auto", "segment", "images", [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
  return {shard.index, shard.count};
}

std::string error_by(const std::map<std::string, std::string>& variables) {
  try {
    share_by(variables);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::map<std::string, std::string> slurm(const char* id, const char* first, const char* last,
                                         const char* count, const char* step) {
  return {{"SLURM_ARRAY_TASK_ID", id},
          {"SLURM_ARRAY_TASK_MIN", first},
          {"SLURM_ARRAY_TASK_MAX", last},
          {"SLURM_ARRAY_TASK_COUNT", count},
          {"SLURM_ARRAY_TASK_STEP", step}};
}

TEST(Shard, IsReadFromItsText) {
  const Shard third = parse_shard("3/16", "segment", "images");
  EXPECT_EQ(third.index, 3u);
  EXPECT_EQ(third.count, 16u);
  EXPECT_FALSE(parse_shard("", "segment", "images").divides());
  EXPECT_FALSE(parse_shard("1/1", "segment", "images").divides());
  for (const char* wrong : {"0/4", "5/4", "1", "1/", "/4", "-1/4", "1/4x", "one/4", "1/0", "AUTO",
                            "1/99999999999999999999"}) {
    EXPECT_THROW(parse_shard(wrong, "segment", "images"), ConfigError) << wrong;
  }
}

TEST(Shard, SharesTogetherHaveEachPieceOnce) {
  for (const std::size_t count : {1u, 3u, 7u}) {
    for (std::size_t place = 0; place < 20; ++place) {
      std::size_t shares = 0;
      for (std::size_t index = 1; index <= count; ++index) {
        if (Shard{index, count}.has(place)) ++shares;
      }
      EXPECT_EQ(shares, 1u) << place << " of " << count;
    }
  }
}

TEST(Shard, OfASlurmArray) {
  EXPECT_THAT(share_by(slurm("1", "1", "16", "16", "1")), Pair(1, 16));
  EXPECT_THAT(share_by(slurm("0", "0", "3", "4", "1")), Pair(1, 4));
  EXPECT_THAT(share_by(slurm("9", "1", "13", "4", "4")), Pair(3, 4));
  EXPECT_THAT(error_by(slurm("3", "1", "7", "3", "1")), HasSubstr("gaps"));
  EXPECT_THAT(error_by(slurm("x", "1", "7", "7", "1")), HasSubstr("'x'"));
  EXPECT_THAT(error_by({{"SLURM_ARRAY_TASK_ID", "3"}}), HasSubstr("SLURM_ARRAY_TASK_MIN"));
}

TEST(Shard, OfEachTaskOfTheArraysThatPeopleSubmit) {
  struct Array {
    std::size_t first, last, step, count;
  };
  // --array=1-10, 0-9, 5-9:2, and 2-9:3, whose last task is 8.
  for (const Array& array :
       {Array{1, 10, 1, 10}, Array{0, 9, 1, 10}, Array{5, 9, 2, 3}, Array{2, 8, 3, 3}}) {
    for (std::size_t place = 0; place < array.count; ++place) {
      const auto text = [](std::size_t number) { return std::to_string(number); };
      const std::string id = text(array.first + place * array.step);
      EXPECT_THAT(share_by({{"SLURM_ARRAY_TASK_ID", id},
                            {"SLURM_ARRAY_TASK_MIN", text(array.first)},
                            {"SLURM_ARRAY_TASK_MAX", text(array.last)},
                            {"SLURM_ARRAY_TASK_COUNT", text(array.count)},
                            {"SLURM_ARRAY_TASK_STEP", text(array.step)}}),
                  Pair(place + 1, array.count));
    }
  }
}

TEST(Shard, IsRefusedWhereASlurmArraysNumbersContradictEachOther) {
  for (const auto& wrong : {
           slurm("0", "1", "16", "16", "1"),   // Before the first.
           slurm("17", "1", "16", "16", "1"),  // After the last.
           slurm("3", "1", "16", "10", "1"),   // Another count.
           slurm("3", "1", "9", "5", "0"),     // No step.
           slurm("4", "1", "9", "5", "2"),     // Between two tasks.
           slurm("5", "9", "1", "9", "1"),     // The last before the first.
           slurm("1", "1", "1", "0", "1"),     // No task.
       }) {
    EXPECT_THAT(error_by(wrong), AnyOf(HasSubstr("gaps"), HasSubstr("counted from 0")))
        << wrong.at("SLURM_ARRAY_TASK_ID");
  }
  for (const char* number : {"", "-1", "1.5", " 1", "0x1", "99999999999999999999999"}) {
    for (const char* name : {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT"}) {
      auto variables = slurm("1", "1", "2", "2", "1");
      variables[name] = number;
      EXPECT_THAT(error_by(variables), AllOf(HasSubstr(name), HasSubstr("not a number")));
    }
  }
}

TEST(Shard, IsRefusedWhereTwoEnginesTellIt) {
  auto both = slurm("1", "1", "2", "2", "1");
  both["JOB_COMPLETION_INDEX"] = "0";
  both["DIACUT_SHARDS"] = "2";
  EXPECT_THAT(error_by(both), AllOf(HasSubstr("SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX"),
                                    HasSubstr("--shard I/N")));
  EXPECT_THAT(error_by({{"AWS_BATCH_JOB_ARRAY_INDEX", "0"}, {"JOB_COMPLETION_INDEX", "0"}}),
              HasSubstr("both set"));
  // Slurm tells a job outside arrays other things, and any job may have DIACUT_SHARDS.
  EXPECT_THAT(share_by({{"SLURM_JOB_ID", "7"},
                        {"DIACUT_SHARDS", "9"},
                        {"AWS_BATCH_JOB_ARRAY_INDEX", "0"},
                        {"AWS_BATCH_JOB_ARRAY_SIZE", "2"}}),
              Pair(1, 2));
}

TEST(Shard, OfAwsBatchAndKubernetesWhichCountFromZero) {
  EXPECT_THAT(share_by({{"AWS_BATCH_JOB_ARRAY_INDEX", "0"}, {"AWS_BATCH_JOB_ARRAY_SIZE", "10"}}),
              Pair(1, 10));
  EXPECT_THAT(share_by({{"JOB_COMPLETION_INDEX", "9"}, {"DIACUT_SHARDS", "10"}}), Pair(10, 10));
  EXPECT_THAT(error_by({{"JOB_COMPLETION_INDEX", "9"}}), HasSubstr("DIACUT_SHARDS"));
  EXPECT_THAT(error_by({{"JOB_COMPLETION_INDEX", "9"}, {"DIACUT_SHARDS", "9"}}),
              HasSubstr("job 9 of 9"));
  EXPECT_THAT(error_by({{"JOB_COMPLETION_INDEX", "0"}, {"DIACUT_SHARDS", "0"}}),
              HasSubstr("DIACUT_SHARDS"));
  EXPECT_THAT(error_by({{"JOB_COMPLETION_INDEX", "0"}, {"DIACUT_SHARDS", "many"}}),
              HasSubstr("'many', not a number"));
  EXPECT_THAT(error_by({{"AWS_BATCH_JOB_ARRAY_INDEX", "0"}}),
              HasSubstr("AWS_BATCH_JOB_ARRAY_SIZE is not set"));
  EXPECT_THAT(error_by({}), HasSubstr("SLURM_ARRAY_TASK_ID"));
}

TEST(Shard, HasPlacesOfItsOwn) {
  EXPECT_EQ(place_of_shard("out/report.jsonl", {3, 16}), "out/report-03-of-16.jsonl");
  EXPECT_EQ(place_of_shard("report", {3, 5}), "report-3-of-5");
  EXPECT_EQ(place_of_shard("-", {3, 5}), "-");
  EXPECT_EQ(place_of_shard("", {3, 5}), "");
  EXPECT_EQ(place_of_shard("report.jsonl", {}), "report.jsonl");
}

}  // namespace
}  // namespace diacut::app
