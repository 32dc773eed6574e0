// docs/usage.md against the programs: every option that --help prints is in the page's tables, in
// the section of its program, and the tables hold no other option. And docs/sources.md: its
// commands have no other options.
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli_test.hpp"

namespace diacut::testing {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

using Options = std::set<std::string>;

std::string usage_page() {
  std::ifstream file(std::string(DIACUT_SOURCE_DIR) + "/docs/usage.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The text below the heading `heading` ("## segment") up to the next heading of that rank or a
/// higher one; empty if the page has no such heading.
std::string section(const std::string& page, const std::string& heading) {
  const std::size_t rank = heading.find(' ');
  std::istringstream lines(page);
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t line_rank = line.find_first_not_of('#');
    const bool is_heading =
        line_rank != std::string::npos && line_rank > 0 && line[line_rank] == ' ';
    if (is_heading && line_rank <= rank) inside = line == heading;
    if (inside) text += line + '\n';
  }
  return text;
}

/// "-o, --output" or "--indexed" for each match of `row` in a line, whose groups 1 and 2 are the
/// short name, if there is one, and the long name.
Options options_by(const std::string& text, const std::regex& row) {
  Options options;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, row)) continue;
    const std::string brief = match[1];
    options.insert((brief.empty() ? "" : brief + ", ") + match[2].str());
  }
  return options;
}

Options documented(const std::string& text) {
  return options_by(text, std::regex(R"(^\| (?:`(-[a-z])`, )?`(--[a-z][a-z-]*))"));
}

Options printed(const std::string& help) {
  return options_by(help, std::regex(R"(^ {2,6}(?:(-[a-z]), ?)?(--[a-z][a-z-]*))"));
}

Options without(Options options, const Options& taken) {
  for (const std::string& option : taken) options.erase(option);
  return options;
}

class UsagePage : public CliTest {};

TEST_F(UsagePage, TheReaderOfTablesSeesWhatIsMissingAndWhatIsTooMuch) {
  const std::string page =
      "## one\n| `-o`, `--output FILE\\|-` | Place. |\n| `--gone` | Not there. |\n"
      "### part\n| `--deep N` | 3 | In a part. |\ntext with `--prose`\n## two\n| `--else` | |\n";
  const std::string help =
      "Group:\n  -o, --output FILE|-   Place\n      --new             New\n"
      "  -h,--help             Help\n                            --wrapped in a meaning\n";
  EXPECT_EQ(documented(section(page, "## one")), (Options{"-o, --output", "--gone", "--deep"}));
  EXPECT_EQ(documented(section(page, "### part")), (Options{"--deep"}));
  EXPECT_EQ(section(page, "## three"), "");
  EXPECT_EQ(printed(help), (Options{"-o, --output", "--new", "-h, --help"}));
  EXPECT_NE(documented(section(page, "## one")), printed(help));
}

TEST_F(UsagePage, ListsTheOptionsOfSegment) {
  const Result help = segment({"--help"});
  expect_done(help);
  ASSERT_THAT(printed(help.out), Not(IsEmpty()));
  EXPECT_EQ(documented(section(usage_page(), "## segment")), printed(help.out));
}

TEST_F(UsagePage, ListsTheOptionsOfTheSubcommandsOfSegment) {
  for (const std::string name : {"recut", "graph", "doctor"}) {
    SCOPED_TRACE(name);
    const Result help = segment({name, "--help"});
    expect_done(help);
    ASSERT_THAT(printed(help.out), Not(IsEmpty()));
    EXPECT_EQ(documented(section(usage_page(), "## segment " + name)), printed(help.out));
  }
}

TEST_F(UsagePage, ListsTheOptionsOfEvaluate) {
  const Result help = evaluate({"--help"});
  expect_done(help);
  ASSERT_THAT(printed(help.out), Not(IsEmpty()));
  EXPECT_EQ(documented(section(usage_page(), "## diacut-evaluate")), printed(help.out));
}

TEST_F(UsagePage, ListsTheSubcommandsOfBenchAndTheirOptions) {
  const std::string page = section(usage_page(), "## diacut-bench");
  const Result help = bench({"--help"});
  expect_done(help);
  const std::string before_parts = page.substr(0, page.find("\n### "));
  EXPECT_EQ(documented(before_parts), printed(help.out));

  std::set<std::string> subcommands;
  const std::string list = help.out.substr(help.out.find("Subcommands:"));
  const std::regex name(R"(\n {2}([a-z]+) )");
  for (std::sregex_iterator match(list.begin(), list.end(), name), end; match != end; ++match) {
    subcommands.insert((*match)[1]);
  }
  ASSERT_THAT(subcommands, IsSupersetOf({"control", "spmv", "eigen"}));

  std::set<std::string> headings;
  const std::regex heading(R"(\n### diacut-bench ([a-z]+)\n)");
  for (std::sregex_iterator match(page.begin(), page.end(), heading), end; match != end; ++match) {
    headings.insert((*match)[1]);
  }
  EXPECT_EQ(headings, subcommands);

  const Options common = documented(section(page, "### Options of every subcommand"));
  EXPECT_THAT(common, Contains("--device"));
  for (const std::string& subcommand : subcommands) {
    const Result own_help = bench({subcommand, "--help"});
    expect_done(own_help);
    const Options all = printed(own_help.out);
    // Features of regions are computed without a device.
    if (subcommand != "pairs" && subcommand != "nodes") {
      EXPECT_THAT(all, IsSupersetOf(common)) << subcommand;
    }
    EXPECT_EQ(documented(section(page, "### diacut-bench " + subcommand)), without(all, common))
        << subcommand;
  }
}

TEST_F(UsagePage, TheCommandsOfTheSourcesPageAreThere) {
  std::ifstream file(std::string(DIACUT_SOURCE_DIR) + "/docs/sources.md");
  const std::regex command("(segment|diacut-bench) ?(.*)");
  const std::regex option("--[a-z][a-z-]*");
  std::map<std::string, Options> known;  // By program and subcommand.
  int seen = 0;
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, command)) continue;
    SCOPED_TRACE(line);
    ++seen;
    const bool bench_command = match[1] == "diacut-bench";
    const std::string words = match[2];
    const std::string subcommand = bench_command ? words.substr(0, words.find(' ')) : "";
    if (!known.contains(match[1].str() + subcommand)) {
      const Result help = bench_command ? bench({subcommand, "--help"}) : segment({"--help"});
      expect_done(help);
      for (const std::string& text : printed(help.out)) {
        known[match[1].str() + subcommand].insert(text.substr(text.find("--")));
      }
    }
    for (std::sregex_iterator each(words.begin(), words.end(), option), end; each != end; ++each) {
      EXPECT_THAT(known[match[1].str() + subcommand], Contains(each->str()));
    }
  }
  EXPECT_GE(seen, 12);
}

TEST_F(UsagePage, ListsTheExitCodesThatHelpNames) {
  const std::string help = segment({"--help"}).out;
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
  const std::string page = section(usage_page(), "## Exit codes");
  const std::regex row(R"(\n\| (\d+) \|)");
  for (std::sregex_iterator match(page.begin(), page.end(), row), end; match != end; ++match) {
    listed.insert((*match)[1]);
  }
  EXPECT_EQ(listed, codes);
}

}  // namespace
}  // namespace diacut::testing
