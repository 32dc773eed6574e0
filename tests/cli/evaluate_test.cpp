#include <nlohmann/json.hpp>
#include <opencv2/imgproc.hpp>
#include <regex>
#include <sstream>

#include "cli_test.hpp"
#include "mat_writer.hpp"
#include "matchers.hpp"
#include "output/npy.hpp"

namespace diacut::testing {
namespace {

using nlohmann::json;

void expect_evaluate_error(const Result& result, int exit_code,
                           const std::vector<std::string>& parts) {
  expect_error(result, exit_code, parts, "diacut-evaluate");
}

/// Ground truth of images of 40 x 30 pixels: a left and a right half, by two people who agree.
class CliEvaluate : public CliTest {
 protected:
  static constexpr int kWide = 40;
  static constexpr int kHigh = 30;

  CliEvaluate() {
    make_folder("truth");
    make_folder("results");
  }

  static int label(int x) { return x < kWide / 2 ? 1 : 2; }
  static bool is_boundary(int x) { return x == kWide / 2 - 1; }

  void write_truth(const std::string& name) const {
    WrittenAnnotation one;
    for (int i = 0; i < kWide * kHigh; ++i) {
      one.segmentation.push_back(static_cast<std::uint16_t>(label(i % kWide)));
      one.boundaries.push_back(is_boundary(i % kWide) ? 1 : 0);
    }
    write_ground_truth_mat(path("truth/" + name + ".mat"), kWide, kHigh, {one, one});
  }

  /// Contours of this strength where the ground truth has boundaries; with `wrong` one boundary
  /// more, of half the strength.
  void write_ultrametric(const std::string& name, double strength, bool wrong = false) const {
    std::vector<double> map;
    constexpr int kColumns = 2 * kWide + 1;
    for (int i = 0; i < kColumns * (2 * kHigh + 1); ++i) {
      const int x = i % kColumns;
      map.push_back(x == kWide ? strength : wrong && x == kWide / 2 ? strength / 2 : 0);
    }
    write_matrix_mat(path("results/" + name + ".mat"), "ucm2", kColumns, 2 * kHigh + 1, map);
  }

  void write_contours(const std::string& name, bool blurred) const {
    cv::Mat map(kHigh, kWide, CV_8U, cv::Scalar(0));
    map.col(kWide / 2 - 1) = 200;
    if (blurred) cv::GaussianBlur(map, map, {9, 9}, 2);
    write_picture("results/" + name + ".png", map);
  }

  void write_label_file(const std::string& name, int width = kWide, int height = kHigh) const {
    cv::Mat labels(height, width, CV_16U);
    for (int x = 0; x < width; ++x) labels.col(x) = label(x);
    write_picture("results/" + name + ".png", labels);
  }
};

TEST_F(CliEvaluate, HierarchiesGetAllScores) {
  for (const char* name : {"a", "b"}) write_truth(name);
  write_ultrametric("a", 0.8);
  write_ultrametric("b", 0.6, true);
  const Result result = expect_done(
      evaluate("results --truth truth --json scores.json --csv scores.csv --plot curve.png"));
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(result.out, HasSubstr("2 images, ultrametric maps (detected), 99 thresholds"));
  EXPECT_TRUE(std::regex_search(result.out, std::regex("\n  ODS +1\\.0000 ")));
  EXPECT_TRUE(std::regex_search(result.out, std::regex("\n  covering +1\\.0000 ")));

  const json scores = json::parse(read("scores.json"));
  EXPECT_EQ(scores["kind"], "ultrametric");
  EXPECT_EQ(scores["boundaries"]["ods"]["f"], 1);
  EXPECT_EQ(scores["boundaries"]["ois"]["f"], 1);
  EXPECT_EQ(scores["regions"]["covering"]["ods"], 1);
  EXPECT_EQ(scores["regions"]["covering"]["best"], 1);
  EXPECT_EQ(scores["regions"]["vi"]["ods"], 0);
  EXPECT_EQ(scores["thresholds"].size(), 99u);
  ASSERT_EQ(scores["images"].size(), 2u);
  const json& b = scores["images"][1];
  EXPECT_EQ(b["name"], "b");
  EXPECT_EQ(b["annotators"], 2);
  // At .3 the wrong boundary of b counts too, and half of the boundaries found are wrong.
  EXPECT_EQ(b["boundaries"]["counts"]["found"][29], 2 * kHigh);
  EXPECT_EQ(b["boundaries"]["counts"]["found_matched"][29], kHigh);
  EXPECT_EQ(b["boundaries"]["counts"]["truth"][29], 2 * kHigh);
  EXPECT_EQ(b["boundaries"]["counts"]["found"][30], kHigh);
  EXPECT_EQ(b["boundaries"]["counts"]["found"][60], 0);

  std::istringstream table(read("scores.csv"));
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line,
            "name,width,height,annotators,f,threshold,recall,precision,covering,"
            "covering_threshold,best_covering,pri,vi");
  std::getline(table, line);
  EXPECT_EQ(line,
            "a,40,30,2,1.000000,0.010000,1.000000,1.000000,1.000000,0.010000,1.000000,"
            "1.000000,0.000000");

  const cv::Mat plot = read_picture("curve.png");
  EXPECT_EQ(plot.rows, plot.cols);
  cv::Mat red;
  cv::inRange(plot, cv::Scalar(0, 0, 150), cv::Scalar(90, 90, 255), red);
  EXPECT_GT(cv::countNonZero(red), 100);  // The curve, or at least its dot.
}

TEST_F(CliEvaluate, JobsDoNotChangeAByte) {
  for (int i = 0; i < 7; ++i) {
    write_truth(std::to_string(i));
    write_ultrametric(std::to_string(i), 0.1 + 0.1 * i, i % 2 == 0);
  }
  expect_done(evaluate("results --truth truth --jobs 1 --json a.json"));
  expect_done(evaluate("results --truth truth --jobs 4 --json b.json"));
  EXPECT_EQ(read("a.json"), read("b.json"));
}

TEST_F(CliEvaluate, LabelsHaveNoThresholds) {
  write_truth("a");
  write_label_file("a");
  const Result result = expect_done(evaluate("results --truth truth --csv -"));
  EXPECT_EQ(result.out,
            "name,width,height,annotators,f,recall,precision,covering,pri,vi\n"
            "a,40,30,2,1.000000,1.000000,1.000000,1.000000,1.000000,0.000000\n");
  // The table goes to standard error, because standard output holds the scores.
  EXPECT_THAT(result.err, HasSubstr("1 image, label images (detected)"));
}

TEST_F(CliEvaluate, ThickContoursAreNotedAndSuppressedOnRequest) {
  write_truth("a");
  write_contours("a", true);
  const Result thick = expect_done(evaluate("results --truth truth"));
  EXPECT_THAT(thick.out, HasSubstr("contour maps (detected), not suppressed"));
  const Result thin = expect_done(evaluate("results --truth truth --suppress --json x.json"));
  EXPECT_THAT(thin.out, HasSubstr("non-maxima suppressed"));
  EXPECT_THAT(thin.out, Not(HasSubstr("Regions")));
  EXPECT_THAT(thin.err, IsEmpty());
  EXPECT_EQ(json::parse(read("x.json"))["suppressed"], true);

  write_contours("a", false);
  const Result sharp = expect_done(evaluate("results --truth truth --kind contours"));
  EXPECT_THAT(sharp.err, IsEmpty());
  EXPECT_TRUE(std::regex_search(sharp.out, std::regex("\n  ODS +1\\.0000 ")));
}

TEST_F(CliEvaluate, ScoresCanBeLeftOut) {
  write_truth("a");
  write_ultrametric("a", 0.5);
  const Result regions = expect_done(evaluate("results --truth truth --no-boundaries"));
  EXPECT_THAT(regions.out, Not(HasSubstr("Boundaries")));
  EXPECT_THAT(regions.out, HasSubstr("covering"));
  EXPECT_THAT(evaluate("results --truth truth --thresholds 9").out, HasSubstr("9 thresholds"));
  expect_evaluate_error(evaluate("results --truth truth --suppress"), 2,
                        {"--suppress", "ultrametric"});
}

TEST_F(CliEvaluate, MissingResultsAreAnErrorUnlessPartial) {
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) write_truth(name);
  write_ultrametric("c", 0.5);
  expect_evaluate_error(evaluate("results --truth truth"), 3,
                        {"6 (a, b, d, e, f, ...)", "of the 7 images", "--partial"});
  const Result partial = expect_done(evaluate("results --truth truth --partial"));
  EXPECT_THAT(partial.out, HasSubstr("1 image,"));
  EXPECT_THAT(partial.err, HasSubstr("without a result: 6 (a, b, d, e, f, ...)"));
}

TEST_F(CliEvaluate, ResultsWithoutGroundTruthAreLeftOut) {
  write_truth("a");
  write_ultrametric("a", 0.5);
  write_ultrametric("z", 0.5);
  const Result result = expect_done(evaluate("results --truth truth"));
  EXPECT_THAT(result.out, HasSubstr("1 image,"));
  EXPECT_THAT(result.err, HasSubstr("without ground truth, left out: 1 (z)"));
}

TEST_F(CliEvaluate, NamesThatHaveNothingInCommon) {
  write_truth("a");
  write_ultrametric("a_result", 0.5);
  expect_evaluate_error(evaluate("results --truth truth"), 3,
                        {"no result has the name", "1 (a_result)", "1 (a)"});
}

TEST_F(CliEvaluate, WrongSizesNameBothAndDoNotStopTheOthers) {
  for (const char* name : {"a", "b", "c"}) write_truth(name);
  write_label_file("a");
  write_label_file("b", kWide + 1, kHigh);
  write_label_file("c", kHigh, kWide);
  const Result result = evaluate("results --truth truth --json x.json");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("results/b.png: is 41 x 30, its ground truth 40 x 30"));
  EXPECT_THAT(result.err, HasSubstr("results/c.png: is 30 x 40"));
  EXPECT_THAT(result.err, HasSubstr("turned"));
  EXPECT_THAT(result.err, HasSubstr("2 of 3 images could not be scored"));
  EXPECT_FALSE(exists("x.json"));
  const Result partial = evaluate("results --truth truth --partial");
  EXPECT_EQ(partial.exit_code, 3);
  EXPECT_THAT(partial.out, HasSubstr("1 image,"));
}

TEST_F(CliEvaluate, DamagedFilesAreNamed) {
  write_truth("a");
  write_truth("b");
  write_ultrametric("a", 0.5);
  write_ultrametric("b", 0.5);
  write("results/b.mat", read("results/b.mat").substr(0, 200));
  const Result result = evaluate("results --truth truth");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, HasSubstr("results/b.mat: the MATLAB file is damaged or cut off"));
  EXPECT_THAT(result.err, HasSubstr("1 of 2 images could not be scored"));
  write("truth/a.mat", "nonsense");
  expect_evaluate_error(evaluate("results --truth truth"), 3, {"truth/a.mat", "MATLAB"});
}

TEST_F(CliEvaluate, ATerminalSeesHowFarItIs) {
  for (int i = 0; i < 12; ++i) {
    write_truth(std::to_string(i));
    write_ultrametric(std::to_string(i), 0.5);
  }
  const Result result = expect_done(evaluate("results --truth truth", {.terminal_width = 80}));
  EXPECT_THAT(result.err, HasSubstr("/12"));
  EXPECT_THAT(evaluate("results --truth truth").err, IsEmpty());
  EXPECT_THAT(evaluate("results --truth truth -q", {.terminal_width = 80}).err, IsEmpty());
}

TEST_F(CliEvaluate, ObjectsAreCounted) {
  make_folder("objects");
  cv::Mat truth = cv::Mat::zeros(kHigh, kWide, CV_16U);
  truth(cv::Rect(2, 2, 10, 10)) = 1;
  truth(cv::Rect(20, 2, 10, 10)) = 2;
  truth(cv::Rect(2, 15, 10, 10)) = 3;
  cv::Mat found = cv::Mat::zeros(kHigh, kWide, CV_16U);
  found(cv::Rect(2, 2, 10, 10)) = 4;  // The first one exactly.
  found(cv::Rect(20, 2, 6, 10)) = 5;  // .6 and .4 of the second one.
  found(cv::Rect(26, 2, 4, 10)) = 6;
  write_picture("objects/a.png", truth);
  write_picture("results/a.png", found);
  write_picture("objects/b,c.png", cv::Mat::zeros(kHigh, kWide, CV_16U));
  write_picture("results/b,c.png", cv::Mat::zeros(kHigh, kWide, CV_16U));
  const Result result =
      expect_done(evaluate("results --truth objects --objects --json x.json --csv x.csv -v"));
  EXPECT_THAT(result.out, HasSubstr("3 found, 3 true, 2 match; 1 split, 0 merged"));
  EXPECT_THAT(result.out, Not(HasSubstr("Boundaries")));
  EXPECT_TRUE(std::regex_search(
      result.out,
      std::regex("\n  IoU 0\\.60 +0\\.6667 +0\\.6667 +0\\.6667 +0\\.5000 +0\\.7500\n")));
  EXPECT_THAT(result.err, HasSubstr("a:  F1 0.6667  AP 0.5000  (3 found, 3 true)"));
  const json scores = json::parse(read("x.json"));
  const json& objects = scores["objects"];
  ASSERT_EQ(objects["matches"].size(), 10u);
  EXPECT_EQ(objects["matches"][2]["matched"], 2);
  EXPECT_EQ(objects["matches"][3]["matched"], 1);
  EXPECT_DOUBLE_EQ(objects["matches"][3]["ap"], 0.2);
  EXPECT_NEAR(objects["mean_ap"].get<double>(), (3 * 0.5 + 7 * 0.2) / 10, 1e-12);
  EXPECT_NEAR(objects["image_means"]["mean_ap"].get<double>(), (0.29 + 1) / 2, 1e-12);
  EXPECT_EQ(scores["images"][0]["objects"]["splits"], 1);
  EXPECT_FALSE(scores.contains("boundaries"));
  EXPECT_EQ(
      read("x.csv"),
      "name,width,height,annotators,found,truth,matched,f1,precision,recall,ap,mean_ap,splits,"
      "merges\n"
      "a,40,30,1,3,3,2,0.666667,0.666667,0.666667,0.500000,0.290000,1,0\n"
      "\"b,c\",40,30,1,0,0,0,1.000000,1.000000,1.000000,1.000000,1.000000,0,0\n");

  write_truth("a");
  const Result two = evaluate("results --truth truth --objects");
  EXPECT_EQ(two.exit_code, 3);
  EXPECT_THAT(two.err, HasSubstr("results/a.png: objects are scored against one annotator"));
}

TEST_F(CliEvaluate, FoldersThatAreNotThereOrCannotBeWrittenTo) {
  write_truth("a");
  write_ultrametric("a", 0.5);
  expect_evaluate_error(evaluate("missing --truth truth"), 3, {"missing"});
  expect_evaluate_error(evaluate("results --truth missing"), 3, {"missing"});
  expect_evaluate_error(evaluate("truth --truth results"), 3, {"a.mat"});
  expect_evaluate_error(evaluate("results --truth truth --json no/such/x.json"), 3, {"no/such"});
  make_folder("empty");
  expect_evaluate_error(evaluate("empty --truth truth"), 3, {"empty", "no results"});
  expect_evaluate_error(evaluate("results --truth empty"), 3, {"empty", "no ground truth"});
}

}  // namespace
}  // namespace diacut::testing
