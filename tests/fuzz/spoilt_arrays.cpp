#include <fmt/format.h>

#include <functional>
#include <utility>

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

/// What a member of JSON is replaced by, and part of the message that this gives.
struct Entry {
  const char* name;
  json value;
  const char* told = "";
};

/// A network of levels, which is spoilt.
FileBytes spoilt_network(const std::function<void(NetworkFile&)>& spoil) {
  NetworkFile file = testing::small_network(1);
  spoil(file);
  return bytes_of(file);
}

/// The first operation of a network of one convolution is spoilt.
FileBytes spoilt_convolution(const std::function<void(json& op)>& spoil) {
  NetworkFile file = tiny_network();
  spoil(file.graph()["ops"][0]);
  return bytes_of(file);
}

FileBytes spoilt_tensor(const std::function<void(json& tensor)>& spoil) {
  NetworkFile file = tiny_network();
  spoil(file.header()["a.weight"]);
  return bytes_of(file);
}

void add_spoilt_operations(std::vector<SpoiltFile>& files) {
  const std::vector<Entry> values = {
      {"op", "softmax", "softmax"},
      {"op", 3, "type"},
      {"out", "image", "twice"},
      {"in", json::array()},
      {"in", json::array({3})},
      {"in", "image"},
      {"in", json::array({"nowhere"}), "\"nowhere\""},
      {"weight", "nothing", "\"nothing\""},
      {"weight", "__metadata__"},
      {"weight", "a.bias", "\"a.bias\""},
      {"bias", "a.weight", "\"a.weight\""},
      {"kernel", 2, "2x2"},
      {"kernel", 4, "4x4"},
      {"kernel", 7, "7"},
      {"kernel", "three", "type"},
      {"dilation", 65, "65"},
      {"relu", 1, "type"},
      {"stride", 3, "3"},
      {"before", 0, "1 to 1"},
      {"before", 9, "1 to 1"},
      {"most", 2, "relu"},
      {"add", "image", "adds"},
      {"add", 3, "type"},
      {"depthwise", "yes", "type"},
      {"depthwise", true},
  };
  for (const Entry& each : values) {
    files.emplace_back(spoilt_convolution([&](json& op) { op[each.name] = each.value; }),
                       each.told);
  }
  for (const char* name : {"op", "out", "in", "weight", "bias", "kernel", "dilation", "relu"}) {
    files.emplace_back(spoilt_convolution([&](json& op) { op.erase(name); }),
                       fmt::format("\"{}\"", name));
  }
  files.emplace_back(spoilt_convolution([](json& op) {
                       op["stride"] = 2;
                       op["dilation"] = 2;
                     }),
                     "dilation");
  files.emplace_back(spoilt_convolution([](json& op) {
                       op["relu"] = true;
                       op["most"] = 6.5;
                     }),
                     "type");
  files.emplace_back(spoilt_convolution([](json& op) {
                       op["stride"] = 2;
                       op["before"] = -1;
                     }),
                     "0 to 1");
  files.push_back(spoilt_convolution([](json& op) { op = "conv"; }));
}

void add_spoilt_graphs(std::vector<SpoiltFile>& files) {
  const std::vector<std::pair<const char*, std::function<void(NetworkFile&)>>> spoils = {
      {"", [](NetworkFile& file) { file.graph()["ops"] = json::array(); }},
      {"\"ops\"", [](NetworkFile& file) { file.graph().erase("ops"); }},
      {"\"input\"", [](NetworkFile& file) { file.graph().erase("input"); }},
      {"type", [](NetworkFile& file) { file.graph()["output"] = 3; }},
      {"does not end with the sigmoid", [](NetworkFile& file) { file.graph()["output"] = "stem"; }},
      {"", [](NetworkFile& file) { file.graph() = json::array(); }},
      {"", [](NetworkFile& file) { file.graph()["ops"].erase(file.graph()["ops"].size() - 1); }},
      {"goes on after", [](NetworkFile& file) { file.upsample("after", "edges", "stem"); }},
      // Levels that do not fit.
      {"", [](NetworkFile& file) { file.graph()["ops"].back()["in"] = "stem"; }},
      {"", [](NetworkFile& file) { file.graph()["ops"].back()["in"] = "c2"; }},
      {"1 or 2 of level 0", [](NetworkFile& file) { file.graph()["ops"].back()["in"] = "b0"; }},
      {"level", [](NetworkFile& file) { file.graph()["ops"][10]["like"] = "stem"; }},
      {"",
       [](NetworkFile& file) {
         file.graph()["ops"][11]["in"] = {"u1", "stem"};
       }},
      {"name of one tensor",
       [](NetworkFile& file) {
         file.graph()["ops"][14]["in"] = {"e0", "a0"};
       }},
      {"adds \"image\"", [](NetworkFile& file) { file.graph()["ops"][2]["add"] = "image"; }},
      {"embedding \"nowhere\"", [](NetworkFile& file) { file.graph()["embedding"] = "nowhere"; }},
      {"embedding \"image\"", [](NetworkFile& file) { file.graph()["embedding"] = "image"; }},
      {"embedding \"edges\"", [](NetworkFile& file) { file.graph()["embedding"] = "edges"; }},
      {"embedding \"a2\"", [](NetworkFile& file) { file.graph()["embedding"] = "a2"; }},
      {"type", [](NetworkFile& file) { file.graph()["embedding"] = 2; }},
  };
  for (const auto& [told, spoil] : spoils) files.emplace_back(spoilt_network(spoil), told);
  NetworkFile deep(1);
  std::string last = "image";
  for (int level = 1; level <= 11; ++level) {
    last = deep.conv(fmt::format("p{}", level), last, 3, 3, {.kernel = 1, .stride = 2});
  }
  files.push_back(bytes_of(deep));
}

void add_spoilt_metadata(std::vector<SpoiltFile>& files) {
  struct Outputs {
    int count;
    Entry entry;
  };
  const std::string known = "\"boundary\" or \"boundary,inside\"";
  const std::vector<Outputs> values = {
      {1, {"format", "other", "\"other\""}},
      {1, {"format", 3}},
      {1, {"version", "3", "version \"3\""}},
      {2, {"outputs", "inside,boundary", known.c_str()}},
      {2, {"outputs", 2, known.c_str()}},
      {1, {"outputs", "boundary,inside", "gives 1 channel"}},
      {2, {"outputs", "boundary", "gives 2 channels"}},
      {3, {"outputs", "boundary,inside", "gets 3 channels"}},
  };
  for (const auto& [count, entry] : values) {
    NetworkFile file = testing::small_network(1, true, count);
    file.header()["__metadata__"][entry.name] = entry.value;
    files.emplace_back(bytes_of(file), entry.told);
  }
  files.push_back(spoilt_network([](NetworkFile& file) { file.header() = json::object(); }));
  NetworkFile two = testing::small_network(1, true, 2);
  two.header()["__metadata__"].erase("outputs");
  files.emplace_back(bytes_of(two), "gives 2 channels");
}

void add_spoilt_tensors(std::vector<SpoiltFile>& files) {
  const std::vector<Entry> values = {
      {"dtype", "BF16", "BF16"},
      {"dtype", 16},
      {"shape", "large"},
      {"shape", json::array({-1})},
      {"shape", json::array({1, 3, 3}), "[1, 3, 3]"},
      {"shape", json::array({1, 3, 9, 1}), "[1, 3, 9, 1]"},
      {"shape", json::array({1, 3, 3, 4}), "bytes"},
      {"shape", json::array({1, 3, 1ULL << 62, 3}), "\"a.weight\""},
      {"shape", json::array({1ULL << 40, 1ULL << 40}), "\"a.weight\""},
      {"data_offsets", json::array({0})},
      {"data_offsets", json::array({54, 0})},
      {"data_offsets", json::array({0, 54000})},
      {"data_offsets", json::array({2, 56})},
      {"data_offsets", json::array({0, 52})},
  };
  for (const Entry& each : values) {
    files.emplace_back(spoilt_tensor([&](json& tensor) { tensor[each.name] = each.value; }),
                       each.told);
  }
  files.push_back(spoilt_tensor([](json& tensor) { tensor.erase("shape"); }));
  files.push_back(spoilt_tensor([](json& tensor) { tensor = 3; }));
  NetworkFile more = tiny_network();
  more.data().resize(more.data().size() + 8);
  files.emplace_back(bytes_of(more), "belong to no tensor");
  NetworkFile infinite = tiny_network();
  infinite.data()[1] = std::byte{0x7c};
  infinite.data()[0] = std::byte{0};
  files.emplace_back(bytes_of(infinite), "not finite");
  NetworkFile overlap = tiny_network();
  overlap.header()["a.bias"]["data_offsets"] = {52, 54};
  files.emplace_back(bytes_of(overlap), "overlaps");
  NetworkFile gap = tiny_network();
  gap.data().insert(gap.data().begin() + 54, 2, std::byte{0});
  gap.header()["a.bias"]["data_offsets"] = {56, 58};
  files.push_back(bytes_of(gap));
  NetworkFile renamed = tiny_network();
  renamed.header()["renamed"] = renamed.header()["a.weight"];
  renamed.header().erase("a.weight");
  files.emplace_back(bytes_of(renamed), "missing");
}

}  // namespace

std::vector<SpoiltFile> spoilt_networks() {
  std::vector<SpoiltFile> files;
  add_spoilt_operations(files);
  add_spoilt_graphs(files);
  add_spoilt_metadata(files);
  add_spoilt_tensors(files);
  const FileBytes whole = bytes_of(tiny_network());
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
  const std::string values(24, '\x3c');
  std::vector<SpoiltFile> files = {
      {fuzz::bytes_of("\x93NUMPY\x01"), "cut off"},
      {fuzz::bytes_of(std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f{}", 14)), "2147483647 bytes"},
      {npy_bytes(whole, values.substr(1))},
      {npy_bytes(whole.substr(0, 20))},
      {npy_bytes(whole + "more", values), "goes on"},
  };
  struct Change {
    const char* from;
    const char* to;
    const char* told = "";
  };
  const std::vector<Change> changes = {
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
  };
  for (const auto& [from, to, told] : changes) {
    files.emplace_back(npy_bytes(replaced_once(whole, from, to), values), told);
  }
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
                                   {with(8, 2), "version 2"},
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
