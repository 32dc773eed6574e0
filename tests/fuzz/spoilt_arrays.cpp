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

void add_spoilt_operations(std::vector<FileBytes>& files) {
  const std::vector<std::pair<const char*, json>> values = {
      {"op", "sum"},
      {"op", 3},
      {"out", "image"},
      {"in", json::array()},
      {"in", json::array({3})},
      {"in", "image"},
      {"in", json::array({"nothing"})},
      {"weight", "nothing"},
      {"weight", "__metadata__"},
      {"weight", "a.bias"},
      {"bias", "a.weight"},
      {"kernel", 2},
      {"kernel", 7},
      {"kernel", "three"},
      {"dilation", 65},
      {"relu", 1},
      {"stride", 3},
      {"before", 9},
      {"most", 2},
      {"add", "image"},
      {"add", 3},
      {"depthwise", "yes"},
      {"depthwise", true},
  };
  for (const auto& each : values) {
    files.push_back(spoilt_convolution([&](json& op) { op[each.first] = each.second; }));
  }
  for (const char* name : {"op", "out", "in", "weight", "bias", "kernel", "dilation", "relu"}) {
    files.push_back(spoilt_convolution([&](json& op) { op.erase(name); }));
  }
  files.push_back(spoilt_convolution([](json& op) {
    op["stride"] = 2;
    op["dilation"] = 2;
  }));
  files.push_back(spoilt_convolution([](json& op) { op = "conv"; }));
}

void add_spoilt_graphs(std::vector<FileBytes>& files) {
  const std::vector<std::function<void(NetworkFile&)>> spoils = {
      [](NetworkFile& file) { file.graph()["ops"] = json::array(); },
      [](NetworkFile& file) { file.graph().erase("ops"); },
      [](NetworkFile& file) { file.graph().erase("input"); },
      [](NetworkFile& file) { file.graph()["output"] = 3; },
      [](NetworkFile& file) { file.graph()["output"] = "logit"; },
      [](NetworkFile& file) { file.graph() = json::array(); },
      [](NetworkFile& file) { file.graph()["ops"].erase(file.graph()["ops"].size() - 1); },
      [](NetworkFile& file) { file.upsample("after", "edges", "stem"); },
      // Levels that do not fit.
      [](NetworkFile& file) { file.graph()["ops"].back()["in"] = "stem"; },
      [](NetworkFile& file) { file.graph()["ops"].back()["in"] = "c2"; },
      [](NetworkFile& file) { file.graph()["ops"][10]["like"] = "stem"; },
      [](NetworkFile& file) {
        file.graph()["ops"][11]["in"] = {"u1", "stem"};
      },
      [](NetworkFile& file) { file.graph()["ops"][2]["add"] = "image"; },
  };
  for (const auto& spoil : spoils) files.push_back(spoilt_network(spoil));
  NetworkFile deep(1);
  std::string last = "image";
  for (int level = 1; level <= 11; ++level) {
    last = deep.conv(fmt::format("p{}", level), last, 3, 3, {.kernel = 1, .stride = 2});
  }
  files.push_back(bytes_of(deep));
}

void add_spoilt_metadata(std::vector<FileBytes>& files) {
  const std::vector<std::pair<const char*, json>> values = {
      {"format", "another"}, {"format", 3},  {"version", "3"},
      {"outputs", "inside"}, {"outputs", 3}, {"outputs", "boundary,inside"},
  };
  for (const auto& each : values) {
    files.push_back(spoilt_network(
        [&](NetworkFile& file) { file.header()["__metadata__"][each.first] = each.second; }));
  }
  files.push_back(spoilt_network([](NetworkFile& file) { file.header() = json::object(); }));
  NetworkFile two = testing::small_network(1, true, 2);
  two.header()["__metadata__"].erase("outputs");
  files.push_back(bytes_of(two));
}

void add_spoilt_tensors(std::vector<FileBytes>& files) {
  const std::vector<std::pair<const char*, json>> values = {
      {"dtype", "I8"},
      {"dtype", 16},
      {"shape", "large"},
      {"shape", json::array({-1})},
      {"shape", json::array({1, 3, 3})},
      {"shape", json::array({1, 3, 9, 1})},
      {"shape", json::array({1ULL << 40, 1ULL << 40})},
      {"data_offsets", json::array({0})},
      {"data_offsets", json::array({54, 0})},
      {"data_offsets", json::array({0, 54000})},
      {"data_offsets", json::array({2, 56})},
      {"data_offsets", json::array({0, 52})},
  };
  for (const auto& each : values) {
    files.push_back(spoilt_tensor([&](json& tensor) { tensor[each.first] = each.second; }));
  }
  files.push_back(spoilt_tensor([](json& tensor) { tensor.erase("shape"); }));
  files.push_back(spoilt_tensor([](json& tensor) { tensor = 3; }));
  NetworkFile more = tiny_network();
  more.data().resize(more.data().size() + 8);
  files.push_back(bytes_of(more));
  NetworkFile infinite = tiny_network();
  infinite.data()[1] = std::byte{0x7c};
  infinite.data()[0] = std::byte{0};
  files.push_back(bytes_of(infinite));
  NetworkFile overlap = tiny_network();
  overlap.header()["a.bias"]["data_offsets"] = {52, 54};
  files.push_back(bytes_of(overlap));
  NetworkFile gap = tiny_network();
  gap.data().insert(gap.data().begin() + 54, 2, std::byte{0});
  gap.header()["a.bias"]["data_offsets"] = {56, 58};
  files.push_back(bytes_of(gap));
}

}  // namespace

std::vector<FileBytes> spoilt_networks() {
  std::vector<FileBytes> files;
  add_spoilt_operations(files);
  add_spoilt_graphs(files);
  add_spoilt_metadata(files);
  add_spoilt_tensors(files);
  const FileBytes whole = bytes_of(tiny_network());
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{40}}) {
    files.emplace_back(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
  }
  FileBytes text = whole;
  text[8] = '[';
  files.push_back(text);
  return files;
}

std::vector<FileBytes> spoilt_npy() {
  const std::string whole = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  const std::string values(24, '\x3c');
  std::vector<FileBytes> files = {
      fuzz::bytes_of("\x93NUMPY\x01"),
      fuzz::bytes_of(std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f{}", 14)),
      npy_bytes(whole, values.substr(1)),
      npy_bytes(whole.substr(0, 20)),
      npy_bytes(whole + "more", values),
  };
  const std::vector<std::pair<const char*, const char*>> changes = {
      {"{", "("},
      {"'descr'", "descr"},
      {"'descr':", "'descr'"},
      {"'descr': '<f4', ", ""},
      {"'descr': '<f4'", "'descr': '<f4"},
      {"'descr'", "'shape'"},
      {"'<f4'", "[('a', '<f4')]"},
      {"'<f4'", "'f4'"},
      {"'<f4'", "'<f'"},
      {"'<f4'", "'<a type with a name too long'"},
      {"'<f4'", "'<c8'"},
      {"'fortran_order': False, ", ""},
      {"False", "Maybe"},
      {"'fortran_order'", "'order'"},
      {"(2, 3)", "(2, 3"},
      {"(2, 3)", "(2 3)"},
      {"(2, 3)", "(two, 3)"},
      {"(2, 3)", "(-2, 3)"},
      {"(2, 3)", "(0, 3)"},
      {"(2, 3)", "(6,)"},
      {"(2, 3)", "(2, 3, 1, 1)"},
      {"(2, 3)", "(20, 30)"},
      {"(2, 3)", "(99999999999, 99999999999)"},
      {"(2, 3)", "(3, 2000000)"},
      {"(2, 3)", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"},
      {"'shape': (2, 3), ", ""},
      {"(2, 3), }", "(2, 3), 'shape': (2, 3)}"},
      {"(2, 3), }", "(2, 3)"},
  };
  for (const auto& [from, to] : changes) {
    files.push_back(npy_bytes(replaced_once(whole, from, to), values));
  }
  // More colours than somebody paints seeds with.
  files.push_back(testing::encode(".png", testing::random_samples(20, 20, CV_8UC3)));
  for (const char* json : {"{}", " {\"type\": \"Feature\"}"}) files.push_back(fuzz::bytes_of(json));
  files.emplace_back();
  return files;
}

std::vector<FileBytes> spoilt_trees() {
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
  std::vector<FileBytes> files = {with(0, 0),     with(8, 2),  with(12, 4),    with(12, 1),
                                  with(15, 0xff), with(20, 9), with(24, 0xff), with(28, 4),
                                  with(39, 0xff), with(40, 9), with(52, 7)};
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{4}, std::size_t{30}, std::size_t{50}}) {
    files.emplace_back(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
  }
  FileBytes longer = whole;
  longer.resize(longer.size() + 4);
  files.push_back(longer);
  return files;
}

}  // namespace diacut::fuzz
