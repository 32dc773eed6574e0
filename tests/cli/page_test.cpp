// The page of a merge tree in a real browser: what it cuts, merges, draws and saves. A script does
// what a person does (tests/cli/page_*.js) and tells what it sees.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <sstream>
#include <tuple>

#include "cli_test.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/output.hpp"
#include "drawn_image.hpp"
#include "matchers.hpp"
#include "region/tree/hierarchy.hpp"

namespace diacut::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Values = std::vector<std::int32_t>;

/// Chromium's path, empty where it is not installed.
std::string chromium() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder) / "chromium";
    if (fs::exists(program)) return program.string();
  }
  return {};
}

/// Values renumbered 1, 2, ... in scan order; 0 stays.
Values numbered(const Values& values) {
  std::map<std::int32_t, std::int32_t> number = {{0, 0}};
  Values result;
  for (const std::int32_t value : values) {
    result.push_back(number.emplace(value, static_cast<std::int32_t>(number.size())).first->second);
  }
  return result;
}

class CliPage : public CliTest {
 protected:
  static constexpr int kPageWidth = 160;
  static constexpr int kPageHeight = 120;
  static constexpr std::size_t kClicked = 60 * kPageWidth + 80;  ///< Where the script clicks.

  /// photo.png, and a.tree: regions of noise, some pixels of it without data.
  CliPage() {
    Image noise = noise_image(kPageWidth, kPageHeight, 1, 5);
    std::vector<std::uint8_t> valid(noise.pixels.size(), 1);
    for (std::size_t i = 0; i < 30; ++i) valid[i * kPageWidth + i] = 0;
    std::vector<float> strength = noise.pixels;
    for (std::size_t i = 0; i + 1 < strength.size(); ++i) {
      strength[i] = (strength[i] + strength[i + 1]) / 2;
    }
    tree_ = hierarchy(strength, {}, valid, kPageWidth, kPageHeight, {});
    write_tree(path("a.tree"), tree_);
    cv::Mat photo(kPageHeight, kPageWidth, CV_8UC3);
    cv::randu(photo, 0, 255);
    write_picture("photo.png", photo);
  }

  void recut(const std::string& line) const { expect_done(segment("recut a.tree " + line)); }

  /// The labels that `segment recut` gives.
  Values recut_labels(const std::string& line) const {
    recut(line + " -o labels.png");
    return values_of(read_picture("labels.png"));
  }

  static Values values_of(const cv::Mat& picture) {
    Values values;
    EXPECT_EQ(picture.type(), CV_16UC1);
    for (auto at = picture.begin<std::uint16_t>(); at != picture.end<std::uint16_t>(); ++at) {
      values.push_back(*at);
    }
    return values;
  }

  static std::string script(const std::string& name) {
    std::ifstream file(std::string(DIACUT_SOURCE_DIR) + "/tests/cli/" + name);
    return "<script>" + std::string(std::istreambuf_iterator<char>(file), {}) + "</script>";
  }

  /// What the script tells of a page in a window of this size.
  Json used(const std::string& page, const std::string& name,
            const std::string& window = "1000,700") const {
    std::string text = read(page);
    text.insert(text.rfind("</body>"), script("page_helpers.js") + script(name));
    write("used.html", text);
    Surroundings around;
    around.folder = path("");
    around.limit_seconds = 100;
    const Result result =
        run({chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--window-size=" + window,
             "--user-data-dir=" + path("profile"), "--virtual-time-budget=10000000", "--dump-dom",
             "file://" + path("used.html")},
            around);
    const std::string open = "<pre id=\"result\">";
    const std::size_t start = result.out.find(open);
    if (start == std::string::npos) {
      ADD_FAILURE() << "Chromium ended with " << result.exit_code << ": " << result.err;
      return {};
    }
    const std::size_t begin = start + open.size();
    Json json = Json::parse(result.out.substr(begin, result.out.find("</pre>", begin) - begin));
    EXPECT_FALSE(json.contains("error")) << json["error"];
    return json;
  }

  Hierarchy tree_;
};

std::string bytes_of(const Json& list) {
  std::string bytes;
  for (const int byte : list) bytes += static_cast<char>(byte);
  return bytes;
}

/// What merging and splitting the region at a pixel should give, found from nested cuts.
struct Expected {
  Values merged;
  Values split;
};

Expected expected_changes(const Hierarchy& tree, const Values& six, std::size_t pixel) {
  std::vector<std::string> notes;
  const auto in_region = [&](const Values& labels) {
    std::vector<char> mask;
    for (const std::int32_t label : labels) mask.push_back(label == labels[pixel] ? 1 : 0);
    return mask;
  };
  const std::vector<char> child = in_region(six);
  std::vector<char> parent = child;
  for (int regions = 5; regions >= 1 && parent == child; --regions) {
    parent = in_region(cut_to_count(tree, regions, notes).values);
  }
  EXPECT_NE(parent, child);
  Expected expected{six, six};
  for (std::size_t i = 0; i < six.size(); ++i) {
    if (parent[i] != 0) expected.merged[i] = 1000;
    if (parent[i] != 0 && child[i] == 0) expected.split[i] = 1001;
  }
  return {numbered(expected.merged), numbered(expected.split)};
}

/// A pixel of the canvas has the mean colour of its region.
void expect_mean_colour(const Json& place, const Values& six, const cv::Mat& photo) {
  const std::int32_t label =
      six[place["y"].get<std::size_t>() * 160 + place["x"].get<std::size_t>()];
  if (label == 0) {
    EXPECT_EQ(place["colour"], Json({0, 0, 0, 0})) << "without data nothing is drawn";
    return;
  }
  cv::Mat1b mask(photo.size());
  std::transform(six.begin(), six.end(), mask.begin(),
                 [&](std::int32_t value) { return value == label ? 255 : 0; });
  const cv::Scalar mean = cv::mean(photo, mask);
  for (int c = 0; c < 3; ++c) {
    EXPECT_NEAR(place["colour"][c].get<int>(), mean[2 - c], 0.5 + 255.0 / 65535) << place;
  }
  EXPECT_EQ(place["colour"][3], 255);
}

/// The figures that a page shows of a region are those of a table of all regions.
void expect_figures(const Json& figures, const std::string& table, int label) {
  std::istringstream lines(table);
  std::map<std::string, std::string> row;
  std::string header, line;
  std::getline(lines, header);
  for (int k = 0; k < label; ++k) std::getline(lines, line);
  std::istringstream names(header), values(line);
  for (std::string name; std::getline(names, name, ',');) std::getline(values, row[name], ',');
  EXPECT_EQ(figures["Label"], row["label"]);
  EXPECT_THAT(figures["Area"].get<std::string>(), HasSubstr(row["area"] + " pixels"));
  EXPECT_EQ(figures["Box"],
            fmt::format("{} x {} at ({}, {})", row["width"], row["height"], row["x"], row["y"]));
  const std::string hex = figures["Mean colour"];
  for (std::size_t c = 0; c < 3; ++c) {
    const std::string mean = std::vector{"mean_red", "mean_green", "mean_blue"}[c];
    // Half a level for the rounding to 255 levels, and a little for that of leaves to 65535.
    EXPECT_NEAR(std::stoi(hex.substr(1 + 2 * c, 2), nullptr, 16), std::stod(row[mean]),
                0.5 + 255.0 / 65535);
  }
}

/// Two marks of one thing lie in one region, a mark of another thing in another one, and Undo takes
/// the marks back.
void expect_marks(const Json& shown) {
  const auto at = [&](const char* labels, std::size_t mark) {
    return shown[labels][shown["places"][mark].get<std::size_t>()].get<int>();
  };
  EXPECT_NE(at("six", 0), at("six", 1)) << "the marks have something to join";
  EXPECT_EQ(at("joinedMarks", 0), at("joinedMarks", 1));
  EXPECT_NE(at("partedMarks", 0), at("partedMarks", 2));
  EXPECT_NE(at("partedMarks", 1), at("partedMarks", 2));
  EXPECT_EQ(shown["marks"], 3);
  EXPECT_EQ(shown["marksUndone"], shown["joinedMarks"]);
}

/// The annotations are the program's, which packs the runs of regions with holes.
void expect_coco(const Json& coco, const Json& program, const Values& six) {
  EXPECT_EQ(coco["images"][0]["file_name"], "photo.png");
  ASSERT_EQ(coco["annotations"].size(), program["annotations"].size());
  for (std::size_t k = 0; k < coco["annotations"].size(); ++k) {
    Json annotation = coco["annotations"][k];
    Json other = program["annotations"][k];
    std::size_t at = 0;
    bool inside = false;
    if (annotation["segmentation"].is_object()) {
      for (const Json& run : annotation["segmentation"]["counts"]) {
        for (int i = 0; i < run.get<int>(); ++i, ++at) {
          ASSERT_EQ(six[at % 120 * 160 + at / 120] == annotation["id"], inside) << at;
        }
        inside = !inside;
      }
      EXPECT_EQ(at, six.size());
      other["segmentation"]["counts"] = annotation["segmentation"]["counts"];
    }
    for (const char* member : {"id", "area", "bbox", "segmentation"}) {
      EXPECT_EQ(annotation[member], other[member]) << k;
    }
  }
}

TEST_F(CliPage, CutsAsRecutMergesAndSaves) {
  if (chromium().empty()) GTEST_SKIP() << "Chromium is not installed (Debian: chromium)";
  recut("--regions 12 --html a.html --image photo.png");
  const Json shown = used("a.html", "page_script.js");
  ASSERT_TRUE(shown.contains("tree"));
  EXPECT_EQ(shown["first"], recut_labels("--regions 12"));
  EXPECT_EQ(shown["three"], recut_labels("--regions 3"));
  EXPECT_EQ(shown["many"], recut_labels("--regions 120"));
  EXPECT_EQ(shown["quarter"], recut_labels("--threshold 0.25"));
  EXPECT_EQ(shown["quarterAll"], recut_labels("--threshold 0.25 --min-size 0"));
  EXPECT_EQ(shown["quarterLarge"], recut_labels("--threshold 0.25 --min-size 0.5%"));
  EXPECT_EQ(shown["slider"], recut_labels("--regions 6"));
  EXPECT_EQ(shown["arrow"], recut_labels("--regions 7"));
  EXPECT_THAT(shown["sliderMessage"].get<std::string>(), HasSubstr("6 regions, threshold 0."));
  EXPECT_EQ(shown["command"], "segment recut photo.tree --regions 6 -o labels.png");
  EXPECT_THAT(shown["badNumber"].get<std::string>(), HasSubstr("no number of regions"));

  const Values six = recut_labels("--regions 6");
  const Hierarchy large = without_small_regions(
      tree_, static_cast<std::int64_t>(std::ceil(0.0003 * (kPageWidth * kPageHeight - 30))));
  const Expected expected = expected_changes(large, six, kClicked);
  EXPECT_EQ(shown["six"], six);
  EXPECT_EQ(shown["selected"], six[kClicked]);
  recut(
      "--regions 6 --image photo.png --table t.csv --coco c.json --geojson g.geojson --flat "
      "f.png --cutout o.png");
  expect_figures(shown["figures"], read("t.csv"), six[kClicked]);
  EXPECT_EQ(shown["merged"], expected.merged);
  EXPECT_EQ(shown["split"], expected.split);
  EXPECT_EQ(shown["undone"], expected.merged);
  EXPECT_EQ(shown["undoneTwice"], six);
  EXPECT_EQ(shown["redone"], expected.merged);
  EXPECT_EQ(shown["shiftClick"], expected.merged);

  for (const Json& place : shown["drawn"]) {
    expect_mean_colour(place, six, read_picture("photo.png"));
  }
  EXPECT_GT(shown["grown"].get<double>(), 1.4);
  EXPECT_NEAR(shown["fitted"].get<double>(), 1.0, 1e-9);
  EXPECT_EQ(shown["help"], true);
  EXPECT_EQ(shown["vectors"], 0);
  EXPECT_EQ(shown["objects"], false) << "nothing tells the inside of objects";

  EXPECT_EQ(shown["heading"], shown["fields"])
      << "the message and the fields give the same numbers";
  EXPECT_EQ(shown["badNumber"],
            "What was typed is no number of regions: it is a whole number from 1 on.");
  expect_marks(shown);
  write("saved.png", bytes_of(shown["png"]));
  EXPECT_EQ(values_of(read_picture("saved.png")), six);
  EXPECT_EQ(bytes_of(shown["tree"]), read("a.tree"));
  write("saved.geojson", bytes_of(shown["geojson"]));
  const Json features = Json::parse(read("saved.geojson"))["features"];
  ASSERT_EQ(features.size(), 6U);
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_EQ(features[k]["geometry"], Json::parse(read("g.geojson"))["features"][k]["geometry"]);
  }
  expect_coco(Json::parse(bytes_of(shown["coco"])), Json::parse(read("c.json")), six);
  // Seeds keep their labels; what has no data in the tree has some in the photograph.
  expect_done(segment("photo.png --boundary gradient --seeds saved.geojson -o again.png"));
  const Values again = values_of(read_picture("again.png"));
  for (std::size_t i = 0; i < six.size(); ++i) {
    if (six[i] != 0) {
      ASSERT_EQ(again[i], six[i]) << i;
    }
  }
  // A page has the regions' means as they are, the picture as a JPEG.
  for (const auto& [button, file, channel] :
       {std::tuple("flat", "f.png", 0), {"cutout", "o.png", 3}}) {
    write("saved.png", bytes_of(shown[button]));
    cv::Mat found = cv::imread(path("saved.png"), cv::IMREAD_UNCHANGED);
    cv::Mat wanted = cv::imread(path(file), cv::IMREAD_UNCHANGED);
    ASSERT_EQ(found.size(), wanted.size());
    cv::extractChannel(found, found, channel);
    cv::extractChannel(wanted, wanted, channel);
    const cv::Mat1i regions(kPageHeight, kPageWidth, const_cast<int*>(six.data()));
    EXPECT_LE(cv::norm(found, wanted, cv::NORM_INF, regions != 0), 1) << button;
  }
  const std::string svg = bytes_of(shown["svg"]);
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 160 120\""));
  for (int label = 1; label <= 6; ++label) {
    EXPECT_THAT(svg, HasSubstr("<path id=\"region-" + std::to_string(label) + "\""));
  }
}

TEST_F(CliPage, SavingNeedsNoScrolling) {
  if (chromium().empty()) GTEST_SKIP() << "Chromium is not installed (Debian: chromium)";
  recut("--regions 12 --html a.html --image photo.png");
  for (const char* window : {"1000,700", "500,800"}) {
    const Json shown = used("a.html", "page_save_buttons.js", window);
    ASSERT_EQ(shown["seen"].size(), 7u);
    EXPECT_THAT(shown["seen"], ::testing::Each(true)) << window;
    EXPECT_EQ(shown["below"], std::string(window) == "500,800") << "the panel is below the picture";
  }
}

TEST_F(CliPage, ShowsEigenvectorsOnlyWhenAskedTo) {
  const auto vectors_in = [&](const std::string& page) {
    const std::string text = read(page);
    const std::string open = "id=\"about\">";
    const std::size_t start = text.find(open) + open.size();
    return Json::parse(text.substr(start, text.find("</script>", start) - start))["eigenvectors"];
  };
  expect_done(segment("photo.png --boundary gradient --html a.html"));
  EXPECT_THAT(vectors_in("a.html"), IsEmpty());
  expect_done(segment("photo.png --boundary gradient --html b.html --eigenvectors vectors"));
  EXPECT_EQ(vectors_in("b.html").size(), 16u) << "all but the constant one";
}

TEST_F(CliPage, ShowsObjectsAsSegmentFindsThem) {
  if (chromium().empty()) GTEST_SKIP() << "Chromium is not installed (Debian: chromium)";
  fs::create_directories(path("cells"));
  fs::copy_file(fs::path(DIACUT_SOURCE_DIR) / "tests/cli/nuclei/micrograph.png",
                path("cells/a.png"));
  expect_done(segment("cells --config nuclei -o labels --html pages --tree trees"));
  expect_done(
      segment("cells/a.png --config nuclei -o wide.png --threshold 0.5 --min-size 40 --set "
              "region.inside=0.5"));
  const Json shown = used("pages/a.html", "page_objects.js");
  ASSERT_TRUE(shown.contains("off"));
  EXPECT_EQ(shown["objects"], true);
  const Values found = values_of(read_picture("labels/a.png"));
  EXPECT_EQ(shown["first"], found);
  EXPECT_EQ(shown["wide"], values_of(read_picture("wide.png")));
  EXPECT_EQ(shown["command"],
            "the run's own, with --threshold 0.5 --min-size 40 --set region.inside=0.5");
  const int count = *std::max_element(found.begin(), found.end());
  EXPECT_EQ(shown["count"], count);
  EXPECT_THAT(shown["message"].get<std::string>(),
              HasSubstr(std::to_string(count) + " objects of "));
  EXPECT_THAT(shown["hint"].get<std::string>(), HasSubstr("0 is background"));
  EXPECT_GT(std::stod(shown["inside"].get<std::string>()), 0.7);
  EXPECT_LT(shown["mergedCount"], count) << "merged with the background, it is no object";
  EXPECT_THAT(shown["mergedMessage"].get<std::string>(), HasSubstr("is no object"));
  EXPECT_EQ(shown["undone"], found);
  EXPECT_EQ(shown["background"], 0) << "the background cannot be selected";
  EXPECT_THAT(shown["badInside"].get<std::string>(), HasSubstr("'2' is no mean"));
  EXPECT_THAT(read("pages/index.html"), HasSubstr("objects at first: " + std::to_string(count)));
  // Without the objects: the cut of the tree.
  expect_done(segment("recut trees/a.tree --threshold 0.5 --min-size 40 -o cut.png"));
  EXPECT_EQ(shown["off"], values_of(read_picture("cut.png")));
}

}  // namespace
}  // namespace diacut::testing
