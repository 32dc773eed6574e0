#include <filesystem>
#include <set>
#include <sstream>

#include "cli_test.hpp"
#include "matchers.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "diacut-formats.so";

/// What a run loads; the dynamic linker tells it (ld.so(8)).
class CliStart : public CliTest {
 protected:
  void SetUp() override {
#ifdef DIACUT_SANITIZED
    GTEST_SKIP() << "with a sanitizer the programs hold the module and its libraries";
#endif
    if (test_device() != "cpu") GTEST_SKIP() << "another driver loads other libraries";
  }

  /// The names of the libraries that `segment` loads, without the kernels that PoCL has compiled.
  std::set<std::string> libraries_of(const std::string& command) const {
    make_folder("loaded");
    expect_done(segment(
        command, {.environment = {{"LD_DEBUG", "files"}, {"LD_DEBUG_OUTPUT", path("loaded/by")}}}));
    std::set<std::string> libraries;
    for (const auto& each : fs::directory_iterator(path("loaded"))) {
      std::istringstream lines(read("loaded/" + each.path().filename().string()));
      const std::string mark = "calling init: ";
      for (std::string line; std::getline(lines, line);) {
        const std::size_t at = line.find(mark);
        if (at == std::string::npos) continue;
        const std::string name = fs::path(line.substr(at + mark.size())).filename();
        if (name.starts_with("lib") || name == kModule) libraries.insert(name);
      }
    }
    fs::remove_all(path("loaded"));
    return libraries;
  }
};

TEST_F(CliStart, LoadsFewLibraries) {
  const std::set<std::string> version = libraries_of("--version");
  EXPECT_THAT(version, Contains("libc.so.6"));
  EXPECT_THAT(version, SizeIs(::testing::Le(45)));
}

TEST_F(CliStart, APhotographLoadsFewLibraries) {
  for (const char* name : {"photo.jpg", "photo.png"}) {
    write_picture(name);
    EXPECT_THAT(libraries_of(fmt::format("{} -o labels.png", name)), SizeIs(::testing::Le(60)))
        << name;
  }
}

TEST_F(CliStart, RarerFormatsAreLoadedForTheirFiles) {
  write_picture("photo.png");
  write_picture("photo.webp");
  EXPECT_THAT(libraries_of("photo.webp -o labels.png"), Contains(kModule));
  EXPECT_THAT(libraries_of("photo.png -o labels.tif"), Not(Contains(kModule)));
  EXPECT_THAT(libraries_of("photo.png -o labels.png --overlay overlay.jpg"),
              Not(Contains(kModule)));
  // A sandbox loads it before it closes.
  expect_done(segment("photo.webp --untrusted -o labels.png"));
}

}  // namespace
}  // namespace diacut::testing
