#include <algorithm>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>

#include "cli_test.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

class CliList : public CliTest {
 protected:
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

TEST_F(CliList, AKilledRunThatIsRepeatedDoesTheRestAndNothingTwice) {
  std::string list;
  make_folder("in");
  for (int i = 0; i < 60; ++i) {
    const std::string name = "in/" + std::to_string(100 + i).append(".png");
    write_picture(name);
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
