#include <filesystem>

#include "cli_test.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/output.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

class CliObjects : public CliTest {
 protected:
  /// a.tree: squares of 4 x 4 and of 2 x 2 pixels on a ground; photo.png: the first bright, the
  /// second dark.
  CliObjects() {
    Labels leaves{kWidth, kHeight, 3, {}};
    cv::Mat photo(kHeight, kWidth, CV_8UC1, cv::Scalar(100));
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const bool large = x >= 2 && x < 6 && y >= 2 && y < 6;
        const bool small = x >= 9 && x < 11 && y >= 7 && y < 9;
        leaves.values.push_back(large ? 2 : small ? 3 : 1);
        if (large) photo.at<std::uint8_t>(y, x) = 200;
        if (small) photo.at<std::uint8_t>(y, x) = 20;
      }
    }
    tree_ = {leaves, {{1, 3, 0.25F}, {2, 4, 0.5F}}, 0.3};
    check(tree_);
    write_tree(path("a.tree"), tree_);
    write_picture("photo.png", photo);
  }

  /// What recut does needs no device.
  Result objects(const std::string& line) const {
    return segment("recut a.tree -o x.png " + line, kNoDevice);
  }

  /// How many pixels of x.png have a label.
  std::vector<int> areas() const {
    const cv::Mat read = read_picture("x.png");
    std::vector<int> found;
    for (int label = 1; cv::countNonZero(read == label) > 0; ++label) {
      found.push_back(cv::countNonZero(read == label));
    }
    return found;
  }

  Hierarchy tree_;
};

TEST_F(CliObjects, ThoseThatMeetTheConditions) {
  const Result both = expect_done(objects("--objects --area :20"));
  EXPECT_THAT(both.err, HasSubstr("a.tree: 2 objects"));
  EXPECT_THAT(areas(), ElementsAre(16, 4));
  EXPECT_EQ(read_picture("x.png").at<std::uint16_t>(0, 0), 0);
  expect_done(objects("--objects --area 5:20"));
  EXPECT_THAT(areas(), ElementsAre(16));
  expect_done(objects("--objects --area 1%:5%"));
  EXPECT_THAT(areas(), ElementsAre(4));
  expect_done(objects("--objects --area :20 --contrast 0.3:"));
  EXPECT_THAT(areas(), ElementsAre(16));
  expect_done(objects("--objects --contrast :0.3 --solidity 1:"));
  EXPECT_THAT(areas(), ElementsAre(4));
  expect_done(objects("--objects --area :20 --darker 0.1 --image photo.png"));
  EXPECT_THAT(areas(), ElementsAre(4));
  expect_done(objects("--objects --area :20 --brighter 0.1 --image photo.png"));
  EXPECT_THAT(areas(), ElementsAre(16));
  expect_error(objects("--objects --area 20:1%"), 2, {"area", "from 20 to 1.92"});
}

TEST_F(CliObjects, NoObjectIsANoteAndLabelsOfZero) {
  for (const std::string condition : {"--area 500:", "--area :1", "--area 95%:", "--contrast 0.9:",
                                      "--solidity :0.1", "--brighter 1 --image photo.png"}) {
    SCOPED_TRACE(condition);
    const Result none = expect_done(objects("--objects " + condition));
    EXPECT_THAT(none.err, HasSubstr("segment: note: a.tree: There is no object"));
    EXPECT_THAT(none.err, HasSubstr("0 objects"));
    EXPECT_EQ(cv::countNonZero(read_picture("x.png")), 0);
    std::filesystem::remove(path("x.png"));
  }
}

TEST_F(CliObjects, TheBackgroundIsInNoOtherResult) {
  for (const auto& [area, count] : {std::pair(":20", 2), std::pair("500:", 0)}) {
    expect_done(
        objects(fmt::format("--objects --area {} --image photo.png --overlay o.png --coco c.json "
                            "--table t.csv --geojson g.geojson --yolo y.txt --svg s.svg --labelme "
                            "l.json --label-studio ls.json --cvat v.xml --region-graph g.graphml",
                            area)));
    const auto times = [&](const std::string& text, const std::string& part) {
      int found = 0;
      for (std::size_t at = text.find(part); at != std::string::npos;
           at = text.find(part, at + 1)) {
        ++found;
      }
      return found;
    };
    EXPECT_EQ(times(read("t.csv"), "\n"), 1 + count);
    EXPECT_EQ(times(read("y.txt"), "\n"), count);
    EXPECT_EQ(times(read("c.json"), "\"bbox\""), count);
    EXPECT_EQ(times(read("g.geojson"), "\"Polygon\""), count);
    EXPECT_EQ(times(read("g.graphml"), "<node "), count);
  }
}

}  // namespace
}  // namespace diacut::testing
