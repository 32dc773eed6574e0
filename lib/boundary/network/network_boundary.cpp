#include "boundary/network/network_boundary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "boundary/network/picture_kernels.hpp"
#include "boundary/network/tiles.hpp"
#include "diacut/errors.hpp"
#include "image/resize.hpp"

namespace diacut {

namespace {

constexpr char kBoundary[] = "boundary map";
constexpr char kPicture[] = "the picture";
constexpr char kInside[] = "inside map";
constexpr char kResult[] = "the network's result";

NetworkSize scaled(const Grid& grid, double scale) {
  return {scaled_side(grid.width, scale), scaled_side(grid.height, scale)};
}

/// The pixels of a resized side, border included, that are wanted for some pixels of the side.
Stretch scaled_stretch(int side, const Stretch& wanted, double scale, int border) {
  const int inner = scaled_side(side, scale);
  const double ratio = static_cast<double>(inner) / side;
  const auto place = [&](int at) { return static_cast<int>(std::floor((at + 0.5) * ratio - 0.5)); };
  // A pixel is read between two others, of which rounding may choose the next one.
  constexpr int kRounding = 2;
  Stretch found{0, inner + 2 * border};
  if (wanted.begin > 0) found.begin = border + std::max(place(wanted.begin) - kRounding, 0);
  if (wanted.end < side) {
    found.end = border + std::min(place(wanted.end - 1) + 2 + kRounding, inner);
  }
  return found;
}

/// The part of a resized picture that is wanted.
struct Wanted {
  Stretch x;
  Stretch y;

  std::size_t pixels() const {
    return static_cast<std::size_t>(x.length()) * static_cast<std::size_t>(y.length());
  }
};

NetworkSize turned(const NetworkSize& size, const Turn& turn) {
  return turn.transposed ? NetworkSize{size.height, size.width} : size;
}

/// The forms of a picture that networks see, whose canonical form `pose` makes.
std::vector<Turn> forms_of(const CueParameters& parameters, const Turn& pose) {
  std::vector<Turn> forms = network_turns(parameters.turns);
  for (Turn& form : forms) form = composed(pose, form);
  return forms;
}

/// Forms as large as any that forms_of() gives, before the picture is known.
std::vector<Turn> forms_to_expect(const CueParameters& parameters) {
  std::vector<Turn> forms = forms_of(parameters, {});
  if (parameters.pose == CuePose::kCanonical) forms.push_back({true, false, false});
  return forms;
}

std::vector<NetworkTile> tiles_of(const Network& network, int side, const Stretch& wanted,
                                  int tile) {
  return network_tiles(side, wanted, tile, network.reach(), network.levels());
}

/// The most pixels that any tile reads along a side.
int longest(const std::vector<NetworkTile>& tiles) {
  int most = 0;
  for (const NetworkTile& tile : tiles) most = std::max(most, tile.end - tile.begin);
  return most;
}

/// The size of the image that a network is given at a scale, border included.
NetworkSize input_size(const Grid& grid, double scale, int border) {
  const NetworkSize size = scaled(grid, scale);
  return {size.width + 2 * border, size.height + 2 * border};
}

/// A map that is wanted: of the pixels of a grid in a picture.
struct Task {
  const Grid& grid;
  const PictureView& view;
  const CueParameters& parameters;

  Grid picture() const { return {view.width, view.height}; }
  /// What is wanted of the picture at a scale. A picture that is turned is wanted whole.
  Wanted wanted(double scale, const Turn& turn) const {
    const Wanted upright{
        scaled_stretch(view.width, {view.x, view.x + grid.width}, scale, parameters.border),
        scaled_stretch(view.height, {view.y, view.y + grid.height}, scale, parameters.border)};
    return turn.transposed ? Wanted{upright.y, upright.x} : upright;
  }
};

/// `wanted` with the pixels that are computed beside it, so that tiles begin where all tiles may.
Wanted computed(const Network& network, const NetworkSize& size, const Wanted& wanted, int tile) {
  const auto whole = [&](int side, const Stretch& stretch) {
    const std::vector<NetworkTile> tiles = tiles_of(network, side, stretch, tile);
    return Stretch{tiles.front().core_begin, tiles.back().core_end};
  };
  return {whole(size.width, wanted.x), whole(size.height, wanted.y)};
}

/// The largest width and the largest height that any tile reads at any scale, of the picture turned
/// so.
NetworkSize largest_tile(const Network& network, const Task& task, const Turn& turn) {
  NetworkSize most;
  const int tile = task.parameters.tile;
  for (const double scale : task.parameters.scales) {
    const NetworkSize size =
        turned(input_size(task.picture(), scale, task.parameters.border), turn);
    const Wanted wanted = task.wanted(scale, turn);
    most.width = std::max(most.width, longest(tiles_of(network, size.width, wanted.x, tile)));
    most.height = std::max(most.height, longest(tiles_of(network, size.height, wanted.y, tile)));
  }
  return most;
}

/// The buffers of the tensors of all networks. The networks run one after another in one set of
/// buffers.
struct TensorBudget {
  std::vector<std::vector<int>> buffer_of;  ///< [network][tensor]: the index of the buffer.
  std::vector<std::size_t> floats;  ///< The size of each buffer: the most that any network needs.

  void add(const Network& network, const Task& task) {
    std::vector<NetworkSize> tiles;
    for (const Turn& turn : forms_to_expect(task.parameters)) {
      tiles.push_back(largest_tile(network, task, turn));
    }
    NetworkBuffers buffers = tensor_buffers(network, tiles);
    floats.resize(std::max(floats.size(), buffers.floats.size()), 0);
    for (std::size_t i = 0; i < buffers.floats.size(); ++i) {
      floats[i] = std::max(floats[i], buffers.floats[i]);
    }
    buffer_of.push_back(std::move(buffers.buffer_of));
  }
};

/// The most pixels that any network's result has at any scale.
std::size_t most_pixels(const Networks& networks, const Task& task) {
  std::size_t most = 0;
  for (const std::shared_ptr<const Network>& network : networks) {
    for (const double scale : task.parameters.scales) {
      const NetworkSize size = input_size(task.picture(), scale, task.parameters.border);
      most = std::max(
          most, computed(*network, size, task.wanted(scale, {}), task.parameters.tile).pixels());
    }
  }
  return most;
}

/// The size of the largest tile that any part of a picture of this size is computed in.
NetworkSize largest_of_any_part(const Network& network, const NetworkMap& map, int tile) {
  const auto longest = [&](int side) {
    return longest_network_tile(side, tile, network.reach(), network.levels());
  };
  return {longest(map.width), longest(map.height)};
}

/// How many cells of the embedding there are along some pixels.
int cells_of(const Network& network, int pixels) {
  return network_side(pixels, network.embedded().level);
}

/// An embedding without values of a picture resized by `scale`, with its border.
Embedding empty_embedding(const Network& network, const Task& task, double scale) {
  const NetworkSize inner = scaled(task.picture(), scale);
  const int border = task.parameters.border;
  const int level = network.embedded().level;
  const auto cells = [&](int side, int resized) {
    std::vector<std::int32_t> found(static_cast<std::size_t>(side));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double at = (static_cast<double>(i) + 0.5) * resized / side;
      found[i] = (std::min(static_cast<int>(at), resized - 1) + border) >> level;
    }
    return found;
  };
  Embedding made;
  made.channels = network.embedded().channels;
  made.columns = cells_of(network, inner.width + 2 * border);
  made.column_of = cells(task.view.width, inner.width);
  made.row_of = cells(task.view.height, inner.height);
  made.values.resize(
      made.cell(0, static_cast<std::size_t>(cells_of(network, inner.height + 2 * border))));
  return made;
}

/// The number of kEmbeddingUnit that is nearest to a value, of those that fit.
std::int16_t embedding_units(float value) {
  constexpr float kMost = std::numeric_limits<std::int16_t>::max();
  if (!std::isfinite(value)) {
    throw DeviceError(fmt::format(
        "stage boundaries: a value of the embedding is {}, expected a finite number: the "
        "device or its driver fails; run again, or on another device (--list-devices)",
        value));
  }
  const float units = value / static_cast<float>(kEmbeddingUnit);
  return static_cast<std::int16_t>(std::lround(std::clamp(units, -kMost, kMost)));
}

/// Waits for the cells of a tile's core. Cores begin at whole cells.
void add_cells(const Network& network, NetworkTensors& tensors, const NetworkSize& tile,
               const NetworkCopy& core, Embedding& embedding) {
  const NetworkTensor& tensor = network.embedded();
  const NetworkPlanes planes = planes_at(network, tensor.level, tile.width, tile.height);
  std::vector<float> all(planes.elements(tensor.channels));
  tensors[network.embedding].download(all);
  const auto cell = [&](int pixel) { return static_cast<std::size_t>(pixel >> tensor.level); };
  const auto columns = static_cast<std::size_t>(cells_of(network, core.width));
  const auto rows = static_cast<std::size_t>(cells_of(network, core.height));
  const auto stride = static_cast<std::size_t>(planes.stride);
  const std::size_t first_row = static_cast<std::size_t>(planes.margin) + 1 + cell(core.from_y);
  for (std::size_t i = 0; i < rows * columns; ++i) {
    const std::size_t x = i % columns;
    const std::size_t y = i / columns;
    const float* from = &all[(first_row + y) * stride + cell(core.from_x) + x];
    std::int16_t* to = &embedding.values[embedding.cell(cell(core.to_x) + x, cell(core.to_y) + y)];
    for (std::size_t c = 0; c < static_cast<std::size_t>(tensor.channels); ++c) {
      to[c] = embedding_units(from[c * planes.plane()]);
    }
  }
}

/// Enqueues a network for what is wanted of a picture, tile by tile, into a map of the picture with
/// its border for each output.
void run_tiles(Context& context, DeviceNetwork& network, NetworkTensors& tensors,
               const NetworkPicture& picture, const Wanted& wanted, int tile,
               const std::vector<NetworkMap>& maps, Embedding* embedding) {
  const NetworkMap& map = maps.front();
  const std::vector<NetworkTile> columns = tiles_of(network.network(), map.width, wanted.x, tile);
  const NetworkSize largest = largest_of_any_part(network.network(), map, tile);
  for (const NetworkTile& row : tiles_of(network.network(), map.height, wanted.y, tile)) {
    for (const NetworkTile& column : columns) {
      const int width = column.end - column.begin;
      const int height = row.end - row.begin;
      const NetworkPlanes planes = planes_at(network.network(), 0, width, height);
      launch_network_input(context, picture, column.begin, row.begin, planes,
                           tensors[network.network().input()]);
      const Buffer<float>& result =
          network.run(tensors, {width, height}, largest, embedding != nullptr);
      const NetworkCopy core = {column.core_begin - column.begin,
                                row.core_begin - row.begin,
                                column.core_begin,
                                row.core_begin,
                                column.core_end - column.core_begin,
                                row.core_end - row.core_begin};
      for (std::size_t k = 0; k < maps.size(); ++k) {
        launch_network_output(context, planes, result, static_cast<int>(k), core, maps[k]);
      }
      if (embedding != nullptr) {
        add_cells(network.network(), tensors, {width, height}, core, *embedding);
      }
    }
  }
}

/// One form of a picture that a network sees.
struct SeenPicture {
  const Buffer<float>& pixels;
  const Image& image;
  double scale = 1;
  Turn turn;
};

/// Enqueues a network for a picture resized and turned. The result refers to `results`, which has a
/// buffer for each output.
std::vector<NetworkMap> run_network(Context& context, DeviceNetwork& network,
                                    NetworkTensors& tensors, const SeenPicture& seen,
                                    const Task& task, std::vector<Buffer<float>>& results,
                                    Embedding* embedding) {
  const int border = task.parameters.border;
  const PictureView& view = task.view;
  const NetworkSize inner = scaled(task.picture(), seen.scale);
  const NetworkSize size = turned(input_size(task.picture(), seen.scale, border), seen.turn);
  const Wanted wanted = task.wanted(seen.scale, seen.turn);
  const Wanted part = computed(network.network(), size, wanted, task.parameters.tile);
  std::vector<NetworkMap> maps;
  maps.reserve(results.size());
  for (Buffer<float>& result : results) {
    maps.push_back(
        {result, size.width, size.height, border, part.x.begin, part.y.begin, part.x.length()});
  }
  run_tiles(context, network, tensors,
            {seen.pixels, seen.image.channels, view.width, view.height, inner.width, inner.height,
             border, seen.turn, view.image_x, view.image_y, seen.image.width},
            wanted, task.parameters.tile, maps, embedding);
  return maps;
}

bool has_embedding(const std::shared_ptr<const Network>& network) {
  return network->embedding >= 0;
}

/// The pixels of a resized side, border included, from which tiles read.
Stretch read_by_tiles(const Network& network, const CueParameters& parameters, int side,
                      const Stretch& wanted, double scale) {
  const int whole = scaled_side(side, scale) + 2 * parameters.border;
  const std::vector<NetworkTile> tiles = tiles_of(
      network, whole, scaled_stretch(side, wanted, scale, parameters.border), parameters.tile);
  return {tiles.front().begin, tiles.back().end};
}

}  // namespace

int scaled_side(int side, double scale) {
  return std::max(1, static_cast<int>(std::lround(side * scale)));
}

DeviceMemory network_map_memory(const Grid& grid, const Networks& networks,
                                const CueParameters& parameters) {
  const PictureView view = whole_picture(grid);
  const Task task{grid, view, parameters};
  TensorBudget tensors;
  for (const std::shared_ptr<const Network>& network : networks) tensors.add(*network, task);
  // Maps of the picture, which has up to three channels, and of what a network sees.
  const auto outputs = static_cast<std::size_t>(networks.front()->outputs());
  std::size_t floats = (3 + outputs) * grid.rows() + outputs * most_pixels(networks, task);
  std::size_t largest = 3 * grid.rows();
  for (const std::size_t each : tensors.floats) {
    floats += each;
    largest = std::max(largest, each);
  }
  return {floats * sizeof(float), largest * sizeof(float)};
}

bool gives_embedding(const Networks& networks, const CueParameters& parameters) {
  return parameters.pose == CuePose::kGiven &&
         std::any_of(networks.begin(), networks.end(), has_embedding);
}

Stretch network_needs(const Networks& networks, const CueParameters& parameters, int side,
                      const Stretch& wanted, bool gaps) {
  Stretch needs = wanted;
  for (const std::shared_ptr<const Network>& network : networks) {
    for (const double scale : parameters.scales) {
      const int border = parameters.border;
      const double ratio = static_cast<double>(side) / scaled_side(side, scale);
      const Stretch read = read_by_tiles(*network, parameters, side, wanted, scale);
      // Beyond the edges the picture is mirrored; cubic convolution reads two pixels more.
      const int first = std::max(read.begin - border, 0);
      const int last = std::max(read.end - border, border);
      needs.begin = std::min(needs.begin, static_cast<int>(first * ratio) - 3);
      needs.end = std::max(needs.end, static_cast<int>(std::ceil(last * ratio)) + 3);
      if (read.begin < border) needs.begin = 0;
      if (read.end > scaled_side(side, scale) + border) {
        const int mirrored = scaled_side(side, scale) - border - 1;
        needs.begin = std::min(needs.begin, static_cast<int>(mirrored * ratio) - 3);
        needs.end = side;
      }
    }
  }
  if (gaps) {
    // A gap's nearest pixel with data is at most as far from it as the pixel that reads the gap, by
    // up to the root of two times the reach along a side; the search rounds up by some hundredths.
    const int most = std::max(wanted.begin - needs.begin, needs.end - wanted.end);
    needs.begin -= most + most / 2;
    needs.end += most + most / 2;
  }
  return {std::max(needs.begin, 0), std::min(needs.end, side)};
}

NetworkMaps network_boundary_map(Context& context, std::vector<DeviceNetwork>& networks,
                                 TensorBuffers& kept, const Image& image, const Grid& grid,
                                 const Buffer<std::uint8_t>& valid, std::size_t valid_pixels,
                                 const CueParameters& parameters, const PictureView& view,
                                 Embedding* embedding) {
  const Task task{grid, view, parameters};
  NetworkMaps maps;
  std::vector<Buffer<float>*> sums = {&maps.boundary};
  maps.boundary = context.allocate<float>(grid.rows(), kBoundary);
  if (networks.front().network().outputs() > 1) {
    maps.inside = context.allocate<float>(grid.rows(), kInside);
    sums.push_back(&maps.inside);
  }
  if (valid_pixels == 0) {
    for (Buffer<float>* sum : sums) sum->fill(0);
    return maps;
  }
  // Memory for three channels for a grey picture too: the budget does not know the channels.
  auto pixels = context.allocate<float>(3 * image.pixel_count(), kPicture);
  if (valid_pixels < grid.rows() || !image.valid.empty()) {
    pixels.upload(filled_from_nearest(image));
  } else {
    pixels.upload(image.pixels);
  }
  std::vector<Buffer<float>> results;
  Networks shared;
  for (const DeviceNetwork& network : networks) shared.push_back(network.shared());
  for (std::size_t k = 0; k < sums.size(); ++k) {
    results.push_back(context.allocate<float>(most_pixels(shared, task), kResult));
  }
  ask_for_picture_kernels(context);
  const std::vector<Turn> turns =
      forms_of(parameters, parameters.pose == CuePose::kCanonical ? canonical_turn(image) : Turn{});
  const float share =
      1.0f / static_cast<float>(parameters.scales.size() * networks.size() * turns.size());
  TensorBudget budget;
  for (const DeviceNetwork& network : networks) budget.add(network.network(), task);
  std::vector<Buffer<float>>& buffers = kept.get(context, budget.floats);
  const auto embedder = embedding == nullptr || !gives_embedding(shared, parameters)
                            ? shared.end()
                            : std::find_if(shared.begin(), shared.end(), has_embedding);
  const auto off = [](double a, double b) { return std::abs(std::log(a)) < std::abs(std::log(b)); };
  const double embedded_scale =
      *std::min_element(parameters.scales.begin(), parameters.scales.end(), off);
  if (embedder != shared.end()) *embedding = empty_embedding(**embedder, task, embedded_scale);
  bool first = true;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    NetworkTensors tensors(budget.buffer_of[i], buffers);
    for (const double scale : parameters.scales) {
      for (const Turn& turn : turns) {
        const bool embeds = embedder - shared.begin() == static_cast<std::ptrdiff_t>(i) &&
                            scale == embedded_scale && turn == Turn{};
        const std::vector<NetworkMap> seen =
            run_network(context, networks[i], tensors, {pixels, image, scale, turn}, task, results,
                        embeds ? embedding : nullptr);
        for (std::size_t k = 0; k < seen.size(); ++k) {
          launch_network_blend(context, seen[k], turn, grid, valid, share, first, *sums[k], view);
        }
        first = false;
      }
    }
  }
  return maps;
}

}  // namespace diacut
