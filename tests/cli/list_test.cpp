#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>

#include "cli_test.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

namespace fs = std::filesystem;

class CliList : public CliTest {
 protected:
  /// The files under `folder` and their bytes.
  std::map<std::string, std::string> results_in(const std::string& folder) const {
    std::map<std::string, std::string> results;
    for (const std::string& name : files()) {
      if (name.starts_with(folder + "/")) results[name.substr(folder.size() + 1)] = read(name);
    }
    return results;
  }

  std::size_t count_in(const std::string& folder) const {
    const std::set<std::string> all = files();
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& name) {
      return name.starts_with(folder + "/") && name.ends_with(".png");
    }));
  }

  /// How many lines of JSON Lines tell of each input, of these kinds.
  static std::map<std::string, int> lines_of(const std::string& text, const std::string& kind) {
    std::map<std::string, int> counts;
    for (const nlohmann::json& line : json_lines(text)) {
      if (line.contains(kind)) ++counts[line.at("input")];
    }
    return counts;
  }
};

TEST_F(CliList, NamesImagesInPlaceOfInputs) {
  write_pictures({"in/a/b.jpg", "in/c.png", "in/not listed.png"});
  write("list", "in/a/b.jpg\nin/missing.png\nin/c.png\n");
  const Result result = segment("--files-from list --base in -o out --overlay seen --json r.jsonl");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("2 done, 0 skipped, 1 failed"));
  EXPECT_THAT(result.err, HasSubstr("in/missing.png"));
  EXPECT_TRUE(exists("out/a/b.png") && exists("out/c.png") && exists("seen/a/b.png"));
  EXPECT_EQ(lines_of(read("r.jsonl"), "regions").size(), 2u);
  EXPECT_EQ(lines_of(read("r.jsonl"), "error").count("in/missing.png"), 1u);

  // Without a base the file's name alone counts, and one image makes a batch too.
  expect_done(segment("--files-from - -0 -o flat --json s.jsonl",
                      {.input = std::string("in/a/b.jpg\0", 11)}));
  EXPECT_EQ(read("flat/b.png"), read("out/a/b.png"));
  EXPECT_EQ(lines_of(read("s.jsonl"), "regions").size(), 1u);
  expect_error(segment("--files-from missing -o out"), 3, {"missing", "cannot be read"});
}

TEST_F(CliList, SharesWriteTheBytesOfOneRunAndNoFileTwice) {
  write_pictures({"in/a/b.jpg", "in/a/c.png", "in/d.png", "in/d.jpg", "in/e.tif"});
  write("list", "in/a/b.jpg\nin/a/c.png\nin/d.png\nin/d.jpg\nin/e.tif\n");
  const std::string line = "--files-from list --base in -o one --tree one/trees --json one.jsonl";
  const std::string share =
      "--files-from list --base in -o shares --tree shares/trees --json shares.jsonl --shard auto";
  expect_done(segment(line));
  for (const char* index : {"0", "1", "2"}) {
    const std::size_t before = results_in("shares").size();
    expect_done(
        segment(share, {.environment = {{"JOB_COMPLETION_INDEX", index}, {"DIACUT_SHARDS", "3"}}}));
    EXPECT_GT(results_in("shares").size(), before);
  }
  EXPECT_EQ(results_in("shares"), results_in("one"));
  std::map<std::string, int> told;
  for (const char* name : {"shares-1-of-3.jsonl", "shares-2-of-3.jsonl", "shares-3-of-3.jsonl"}) {
    told.merge(lines_of(read(name), "regions"));
  }
  EXPECT_EQ(told, lines_of(read("one.jsonl"), "regions"));
  EXPECT_FALSE(exists("shares.jsonl"));

  // A share of a folder, and one that is empty.
  expect_done(segment("in -o folder --shard 1/2"));
  expect_done(segment("in -o folder --shard 2/2"));
  for (const auto& [name, bytes] : results_in("folder")) EXPECT_EQ(bytes, read("one/" + name));
  EXPECT_EQ(results_in("folder").size(), 5u);
  const Result empty = expect_done(segment("in -o empty --shard 6/6"));
  EXPECT_THAT(empty.err, HasSubstr("0 done"));
}

TEST_F(CliList, AKilledRunThatIsRepeatedDoesTheRestAndNothingTwice) {
  std::string list;
  for (int i = 0; i < 60; ++i) {
    const std::string name = "in/" + std::to_string(100 + i).append(".png");
    write_pictures({name});
    list += name + '\n';
  }
  write("list", list);
  const std::string line = "--files-from list -o out --json r.jsonl --skip-existing";
  expect_done(segment("in/100.png -o warm.png"));  // The driver's kernels are there.
  for (int kills = 0; kills < 3; ++kills) {
    const std::size_t before = count_in("out");
    const auto process = start(line);
    process->wait_until([&] { return count_in("out") >= before + 3; });
    process->send(SIGKILL);
    process->wait();
  }
  EXPECT_LT(count_in("out"), 60u);
  const Result rest = expect_done(segment(line));
  const std::map<std::string, int> reports = lines_of(read("r.jsonl"), "regions");
  const std::map<std::string, int> skipped = lines_of(read("r.jsonl"), "skipped");
  // Each image has one line; where the run was killed between its result and its report that line
  // says that the image was left out.
  EXPECT_EQ(reports.size() + skipped.size(), 60u);
  for (const auto& [name, count] : reports) EXPECT_EQ(count, 1) << name;
  for (const auto& [name, count] : skipped) EXPECT_EQ(reports.count(name), 0u) << name;
  EXPECT_LE(skipped.size(), 9u);

  const std::string lines = read("r.jsonl");
  expect_done(segment(line));
  EXPECT_EQ(read("r.jsonl"), lines);
}

}  // namespace
}  // namespace diacut::testing
