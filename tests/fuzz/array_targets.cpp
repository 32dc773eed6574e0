#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "boundary/network/load_network.hpp"
#include "diacut/boundary_map.hpp"
#include "diacut/clusters.hpp"
#include "diacut/errors.hpp"
#include "diacut/features.hpp"
#include "diacut/output.hpp"
#include "diacut/seeds.hpp"
#include "evaluate/ground_truth.hpp"
#include "evaluate/result.hpp"
#include "graph/steps.hpp"
#include "image/geojson_marks.hpp"
#include "image/input_checks.hpp"
#include "mat_writer.hpp"
#include "mended.hpp"
#include "network_file.hpp"
#include "npz_writer.hpp"
#include "spoilt.hpp"
#include "target.hpp"
#include "temp_folder.hpp"

/// Arrays, graphs, hierarchies, networks and MATLAB files.
namespace diacut::fuzz {
namespace {

using testing::npy_of;
using testing::ZipMember;

void read_map_file(const std::string& path) {
  const BoundaryMap map = read_boundary_map(path, {.max_pixels = kMostPixels});
  require_size(map.strength, map.width, map.height);
  for (const float value : map.strength) {
    require(value >= 0 && value <= 1, "boundary strengths lie in [0, 1]");
  }
  check_boundary_map(map, map.width, map.height);
}

void read_seed_file(const std::string& path) {
  const Seeds seeds = read_seeds(path, {}, 40, 30);
  require_size(seeds.labels, seeds.width, seeds.height);
  check_seeds(seeds, seeds.width, seeds.height, {});
  const std::vector<std::uint8_t> without_data(seeds.labels.size(), 0);
  try {
    check_seeds(seeds, seeds.width, seeds.height, without_data);
    require(false, "no seed lies where an image has no data");
  } catch (const InputError&) {  // As it has to be.
  }
}

void read_barrier_file(const std::string& path) {
  const Barriers barriers = read_barriers(path, {}, 40, 30);
  require(std::all_of(barriers.pixels.begin(), barriers.pixels.end(),
                      [](std::uint8_t pixel) { return pixel <= 1; }),
          "a pixel is a barrier or none");
}

void read_feature_file(const std::string& path) {
  const FeatureMap features = read_features(path);
  check_features(features);
  const FeatureSize size = read_feature_size(path);
  require(size.bytes() == features.size().bytes(), "features have the size that was told");
  require(features_fit(size, size.width, size.height), "features fit a picture of their size");
}

/// Drawings are refused where files are not trusted, or the size of the image is not known.
void refuse_drawing(const FileBytes& bytes, const std::string& path) {
  constexpr std::size_t kHead = 64;  // What tells the kind of a file.
  if (!begins_as_json(Bytes(bytes).first(std::min(bytes.size(), kHead)))) return;
  for (const bool untrusted : {true, false}) {
    try {
      read_seeds(path, {.untrusted = untrusted});
      require(false, "a drawing is refused");
    } catch (const InputError&) {  // As it has to be.
    }
  }
}

void read_npy(const FileBytes& bytes) {
  const FileInMemory file(bytes);
  refuse_drawing(bytes, file.path());
  read_by_any({[&] { read_map_file(file.path()); }, [&] { read_seed_file(file.path()); },
               [&] { read_barrier_file(file.path()); }, [&] { read_feature_size(file.path()); },
               [&] { read_feature_file(file.path()); },
               [&] { check_probabilities(read_probabilities(file.path())); }});
}

template <class T>
FileBytes numbers_of(const std::string& type, const std::string& shape,
                     const std::vector<T>& numbers) {
  return bytes_of(npy_of(type, shape, testing::bytes_of(numbers)));
}

/// Files that one reader or another accepts.
void add_arrays(std::vector<FileBytes>& files) {
  const std::vector<float> six = {0, 0.5F, 1, 0.25F, 0.125F, 0.75F};
  files.push_back(numbers_of("<f4", "(2, 3)", six));
  files.push_back(numbers_of("<f4", "(1, 2, 3)", six));
  files.push_back(numbers_of<float>("<f4", "(2, 3)", {0, 1, 2, 3, 4, 5}));
  files.push_back(numbers_of<float>("<f4", "(2, 1, 3)", {0, 1, -1e20F, 3, 4, 5}));
  files.push_back(numbers_of<std::uint16_t>("<f2", "(2, 1, 2)", {0x3c00, 0, 0x3800, 0}));
  files.push_back(numbers_of<std::uint8_t>("|u1", "(2, 3)", {0, 1, 2, 0, 0, 1}));
  files.push_back(numbers_of<std::int32_t>("<i4", "(2, 3)", {0, 1, -2, 0, 0, 1}));
  files.push_back(numbers_of<std::int64_t>("<i8", "(2, 3)", {0, 1, 1LL << 40, 0, 0, 1}));
  files.push_back(numbers_of<std::int8_t>("|i1", "(1, 3)", {0, 0, 0}));
  files.push_back(numbers_of<double>("<f8", "(1, 3)", {0, 0.5, 1.5}));
  files.push_back(bytes_of(npy_of("<f4", "(2L, 3L)", testing::bytes_of(six))));
  files.push_back(
      bytes_of(testing::npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }",
                                 testing::bytes_of(std::vector<float>{0.25F, 0.5F}), 2)));
  for (const int type : {CV_8UC1, CV_16UC1, CV_8UC3, CV_8UC4}) {
    files.push_back(testing::encode(".png", testing::random_samples(5, 4, type)));
  }
}

/// Drawings, of which one gives a pixel two labels.
void add_drawings(std::vector<FileBytes>& files) {
  const std::string head = R"({"type":"FeatureCollection","features":[)";
  const auto point = [](int label, int x) {
    return fmt::format(R"({{"type":"Feature","properties":{{"label":{}}},)"
                       R"("geometry":{{"type":"Point","coordinates":[{}.5,4.5]}}}})",
                       label, x);
  };
  for (const int x : {9, 3}) {
    files.push_back(bytes_of(fmt::format("{}{},{}]}}", head, point(1, 3), point(2, x))));
  }
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
  std::vector<FileBytes> files = {array("<f4", "(2, 3)", 24, '\x3c'),
                                  array("<f8", "(2, 3)", 48, '\x3f'),
                                  array("|u1", "(2, 3)", 6, '\x05'),
                                  array("<u2", "(2, 3)", 12, '\x05'),
                                  array("|b1", "(2, 3)", 6, '\x01'),
                                  array("<f2", "(2, 3, 2)", 24, '\x3a'),
                                  array(">i4", "(2, 3)", 24, '\0'),
                                  array("<f4", "(2, 3, 2)", 48, '\x3a'),
                                  by_column};
  add_arrays(files);
  add_drawings(files);
  return files;
}

void read_npz(const FileBytes& bytes) {
  const FileInMemory file(testing::mended_zip(bytes));
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
  const FileBytes mended = testing::mended_tree(bytes);
  const Hierarchy tree = read_tree(FileInMemory(mended).path());
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
  // More leaves than two bytes can number.
  Hierarchy many;
  constexpr int kLeaves = 256 * 257;
  many.leaves = {256, 257, kLeaves, {}};
  for (int leaf = 1; leaf <= kLeaves; ++leaf) many.leaves.values.push_back(leaf);
  for (int leaf = 2; leaf <= kLeaves; ++leaf) {
    many.merges.push_back({leaf == 2 ? 1 : leaf, leaf == 2 ? 2 : kLeaves + leaf - 2, 0.5F});
  }
  return {encode_tree(tree), encode_tree(joined), encode_tree(many)};
}

void read_network(const FileBytes& bytes) {
  const FileInMemory file(bytes);
  const Networks networks = load_networks(fmt::format("{0},{0}", file.path()));
  require(networks.size() == 2 && networks[0] == networks[1], "a file is read once");
  const Network& network = *networks[0];
  require(network.outputs() == 1 || network.outputs() == 2, "a network has one or two outputs");
  require(network.levels() >= 0 && network.reach() >= 0, "a network has levels and a reach");
  for (int level = 0; level <= network.levels(); ++level) {
    require(network.margin(level) >= 0, "a margin is not negative");
  }
  require(std::isfinite(network.operations(640, 480)), "operations are counted");
}

std::vector<FileBytes> network_seeds() {
  std::vector<FileBytes> files;
  testing::NetworkFile large(4);
  large.conv("a", "image", 3, 1, {.kernel = 5, .most = 3});
  large.header()["__metadata__"]["version"] = "2";
  large.sigmoid("a");
  for (const testing::NetworkFile& network :
       {testing::small_network(1), testing::small_network(2, false, 2), large,
        testing::strided_network(3)}) {
    const std::vector<std::byte> bytes = network.bytes();
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    files.emplace_back(first, first + bytes.size());
  }
  return files;
}

void read_annotations(const std::string& path) {
  const GroundTruth truth = read_ground_truth({"fuzzed", {path}});
  for (const Annotation& each : truth.annotations) {
    require_size(each.labels, truth.width, truth.height);
    require_size(each.boundaries, truth.width, truth.height);
  }
}

void read_matrix(const std::string& path) {
  const Raster raster = read_result(path);
  require_size(raster.values, raster.width, raster.height);
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
  for (FileBytes& each : mats_of_all_types()) files.push_back(std::move(each));
  return files;
}

}  // namespace

std::vector<Target> array_targets() {
  return {
      {"npy",
       read_npy,
       npy_seeds,
       {"lib/ground/core/npy.cpp", "lib/files/image/boundary_map.cpp",
        "lib/files/image/features.cpp", "lib/files/image/seeds.cpp"},
       spoilt_npy,
       true},
      {"npz", read_npz, npz_seeds, {"lib/beside/clusters/read_graph.cpp"}, nullptr, true},
      {"tree", read_tree_file, tree_seeds, {"lib/files/output/tree_file.cpp"}, spoilt_trees, true},
      {"network",
       read_network,
       network_seeds,
       {"lib/vision/boundary/network/safetensors.cpp",
        "lib/vision/boundary/network/load_network.cpp"},
       spoilt_networks,
       true},
      {"mat", read_mat, mat_seeds, {"lib/judge/evaluate/mat_file.cpp"}, spoilt_mats, true},
  };
}

}  // namespace diacut::fuzz
