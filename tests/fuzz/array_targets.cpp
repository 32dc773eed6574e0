#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "boundary/network/load_network.hpp"
#include "diacut/edges.hpp"
#include "diacut/errors.hpp"
#include "diacut/features.hpp"
#include "diacut/graph.hpp"
#include "diacut/output.hpp"
#include "diacut/seeds.hpp"
#include "evaluate/ground_truth.hpp"
#include "evaluate/result.hpp"
#include "mat_writer.hpp"
#include "mended.hpp"
#include "network_file.hpp"
#include "npz_writer.hpp"
#include "target.hpp"
#include "temp_folder.hpp"

/// Arrays, graphs, hierarchies, networks and MATLAB files.
namespace diacut::fuzz {
namespace {

using testing::npy_of;
using testing::ZipMember;

void read_boundary_map(const std::string& path) {
  const EdgeMap map = read_edges(path, kMostPixels);
  require(map.strength.size() ==
              static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height),
          "a boundary map has as many values as its size says");
  require(std::all_of(map.strength.begin(), map.strength.end(),
                      [](float value) { return value >= 0 && value <= 1; }),
          "boundary strengths lie in [0, 1]");
}

void read_npy(const FileBytes& bytes) {
  const FileInMemory file(bytes);
  read_by_any({[&] { read_boundary_map(file.path()); }, [&] { read_seeds(file.path()); },
               [&] { read_feature_size(file.path()); },
               [&] { check_features(read_features(file.path())); },
               [&] { check_probabilities(read_probabilities(file.path())); }});
}

std::vector<FileBytes> npy_seeds() {
  const auto array = [](const std::string& type, const std::string& shape, std::size_t bytes,
                        char byte) {
    return bytes_of(npy_of(type, shape, std::string(bytes, byte)));
  };
  FileBytes by_column = array("<f4", "(2, 3, 2)", 48, '\x3a');
  const std::string no = "False";
  const auto at = std::search(by_column.begin(), by_column.end(), no.begin(), no.end());
  std::copy_n("True ", 5, at);
  return {array("<f4", "(2, 3)", 24, '\x3c'),
          array("<f8", "(2, 3)", 48, '\x3f'),
          array("|u1", "(2, 3)", 6, '\x05'),
          array("<u2", "(2, 3)", 12, '\x05'),
          array("|b1", "(2, 3)", 6, '\x01'),
          array("<f2", "(2, 3, 2)", 24, '\x3a'),
          array(">i4", "(2, 3)", 24, '\0'),
          array("<f4", "(2, 3, 2)", 48, '\x3a'),
          by_column};
}

void read_npz(const FileBytes& bytes) {
  const FileInMemory file(mended_zip(bytes));
  const Graph graph = read_graph(file.path());
  check_graph(graph);
}

ZipMember text_member(const std::string& name, const std::string& text) {
  return {name, npy_of("|S" + std::to_string(text.size()), "()", text)};
}

/// The path 0-1-2 in the formats of SciPy.
std::vector<FileBytes> npz_seeds() {
  const std::vector<ZipMember> rows = {{"indices.npy", npy_of<std::int32_t>("<i4", {1, 0, 2, 1})},
                                       {"indptr.npy", npy_of<std::int32_t>("<i4", {0, 1, 3, 4})},
                                       text_member("format.npy", "csr"),
                                       {"shape.npy", npy_of<std::int64_t>("<i8", {3, 3})},
                                       {"data.npy", npy_of<float>("<f4", {1, 1, 2, 2})}};
  const std::vector<ZipMember> coordinates = {
      {"row.npy", npy_of<std::int64_t>("<i8", {0, 1, 1, 2})},
      {"col.npy", npy_of<std::int64_t>("<i8", {1, 0, 2, 1})},
      text_member("format.npy", "coo"),
      {"shape.npy", npy_of<std::int64_t>("<i8", {3, 3})},
      {"data.npy", npy_of<double>("<f8", {1, 1, 2, 2})}};
  std::vector<ZipMember> columns = rows;
  columns[2] = text_member("format.npy", "csc");
  std::vector<ZipMember> deflated = rows;
  for (ZipMember& member : deflated) member.deflated = true;
  std::vector<ZipMember> wide = rows;
  for (ZipMember& member : wide) member.in_64_bits = true;
  std::vector<FileBytes> files;
  for (const auto& members : {rows, coordinates, columns, deflated, wide}) {
    files.push_back(bytes_of(testing::zip_of(members)));
  }
  return files;
}

void read_tree_file(const FileBytes& bytes) {
  const FileBytes mended = mended_tree(bytes);
  const Hierarchy tree = decode_tree(mended, "fuzzed");
  check(tree);
  require(encode_tree(tree) == mended, "a hierarchy is written as it was read");
}

std::vector<FileBytes> tree_seeds() {
  Hierarchy tree;
  tree.leaves = {3, 2, 3, {1, 0, 2, 3, 0, 2}};
  tree.merges = {{1, 3, 0.625F}};
  tree.threshold = 0.3;
  Hierarchy joined;
  joined.leaves = {2, 2, 4, {1, 2, 3, 4}};
  joined.merges = {{1, 2, 0.125F}, {3, 4, 0.25F}, {5, 6, 1.0F}};
  return {encode_tree(tree), encode_tree(joined)};
}

void read_network(const FileBytes& bytes) {
  const auto file = std::as_bytes(std::span<const std::uint8_t>(bytes));
  const Network network = parse_network(file, "fuzzed");
  require(network.outputs() == 1 || network.outputs() == 2, "a network has one or two outputs");
  require(network.levels() >= 0 && network.reach() >= 0, "a network has levels and a reach");
  for (int level = 0; level <= network.levels(); ++level) {
    require(network.margin(level) >= 0, "a margin is not negative");
  }
  require(std::isfinite(network.operations(640, 480)), "operations are counted");
}

std::vector<FileBytes> network_seeds() {
  std::vector<FileBytes> files;
  for (const testing::NetworkFile& network :
       {testing::small_network(1), testing::small_network(2, false, 2),
        testing::strided_network(3)}) {
    const std::vector<std::byte> bytes = network.bytes();
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    files.emplace_back(first, first + bytes.size());
  }
  return files;
}

void read_annotations(const std::string& path) {
  const GroundTruth truth = read_ground_truth({"fuzzed", {path}});
  const auto pixels =
      static_cast<std::size_t>(truth.width) * static_cast<std::size_t>(truth.height);
  for (const Annotation& each : truth.annotations) {
    require(each.labels.size() == pixels && each.boundaries.size() == pixels,
            "an annotation has as many values as its size says");
  }
}

void read_matrix(const std::string& path) {
  const Raster raster = read_result(path);
  require(raster.values.size() ==
              static_cast<std::size_t>(raster.width) * static_cast<std::size_t>(raster.height),
          "a raster has as many values as its size says");
}

void read_mat(const FileBytes& bytes) {
  const FileInMemory file(bytes, ".mat");
  read_by_any({[&] { read_matrix(file.path()); }, [&] { read_annotations(file.path()); }});
}

std::vector<FileBytes> mat_seeds() {
  const testing::TempFolder folder;
  std::vector<FileBytes> files;
  const auto add = [&](const std::string& path) {
    files.push_back(bytes_of(testing::read_bytes(path)));
  };
  for (const bool compressed : {false, true}) {
    const std::string end = compressed ? "c.mat" : ".mat";
    testing::write_ground_truth_mat(
        folder / ("truth" + end), 3, 2,
        {{{1, 1, 2, 1, 2, 2}, {0, 1, 0, 0, 1, 0}}, {{1, 1, 1, 2, 2, 2}, {0, 0, 1, 0, 0, 0}}},
        compressed);
    add(folder / ("truth" + end));
    testing::write_matrix_mat(folder / ("ucm" + end), "ucm2", 3, 2, {0, .5, 1, .25, 0, 1},
                              compressed);
    add(folder / ("ucm" + end));
  }
  // A file of version 4: type, rows, columns, imaginary, length of the name; the name; doubles.
  std::string four = std::string("\0\0\0\0\1\0\0\0\2\0\0\0\0\0\0\0\4\0\0\0ucm\0", 24);
  four += testing::bytes_of(std::vector<double>{0.5, 1});
  files.push_back(bytes_of(four));
  return files;
}

}  // namespace

std::vector<Target> array_targets() {
  return {
      {"npy",
       read_npy,
       npy_seeds,
       {"lib/image/npy.cpp", "lib/image/edges.cpp", "lib/image/features.cpp",
        "lib/image/seeds.cpp"}},
      {"npz", read_npz, npz_seeds, {"lib/graph/zip_archive.cpp", "lib/graph/read_graph.cpp"}},
      {"tree", read_tree_file, tree_seeds, {"lib/output/tree_file.cpp"}},
      {"network",
       read_network,
       network_seeds,
       {"lib/boundary/network/safetensors.cpp", "lib/boundary/network/load_network.cpp",
        "lib/boundary/network/network_graph.cpp"}},
      {"mat", read_mat, mat_seeds, {"lib/evaluate/mat_file.cpp", "lib/evaluate/mat_sizes.cpp"}},
  };
}

}  // namespace diacut::fuzz
