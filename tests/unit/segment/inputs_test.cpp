#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "diacut/errors.hpp"
#include "find_images.hpp"
#include "map_files.hpp"
#include "matchers.hpp"
#include "reader.hpp"
#include "temp_folder.hpp"

namespace diacut::app {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::message_of;
using ::testing::Pair;

/// The names of the results, whose extension is not shown.
std::vector<std::string> names_of(const FoundImages& found) {
  std::vector<std::string> names;
  for (const FoundImage& image : found.images) names.push_back(image.name.string());
  return names;
}

TEST(LayOn, ValuesOfASceneComeToItsPixels) {
  const testing::TempFolder folder;
  // 1 to 6 in the rows of a scene of 3 x 2 pixels, as each file stores them.
  const testing::SceneFile scene{
      .width = 3, .height = 2, .value = [](int, int x, int y) { return 3 * y + x + 1; }};
  testing::write_scene(folder / "scene.tif", scene);
  const std::optional<MapFrame> frame = read_map_frame(folder / "scene.tif");
  struct Stored {
    std::vector<double> transform;
    std::vector<int> values;
    int width;
  };
  for (const auto& [transform, stored, width] :
       {Stored{{500'000, 10, 0, 5'200'000, 0, -10}, {1, 2, 3, 4, 5, 6}, 3},
        Stored{{500'030, -10, 0, 5'200'000, 0, -10}, {3, 2, 1, 6, 5, 4}, 3},
        Stored{{500'000, 10, 0, 5'199'980, 0, 10}, {4, 5, 6, 1, 2, 3}, 3},
        Stored{{500'030, 0, -10, 5'200'000, -10, 0}, {3, 6, 2, 5, 1, 4}, 2},
        Stored{{500'000, 0, 10, 5'199'980, 10, 0}, {4, 1, 5, 2, 6, 3}, 2}}) {
    testing::SceneFile file{.width = width, .height = 6 / width, .transform = transform};
    file.value = [](int, int, int) { return 1; };
    testing::write_scene(folder / "labels.tif", file);
    std::vector<int> values = stored;
    int columns = width;
    int rows = 6 / width;
    lay_on(frame, folder / "labels.tif", columns, rows, values);
    EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_EQ(columns, 3);
    EXPECT_EQ(rows, 2);
  }
}

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

  std::vector<std::string> names(const std::string& text, BatchOptions options = {}) const {
    return names_of(found(text, std::move(options)));
  }

  std::string error(const std::string& text, const BatchOptions& options = {},
                    bool pages = false) const {
    return message_of<Error>([&] { found(text, options, {}, pages); });
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

class FindImages : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_ / name; }
  void touch(const std::string& name) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name)) << "x";
  }

 private:
  diacut::testing::TempFolder folder_;
};

TEST_F(FindImages, SeveralInputsKeepTheirFoldersNames) {
  for (const char* name : {"in/a.png", "more/a.png", "single.v2.png"}) touch(name);
  EXPECT_THAT(names_of(find_images({path("in"), path("more/"), path("single.v2.png"), "-"}, {})),
              ElementsAre("in/a", "more/a", "single.v2", "stdin"));
  EXPECT_THAT(names_of(find_images({path("in"), path("in/."), path("in/a.png")}, {})),
              ElementsAre("in/a", "a"));
}

TEST_F(FindImages, AnInputOfWhichNothingIsKnownDoesNotStopTheOthers) {
  touch("in/a.png");
  fs::create_symlink("endless", path("endless"));
  const FoundImages found = find_images({path("endless"), path("in")}, {});
  EXPECT_THAT(names_of(found), ElementsAre("in/a"));
  ASSERT_EQ(found.failures.size(), 1U);
  EXPECT_EQ(found.failures.front().code, ExitCode::kInputOutput);
  EXPECT_THAT(found.failures.front().message, HasSubstr("endless"));
}

TEST_F(FindImages, AFolderThatCannotBeReadIsAFailure) {
  const FoundImages found = find_images({path("nowhere.png")}, {});
  EXPECT_THAT(names_of(found), ElementsAre("nowhere"));  // Reading it will fail.
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
  EXPECT_THAT(names_of(rest), ElementsAre("b"));
  ASSERT_EQ(rest.failures.size(), 1u);
  EXPECT_EQ(rest.failures[0].code, ExitCode::kInputOutput);
  EXPECT_THAT(rest.failures[0].message, HasSubstr("in/closed"));
}

TEST_F(FindImages, ImagesOfOneNameAreRefusedInEachShare) {
  for (const char* name : {"in/a.jpg", "in/a.png", "in/b.png", "in/a.jpg.jpg"}) touch(name);
  for (std::size_t index = 1; index <= 2; ++index) {
    FoundImages found = find_images({path("in")}, {});
    EXPECT_THROW(take_share(found, {index, 2}, false), ConfigError);
  }
}

/// The share that "auto" means where these variables are set.
std::pair<std::size_t, std::size_t> share_by(const std::map<std::string, std::string>& variables) {
  const Shard shard = parse_shard("auto", "segment", "images", [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
  return {shard.index, shard.count};
}

std::string error_by(const std::map<std::string, std::string>& variables) {
  return message_of<ConfigError>([&] { share_by(variables); });
}

std::map<std::string, std::string> slurm(std::size_t id, std::size_t first, std::size_t last,
                                         std::size_t count, std::size_t step) {
  std::map<std::string, std::string> variables;
  for (const auto& [name, number] :
       {std::pair("ID", id), std::pair("MIN", first), std::pair("MAX", last),
        std::pair("COUNT", count), std::pair("STEP", step)}) {
    variables[std::string("SLURM_ARRAY_TASK_") + name] = std::to_string(number);
  }
  return variables;
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

TEST(Shard, OfEachTaskOfTheArraysThatPeopleSubmit) {
  struct Array {
    std::size_t first, last, step, count;
  };
  // --array=1-10, 0-9, 5-9:2, and 2-9:3, whose last task is 8.
  for (const Array& array :
       {Array{1, 10, 1, 10}, Array{0, 9, 1, 10}, Array{5, 9, 2, 3}, Array{2, 8, 3, 3}}) {
    for (std::size_t place = 0; place < array.count; ++place) {
      const std::size_t id = array.first + place * array.step;
      EXPECT_THAT(share_by(slurm(id, array.first, array.last, array.count, array.step)),
                  Pair(place + 1, array.count));
    }
  }
}

TEST(Shard, IsRefusedWhereASlurmArraysNumbersContradictEachOther) {
  EXPECT_THAT(error_by({{"SLURM_ARRAY_TASK_ID", "3"}}), HasSubstr("SLURM_ARRAY_TASK_MIN"));
  for (const auto& wrong : {
           slurm(0, 1, 16, 16, 1),   // Before the first.
           slurm(17, 1, 16, 16, 1),  // After the last.
           slurm(3, 1, 16, 10, 1),   // Another count.
           slurm(3, 1, 9, 5, 0),     // No step.
           slurm(4, 1, 9, 5, 2),     // Between two tasks.
           slurm(5, 9, 1, 9, 1),     // The last before the first.
           slurm(1, 1, 1, 0, 1),     // No task.
       }) {
    EXPECT_THAT(error_by(wrong), AnyOf(HasSubstr("gaps"), HasSubstr("counted from 0")))
        << wrong.at("SLURM_ARRAY_TASK_ID");
  }
  for (const char* number : {"", "-1", "1.5", " 1", "0x1", "99999999999999999999999"}) {
    for (const char* name : {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT"}) {
      auto variables = slurm(1, 1, 2, 2, 1);
      variables[name] = number;
      EXPECT_THAT(error_by(variables), AllOf(HasSubstr(name), HasSubstr("not a number")));
    }
  }
}

TEST(Shard, IsRefusedWhereTwoEnginesTellIt) {
  auto both = slurm(1, 1, 2, 2, 1);
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
