#include <fmt/format.h>

#include <stdexcept>

#include "device_profiles.hpp"
#include "source_text.hpp"
#include "spoilt.hpp"
#include "temp_folder.hpp"

namespace diacut::fuzz {
namespace {

std::vector<FileBytes> files_of(const std::vector<std::string>& texts) {
  std::vector<FileBytes> files;
  for (const std::string& text : texts) files.push_back(bytes_of(text));
  return files;
}

struct Change {
  const char* from;
  const char* to;
};

/// A text with each of the changes alone.
std::vector<FileBytes> changed(const std::string& text, const std::vector<Change>& changes) {
  std::vector<FileBytes> files;
  for (const auto& [from, to] : changes) files.push_back(bytes_of(replaced_once(text, from, to)));
  return files;
}

}  // namespace

std::string replaced_once(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error(fmt::format("there is no '{}'", from));
  return text.replace(at, from.size(), to);
}

FileBytes shipped(const std::string& name) {
  return bytes_of(testing::read_bytes(fmt::format("{}/configs/{}", DIACUT_SOURCE_DIR, name)));
}

std::vector<FileBytes> spoilt_configurations() {
  return files_of({"[eigen\nvectors = 17\n",
                   "[eigne]\nvectors = 17\n",
                   "eigen = 17\n",
                   "vectors = 17\n",
                   "[eigen]\nvector = 17\n",
                   "[eigen]\nvectors = 0\n",
                   "[eigen]\nvectors = 'many'\n",
                   "[eigen]\nvectors = 17.5\n",
                   "[eigen]\nvectors = [17]\n",
                   "[eigen]\nvectors = {of = 17}\n",
                   "[eigen]\nvectors = 2026-11-24\n",
                   "[eigen]\ntolerance = nan\n",
                   "[eigen]\nsolver = 'none'\n",
                   "[image]\nuntrusted = 'true'\n",
                   "[region]\nmin_size = 'small'\n",
                   "[affinity]\nstrides = '1,x'\n",
                   "[cue]\nweights = 3\n",
                   "[eigen]\nvectors = 17\nbasis = 5\n",
                   "[eigen]\nsolver = 'spectra'\nrelative_tolerance = 0.1\n",
                   "[region]\nmethod = 'objects'\nregions = 3\n",
                   "[matvec]\nkernel = 'symmetric'\n[affinity]\nstrides = '1,2'\n",
                   "[region]\nmethod = 'walker'\n[affinity]\nstrides = '1,2'\n",
                   "set eigen.vectors 17x",
                   "set eigen.vectors 99999999999999999999",
                   "set eigen.vector 17",
                   "set eigen.tolerance fine",
                   "set eigen.solver none",
                   "set image.untrusted yes",
                   "set region.min_size small",
                   "set affinity.strides 1;2"});
}

std::vector<FileBytes> spoilt_weights() {
  const std::string whole = text_of(shipped("merging.json"));
  std::vector<FileBytes> files =
      changed(whole, {{"\"diacut-merging\"", "\"another\""},
                      {"\"format\"", "\"form\""},
                      {"\"version\": 1", "\"version\": 2"},
                      {"\"version\"", "\"versions\""},
                      {"\"threshold\": ", "\"threshold\": 1"},
                      {"\"threshold\": ", "\"threshold\": -"},
                      {"\"threshold\": ", "\"threshold\": null, \"was\": "},
                      {"\"bias\": ", "\"bias\": \"much\", \"was\": "},
                      {"\"bias\": ", "\"bias\": 1e999, \"was\": "},
                      {"\"bias\": ", "\"bias\": 1e101, \"was\": "},
                      {"\"terms\"", "\"term\""},
                      {"\"feature\": \"mean\"", "\"feature\": \"meaning\""},
                      {"\"feature\": \"mean\"", "\"feature\": 3"},
                      {"\"deviation\": ", "\"deviation\": 0, \"was\": "},
                      {"\"deviation\": ", "\"deviation\": -"},
                      {"\"weight\"", "\"height\""},
                      {"\"colour\"", "\"color\""},
                      {"\"grey\": {", "\"grey\": {\"terms\": [], \"was\": {}}, \"other\": {"}});
  const std::string grey = whole.substr(whole.find("\"grey\""));
  const std::string colours =
      replaced_once(grey, "\"feature\": \"mean\"", "\"feature\": \"difference_a\"");
  files.push_back(bytes_of(replaced_once(whole, grey, colours)));
  files.push_back(bytes_of(whole.substr(0, whole.size() / 2)));
  files.push_back(bytes_of("[]"));
  files.emplace_back();
  return files;
}

std::vector<FileBytes> spoilt_profiles() {
  const std::string whole = testing::plausible_profile_text(DeviceKind::kCpu);
  std::vector<FileBytes> files =
      changed(whole, {{"\"diacut_profile\"", "\"profile\""},
                      {"\"diacut_profile\": 2", "\"diacut_profile\": 1"},
                      {"\"device\"", "\"devices\""},
                      {"\"name\":", "\"names\":"},
                      {"\"platform\":", "\"platform\":3,\"was\":"},
                      {"\"matvec\": [", "\"matvec\": [3, "},
                      {"\"matvec\"", "\"product\""},
                      {"{\"rows\": ", "{\"rows\": \"many\", \"was\": "},
                      {"\"gflops\": 10", "\"gflops\": 0"},
                      {"\"gflops\": 10", "\"gflops\": \"fast\""},
                      {"\"kernel\": \"naive\", ", ""},
                      {"\"kernel\": \"naive\"", "\"kernel\": \"symmetric\""},
                      {"\"copy_gigabytes_per_second\": ", "\"copy_gigabytes_per_second\": -"},
                      {"\"rows\": [4096, ", "\"rows\": [4096, 1, "},
                      {"\"rows\": [4096, ", "\"rows\": [4096, 4096, "},
                      {"\"rows\": [4096, ", "\"rows\": [0, "},
                      {"\"row_lengths\": [", "\"row_lengths\": [], \"were\": ["},
                      {"\"row_lengths\": [", "\"row_lengths\": 4, \"were\": ["},
                      {"\"csr/scalar\": [", "\"csr/scalar\": [1, "},
                      {"\"gflops\": {", "\"were\": {"}});
  files.push_back(bytes_of(whole.substr(0, whole.size() / 2)));
  files.push_back(bytes_of("[]"));
  return files;
}

std::vector<FileBytes> spoilt_matrices() {
  const std::string real = "%%MatrixMarket matrix coordinate real general\n";
  const std::string whole = real + "2 3 2\n1 1 -2.5\n2 3 .5\n";
  std::vector<FileBytes> files = changed(
      whole, {{"%%MatrixMarket", "%%MatrixMarker"},
              {"matrix", "vector"},
              {" general", ""},
              {"coordinate", "list"},
              {"real", "complex"},
              {"real", "quaternion"},
              {"real general", "pattern skew-symmetric"},
              {"general", "hermitian"},
              {"general", "lower"},
              {"general", "symmetric"},  // It is not square.
              {"coordinate real", "array pattern"},
              {"2 3 2\n", "2 3\n"},
              {"2 3 2\n", "two 3 2\n"},
              {"2 3 2\n", "2 -3 2\n"},
              {"2 3 2\n", "2 3 1\n"},
              {"2 3 2\n", "2 3 3\n"},
              {"2 3 2\n", "2 3 99999999999\n"},
              {"2 3 2\n", "4000000000 3 2\n"},
              {"2 3 2\n", "99999999999 3 2\n"},
              {"2 3 2\n", "0 3 2\n"},
              {"1 1 -2.5", "1 1"},
              {"1 1 -2.5", "1 1 fast"},
              {"1 1 -2.5", "1 1 1e39"},
              {"1 1 -2.5", "1 1 1e999"},
              {"1 1 -2.5", "1 1 nan"},
              {"1 1 -2.5", "1 1 +-1"},
              {"1 1 -2.5", "0 1 -2.5"},
              {"1 1 -2.5", "1 4 -2.5"},
              {"1 1 -2.5", "% a comment"},
              {"1 1 -2.5", "\x01 a line that is longer than what messages quote of it, and more"},
              {"2 3 2\n1 1 -2.5\n2 3 .5\n", ""}});
  files.push_back(bytes_of("%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 2 1.5\n"));
  files.push_back(bytes_of("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n1 1 1\n"));
  files.emplace_back();
  return files;
}

std::vector<FileBytes> spoilt_geojson() {
  const std::string whole =
      R"({"type":"FeatureCollection","features":[{"type":"Feature","properties":{"label":6},)"
      R"("geometry":{"type":"Polygon","coordinates":[[[2,2],[9.5,3],[8,12],[2,2]]]}}]})";
  std::vector<FileBytes> files = changed(whole, {{"\"type\"", "\"kind\""},
                                                 {"FeatureCollection", "Collection"},
                                                 {"\"FeatureCollection\"", "[1]"},
                                                 {"\"features\"", "\"things\""},
                                                 {"\"features\":[", "\"features\":3,\"were\":["},
                                                 {"[{\"type\":\"Feature\"", "[3,{\"type\":\"F\""},
                                                 {"\"geometry\"", "\"shape\""},
                                                 {"{\"type\":\"Polygon\"", "{\"kind\":\"Polygon\""},
                                                 {"Polygon", "Circle"},
                                                 {"\"coordinates\"", "\"places\""},
                                                 {"[[[2,2],", "[3,[[2,2],"},
                                                 {"[[[2,2],", "[[],[[2,2],"},
                                                 {"[[[2,2],", "[[[2],"},
                                                 {"[[[2,2],", "[[[\"2\",2],"},
                                                 {"[[[2,2],", "[[[-2,2],"},
                                                 {"[[[2,2],", "[[[2,2000],"},
                                                 {"[[[2,2],", "[[[1e999,2],"}});
  files.push_back(bytes_of(whole.substr(0, whole.size() / 2)));
  files.push_back(bytes_of("[]"));
  return files;
}

}  // namespace diacut::fuzz
