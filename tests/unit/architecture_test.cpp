// What each folder of lib/ may include, and what no stage may do. The tables are the design: a
// stage knows core, opencl, matrix and the stages before it that it reads from; only the pipeline
// knows the order; only the programs of app/ print and end the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "source_text.hpp"

namespace diacut {
namespace {

namespace fs = std::filesystem;
using Folders = std::set<std::string>;

/// Folder of lib/ -> the other folders whose headers it may include. "diacut" is the public
/// headers, which everyone may include.
const std::map<std::string, Folders>& allowed_folders() {
  static const std::map<std::string, Folders> allowed = {
      {"include", {}},
      {"core", {}},
      {"opencl", {"core"}},
      {"sandbox", {"core"}},
      {"image", {"core", "sandbox"}},
      {"matrix", {"core", "opencl"}},
      {"boundary", {"core", "opencl", "matrix", "image"}},
      {"affinity", {"core", "opencl", "matrix", "boundary"}},
      {"eigen", {"core", "opencl", "matrix"}},
      {"contour", {"core", "opencl", "matrix", "boundary", "eigen"}},
      {"region", {"core", "opencl", "matrix", "contour"}},
      {"walker", {"core", "opencl", "matrix", "eigen"}},
      {"graph", {"core", "opencl", "image", "matrix", "eigen"}},
      {"output", {"core", "image"}},
      {"map", {"core", "image", "output"}},
      {"formats", {"core", "image", "map", "output"}},
      {"evaluate", {"core", "image", "contour"}},
      // A library of its own: no other folder may include it. Of matrix it knows where a device's
      // profile is found.
      {"spmv", {"core", "opencl", "matrix"}},
      {"pipeline",
       {"core", "opencl", "image", "matrix", "boundary", "affinity", "eigen", "contour", "region",
        "walker"}},
      // The order of the stages for one picture in tiles.
      {"tiles",
       {"core", "output", "map", "region", "pipeline", "boundary", "image", "matrix", "opencl"}},
      {"doctor",
       {"core", "opencl", "image", "matrix", "boundary", "affinity", "eigen", "contour", "region",
        "walker", "graph", "pipeline"}},
  };
  return allowed;
}

/// Start of a library's headers -> the folders that may include them.
const std::map<std::string, Folders>& allowed_libraries() {
  static const std::map<std::string, Folders> allowed = {
      {"CL/", {"opencl"}},
      {"opencv2/", {"boundary", "image", "map", "output", "evaluate", "contour", "region"}},
      {"gdal", {"map"}},
      {"ogr", {"map"}},
      {"cpl_", {"map"}},
      {"tbb/", {"core"}},
      {"toml++/", {"core"}},
      {"Spectra/", {"eigen"}},
      {"Eigen/", {"doctor", "eigen", "graph", "region"}},
      {"nlohmann/",
       {"image", "boundary", "doctor", "matrix", "region", "spmv", "output", "evaluate", "tiles"}},
      {"seccomp", {"sandbox"}},
      {"CLI/", {}},
      {"iostream", {}},
  };
  return allowed;
}

/// Names whose use prints or ends the process, or by which a text would be read that a failed
/// allocation cuts off without an error -> the folders that may use them all the same.
const std::map<std::string, Folders>& forbidden_names() {
  static const std::map<std::string, Folders> names =
      {
          {"stdout", {"output"}},  // Data, for the file name "-".
          {"stderr", {}},         {"cout", {}},          {"cerr", {}},
          {"clog", {}},           {"printf", {}},        {"fprintf", {}},
          {"vprintf", {}},        {"vfprintf", {}},      {"puts", {}},
          {"putchar", {}},        {"perror", {}},        {"exit", {"sandbox"}},
          {"_exit", {"sandbox"}}, {"_Exit", {}},         {"quick_exit", {}},
          {"abort", {}},          {"terminate", {}},     {"fmt::print", {}},
          {"getline", {"core"}},  // Where the stream throws.
          {"stringstream", {}},   {"istringstream", {}}, {"ostringstream", {}},
      };
  return names;
}

std::vector<std::string> violations(const std::string& folder, const std::string& source) {
  std::vector<std::string> found;
  const std::string code = testing::without_comments_and_literals(source);
  static const std::regex include(R"re(#include\s*(?:"([^"]+)"|<([^>]+)>))re");
  for (std::sregex_iterator match(code.begin(), code.end(), include), end; match != end; ++match) {
    const std::string own = (*match)[1];
    const std::string library = (*match)[2];
    if (!own.empty()) {
      const std::string from = own.substr(0, own.find('/'));
      const auto& allowed = allowed_folders().at(folder);
      if (from != "diacut" && from != folder && !allowed.contains(from)) found.push_back(own);
    }
    for (const auto& [prefix, folders] : allowed_libraries()) {
      if (library.starts_with(prefix) && !folders.contains(folder)) found.push_back(library);
    }
  }
  static const std::regex word(R"(fmt::print|[A-Za-z_]\w*)");
  for (std::sregex_iterator match(code.begin(), code.end(), word), end; match != end; ++match) {
    const auto name = forbidden_names().find(match->str());
    if (name != forbidden_names().end() && !name->second.contains(folder)) {
      found.push_back(name->first);
    }
  }
  return found;
}

const fs::path kLib = fs::path(DIACUT_SOURCE_DIR) / "lib";

TEST(Architecture, FoldersIncludeOnlyWhatTheDesignAllowsAndNeverPrint) {
  std::set<std::string> seen;
  for (const fs::path& path : testing::files_with(kLib, {".hpp", ".cpp", ".in"})) {
    const std::string folder = fs::relative(path, kLib).begin()->string();
    ASSERT_TRUE(allowed_folders().contains(folder))
        << path << ": say in this test what the new folder may include";
    EXPECT_THAT(violations(folder, testing::text_of(path)), ::testing::IsEmpty()) << path;
    seen.insert(folder);
  }
  EXPECT_THAT(seen, ::testing::IsSupersetOf({"core", "opencl", "matrix", "include"}));
}

TEST(Architecture, ThePythonModuleKnowsThePublicHeadersAlone) {
  const fs::path folder = fs::path(DIACUT_SOURCE_DIR) / "python" / "src";
  const std::regex include(R"re(#include\s*"([^"]+)")re");
  std::size_t of_diacut = 0;
  for (const fs::path& path : testing::files_with(folder, {".hpp", ".cpp"})) {
    const std::string text = testing::text_of(path);
    for (std::sregex_iterator match(text.begin(), text.end(), include), end; match != end;
         ++match) {
      const std::string header = (*match)[1];
      if (header.starts_with("diacut/")) ++of_diacut;
      EXPECT_TRUE(header.starts_with("diacut/") || fs::exists(folder / header))
          << path << ": " << header;
    }
  }
  EXPECT_GE(of_diacut, 8u);
}

TEST(Architecture, TheDesignHasNoCycles) {
  // Folders whose dependencies are all placed can be placed; in a cycle none can.
  Folders placed;
  for (std::size_t round = 0; round < allowed_folders().size(); ++round) {
    for (const auto& [folder, needs] : allowed_folders()) {
      if (std::includes(placed.begin(), placed.end(), needs.begin(), needs.end())) {
        placed.insert(folder);
      }
    }
  }
  EXPECT_EQ(placed.size(), allowed_folders().size());
}

TEST(ArchitectureRules, FindWhatIsNotAllowed) {
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  EXPECT_THAT(violations("eigen", "#include \"pipeline/segmentation_plan.hpp\"\n"),
              ElementsAre("pipeline/segmentation_plan.hpp"));
  EXPECT_THAT(violations("core", "#include \"opencl/context.hpp\"\n#include \"core/a.hpp\"\n"),
              ElementsAre("opencl/context.hpp"));
  EXPECT_THAT(violations("include", "#include \"core/parameter_table.hpp\"\n"),
              ElementsAre("core/parameter_table.hpp"));
  EXPECT_THAT(violations("region", "#include <CL/cl.h>\n#include <Eigen/Dense>\n"),
              ElementsAre("CL/cl.h"));
  EXPECT_THAT(violations("output", "void f() { std::cout << 1; }"), ElementsAre("cout"));
  EXPECT_THAT(violations("core", "f(); std::exit(1);\n"), ElementsAre("exit"));
  EXPECT_THAT(violations("core", "const char* s = \"a\\\"\"; printf(s);"), ElementsAre("printf"));
  EXPECT_THAT(violations("tiles", "std::getline(lines, line);"), ElementsAre("getline"));
  EXPECT_THAT(violations("core", "fmt::print(\"x\"); fmt::format(\"x\");"),
              ElementsAre("fmt::print"));
}

TEST(ArchitectureRules, AllowTheRest) {
  using ::testing::IsEmpty;
  EXPECT_THAT(violations("affinity",
                         "#include \"affinity/a.hpp\"\n#include \"boundary/boundary.hpp\"\n"
                         "#include \"diacut/image.hpp\"\n#include <vector>\n"),
              IsEmpty());
  EXPECT_THAT(violations("core",
                         "// printf(1) exit\n/* std::cout\n exit(1); */ int i = '\"';\n"
                         "f(\"std::cerr // \\\" exit(2)\"); g(R\"(exit(3) \")\"); snprintf(b);\n"
                         "int exit_code = 0;  // #include \"pipeline/a.hpp\"\n"),
              IsEmpty());
}

}  // namespace
}  // namespace diacut
