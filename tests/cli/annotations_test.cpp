#include <nlohmann/json.hpp>

#include "cli_test.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/output.hpp"

namespace diacut::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using Json = nlohmann::json;

class CliAnnotations : public CliTest {
 protected:
  /// a.tree: two regions side by side, of which the first encloses a third.
  CliAnnotations() {
    Hierarchy tree;
    tree.leaves = Labels{kWidth, kHeight, 3, {}};
    for (int i = 0; i < kWidth * kHeight; ++i) {
      const int x = i % kWidth;
      const int y = i / kWidth;
      const bool inner = x > 1 && x < 4 && y > 1 && y < 4;
      tree.leaves.values.push_back(x >= kWidth / 2 ? 2 : inner ? 3 : 1);
    }
    tree.merges = {{1, 3, 0.25F}, {2, 4, 0.75F}};
    tree.threshold = 0.125;
    write_tree(path("a.tree"), tree);
    write_picture("photo.png");
  }
};

TEST_F(CliAnnotations, RecutWritesThemWithoutLabels) {
  const Result result =
      segment({"recut", "a.tree", "--min-size", "1", "--image", "photo.png", "--coco", "c.json",
               "--yolo", "y.txt", "--table", "t.csv", "--graph", "g.csv"});
  expect_done(result);
  EXPECT_THAT(result.err, HasSubstr("--coco: 1 of 3 regions have holes"));
  EXPECT_THAT(files(),
              UnorderedElementsAre("a.tree", "photo.png", "c.json", "y.txt", "t.csv", "g.csv"));
  EXPECT_EQ(Json::parse(read("c.json"))["images"][0]["file_name"], "photo.png");
  EXPECT_EQ(read("g.csv"), "source,target,length,merge_height\n1,2,12,0.75\n1,3,8,0.25\n");
}

TEST_F(CliAnnotations, WhatMakesNoSenseIsRefusedAndWritesNothing) {
  const auto recut = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"recut", "a.tree"});
    return segment(arguments);
  };
  expect_error(recut({"--coco", "c.json"}), 2, {"--coco", "--image"});
  expect_error(recut({"-o", "x.png", "--rle"}), 2, {"--rle", "--coco"});
  expect_error(recut({"--graph", "g.txt"}), 2, {"g.txt", ".graphml"});
  expect_error(recut({"--svg", "-"}), 2, {"--svg", "standard output"});
  expect_error(recut({"--svg", "x", "--table", "x"}), 2, {"--svg", "--table", "'x'"});
  expect_error(recut({"--geojson", "nowhere/x.geojson"}), 3, {"nowhere/x.geojson"});
  expect_error(segment({"photo.png", "--rle"}), 2, {"--rle", "--coco"});
  expect_error(segment({"photo.png", "--graph", "g.txt"}), 2, {"g.txt", ".graphml"});
  expect_error(segment({"photo.png", "--coco", ""}), 2, {"--coco", "empty"});
  expect_error(segment({"photo.png", "--coco", "photo.png"}), 2, {"--coco", "overwritten"});
  make_folder("photos");
  write_picture("photos/b.png");
  expect_error(segment({"photos", "--coco", "c.json", "--skip-existing"}), 2,
               {"--coco", "--skip-existing"});
  expect_error(segment({"photos", "--cvat", "nowhere/c.xml"}), 3, {"nowhere/c.xml"});
  make_folder("out");
  expect_error(segment({"photos", "--cvat", "out"}), 3, {"out"});
  EXPECT_THAT(files(), UnorderedElementsAre("a.tree", "photo.png", "photos/b.png"));
}

TEST_F(CliAnnotations, AFolderInWhichEveryImageFailsHasNoFileOfThem) {
  make_folder("photos");
  write("photos/a.png", "no picture");
  const Result result = segment({"photos", "--coco", "c.json", "--cvat", "c.xml"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_FALSE(exists("c.json"));
  EXPECT_FALSE(exists("c.xml"));
}

TEST_F(CliAnnotations, AFolderHasOneFileOfAllImages) {
  for (const char* name : {"photos", "photos/deep"}) make_folder(name);
  for (const char* name : {"photos/a.png", "photos/deep/b & c.png"}) write_picture(name);
  expect_done(segment({"photos", "--cue", "gradient", "--regions", "2", "--coco", "c.json",
                       "--cvat", "c.xml", "--labelme", "lm"}));
  EXPECT_THAT(files(), Not(::testing::Contains(HasSubstr("tmp"))));
  const Json coco = Json::parse(read("c.json"));
  ASSERT_EQ(coco["images"].size(), 2u);
  EXPECT_EQ(coco["images"][1]["file_name"], "deep/b & c.png");
  EXPECT_EQ(coco["annotations"].size(), 4u);
  EXPECT_EQ(coco["annotations"][3]["id"], 4);
  EXPECT_THAT(read("c.xml"), HasSubstr("<image id=\"1\" name=\"deep/b &amp; c.png\""));
  EXPECT_EQ(Json::parse(read("lm/deep/b & c.json"))["imagePath"], "../../photos/deep/b & c.png");
}

}  // namespace
}  // namespace diacut::testing
