#include <fmt/format.h>

#include <functional>
#include <initializer_list>

#include "diacut/output.hpp"
#include "network_file.hpp"
#include "npz_writer.hpp"
#include "spoilt.hpp"

/// Arrays, hierarchies and networks that are whole in all but one thing.
namespace diacut::fuzz {
namespace {

using nlohmann::json;
using testing::NetworkFile;

FileBytes npy_bytes(const std::string& header, const std::string& elements = {}) {
  return fuzz::bytes_of(testing::npy_file(header, elements));
}

FileBytes bytes_of(const NetworkFile& network) {
  const std::vector<std::byte> bytes = network.bytes();
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {first, first + bytes.size()};
}

/// One convolution and the end.
NetworkFile tiny_network() {
  NetworkFile file(1);
  file.conv("a", "image", 3, 1, {.relu = false});
  file.sigmoid("a");
  return file;
}

FileBytes cut_off(const FileBytes& file, std::size_t size) {
  return {file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)};
}

/// A place in the JSON of a network, what is merged into it (RFC 7396: null takes a member away),
/// and part of the message that this gives.
struct Merged {
  const char* place;
  const char* patch;
  const char* told = "";
};

/// Files of a network whose JSON, the header or the graph, has each of the changes alone.
void add_merged(const NetworkFile& whole, json& (NetworkFile::*part)(),
                std::initializer_list<Merged> changes, std::vector<SpoiltFile>& files) {
  for (const auto& [place, patch, told] : changes) {
    NetworkFile file = whole;
    (file.*part)().at(json::json_pointer(place)).merge_patch(json::parse(patch));
    files.emplace_back(bytes_of(file), told);
  }
}

/// A file of a network that is spoilt in another way.
FileBytes spoilt_network(NetworkFile file, const std::function<void(NetworkFile&)>& spoil) {
  spoil(file);
  return bytes_of(file);
}

/// The only convolution of tiny_network().
constexpr std::initializer_list<Merged> kConvolutions = {
    {"/ops/0", R"({"op": "softmax"})", "softmax"},
    {"/ops/0", R"({"op": 3})", "type"},
    {"/ops/0", R"({"out": "image"})", "twice"},
    {"/ops/0", R"({"in": []})"},
    {"/ops/0", R"({"in": [3]})"},
    {"/ops/0", R"({"in": "image"})"},
    {"/ops/0", R"({"in": ["nowhere"]})", "\"nowhere\""},
    {"/ops/0", R"({"weight": "nothing"})", "\"nothing\""},
    {"/ops/0", R"({"weight": "__metadata__"})"},
    {"/ops/0", R"({"weight": "a.bias"})", "\"a.bias\""},
    {"/ops/0", R"({"bias": "a.weight"})", "\"a.weight\""},
    {"/ops/0", R"({"kernel": 2})", "2x2"},
    {"/ops/0", R"({"kernel": 4})", "4x4"},
    {"/ops/0", R"({"kernel": 7})", "7"},
    {"/ops/0", R"({"kernel": "three"})", "type"},
    {"/ops/0", R"({"dilation": 65})", "65"},
    {"/ops/0", R"({"relu": 1})", "type"},
    {"/ops/0", R"({"stride": 3})", "3"},
    {"/ops/0", R"({"before": 0})", "1 to 1"},
    {"/ops/0", R"({"before": 9})", "1 to 1"},
    {"/ops/0", R"({"most": 2})", "relu"},
    {"/ops/0", R"({"add": "image"})", "adds"},
    {"/ops/0", R"({"add": 3})", "type"},
    {"/ops/0", R"({"depthwise": "yes"})", "type"},
    {"/ops/0", R"({"depthwise": true})"},
    {"/ops/0", R"({"op": null})", "\"op\""},
    {"/ops/0", R"({"out": null})", "\"out\""},
    {"/ops/0", R"({"in": null})", "\"in\""},
    {"/ops/0", R"({"weight": null})", "\"weight\""},
    {"/ops/0", R"({"bias": null})", "\"bias\""},
    {"/ops/0", R"({"kernel": null})", "\"kernel\""},
    {"/ops/0", R"({"dilation": null})", "\"dilation\""},
    {"/ops/0", R"({"relu": null})", "\"relu\""},
    {"/ops/0", R"({"stride": 2, "dilation": 2})", "dilation"},
    {"/ops/0", R"({"relu": true, "most": 6.5})", "type"},
    {"/ops/0", R"({"stride": 2, "before": -1})", "0 to 1"},
    {"/ops/0", R"("conv")"},
};

/// The only tensors of tiny_network(), of 54 and 2 bytes.
constexpr std::initializer_list<Merged> kTensors = {
    {"/a.weight", R"({"dtype": "BF16"})", "BF16"},
    {"/a.weight", R"({"dtype": 16})"},
    {"/a.weight", R"({"shape": "large"})"},
    {"/a.weight", R"({"shape": [-1]})"},
    {"/a.weight", R"({"shape": [1, 3, 3]})", "[1, 3, 3]"},
    {"/a.weight", R"({"shape": [1, 3, 9, 1]})", "[1, 3, 9, 1]"},
    {"/a.weight", R"({"shape": [1, 3, 3, 4]})", "bytes"},
    {"/a.weight", R"({"shape": [1, 3, 4611686018427387904, 3]})", "\"a.weight\""},
    {"/a.weight", R"({"shape": [1099511627776, 1099511627776]})", "\"a.weight\""},
    {"/a.weight", R"({"data_offsets": [0]})"},
    {"/a.weight", R"({"data_offsets": [54, 0]})"},
    {"/a.weight", R"({"data_offsets": [0, 54000]})"},
    {"/a.weight", R"({"data_offsets": [2, 56]})"},
    {"/a.weight", R"({"data_offsets": [0, 52]})"},
    {"/a.weight", R"({"shape": null})"},
    {"/a.weight", R"(3)"},
    {"/a.bias", R"({"data_offsets": [52, 54]})", "overlaps"},
    {"",
     R"({"a.weight": null, "renamed": {"dtype": "F16", "shape": [1, 3, 3, 3], "data_offsets": [0, 54]}})",
     "missing"},
};

/// The graph of testing::small_network().
constexpr std::initializer_list<Merged> kGraphs = {
    {"", R"({"ops": []})"},
    {"", R"({"ops": null})", "\"ops\""},
    {"", R"({"ops": "stem"})", "\"ops\""},
    {"", R"({"input": null})", "\"input\""},
    {"", R"({"output": 3})", "type"},
    {"", R"({"output": "stem"})", "does not end with the sigmoid"},
    {"", R"([])"},
    {"/ops/15/in", R"("stem")"},
    {"/ops/15/in", R"("c2")"},
    {"/ops/15/in", R"("b0")", "1 or 2 of level 0"},
    {"/ops/10/like", R"("stem")", "level"},
    {"/ops/11/in", R"(["u1", "stem"])"},
    {"/ops/14/in", R"(["e0", "a0"])", "name of one tensor"},
    {"/ops/2", R"({"add": "image"})", "adds \"image\""},
    {"", R"({"embedding": "nowhere"})", "embedding \"nowhere\""},
    {"", R"({"embedding": "image"})", "embedding \"image\""},
    {"", R"({"embedding": "edges"})", "embedding \"edges\""},
    {"", R"({"embedding": "a2"})", "embedding \"a2\""},
    {"", R"({"embedding": 2})", "type"},
};

}  // namespace

std::vector<SpoiltFile> spoilt_networks() {
  std::vector<SpoiltFile> files;
  const NetworkFile tiny = tiny_network();
  const NetworkFile small = testing::small_network(1);
  add_merged(tiny, &NetworkFile::graph, kConvolutions, files);
  add_merged(tiny, &NetworkFile::header, kTensors, files);
  add_merged(small, &NetworkFile::graph, kGraphs, files);
  const char* const known = "\"boundary\" or \"boundary,inside\"";
  add_merged(small, &NetworkFile::header,
             {{"/__metadata__", R"({"format": "other"})", "\"other\""},
              {"/__metadata__", R"({"format": 3})"},
              {"/__metadata__", R"({"version": "3"})", "version \"3\""},
              {"/__metadata__", R"({"outputs": "boundary,inside"})", "gives 1 channel"},
              {"", R"({"__metadata__": null})"}},
             files);
  add_merged(testing::small_network(1, true, 2), &NetworkFile::header,
             {{"/__metadata__", R"({"outputs": "inside,boundary"})", known},
              {"/__metadata__", R"({"outputs": 2})", known},
              {"/__metadata__", R"({"outputs": "boundary"})", "gives 2 channels"},
              {"/__metadata__", R"({"outputs": null})", "gives 2 channels"}},
             files);
  add_merged(testing::small_network(1, true, 3), &NetworkFile::header,
             {{"/__metadata__", R"({"outputs": "boundary,inside"})", "gets 3 channels"}}, files);
  files.push_back(spoilt_network(small, [](NetworkFile& file) { file.graph()["ops"].erase(15); }));
  files.emplace_back(
      spoilt_network(small, [](NetworkFile& file) { file.upsample("after", "edges", "stem"); }),
      "goes on after");
  files.emplace_back(spoilt_network(tiny, [](NetworkFile& file) { file.data().resize(64); }),
                     "belong to no tensor");
  files.emplace_back(spoilt_network(tiny,
                                    [](NetworkFile& file) {
                                      file.data()[0] = std::byte{0};
                                      file.data()[1] = std::byte{0x7c};
                                    }),
                     "not finite");
  files.push_back(spoilt_network(tiny, [](NetworkFile& file) {
    file.data().insert(file.data().begin() + 54, 2, std::byte{0});
    file.header()["a.bias"]["data_offsets"] = {56, 58};
  }));
  files.push_back(spoilt_network(NetworkFile(1), [](NetworkFile& deep) {
    std::string last = "image";
    for (int level = 1; level <= 11; ++level) {
      last = deep.conv(fmt::format("p{}", level), last, 3, 3, {.kernel = 1, .stride = 2});
    }
  }));
  const FileBytes whole = bytes_of(tiny);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    files.emplace_back(cut_off(whole, size), "--weights");
  }
  FileBytes text = whole;
  text[8] = '[';
  files.push_back(text);
  return files;
}

std::vector<SpoiltFile> spoilt_npy() {
  const std::string whole = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  const auto with_values = [](const std::string& header) {
    return npy_bytes(header, std::string(24, '\x3c'));
  };
  std::vector<SpoiltFile> files =
      changed(whole,
              {
                  {"{", "(", "'{'"},
                  {"'descr'", "descr"},
                  {"'descr':", "'descr'"},
                  {"'descr': '<f4', ", "", "descr"},
                  {"'descr': '<f4'", "'descr': '<f4"},
                  {"'<f4', 'fortran_order': False, 'shape': (2, 3), }", "'<f4", "without an end"},
                  {"'descr'", "'shape'"},
                  {"'<f4'", "[('a', '<f4')]", "structures"},
                  {"'<f4'", "'f4'"},
                  {"'<f4'", "'f'", "type"},
                  {"'<f4'", "'<f'", "type"},
                  {"'<f4'", "'<a type with a name too long'"},
                  {"'<f4'", "'<c8'", "<c8"},
                  {"'fortran_order': False, ", "", "fortran_order"},
                  {"False", "Maybe", "True nor False"},
                  {"'fortran_order'", "'order'"},
                  {"(2, 3)", "(2, 3"},
                  {"(2, 3)", "(2 3)"},
                  {"(2, 3)", "(two, 3)"},
                  {"(2, 3)", "(-2, 3)", "no number"},
                  {"(2, 3)", "(0, 3)"},
                  {"(2, 3)", "(6,)"},
                  {"(2, 3)", "(2, 3, 1, 1)"},
                  {"(2, 3)", "(20, 30)"},
                  {"(2, 3)", "(99999999999, 99999999999)"},
                  {"(2, 3)", "(99999999999999999999,)", "no number"},
                  {"(2, 3)", "(3, 2000000)"},
                  {"(2, 3)", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)",
                   "dimensions"},
                  {"'shape': (2, 3), ", "", "shape"},
                  {"(2, 3), }", "(2, 3), 'shape': (2, 3)}", "twice"},
                  {"(2, 3), }", "(2, 3)"},
              },
              with_values);
  files.emplace_back(fuzz::bytes_of("\x93NUMPY\x01"), "cut off");
  files.emplace_back(fuzz::bytes_of(std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f{}", 14)),
                     "2147483647 bytes");
  // One long word made a parser by regular expressions overflow its stack.
  const std::string word = "{'descr': '<" + std::string(60'000, 'f') + "', }";
  files.emplace_back(fuzz::bytes_of(testing::npy_file(word, "", 2)), "which is none");
  files.push_back(npy_bytes(whole, std::string(23, '\x3c')));
  files.push_back(npy_bytes(whole.substr(0, 20)));
  files.emplace_back(with_values(whole + "more"), "goes on");
  // More colours than somebody paints seeds with.
  files.push_back(testing::encode(".png", testing::random_samples(20, 20, CV_8UC3)));
  for (const char* json : {"{}", " {\"type\": \"Feature\"}"}) files.push_back(fuzz::bytes_of(json));
  files.emplace_back();
  return files;
}

std::vector<SpoiltFile> spoilt_trees() {
  Hierarchy tree;
  tree.leaves = {3, 2, 3, {1, 0, 2, 3, 0, 2}};
  tree.merges = {{1, 3, 0.625F}, {2, 4, 0.75F}};
  tree.threshold = 0.3;
  const FileBytes whole = encode_tree(tree);
  const auto with = [&](std::size_t at, std::uint8_t byte) {
    FileBytes file = whole;
    file[at] = byte;
    return file;
  };
  // Magic, version, width, height, leaves, merges, bytes of a label, threshold, labels, merges.
  std::vector<SpoiltFile> files = {{with(0, 0), "not a hierarchy"},
                                   {with(8, 9), "version 9"},
                                   with(12, 4),
                                   with(12, 1),
                                   with(15, 0xff),
                                   with(19, 0x7f),
                                   with(20, 9),
                                   with(23, 0x7f),
                                   with(24, 0xff),
                                   with(27, 0x7f),
                                   with(28, 4),
                                   with(39, 0xff),
                                   {with(40, 9), "scan order"},
                                   {with(63, 0xff), "height"},
                                   with(52, 7)};
  for (const std::size_t size : {0U, 3U, 30U, 50U}) {
    files.emplace_back(cut_off(whole, size), size == 0 ? "empty" : "truncated");
  }
  FileBytes longer = whole;
  longer.resize(longer.size() + 4);
  files.emplace_back(longer, "damaged");
  return files;
}

}  // namespace diacut::fuzz
