#include <fmt/format.h>

#include <stdexcept>

#include "device_profiles.hpp"
#include "spoilt.hpp"
#include "temp_folder.hpp"

namespace diacut::fuzz {
std::vector<SpoiltFile> changed(const std::string& text, const std::vector<Change>& changes,
                                FileBytes (*file_of)(const std::string& text)) {
  std::vector<SpoiltFile> files;
  files.reserve(changes.size());
  for (const auto& [from, to, told] : changes) {
    files.emplace_back(file_of(replaced_once(text, from, to)), told);
  }
  return files;
}

std::string replaced_once(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error(fmt::format("there is no '{}'", from));
  return text.replace(at, from.size(), to);
}

FileBytes shipped(const std::string& name) {
  return bytes_of(testing::read_bytes(fmt::format("{}/configs/{}", DIACUT_SOURCE_DIR, name)));
}

std::vector<SpoiltFile> spoilt_configurations() {
  constexpr std::pair<const char*, const char*> kTexts[] = {
      {"[eigen\nvectors = 17\n", ":1: "},
      {"[eigen]\nvectors = = 3\n", ":2: "},
      {"[eigen]\nvectors = 3\nvectors = 4\n", ":3: "},
      {"\x89PNG\r\n\x1a\n", ":1: "},
      {"[egien]\nvectors = 5\n", ":1: unknown table [egien]; the nearest known one is [eigen]"},
      {"eigen = 17\n", ":1: 'eigen' must be a table"},
      {"[[boundary]]\nsigma = 1\n", ":1: 'boundary' must be a table"},
      {"vectors = 17\n", ":1: unknown key 'vectors'; the nearest known one is 'eigen.vectors'"},
      {"[eigen]\nvectors = 5\ntolerence = 1e-3\n",
       ":3: unknown key 'eigen.tolerence'; the nearest known one is 'eigen.tolerance'"},
      {"[region]\n\nsigma = 1\n",
       ":3: unknown key 'region.sigma'; the nearest known one is 'boundary.sigma'"},
      {"[eigen.more]\nvectors = 5\n", ":1: unknown key 'eigen.more'"},
      // Sorted by name, [affinity] would come before [region].
      {"[region]\nregions = -1\n[affinity]\nradius = 99\n", ":2: region.regions"},
      {"[eigen]\nvectors = 0\n", ":2: eigen.vectors is 0"},
      {"[eigen]\nvectors = 9223372036854775807\n", "expected an int"},
      {"[affinity]\nradius = 11\n", ":2: affinity.radius is 11, expected an integer from 1 to 10"},
      {"[eigen]\nvectors = 'many'\n", "is \"many\", expected an int"},
      {"[eigen]\nvectors = 17.0\n",
       ":2: eigen.vectors is 17.0, expected an integer from 2 to 1000"},
      {"[eigen]\nvectors = [17]\n", "is an array, expected an int"},
      {"[eigen]\nvectors = {of = 17}\n", ":2: "},
      {"[eigen]\nvectors = 2026-11-24\n", "is a date or time, expected"},
      {"[boundary]\nthin = 1\n", "is 1, expected true or false"},
      {"[boundary]\nsigma = true\n", "is true, expected a number"},
      {"[boundary]\nsigma = nan\n", "boundary.sigma is nan, expected"},
      {"[boundary]\nsigma = -inf\n", "boundary.sigma is -inf, expected"},
      {"[matvec]\nkernel = 'fastest'\n",
       "matvec.kernel is \"fastest\", expected one of \"auto\", \"naive\""},
      {"[eigen]\nsolver = 'none'\n", "eigen.solver is \"none\", expected one of"},
      {"[image]\nuntrusted = 'true'\n", "expected true or false"},
      {"[region]\nmin_size = 'small'\n", "region.min_size"},
      {"[affinity]\nstrides = '1,x'\n", "affinity.strides"},
      {"[boundary]\nweights = 3\n", "boundary.weights"},
      {"[eigen]\nbasis = 17\n",
       ": eigen.basis is 17, expected 0 (which chooses) or more than eigen.vectors"},
      {"[eigen]\nsolver = 'spectra'\nrelative_tolerance = 0.1\n",
       ": eigen.relative_tolerance is not for eigen.solver spectra"},
      {"[region]\nmethod = 'objects'\nregions = 3\n",
       ": region.regions (--regions) is 3, but region.method objects"},
      {"[matvec]\nkernel = 'symmetric'\n[affinity]\nstrides = '1,2'\n",
       ": affinity.strides has more than 1, which matvec.kernel symmetric"},
      {"[region]\nmethod = 'walker'\n[affinity]\nstrides = '1,2'\n",
       ": affinity.strides has more than 1, which region.method walker"},
      {"set eigen.vector 17",
       "unknown parameter 'eigen.vector'; the nearest known one is 'eigen.vectors'"},
      {"set eigen.vectors 17x", "eigen.vectors is '17x', expected an integer from 2 to 1000"},
      {"set eigen.vectors ", "expected an integer"},
      {"set eigen.vectors  ", "expected an integer"},
      {"set eigen.vectors 9 ", "expected an integer"},
      {"set eigen.vectors 1.5", "expected an integer"},
      {"set eigen.vectors 0x9", "expected an integer"},
      {"set eigen.vectors 1", "expected an integer"},
      {"set eigen.vectors 1001", "expected an integer"},
      {"set eigen.vectors 99999999999999999999", "expected an integer"},
      {"set boundary.sigma ", "expected a number"},
      {"set boundary.sigma nan", "expected a number"},
      {"set boundary.sigma inf", "expected a number"},
      {"set boundary.sigma 1e999", "expected a number"},
      {"set boundary.sigma one", "expected a number"},
      {"set eigen.solver Lanczos", "expected one of"},
      {"set image.untrusted yes", "expected true or false"},
      {"set region.min_size small", "region.min_size"},
      {"set affinity.strides 1;2", "affinity.strides"}};
  std::vector<SpoiltFile> files;
  for (const auto& [text, told] : kTexts) files.emplace_back(bytes_of(text), told);
  return files;
}

std::vector<SpoiltFile> spoilt_weights() {
  const std::string whole = text_of(shipped("merging.json"));
  std::vector<SpoiltFile> files =
      changed(whole, {{"\"diacut-merging\"", "\"another\"", "format"},
                      {"\"format\"", "\"form\""},
                      {"\"version\": 1", "\"version\": 2", "version"},
                      {"\"version\"", "\"versions\""},
                      {"\"threshold\": ", "\"threshold\": 1", "threshold"},
                      {"\"threshold\": ", "\"threshold\": -", "threshold"},
                      {"\"threshold\": ", "\"threshold\": null, \"was\": "},
                      {"\"bias\": ", "\"bias\": \"much\", \"was\": "},
                      {"\"bias\": ", "\"bias\": 1e999, \"was\": "},
                      {"\"bias\": ", "\"bias\": 1e101, \"was\": "},
                      {"\"terms\"", "\"term\""},
                      {"\"feature\": \"mean\"", "\"feature\": \"meaning\"", "'meaning'"},
                      {"\"feature\": \"mean\"", "\"feature\": 3"},
                      {"\"deviation\": ", "\"deviation\": 0, \"was\": ", "deviation"},
                      {"\"deviation\": ", "\"deviation\": -", "deviation"},
                      {"\"weight\"", "\"height\""},
                      {"\"colour\"", "\"color\""},
                      {"\"grey\": {", "\"grey\": {\"terms\": [], \"was\": {}}, \"other\": {"}});
  const std::string grey = whole.substr(whole.find("\"grey\""));
  const std::string colours =
      replaced_once(grey, "\"feature\": \"mean\"", "\"feature\": \"difference_a\"");
  files.emplace_back(bytes_of(replaced_once(whole, grey, colours)), "difference_a");
  files.emplace_back(bytes_of(replaced_once(whole, "\"grey\"", "\"green\"")), "grey");
  files.push_back(bytes_of(whole.substr(0, whole.size() / 2)));
  files.push_back(bytes_of("[]"));
  files.emplace_back();
  return files;
}

std::vector<SpoiltFile> spoilt_profiles() {
  const std::string whole = testing::plausible_profile_text(DeviceKind::kCpu);
  std::vector<SpoiltFile> files =
      changed(whole, {{"\"diacut_profile\"", "\"profile\"", "it is no profile"},
                      {"\"diacut_profile\": 2", "\"diacut_profile\": 1", "version 1, expected 2"},
                      {"\"device\"", "\"devices\""},
                      {"\"name\":", "\"names\":"},
                      {"\"platform\":", "\"platform\":3,\"was\":"},
                      {"\"matvec\": [", "\"matvec\": [3, "},
                      {"\"matvec\"", "\"product\"", "damaged"},
                      {"{\"rows\": ", "{\"rows\": \"many\", \"was\": "},
                      {"\"gflops\": 10", "\"gflops\": 0"},
                      {"\"gflops\": 10", "\"gflops\": \"fast\""},
                      {"\"kernel\": \"naive\", ", ""},
                      {"\"kernel\": \"naive\"", "\"kernel\": \"symmetric\"", "damaged"},
                      {"\"copy_gigabytes_per_second\": ", "\"copy_gigabytes_per_second\": -"},
                      {"\"rows\": [4096, ", "\"rows\": [99999999, ", "rows does not ascend"},
                      {"\"rows\": [4096, ", "\"rows\": [4096, 4096, ", "rows does not ascend"},
                      {"\"rows\": [4096, ", "\"rows\": [", "values"},
                      {"\"rows\": [4096, ", "\"rows\": [0, ", "positive"},
                      {"\"row_lengths\": [", "\"row_lengths\": [], \"were\": ["},
                      {"\"row_lengths\": [", "\"row_lengths\": 4, \"were\": ["},
                      {"\"csr/scalar\": [", "\"csr/scalar\": [1, ", "values"},
                      {"\"csr/scalar\": [", "\"csr/scalar\": [-1, ", "csr/scalar has -1"},
                      {"\"csr/scalar\": [", "\"csr/scalar\": [\"x\", ", "csr/scalar"},
                      {"\"gflops\": {", "\"were\": {", "damaged"}});
  files.emplace_back(bytes_of(whole.substr(0, whole.size() / 2)), "'fuzzed' is damaged");
  files.emplace_back(bytes_of("[]"), "it is no profile");
  files.emplace_back(bytes_of("{}"), "it is no profile");
  files.emplace_back(FileBytes(), "'fuzzed' is damaged");
  return files;
}

std::vector<SpoiltFile> spoilt_matrices() {
  const std::string head = "%%MatrixMarket matrix coordinate real ";
  const std::string whole = head + "general\n2 3 2\n1 1 -2.5\n2 3 .5\n";
  std::vector<SpoiltFile> files = changed(
      whole,
      {{"%%MatrixMarket", "%%MatrixMarker", "does not begin with %%MatrixMarket"},
       {"matrix", "vector", "expected '%%MatrixMarket matrix coordinate"},
       {" general", "", ":1: "},
       {"coordinate", "list", "'list'"},
       {"coordinate", "array", "'array', expected coordinate"},
       {"real", "complex", "a complex matrix"},
       {"real general", "complex hermitian", "a complex matrix"},
       {"real", "quaternion", "'quaternion', expected real, integer or pattern"},
       {"real general", "pattern skew-symmetric", "no signs"},
       {"general", "hermitian", "a complex matrix"},
       {"general", "lower", "'lower'"},
       {"general", "symmetric", "a symmetric matrix of 2 x 3, expected a square one"},
       {"coordinate real", "array pattern", "'array'"},
       {"2 3 2\n", "2 3\n", "expected the size line"},
       {"2 3 2\n", "two 3 2\n", "the number of rows 'two'"},
       {"2 3 2\n", "2 -3 2\n", "the number of columns '-3'"},
       {"2 3 2\n", "2 3 1\n", "after the last of 1"},
       {"2 3 2\n", "2 3 3\n", "3 entries announced, expected at most 2"},
       // No memory is taken for what a short file cannot hold.
       {"2 3 2\n", "2 3 4000000000000000000\n", "4000000000000000000 entries announced"},
       {"2 3 2\n", "2 2147483648 2\n", "the number of columns"},
       {"2 3 2\n", "99999999999 3 2\n", "the number of rows"},
       // Each row takes memory, whether it has an entry or not.
       {"2 3 2\n", "600000000 3 2\n", "at most 1048576 rows or columns in a file of this length"},
       {"2 3 2\n", "2 600000000 2\n", "at most 1048576 rows or columns in a file of this length"},
       {"2 3 2\n", "0 3 2\n", "an entry of an empty matrix"},
       {"1 1 -2.5", "1 1", "expected 'ROW COLUMN VALUE'"},
       {"1 1 -2.5", "1 1 1 1", "expected 'ROW COLUMN VALUE'"},
       {"1 1 -2.5", "1 1 fast", "expected a real value"},
       {"1 1 -2.5", "1 1 1x", "expected a real value"},
       {"real", "integer", "expected an integer value"},
       {"1 1 -2.5", "1 1 1e39", "expected a finite number"},
       {"1 1 -2.5", "1 1 1e999", "expected a finite number"},
       {"1 1 -2.5", "1 1 nan", "expected a finite number"},
       {"1 1 -2.5", "1 1 +-1", "expected a real value"},
       {"1 1 -2.5\n2 3 .5", "1 1 3e38\n1 1 3e38", "does not fit a float"},
       {"1 1 -2.5", "0 1 -2.5", ":3: the row '0'"},
       {"1 1 -2.5", "-1 1 -2.5", "the row '-1'"},
       {"1 1 -2.5", "1.5 1 -2.5", "the row '1.5'"},
       {"1 1 -2.5", "99999999999999999999 1 -2.5", "the row"},
       {"1 1 -2.5", "1 0 -2.5", ":3: the column '0'"},
       {"1 1 -2.5", "1 4 -2.5", "the column '4'"},
       {"2 3 .5", "3 3 .5", ":4: the row '3'"},
       {"2 3 .5", "% a comment\n2 3 .5", ":4: "},
       {"2 3 .5\n", "\n   \n\n", "the file ends, expected entry 2 of 2"},
       {"1 1 -2.5", "\x01 a line that is longer than what messages quote of it, and more"},
       {"2 3 2\n1 1 -2.5\n2 3 .5\n", "", "the file ends, expected the size line"}});
  files.emplace_back(bytes_of(head + "symmetric\n3 3 1\n1 2 1.5\n"), "symmetric");
  files.emplace_back(bytes_of(head + "skew-symmetric\n3 3 1\n1 1 1\n"), "below the diagonal");
  files.emplace_back(FileBytes(), "does not begin with %%MatrixMarket");
  return files;
}

std::vector<SpoiltFile> spoilt_geojson() {
  const std::string whole =
      R"({"type":"FeatureCollection","features":[{"type":"Feature","properties":{"label":6},)"
      R"("geometry":{"type":"Polygon","coordinates":[[[2,2],[9.5,3],[8,12],[2,2]]]}}]})";
  std::vector<SpoiltFile> files =
      changed(whole, {{"\"type\"", "\"kind\""},
                      {"FeatureCollection", "Collection", "its type is 'Collection'"},
                      {"\"FeatureCollection\"", "[1]"},
                      {"\"features\"", "\"things\""},
                      {"\"features\":[", "\"features\":3,\"were\":[", "no list"},
                      {"[{\"type\":\"Feature\"", "[3,{\"type\":\"F\""},
                      {"\"geometry\"", "\"shape\""},
                      {"{\"type\":\"Polygon\"", "{\"kind\":\"Polygon\""},
                      {"Polygon", "Circle", "is a Circle"},
                      {"\"coordinates\"", "\"places\""},
                      {"[[[2,2],", "[3,[[2,2],"},
                      {"[[[2,2],", "[[],[[2,2],"},
                      {"[[[2,2],[9.5,3],[8,12],[2,2]]]", "[]", "no list, or an empty one"},
                      {"[[[2,2],", "[[[2],", "a point that is not two numbers"},
                      {"[[[2,2],", "[[[\"2\",2],"},
                      {"[[[2,2],", "[[[-2,2],"},
                      {"[[[2,2],", "[[[2,2000],", "outside of the picture of 40x30"},
                      {"[[[2,2],", "[[[1e999,2],"}});
  files.emplace_back(bytes_of(whole.substr(0, whole.size() / 2)), "cannot be read");
  files.push_back(bytes_of("[]"));
  return files;
}

std::vector<SpoiltFile> spoilt_coco() {
  const std::string whole =
      R"({"images":[{"id":1,"file_name":"b.png","width":4,"height":3}],"annotations":[)"
      R"({"id":9,"image_id":1,"segmentation":[[0,0,2,0,2,2]]},)"
      R"({"id":8,"image_id":1,"segmentation":{"size":[3,4],"counts":[2,3,7]}}]})";
  return changed(whole, {{"\"images\"", "\"pictures\"", "no COCO JSON"},
                         {"\"annotations\"", "\"regions\"", "no COCO JSON"},
                         {"[{\"id\":1,", "[{\"id\":2,\"file_name\":\"c\"},{\"id\":1,", "2 images"},
                         {"\"width\":4", "\"width\":0", "0 x 3"},
                         {"\"width\":4", "\"width\":4000000", "the limit"},
                         {"\"id\":9", "\"id\":0", "the number 0"},
                         {"\"id\":9", "\"id\":1.5", "the number 1.5"},
                         {"[[0,0,2,0,2,2]]", "[]", "region 9 has no polygon"},
                         {"[[0,0,2,0,2,2]]", "[[0,0,2,0]]", "three points"},
                         {"[[0,0,2,0,2,2]]", "[[0,0,2,0,1e99,2]]", "far outside"},
                         {"[[0,0,2,0,2,2]]", "[[0,0,2,0,true,2]]", "no COCO JSON"},
                         {"[3,4]", "[4,3]", "another size"},
                         {"[2,3,7]", "[2,3,8]", "another size"},
                         {"[2,3,7]", "[2,3,6]", "another size"},
                         {"[2,3,7]", "[2,-3,13]", "another size"},
                         {"[2,3,7]", "\"2 7\"", "damaged"}});
}

std::vector<SpoiltFile> spoilt_cvat() {
  const std::string whole =
      R"(<annotations><image name="b.png" width="4" height="3"><polygon points="0,0;2,0;2,2">)"
      R"(<attribute name="label">9</attribute></polygon>)"
      R"(<mask rle="1, 3" left="2" top="1" width="2" height="2"/></image></annotations>)";
  return changed(whole, {{"<annotations>", "annotations", "no XML of CVAT"},
                         {"</image>", "", "no XML of CVAT"},
                         {"<image name", "<track name", "no XML of CVAT"},
                         {"<image name", "<image name=\"c\"/><image name", "2 images"},
                         {"width=\"4\"", "width=\"four\"", "0 x 3"},
                         {"width=\"4\"", "width=\"4000000\"", "the limit"},
                         {">9<", ">0<", "the number 0"},
                         {">9<", ">1.5<", "the number 1.5"},
                         {"0,0;2,0;2,2", "", "three points"},
                         {"0,0;2,0;2,2", "0,0;2,0", "three points"},
                         {"0,0;2,0;2,2", "0,0;2,0;1e99,2", "far outside"},
                         {"0,0;2,0;2,2", "0,0;2,0;2,2;1", "odd count"},
                         {"0,0;2,0;2,2", "0,0;2,0;2,two", "'two'"},
                         {"1, 3", "1, 4", "another size"},
                         {"1, 3", "1, 2", "another size"},
                         {"1, 3", "-1, 5", "another size"},
                         {"1, 3", "1; 3", "'1; 3'"},
                         {"left=\"2\"", "left=\"3\"", "another size"},
                         {"left=\"2\"", "left=\"-1\"", "another size"},
                         {"left=\"2\"", "", "expected a number"},
                         {"top=\"1\"", "top=\"1.5\"", "'1.5'"}});
}

}  // namespace diacut::fuzz
