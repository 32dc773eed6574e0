// docs/reference.md is what the programs print of their options, docs/usage.md names every exit
// code, and the commands of docs/sources.md have no other options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli_test.hpp"
#include "matchers.hpp"
#include "temp_folder.hpp"

namespace diacut::testing {
namespace {

using ::testing::IsSupersetOf;

class UsagePage : public CliTest {};

TEST_F(UsagePage, TheReferenceIsWhatTheProgramsPrint) {
  const std::string docs = std::string(DIACUT_SOURCE_DIR) + "/docs/";
  const std::vector<std::string> programs = {DIACUT_SEGMENT, DIACUT_EVALUATE, DIACUT_BENCH};
  const Result printed = expect_done(start_program(docs + "reference.sh", programs)->wait());
  EXPECT_THAT(printed.out, AllOf(HasSubstr("`, `--output FILE"), HasSubstr("`--truth DIR`")));
  EXPECT_EQ(printed.out, read_bytes(docs + "reference.md"))
      << "To update the page: docs/reference.sh " << fmt::format("{}", fmt::join(programs, " "))
      << " > docs/reference.md";
}

TEST_F(UsagePage, ListsTheExitCodesThatHelpNames) {
  const std::string help = segment("--help all").out;
  const std::size_t begin = help.find("Exit codes:");
  ASSERT_NE(begin, std::string::npos);
  const std::string sentence = help.substr(begin, help.find('.', begin) - begin);
  std::set<std::string> codes;
  const std::regex code(R"((?:^|[\s,])(\d+)\s+[a-z])");
  for (std::sregex_iterator match(sentence.begin(), sentence.end(), code), end; match != end;
       ++match) {
    codes.insert((*match)[1]);
  }
  EXPECT_THAT(codes, IsSupersetOf({"0", "5", "130"}));
  std::set<std::string> listed;
  std::string page = read_bytes(std::string(DIACUT_SOURCE_DIR) + "/docs/usage.md");
  page.erase(0, page.find("## Exit codes"));
  const std::regex row(R"(\n\| (\d+) \|)");
  for (std::sregex_iterator match(page.begin(), page.end(), row), end; match != end; ++match) {
    listed.insert((*match)[1]);
  }
  EXPECT_EQ(listed, codes);
}

TEST_F(UsagePage, TheProgramsHaveTheOptionsOfTheSourcesPage) {
  std::ifstream file(std::string(DIACUT_SOURCE_DIR) + "/docs/sources.md");
  const std::regex command("(segment|diacut-bench) ?([a-z]*)(.*)");
  const std::regex option("--[a-z][a-z-]*");
  std::map<std::string, std::string> help;  // By program and subcommand.
  int seen = 0;
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, command)) continue;
    SCOPED_TRACE(line);
    ++seen;
    const bool is_bench = match[1] == "diacut-bench";
    const std::string name = is_bench ? match[2].str() : "segment";
    if (!help.contains(name)) {
      const Result printed =
          expect_done(is_bench ? bench(fmt::format("{} --help", name)) : segment("--help all"));
      help[name] = printed.out;
    }
    const std::string words = match[3];
    for (std::sregex_iterator each(words.begin(), words.end(), option), end; each != end; ++each) {
      EXPECT_THAT(help[name], HasSubstr(each->str()));
    }
  }
  EXPECT_GE(seen, 12);
}

}  // namespace
}  // namespace diacut::testing
