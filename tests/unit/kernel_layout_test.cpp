// Where kernels, their launchers and their tests lie: kernels/<folder>/X.cl is launched by a source
// of lib/<folder>, which names the kernel's file or is called as it is, and tested by
// tests/device/<folder>/X_test.cpp. A source or a test may serve several kernels whose names begin
// with its own: matvec_symmetric.cpp launches matvec_symmetric_pack.cl and matvec_symmetric_run.cl.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "matchers.hpp"
#include "source_text.hpp"

namespace diacut::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kKernelLayoutRoot = DIACUT_SOURCE_DIR;
const fs::path kKernelLayoutLib = kKernelLayoutRoot / "lib";
const fs::path kKernels = kKernelLayoutRoot / "kernels";
const fs::path kDeviceTests = kKernelLayoutRoot / "tests" / "device";

/// Kernels without a test of their name -> the test that holds them, and why it is another one.
const std::map<std::string, std::string>& tests_of_other_names() {
  static const std::map<std::string, std::string> tests = {
      // The basis of Lanczos' iteration is tested by the eigenvectors that it yields.
      {"eigen/lanczos/basis", "eigen/eigensolver_test.cpp"},
      // The conjugate gradient method is tested by the solutions that it yields.
      {"eigen/multilevel/conjugate_gradient", "walker/random_walker_test.cpp"},
      // Gram matrices are put together from the kernel's tiles.
      {"eigen/lobpcg/projection", "eigen/known_answers_test.cpp"},
      {"eigen/lobpcg/tile_products", "eigen/known_answers_test.cpp"},
      // The Rayleigh quotients of a block of vectors come from one of these two kernels.
      {"matrix/block_quadratic", "eigen/lobpcg/block_kernels_test.cpp"},
      {"matrix/quadratic_form", "eigen/lobpcg/block_kernels_test.cpp"},
      // Held to its definition as a known answer.
      {"contour/cue_contour", "doctor/examine_test.cpp"},
  };
  return tests;
}

/// "matrix/matvec_image" for kernels/matrix/matvec_image.cl.
std::vector<std::string> kernels() {
  std::vector<std::string> names;
  for (const fs::path& path : testing::files_with(kKernels, {".cl"})) {
    names.push_back(fs::relative(path, kKernels).replace_extension().generic_string());
  }
  return names;
}

/// "a/b_c_d", "a/b_c" and "a/b" for "a/b_c_d": the names that a launcher or test of it may have.
std::vector<std::string> names_for(std::string kernel) {
  std::vector<std::string> names = {kernel};
  const std::size_t folder = kernel.rfind('/');
  for (std::size_t at = kernel.rfind('_'); at != std::string::npos && at > folder;
       at = kernel.rfind('_')) {
    kernel.resize(at);
    names.push_back(kernel);
  }
  return names;
}

bool any_exists(const std::string& kernel, const fs::path& root, const std::string& ending) {
  for (const std::string& name : names_for(kernel)) {
    if (fs::exists(root / (name + ending))) return true;
  }
  return false;
}

/// The uses of OpenCL programs and kernels by name that only launchers may have.
std::vector<std::string> kernel_creations(const std::string& source) {
  static const std::regex creation(
      R"(context\w*(?:\(\))?\s*(?:\.|->)\s*(?:kernel|program)\s*\(|cl::(?:Kernel|Program)\s*[({])");
  const std::string code = testing::without_comments_and_literals(source);
  std::vector<std::string> found;
  for (std::sregex_iterator match(code.begin(), code.end(), creation), end; match != end; ++match) {
    found.push_back(match->str());
  }
  return found;
}

/// The kernel files that a source names in its literals.
std::vector<std::string> kernel_literals(const std::string& source) {
  static const std::regex literal(R"re("([\w/{}]+\.clh?)")re");
  const std::string code = testing::without_comments(source);
  std::vector<std::string> found;
  for (std::sregex_iterator match(code.begin(), code.end(), literal), end; match != end; ++match) {
    found.push_back((*match)[1]);
  }
  return found;
}

/// Included files of a kernel of `folder` that it may not know: it may include its own folder's
/// files and those of common/ and matrix/.
std::vector<std::string> foreign_includes(const std::string& folder, const std::string& source) {
  std::vector<std::string> found;
  for (const std::string& file : kernel_literals(source)) {
    const std::string from = file.substr(0, file.find('/'));
    if (from != folder && from != "common" && from != "matrix") found.push_back(file);
  }
  return found;
}

TEST(KernelLayout, EveryKernelSaysWhatItComputes) {
  const std::vector<fs::path> paths = testing::files_with(kKernels, {".cl", ".clh"});
  EXPECT_GT(paths.size(), 1U);
  for (const fs::path& path : paths) {
    const std::string text = testing::text_of(path);
    EXPECT_TRUE(text.starts_with("//") || text.starts_with("/*")) << path;
  }
}

/// The kernel files that the sources of a folder of lib name. "{}" stands for any rest of a name.
std::set<std::string> kernels_named_in(const fs::path& folder) {
  std::set<std::string> named;
  for (const fs::path& path : testing::files_with(kKernelLayoutLib / folder, {".cpp"})) {
    if (path.parent_path() != kKernelLayoutLib / folder) continue;
    const std::vector<std::string> of_file = kernel_literals(testing::text_of(path));
    named.insert(of_file.begin(), of_file.end());
  }
  return named;
}

bool is_named_in(const std::set<std::string>& names, const std::string& file) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const std::size_t open = name.find("{}");
    return open == std::string::npos ? name == file : file.starts_with(name.substr(0, open));
  });
}

TEST(KernelLayout, EveryKernelHasALauncherInTheFolderOfLibThatMirrorsItsOwn) {
  std::map<fs::path, std::set<std::string>> named;
  for (const std::string& kernel : kernels()) {
    const fs::path folder = fs::path(kernel).parent_path();
    if (!named.contains(folder)) named[folder] = kernels_named_in(folder);
    EXPECT_TRUE(is_named_in(named[folder], kernel + ".cl") ||
                any_exists(kernel, kKernelLayoutLib, ".cpp"))
        << "kernels/" << kernel << ".cl needs a launcher in lib/" << folder.generic_string();
  }
}

/// Whether there is a test with the name of the kernel or of a source that launches it.
bool has_test(const std::string& kernel) {
  const fs::path folder = fs::path(kernel).parent_path();
  for (const fs::path& path : testing::files_with(kKernelLayoutLib / folder, {".cpp"})) {
    if (path.parent_path() != kKernelLayoutLib / folder) continue;
    const std::string test = path.stem().string() + "_test.cpp";
    const std::vector<std::string> named = kernel_literals(testing::text_of(path));
    if (std::find(named.begin(), named.end(), kernel + ".cl") != named.end() &&
        fs::exists(kDeviceTests / folder / test)) {
      return true;
    }
  }
  return any_exists(kernel, kDeviceTests, "_test.cpp");
}

TEST(KernelLayout, EveryKernelHasATestInTheFolderThatMirrorsItsOwn) {
  for (const std::string& kernel : kernels()) {
    const auto other = tests_of_other_names().find(kernel);
    if (other != tests_of_other_names().end()) {
      EXPECT_TRUE(fs::exists(kDeviceTests / other->second)) << other->second;
      EXPECT_FALSE(has_test(kernel)) << kernel << " has its test: take it out of the table";
      continue;
    }
    EXPECT_TRUE(has_test(kernel))
        << "kernels/" << kernel << ".cl needs a test tests/device/" << kernel
        << "_test.cpp, or an entry in the table of this file that says which test holds it";
  }
  const std::vector<std::string> known = kernels();
  for (const auto& [kernel, test] : tests_of_other_names()) {
    EXPECT_THAT(known, ::testing::Contains(kernel)) << "the table names a kernel that is gone";
  }
}

TEST(KernelLayout, OnlyLaunchersMakeKernels) {
  std::set<std::string> launchers = {"opencl/context", "opencl/kernel_file"};
  for (const std::string& kernel : kernels()) {
    for (const std::string& name : names_for(kernel)) launchers.insert(name);
  }
  for (const fs::path& path : testing::files_with(kKernelLayoutLib, {".hpp", ".cpp"})) {
    const std::string name =
        fs::relative(path, kKernelLayoutLib).replace_extension().generic_string();
    const std::string text = testing::text_of(path);
    if (launchers.contains(name) || !kernel_literals(text).empty()) continue;
    EXPECT_THAT(kernel_creations(text), IsEmpty())
        << path << ": only the launcher of a kernel, which names the kernel's file, may do this";
  }
}

TEST(KernelLayout, AFolderLoadsItsOwnKernels) {
  for (const fs::path& path : testing::files_with(kKernelLayoutLib, {".hpp", ".cpp"})) {
    const std::string folder = fs::relative(path.parent_path(), kKernelLayoutLib).generic_string();
    for (const std::string& file : kernel_literals(testing::text_of(path))) {
      EXPECT_EQ(fs::path(file).parent_path().generic_string(), folder) << path << ": " << file;
      EXPECT_TRUE(file.find("{}") != std::string::npos || fs::exists(kKernels / file))
          << path << ": " << file;
    }
  }
}

TEST(KernelLayout, KernelsIncludeTheirOwnFolderAndCommonFilesOnly) {
  for (const fs::path& path : testing::files_with(kKernels, {".cl", ".clh"})) {
    const std::string folder = fs::relative(path, kKernels).begin()->string();
    EXPECT_THAT(foreign_includes(folder, testing::text_of(path)), IsEmpty()) << path;
  }
}

TEST(KernelLayout, OpenclNamesNoStage) {
  std::string stages;
  for (const auto& entry : fs::directory_iterator(kKernelLayoutLib)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || name == "include" || name == "core" || name == "opencl") continue;
    // "image" and "matrix" are things of OpenCL and of mathematics too, and "map" of both.
    if (name != "image" && name != "matrix" && name != "map")
      stages += (stages.empty() ? "" : "|") + name;
  }
  const std::regex named("\\b(?:" + stages + ")\\b|embedded_(?!kernels\\b)\\w+_kernels");
  for (const fs::path& path : testing::files_with(kKernelLayoutLib / "opencl", {".hpp", ".cpp"})) {
    const std::string code = testing::without_comments(testing::text_of(path));
    std::smatch match;
    EXPECT_FALSE(std::regex_search(code, match, named)) << path << " names " << match.str();
  }
}

TEST(KernelLayoutRules, FindWhatIsNotAllowed) {
  using ::testing::ElementsAre;
  EXPECT_THAT(kernel_creations("auto k = context.kernel(kFile, \"a\", \"\");"),
              ElementsAre("context.kernel("));
  EXPECT_THAT(kernel_creations("context_->program(f, o); cl::Kernel(p, \"a\");"),
              ElementsAre("context_->program(", "cl::Kernel("));
  EXPECT_THAT(kernel_creations("cl::Kernel kernel_; // context.kernel(\nf(\"context.kernel(\");"),
              IsEmpty());
  EXPECT_THAT(kernel_literals("f(\"a/b.cl\"); // \"c/d.cl\"\n#include \"e/f.clh\"\n"),
              ElementsAre("a/b.cl", "e/f.clh"));
  EXPECT_THAT(foreign_includes("eigen",
                               "#include \"region/a.clh\"\n#include \"common/b.clh\"\n"
                               "#include \"eigen/c.clh\"\n#include \"matrix/d.clh\"\n"),
              ElementsAre("region/a.clh"));
  EXPECT_THAT(
      names_for("matrix/matvec_symmetric_run"),
      ElementsAre("matrix/matvec_symmetric_run", "matrix/matvec_symmetric", "matrix/matvec"));
  EXPECT_THAT(names_for("a_b/c"), ElementsAre("a_b/c"));
}

}  // namespace
}  // namespace diacut::testing
