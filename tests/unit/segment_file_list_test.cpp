#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "diacut/errors.hpp"
#include "file_list.hpp"
#include "temp_folder.hpp"

namespace diacut::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
namespace fs = std::filesystem;

class FileListTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }

  /// The images of a list of this text.
  FoundImages found(const std::string& text, BatchOptions options = {},
                    const std::set<Identity>& results = {}, bool pages = false) const {
    std::ofstream(path("list"), std::ios::binary) << text;
    options.list = path("list");
    return list_images(options, results, pages);
  }

  /// The names of the results, whose extension is not shown.
  std::vector<std::string> names(const std::string& text, BatchOptions options = {}) const {
    std::vector<std::string> names;
    for (const FoundImage& image : found(text, std::move(options)).images) {
      names.push_back(image.name.string());
    }
    return names;
  }

  std::string error(const std::string& text, const BatchOptions& options = {},
                    bool pages = false) const {
    try {
      found(text, options, {}, pages);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  static BatchOptions below(const std::string& base) {
    BatchOptions options;
    options.base = base;
    return options;
  }
  static BatchOptions share(std::size_t index, std::size_t count) {
    BatchOptions options;
    options.shard = {index, count};
    return options;
  }

 private:
  diacut::testing::TempFolder folder_;
};

TEST_F(FileListTest, NamesEndWithALineOrANullByte) {
  EXPECT_THAT(names("b.jpg\na.png\n"), ElementsAre("b", "a"));
  EXPECT_THAT(names("b.jpg\r\n\n\r\na.png"), ElementsAre("b", "a"));
  BatchOptions options;
  options.null = true;
  EXPECT_THAT(names(std::string("b\nc.jpg\0a.png\0\0", 15), options), ElementsAre("b\nc", "a"));
  EXPECT_THAT(error(std::string("b.jpg\0a.png\0", 12)), HasSubstr("--null"));
}

TEST_F(FileListTest, InputsStayAsTheyAreNamed) {
  const FoundImages images = found("./x//../b.jpg\n/vsizip/a.zip/c.tif\n");
  EXPECT_EQ(images.images[0].input, "./x//../b.jpg");
  EXPECT_EQ(images.images[1].input, "/vsizip/a.zip/c.tif");
  EXPECT_EQ(images.images[1].name, "c");
}

TEST_F(FileListTest, ResultsKeepTheirPlaceBelowTheBase) {
  EXPECT_THAT(
      names("/data/a/b.jpg\n/data/a/c/b.jpg\n/data/./x/../b.jpg\n/data//d.png\n", below("/data/")),
      ElementsAre("a/b", "a/c/b", "b", "d"));
  // Relative names and bases are those of the current folder.
  EXPECT_THAT(names("a/b.jpg\n./a/c.jpg\n", below(".")), ElementsAre("a/b", "a/c"));
  EXPECT_THAT(
      names("a/b.jpg\n./a/c.jpg\n" + (fs::current_path() / "a/d/e.jpg").string(), below("a")),
      ElementsAre("b", "c", "d/e"));
  EXPECT_THAT(names("a/b.jpg\n", below("..")),
              ElementsAre((fs::current_path().filename() / "a/b").string()));
  EXPECT_THAT(error("/data/a.jpg\n/database/b.jpg\n", below("/data")),
              HasSubstr("'/database/b.jpg' of the list is not below the folder '/data'"));
  EXPECT_THAT(error("/data/../b.jpg\n", below("/data")), HasSubstr("not below"));
}

TEST_F(FileListTest, AFileThatIsNamedAgainIsOneImage) {
  EXPECT_THAT(names("a.jpg\n./a.jpg\nb/../a.jpg\n" + (fs::current_path() / "a.jpg").string()),
              ElementsAre("a"));
}

TEST_F(FileListTest, NamesAndCollisionsAreThoseOfTheWholeList) {
  const std::string equal = "x/a.jpg\nx/a.png\nx/b.png\n";
  EXPECT_THAT(names(equal), ElementsAre("a.jpg", "a.png", "b"));
  EXPECT_THAT(names(equal, share(2, 3)), ElementsAre("a.png"));
  EXPECT_THAT(names(equal, share(3, 4)), ElementsAre("b"));
  EXPECT_THAT(names(equal, share(4, 4)), IsEmpty());
  for (std::size_t index = 1; index <= 4; ++index) {
    EXPECT_THAT(error("x/a.jpg\ny/a.jpg\nx/b.png\nx/c.png\n", share(index, 4)),
                HasSubstr("'x/a.jpg' and 'y/a.jpg'"));
    EXPECT_THAT(error("a.jpg\nb.png\na.png\na.jpg.jpg\n", share(index, 4)),
                HasSubstr("'a.jpg.jpg'"));
  }
}

TEST_F(FileListTest, SharesTogetherAreTheList) {
  std::string text;
  for (int i = 0; i < 100; ++i) text.append(std::to_string(i * 7 % 100)).append(".png\n");
  std::vector<std::string> together;
  for (std::size_t index = 1; index <= 7; ++index) {
    const FoundImages images = found(text, share(index, 7));
    EXPECT_EQ(images.images.size() + images.others, 100u);
    for (const FoundImage& image : images.images) together.push_back(image.input);
  }
  std::sort(together.begin(), together.end());
  EXPECT_EQ(together.size(), 100u);
  EXPECT_EQ(std::unique(together.begin(), together.end()), together.end());
}

TEST_F(FileListTest, PagesThatMayTakeANameOfAnotherShareAreRefused) {
  EXPECT_THAT(error("a.tif\na-12.png\n", share(1, 2), true), HasSubstr("'a-12'"));
  EXPECT_EQ(error("a.tif\nb-12.png\na-x.png\na12.png\n", share(1, 2), true), "");
  EXPECT_EQ(error("a.tif\na-12.png\n", {}, true),
            "");  // A run alone sees how many pages there are.
}

TEST_F(FileListTest, FilesInFoldersOfResultsAreLeftOut) {
  fs::create_directories(path("out/deep"));
  const std::set<Identity> results = {identity(path("out")).value()};
  const FoundImages images = found(
      path("out/a.png") + "\n" + path("out/deep/b.png") + "\n" + path("c.png") + "\n", {}, results);
  ASSERT_EQ(images.images.size(), 1u);
  EXPECT_EQ(images.images[0].input, path("c.png"));
  EXPECT_EQ(images.ignored, 2u);
}

TEST_F(FileListTest, WhatCannotBeAListIsRefused) {
  EXPECT_THAT(error(""), HasSubstr("is empty"));
  EXPECT_THAT(error("\n\n"), HasSubstr("is empty"));
  EXPECT_THAT(error("a.png\n-\n"), HasSubstr("standard input"));
  BatchOptions missing;
  missing.list = path("missing");
  EXPECT_THROW(list_images(missing, {}, false), InputError);
  missing.list = path("");
  EXPECT_THROW(list_images(missing, {}, false), InputError);
}

TEST(WithoutExtension, IsWhatTheStandardLibrarySays) {
  for (const char* name : {"a.png", "a", ".hidden", "a.b/c", "a/.b", "a/b.c.d", "..", ".", "a.",
                           "x/..", "a/..png", ""}) {
    EXPECT_EQ(without_extension(name), fs::path(name).replace_extension().string()) << name;
  }
}

}  // namespace
}  // namespace diacut::app
