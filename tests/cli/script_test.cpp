// The scripts *.txt of this folder.
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <sstream>

#include "cli_test.hpp"
#include "diacut/hierarchy.hpp"
#include "diacut/output.hpp"
#include "image_files.hpp"
#include "map_files.hpp"
#include "matchers.hpp"
#include "network_file.hpp"
#include "output/npy.hpp"

namespace diacut::testing {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

Words split(const std::string& text, const std::string& at) {
  Words parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + at.size()) {
    end = text.find(at, begin);
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

std::string replaced(const std::string& text, const std::string& from, const std::string& to) {
  return fmt::format("{}", fmt::join(split(text, from), to));
}

/// A test of a script: README.md says what its lines are.
struct Script {
  std::string name;
  Words lines;
};

/// For messages of GoogleTest.
void PrintTo(const Script& script, std::ostream* stream) { *stream << script.name; }

/// The rows of the table of docs/usage.md that says what each command makes of what files say.
const std::map<std::string, Words>& table_of_meanings() {
  static const std::map<std::string, Words> table = [] {
    std::map<std::string, Words> rows;
    std::istringstream text(read_bytes(DIACUT_SOURCE_DIR "/docs/usage.md"));
    bool inside = false;
    for (std::string line; std::getline(text, line);) {
      inside = line.starts_with("| File ") || (inside && line.starts_with("|"));
      const Words cells = split(line, " | ");
      if (!inside || cells.size() != 5 || line.starts_with("| File ")) continue;
      rows[cells[0].substr(2)] = {cells[1], cells[2], cells[3],
                                  cells[4].substr(0, cells[4].size() - 2)};
    }
    return rows;
  }();
  return table;
}

std::vector<Script> scripts() {
  std::vector<Script> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(DIACUT_SOURCE_DIR "/tests/cli")) {
    if (entry.path().extension() != ".txt") continue;
    Words beginning;
    Words* lines = &beginning;
    std::istringstream text(read_bytes(entry.path()));
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("= ")) {
        all.push_back({entry.path().stem().string() + "_" + line.substr(2), beginning});
        lines = &all.back().lines;
      } else if (!line.empty() && line.front() != '#') {
        lines->push_back(line);
      }
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Script& a, const Script& b) { return a.name < b.name; });
  return all;
}

void expect_parts(const std::string& text, const Words& parts) {
  for (const std::string& part : parts) {
    const std::size_t star = part.find_first_not_of("0123456789");
    if (part == "!") {
      EXPECT_EQ(text, "");
    } else if (part.starts_with("!")) {
      EXPECT_THAT(text, Not(HasSubstr(part.substr(1))));
    } else if (star != 0 && star < part.size() && part[star] == '*') {
      EXPECT_EQ(split(text, part.substr(star + 1)).size() - 1, std::stoul(part)) << part << text;
    } else {
      std::size_t at = 0;
      for (const std::string& piece : split(part, " .. ")) {
        at = text.find(piece, at);
        ASSERT_NE(at, std::string::npos) << piece << " is not in, or not in its place in: " << text;
        at += piece.size();
      }
    }
  }
}

/// A rectangle of a colour: "X,Y=GREY" or "X,Y,WxH=BLUE/GREEN/RED".
struct Mark {
  explicit Mark(const std::string& word) {
    const Words sides = split(word, "=");
    std::sscanf(sides.at(0).c_str(), "%d,%d,%dx%d", &place.x, &place.y, &place.width,
                &place.height);
    for (const std::string& value : split(sides.at(1), "/")) {
      colour[channels] = std::stod(value);
      depth = value.find_first_not_of("0123456789") != std::string::npos ? CV_32F
              : colour[channels] > 255                                   ? std::max(depth, CV_16U)
                                                                         : depth;
      ++channels;
    }
  }
  cv::Rect place = {0, 0, 1, 1};
  cv::Scalar colour;
  int channels = 0;
  int depth = CV_8U;
};

/// Rectangles before 0.
cv::Mat drawing(const Words& words, cv::Size size) {
  const std::vector<Mark> marks(words.begin(), words.end());
  int depth = CV_8U;
  for (const Mark& mark : marks) depth = std::max(depth, mark.depth);
  cv::Mat picture(size, CV_MAKETYPE(depth, marks.at(0).channels), cv::Scalar());
  for (const Mark& mark : marks) picture(mark.place) = mark.colour;
  return picture;
}

/// Takes a size, "WIDTHxHEIGHT", from the first of some words, where it is one.
cv::Size take_size(Words& words, cv::Size usual) {
  cv::Size size;
  if (std::sscanf(words.front().c_str(), "%dx%d", &size.width, &size.height) != 2) return usual;
  words.erase(words.begin());
  return size;
}

void expect_json(const nlohmann::json& document, const Words& words) {
  ASSERT_TRUE(!words.empty() && words.size() % 2 == 0) << "says nothing of a value";
  for (std::size_t k = 0; k + 1 < words.size(); k += 2) {
    const nlohmann::json::json_pointer place(words[k]);
    const std::string& wanted = words[k + 1];
    ASSERT_EQ(document.contains(place), wanted != "-") << words[k];
    if (wanted == "-" || wanted == "*") continue;
    const nlohmann::json& found = document.at(place);
    if (wanted.front() == '>') {
      EXPECT_GT(found.get<double>(), std::stod(wanted.substr(1))) << words[k];
    } else if (wanted.front() == '<') {
      EXPECT_LT(found.get<double>(), std::stod(wanted.substr(1))) << words[k];
    } else if (wanted.front() == '!') {
      EXPECT_NE(found, nlohmann::json::parse(wanted.substr(1))) << words[k];
    } else if (wanted.front() == '~') {
      EXPECT_THAT(found.get<std::string>(), HasSubstr(wanted.substr(1))) << words[k];
    } else {
      EXPECT_EQ(found, nlohmann::json::parse(wanted)) << words[k];
    }
  }
}

class CliScript : public CliTest, public ::testing::WithParamInterface<Script> {
 protected:
  /// Does what a line says, for each of its values in braces.
  void follow(const std::string& text) {
    SCOPED_TRACE(text);
    Words parts = split(unescaped(text), " | ");
    const std::string head = parts.front();
    parts.erase(parts.begin());
    const std::size_t begin = head.find('{');
    if (begin == std::string::npos) return follow(words_of(head), parts);
    const std::size_t end = head.find('}');
    for (const std::string& value : split(head.substr(begin + 1, end - begin - 1), ",")) {
      SCOPED_TRACE(value);
      Words told;
      for (const std::string& part : parts) told.push_back(replaced(part, "{}", value));
      follow(words_of(head.substr(0, begin) + value + replaced(head.substr(end + 1), "{}", value)),
             told);
    }
  }

 private:
  using Test = CliScript&;
  using Text = const std::string&;
  using Parts = const Words&;
  /// Statements of one file, with the text after the bar.
  using OfFile = void (*)(Test test, Text name, Text text);
  static const std::map<std::string, OfFile> kOfFiles;
  /// All others but programs.
  using Statement = void (*)(Test test, Parts words, Parts parts);
  static const std::map<std::string, Statement> kStatements;

  void follow(Words words, const Words& parts) {
    const std::string verb = words.front();
    const bool is_of_files = kOfFiles.contains(verb);
    if (!is_of_files && !kStatements.contains(verb)) return run(words, parts);
    words.erase(words.begin());
    ASSERT_TRUE(!words.empty() || verb == "files" || verb == "cell") << "says nothing";
    if (!is_of_files) return kStatements.at(verb)(*this, words, parts);
    for (const std::string& name : words) {
      make_folder_of(name);
      kOfFiles.at(verb)(*this, name, parts.empty() ? "" : parts.front());
    }
  }

  std::string unescaped(std::string text) const {
    const std::pair<std::string, std::string> escapes[] = {
        {"\\n", "\n"},
        {"\\r", "\r"},
        {"\\e", "\033"},
        {"\\a", "\a"},
        {"\\0", std::string(1, '\0')},
        {"$PWD", fs::path(path("")).parent_path().string()},
        {"$SOURCE", DIACUT_SOURCE_DIR}};
    for (const auto& [from, to] : escapes) text = replaced(text, from, to);
    return text;
  }

  void set(Surroundings& around, const std::string& assignment) const {
    const std::size_t at = assignment.find('=');
    const std::string name = assignment.substr(0, at);
    const std::string value = assignment.substr(at + 1);
    if (name == "file_size") {
      around.file_size_limit = std::stoul(value);
    } else if (name == "terminal") {
      around.terminal_width = static_cast<unsigned short>(std::stoul(value));
    } else if (name == "seconds") {
      around.limit_seconds = std::stod(value);
    } else if (name == "folder") {
      around.folder = path(value);
    } else {
      around.environment[name] = value.empty() ? std::nullopt : std::optional(value);
    }
  }

  /// Takes the last two words away where they tell of a stream; the name of its file.
  static std::string stream(Words& words, const std::string& sign) {
    if (words.size() < 3 || *(words.end() - 2) != sign) return "";
    std::string name = words.back();
    words.resize(words.size() - 2);
    return name;
  }

  void run(Words words, const Words& parts) const {
    static const std::map<std::string, std::string> programs = {
        {"segment", DIACUT_SEGMENT},
        {"diacut-evaluate", DIACUT_EVALUATE},
        {"diacut-bench", DIACUT_BENCH}};
    static const std::map<std::string, Out> outs = {
        {"full", Out::kFull}, {"closed", Out::kClosed}, {"unread", Out::kNobodyReads}};
    Surroundings around = around_;
    std::string code = "0";
    while (!programs.contains(words.front())) {
      ASSERT_GE(words.size(), 2U) << "no statement";
      if (words.front().find('=') != std::string::npos) {
        set(around, words.front());
      } else {
        code = words.front();
      }
      words.erase(words.begin());
    }
    const std::string out = stream(words, ">");
    const std::string in = stream(words, "<");
    if (!in.empty()) around.input = read(in);
    if (outs.contains(out)) around.out = outs.at(out);
    const std::string name = words.front();
    words.erase(words.begin());
    const std::set<std::string> before = files();
    const Result result = start_program(programs.at(name), words, around)->wait();
    EXPECT_EQ(result.exit_code, std::stoi(code)) << result.err;
    if (code != "0" && !code.ends_with('+')) {
      expect_error(result, std::stoi(code), {}, name);
      EXPECT_EQ(files(), before);
    }
    expect_parts(result.err, parts);
    if (!out.empty() && !outs.contains(out)) write(out, result.out);
  }

  void expect_files(const std::string& folder, const std::string& names) const {
    Words expected;
    for (const std::string& name : words_of(names)) expected.push_back(folder + name);
    std::set<std::string> found = files();
    std::erase_if(found, [&](const std::string& name) { return !name.starts_with(folder); });
    EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(expected));
  }

  void make_folder_of(const std::string& name) const {
    fs::create_directories(fs::path(path(name)).parent_path());
  }

  void write_marks(const Words& words) const {
    Words rest = words;
    const cv::Size size = take_size(rest, {kWidth, kHeight});
    const std::string name = rest.front();
    const cv::Mat picture = drawing({rest.begin() + 1, rest.end()}, size);
    make_folder_of(name);
    if (!name.ends_with(".npy")) return write_picture(name, picture);
    cv::Mat array;
    picture.convertTo(array, CV_32F);
    const auto rows = static_cast<std::size_t>(size.height);
    const auto columns = static_cast<std::size_t>(size.width);
    std::vector<std::size_t> shape = {rows, columns};
    if (array.channels() > 1) shape.push_back(static_cast<std::size_t>(array.channels()));
    const std::vector<std::uint8_t> npy =
        encode_npy<float>({array.ptr<float>(), array.reshape(1).total()}, shape);
    write(name, {npy.begin(), npy.end()});
  }

  void write_hierarchy(const Words& words) const {
    const cv::Mat leaves = drawing({words.begin() + 1, words.end()}, {kWidth, kHeight});
    Hierarchy tree;
    tree.leaves = Labels{kWidth, kHeight, 3, {}};
    for (int i = 0; i < kWidth * kHeight; ++i) {
      tree.leaves.values.push_back(
          std::max<int>(leaves.at<std::uint8_t>(i / kWidth, i % kWidth), 1));
    }
    tree.merges = {{1, 3, 0.25F}, {2, 4, 0.75F}};
    tree.threshold = 0.125;
    check(tree);
    write_tree(path(words.front()), tree);
  }

  Surroundings around_;
};

const std::map<std::string, CliScript::OfFile> CliScript::kOfFiles = {
    {"text", [](Test test, Text name, Text text) { test.write(name, text); }},
    {"folder", [](Test test, Text name, Text) { test.make_folder(name); }},
    {"pipe",
     [](Test test, Text name, Text) { ASSERT_EQ(mkfifo(test.path(name).c_str(), 0600), 0); }},
    {"remove", [](Test test, Text name, Text) { fs::remove_all(test.path(name)); }},
    {"halve", [](Test test, Text name,
                 Text) { fs::resize_file(test.path(name), fs::file_size(test.path(name)) / 2); }},
    {"flip",
     [](Test test, Text name, Text) {
       std::string bytes = test.read(name);
       bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
       test.write(name, bytes);
     }},
    {"network",
     [](Test test, Text name, Text) {
       NetworkFile file(1);
       file.conv("logit", "image", 3, 1, {.relu = false});
       file.sigmoid("logit");
       file.write(test.path(name));
     }},
    {"narrow",
     [](Test test, Text name, Text) {
       for (const std::string& line : split(test.read(name), "\n"))
         EXPECT_LE(line.size(), 80u) << line;
     }},
    {"there", [](Test test, Text name, Text) { EXPECT_TRUE(test.exists(name)) << name; }},
    {"gone", [](Test test, Text name, Text) { EXPECT_FALSE(test.exists(name)) << name; }},
    {"labels", [](Test test, Text name, Text) { expect_labels(test.read_picture(name)); }},
};

const std::map<std::string, CliScript::Statement> CliScript::kStatements = {
    {"with",
     [](Test test, Parts words, Parts) {
       for (const std::string& word : words) test.set(test.around_, word);
     }},
    {"picture",
     [](Test test, Parts words, Parts) {
       Words names = words;
       const cv::Size size = take_size(names, {kWidth, kHeight});
       for (const std::string& name : names) {
         test.make_folder_of(name);
         test.write_picture(name, size.width, size.height);
       }
     }},
    {"marks", [](Test test, Parts words, Parts) { test.write_marks(words); }},
    {"scene",
     [](Test test, Parts words, Parts) {
       SceneFile file;
       file.width = kWidth;
       file.height = kHeight;
       file.bands = std::stoi(words.at(1));
       file.type = "UInt16";
       const double metres = words.size() > 2 ? std::stod(words.at(2)) : 10;
       const double east = words.size() > 3 ? std::stod(words.at(3)) : 0;
       file.transform = {500'000 + east, metres, 0, 5'200'000, 0, -metres};
       if (words.size() > 4) file.epsg = std::stoi(words.at(4));
       file.value = [](int band, int x, int y) {
         return (x < kWidth / 2 ? 400 : 2400) + 100 * band + (x * 7 + y * 5) % 11;
       };
       test.make_folder_of(words.at(0));
       write_scene(test.path(words.at(0)), file);
     }},
    {"tree", [](Test test, Parts words, Parts) { test.write_hierarchy(words); }},
    {"planes",
     [](Test test, Parts words, Parts parts) {
       std::vector<TiffPage> pages;
       for (std::size_t k = 1; k < words.size(); ++k) {
         cv::Mat grey(kHeight, kWidth, CV_8U, cv::Scalar(std::stod(words[k])));
         grey.colRange(kWidth / 2, kWidth) += 50;
         pages.push_back(tiff_page(grey));
       }
       if (!parts.empty()) pages.front().description = parts.front();
       const FileBytes file = write_tiff(pages);
       test.write(words.front(), {file.begin(), file.end()});
     }},
    {"cell",
     [](Test, Parts, Parts parts) {
       const Words columns = {"Channel", "Page", "Unit", "Place"};
       const auto at = std::find(columns.begin(), columns.end(), parts.at(1));
       ASSERT_NE(at, columns.end()) << parts.at(1);
       const auto column = static_cast<std::size_t>(at - columns.begin());
       EXPECT_EQ(table_of_meanings().at(parts.at(0)).at(column), parts.at(2));
     }},
    {"copy",
     [](Test test, Parts words, Parts) {
       fs::copy(test.path(words.at(0)), test.path(words.at(1)), fs::copy_options::recursive);
     }},
    {"link", [](Test test, Parts words,
                Parts) { fs::create_symlink(words.at(0), test.path(words.at(1))); }},
    {"files",
     [](Test test, Parts words, Parts parts) {
       test.expect_files(words.empty() ? "" : words.front() + "/", parts.at(0));
     }},
    {"same",
     [](Test test, Parts words, Parts) {
       EXPECT_FALSE(test.contents(words.at(0)).empty());
       for (const std::string& word : words) {
         EXPECT_TRUE(test.contents(word) == test.contents(words.at(0))) << word;
       }
     }},
    {"other",
     [](Test test, Parts words, Parts) {
       EXPECT_FALSE(test.contents(words.at(0)) == test.contents(words.at(1)));
     }},
    {"holds",
     [](Test test, Parts words, Parts parts) { expect_parts(test.read(words.at(0)), parts); }},
    {"size",
     [](Test test, Parts words, Parts) {
       Words wanted(words.begin() + 1, words.end());
       EXPECT_EQ(test.read_picture(words.front()).size(), take_size(wanted, {}));
     }},
    {"pages",
     [](Test test, Parts words, Parts) {
       EXPECT_EQ(cv::imcount(test.path(words.at(0))), std::stoul(words.at(1)));
     }},
    {"pixels",
     [](Test test, Parts words, Parts) {
       cv::Mat picture;
       test.read_picture(words.at(0)).convertTo(picture, CV_32F);
       for (std::size_t k = 1; k < words.size(); ++k) {
         const Mark mark(words[k]);
         const cv::Mat expected(mark.place.size(), picture.type(), mark.colour);
         EXPECT_EQ(cv::norm(picture(mark.place), expected, cv::NORM_INF), 0) << words[k];
       }
     }},
    {"drawn",
     [](Test test, Parts words, Parts) {
       cv::Mat found;
       cv::Mat expected;
       test.read_picture(words.at(0)).convertTo(found, CV_32F);
       drawing({words.begin() + 1, words.end()}, found.size()).convertTo(expected, CV_32F);
       EXPECT_EQ(cv::norm(found, expected, cv::NORM_INF), 0);
     }},
    {"json",
     [](Test test, Parts words, Parts) {
       const Words place = split(words.front(), ":");
       const std::string text = test.read(place.at(0));
       expect_json(place.size() == 1 ? nlohmann::json::parse(text)
                                     : json_lines(text).at(std::stoul(place.at(1)) - 1),
                   {words.begin() + 1, words.end()});
     }},
};

TEST_P(CliScript, Runs) {
  for (const std::string& line : GetParam().lines) {
    follow(line);
    if (HasFatalFailure()) return;
  }
}

TEST(TableOfMeanings, EachCellHasATest) {
  std::set<std::string> tested;
  for (const Script& script : scripts()) {
    for (const std::string& line : script.lines) {
      if (line.starts_with("cell | ")) tested.insert(line.substr(0, line.rfind(" | ")));
    }
  }
  ASSERT_GE(table_of_meanings().size(), 8U);
  for (const auto& [row, cells] : table_of_meanings()) {
    for (const char* column : {"Channel", "Page", "Unit", "Place"}) {
      EXPECT_TRUE(tested.contains(fmt::format("cell | {} | {}", row, column))) << row << column;
    }
    for (const std::string& cell : cells) EXPECT_NE(cell, "") << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Scripts, CliScript, ::testing::ValuesIn(scripts()),
                         [](const auto& script) { return script.param.name; });

}  // namespace
}  // namespace diacut::testing
