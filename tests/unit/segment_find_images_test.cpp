#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "diacut/errors.hpp"
#include "find_images.hpp"
#include "temp_folder.hpp"

namespace diacut::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class FindImages : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }
  void touch(const std::string& name) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << "x";
  }
  static std::vector<std::string> names(const FoundImages& found) {
    std::vector<std::string> names;
    for (const FoundImage& image : found.images) names.push_back(image.name.string());
    return names;
  }

 private:
  diacut::testing::TempFolder folder_;
};

TEST_F(FindImages, WalksAFolderInTheOrderOfNames) {
  for (const char* name : {"in/c.png", "in/a.jpg", "in/b/z.TIFF", "in/b/y.webp", "in/text.txt"}) {
    touch(name);
  }
  const FoundImages found = find_images({path("in")}, {});
  EXPECT_THAT(names(found), ElementsAre("a", "b/y", "b/z", "c"));
  EXPECT_EQ(found.images.front().input, path("in/a.jpg"));
  EXPECT_EQ(found.ignored, 1u);
  EXPECT_TRUE(found.failures.empty());
}

TEST_F(FindImages, KeepsTheExtensionsOfNamesThatWouldBeEqual) {
  for (const char* name : {"in/a.jpg", "in/a.png", "in/b.png", "in/c/a.png"}) touch(name);
  EXPECT_THAT(names(find_images({path("in")}, {})), ElementsAre("a.jpg", "a.png", "b", "c/a"));
}

TEST_F(FindImages, SeveralInputsKeepTheirFoldersNames) {
  for (const char* name : {"in/a.png", "more/a.png", "single.v2.png"}) touch(name);
  EXPECT_THAT(names(find_images({path("in"), path("more/"), path("single.v2.png"), "-"}, {})),
              ElementsAre("in/a", "more/a", "single.v2", "stdin"));
  EXPECT_THAT(names(find_images({path("in"), path("in/."), path("in/a.png")}, {})),
              ElementsAre("in/a", "a"));
}

TEST_F(FindImages, AnInputOfWhichNothingIsKnownDoesNotStopTheOthers) {
  touch("in/a.png");
  fs::create_symlink("endless", path("endless"));
  const FoundImages found = find_images({path("endless"), path("in")}, {});
  EXPECT_THAT(names(found), ElementsAre("in/a"));
  ASSERT_EQ(found.failures.size(), 1U);
  EXPECT_EQ(found.failures.front().code, ExitCode::kInputOutput);
  EXPECT_THAT(found.failures.front().message, HasSubstr("endless"));
}

TEST_F(FindImages, LeavesOutFoldersOfResults) {
  for (const char* name : {"in/a.png", "in/out/a.png"}) touch(name);
  const std::set<Identity> results = {identity(path("in/out")).value()};
  EXPECT_THAT(names(find_images({path("in")}, results)), ElementsAre("a"));
  EXPECT_THROW(find_images({path("in/out")}, results), ConfigError);
}

TEST_F(FindImages, AFolderThatCannotBeReadIsAFailure) {
  const FoundImages found = find_images({path("nowhere.png")}, {});
  EXPECT_THAT(names(found), ElementsAre("nowhere"));  // Reading it will fail.
  touch("in/closed/a.png");
  touch("in/b.png");
  fs::permissions(path("in/closed"), fs::perms::none);
  if (fs::directory_iterator(path("in/closed"), fs::directory_options::skip_permission_denied) !=
      fs::directory_iterator()) {
    fs::permissions(path("in/closed"), fs::perms::owner_all);
    GTEST_SKIP() << "this user may read every folder";
  }
  const FoundImages rest = find_images({path("in")}, {});
  fs::permissions(path("in/closed"), fs::perms::owner_all);
  EXPECT_THAT(names(rest), ElementsAre("b"));
  ASSERT_EQ(rest.failures.size(), 1u);
  EXPECT_EQ(rest.failures[0].code, ExitCode::kInputOutput);
  EXPECT_THAT(rest.failures[0].message, HasSubstr("in/closed"));
}

TEST_F(FindImages, SharesHaveTheNamesOfTheWhole) {
  for (const char* name : {"in/a.jpg", "in/a.png", "in/b.png"}) touch(name);
  std::vector<std::string> together;
  for (std::size_t index = 1; index <= 2; ++index) {
    FoundImages found = find_images({path("in")}, {});
    take_share(found, {index, 2}, false);
    for (const std::string& name : names(found)) together.push_back(name);
  }
  EXPECT_THAT(together, ElementsAre("a.jpg", "b", "a.png"));

  touch("in/a.jpg.jpg");
  for (std::size_t index = 1; index <= 2; ++index) {
    FoundImages found = find_images({path("in")}, {});
    EXPECT_THROW(take_share(found, {index, 2}, false), ConfigError);
  }
}

}  // namespace
}  // namespace diacut::app
