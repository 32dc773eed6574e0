#include <nlohmann/json.hpp>
#include <opencv2/imgcodecs.hpp>

#include "cli_test.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/output.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

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
      expect_done(segment("recut a.tree --min-size 1 --image photo.png --coco c.json --yolo y.txt "
                          "--table t.csv --region-graph g.csv"));
  EXPECT_THAT(result.err, HasSubstr("--coco: 1 of 3 regions have holes"));
  EXPECT_THAT(files(),
              UnorderedElementsAre("a.tree", "photo.png", "c.json", "y.txt", "t.csv", "g.csv"));
  EXPECT_EQ(Json::parse(read("c.json"))["images"][0]["file_name"], "photo.png");
  EXPECT_EQ(read("g.csv"), "source,target,length,merge_height\n1,2,12,0.75\n1,3,8,0.25\n");
}

TEST_F(CliAnnotations, PlacesThatCannotBeWrittenToAreToldBeforeTheWork) {
  write_pictures({"photos/b.png"});
  make_folder("out");
  expect_error(segment("recut a.tree --geojson nowhere/x.geojson"), 3, {"nowhere/x.geojson"});
  expect_error(segment("photos --cvat nowhere/c.xml"), 3, {"nowhere/c.xml"});
  expect_error(segment("photos --cvat out"), 3, {"out"});
  EXPECT_THAT(files(), UnorderedElementsAre("a.tree", "photo.png", "photos/b.png"));
}

TEST_F(CliAnnotations, AFolderInWhichEveryImageFailsHasNoFileOfThem) {
  make_folder("photos");
  write("photos/a.png", "no picture");
  const Result result = segment("photos --coco c.json --cvat c.xml");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_FALSE(exists("c.json"));
  EXPECT_FALSE(exists("c.xml"));
}

TEST_F(CliAnnotations, AFolderHasOneFileOfAllImagesButThoseThatFail) {
  write_pictures({"photos/a.png", "photos/deep/b & c.png"});
  write("photos/b.png", "no picture");
  const std::string line =
      "photos --boundary gradient --regions 2 --coco c.json --cvat c.xml --labelme lm";
  EXPECT_EQ(segment(line).exit_code, 3);
  EXPECT_THAT(files(), Not(::testing::Contains(HasSubstr("tmp"))));
  const Json coco = Json::parse(read("c.json"));
  ASSERT_EQ(coco["images"].size(), 2u);
  EXPECT_EQ(coco["images"][0]["id"], 1);
  EXPECT_EQ(coco["images"][1]["id"], 3);
  EXPECT_EQ(coco["images"][1]["file_name"], "deep/b & c.png");
  EXPECT_EQ(coco["annotations"].size(), 4u);
  EXPECT_EQ(coco["annotations"][3]["id"], 4);
  EXPECT_EQ(coco["annotations"][3]["image_id"], 3);
  EXPECT_THAT(read("c.xml"), HasSubstr("<image id=\"2\" name=\"deep/b &amp; c.png\""));
  EXPECT_EQ(Json::parse(read("lm/deep/b & c.json"))["imagePath"], "../../photos/deep/b & c.png");
  const std::string again = read("c.json") + read("c.xml");
  EXPECT_EQ(segment(line).exit_code, 3);
  EXPECT_EQ(read("c.json") + read("c.xml"), again);
}

TEST_F(CliAnnotations, TablesHaveTheNumbersOfTheFile) {
  cv::Mat photo(kHeight, kWidth, CV_16UC3, cv::Scalar(300, 200, 100));
  photo.at<cv::Vec3w>(3, 3) = {340, 200, 104};
  ASSERT_TRUE(cv::imwrite(path("deep.png"), photo));
  expect_done(segment("recut a.tree --min-size 1 --image deep.png --table t.csv"));
  EXPECT_THAT(read("t.csv"),
              HasSubstr(",mean_red,std_red,min_red,max_red,median_red,integrated_red,"));
  EXPECT_THAT(read("t.csv"), HasSubstr(",101,1.7320508075688772,100,104,100,404,"));
  expect_done(segment("recut a.tree --min-size 1 --image deep.png --table b.csv --measure blue,1"));
  EXPECT_THAT(read("b.csv"), HasSubstr(",310,17.320508075688775,300,340,300,1240,101,"));
  EXPECT_THAT(read("b.csv"), Not(HasSubstr("green")));
  expect_error(segment("recut a.tree --image deep.png --table c.csv --measure DAPI"), 3,
               {"deep.png", "DAPI", "red, green, blue"});
}

TEST_F(CliAnnotations, TreesOfAFolderAreCutIntoOneFile) {
  for (const char* name : {"trees", "trees/deep", "photos", "photos/deep"}) make_folder(name);
  for (const char* name : {"a", "deep/b"}) {
    write_tree(path(std::string("trees/") + name + ".tree"), read_tree(path("a.tree")));
    write_picture(std::string("photos/") + name + ".png");
  }
  expect_done(
      segment("recut trees --image photos --min-size 1 -o out --coco c.json --cvat c.xml --table "
              "t.csv --yolo y"));
  const Json coco = Json::parse(read("c.json"));
  ASSERT_EQ(coco["images"].size(), 2u);
  EXPECT_EQ(coco["images"][1]["file_name"], "deep/b.png");
  EXPECT_EQ(coco["annotations"].size(), 6u);
  EXPECT_THAT(read("c.xml"), HasSubstr("name=\"deep/b.png\""));
  EXPECT_THAT(read("t.csv"),
              ::testing::AllOf(::testing::StartsWith("file,page,label,"), HasSubstr("\na.png,1,1,"),
                               HasSubstr("\ndeep/b.png,1,3,")));
  EXPECT_TRUE(exists("out/deep/b.png"));
  EXPECT_TRUE(exists("y/deep/b.txt"));
  write("trees/c.tree", "no tree");
  write_picture("photos/c.png");
  const Result partly = segment("recut trees --image photos --min-size 1 --coco d.json");
  EXPECT_EQ(partly.exit_code, 3);
  EXPECT_THAT(partly.err, HasSubstr("2 done, 1 failed"));
  EXPECT_EQ(Json::parse(read("d.json"))["images"].size(), 2u);
  make_folder("empty");
  expect_error(segment("recut empty -o out"), 3, {"empty", ".tree"});
}

TEST_F(CliAnnotations, LabelsOfAnyProgramBecomeAnnotations) {
  cv::Mat labels(kHeight, kWidth, CV_16U, cv::Scalar(0));
  labels(cv::Rect(1, 1, 3, 2)) = 700;
  labels(cv::Rect(5, 1, 2, 2)) = 9;
  ASSERT_TRUE(cv::imwrite(path("labels.png"), labels));
  write("c.csv", "9,cell\n700,debris\n");
  expect_done(
      segment("annotate labels.png --image photo.png --coco c.json --table t.csv --class c.csv -o "
              "same.png"));
  const Json coco = Json::parse(read("c.json"));
  ASSERT_EQ(coco["annotations"].size(), 2u);
  EXPECT_EQ(coco["annotations"][0]["attributes"]["label"], 9);
  EXPECT_EQ(coco["annotations"][1]["area"], 6);
  EXPECT_EQ(coco["annotations"][1]["category_id"], 2);
  EXPECT_THAT(read("t.csv"), HasSubstr("\n700,6,1,1,3,2,2,1.5,"));
  EXPECT_EQ(cv::countNonZero(read_picture("same.png") != labels), 0);
  write("c.csv", "9,cell\n701,debris\n");
  expect_error(segment("annotate labels.png --image photo.png --coco d.json --class c.csv"), 3,
               {"c.csv", "701", "debris"});
  write_picture("small.png", 5, 4);
  expect_error(segment("annotate labels.png --image small.png --coco d.json"), 3,
               {"small.png", "labels.png"});
  EXPECT_FALSE(exists("d.json"));
}

TEST_F(CliAnnotations, PolygonsAreSimplified) {
  expect_done(segment("recut a.tree --min-size 1 --svg s.svg --simplify 2"));
  EXPECT_THAT(read("s.svg"), HasSubstr("\"M4 2V4H2Z\""));
}

}  // namespace
}  // namespace diacut::testing
