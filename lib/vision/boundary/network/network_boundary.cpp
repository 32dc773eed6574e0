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

/// The forms of a picture that networks see, whose canonical form `pose` makes.
std::vector<Turn> forms_of(const BoundaryParameters& parameters, const Turn& pose) {
  std::vector<Turn> forms = network_turns(parameters.turns);
  for (Turn& form : forms) form = composed(pose, form);
  return forms;
}

/// Forms as large as any that forms_of() gives, before the picture is known.
std::vector<Turn> forms_to_expect(const BoundaryParameters& parameters) {
  std::vector<Turn> forms = forms_of(parameters, {});
  if (parameters.pose == NetworkPose::kCanonical) forms.push_back({true, false, false});
  return forms;
}

/// The tiles in which a network computes some pixels of a side, of the side resized by `scale` and
/// with its border.
std::vector<NetworkTile> tiles_along(const Network& network, const BoundaryParameters& parameters,
                                     int side, const Stretch& wanted, double scale) {
  const int border = parameters.border;
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
  return network_tiles(inner + 2 * border, found, parameters.tile, network.reach(),
                       network.levels());
}

/// The most pixels that any tile reads along a side.
int longest(const std::vector<NetworkTile>& tiles) {
  int most = 0;
  for (const NetworkTile& tile : tiles) most = std::max(most, tile.end - tile.begin);
  return most;
}

/// A map that is wanted: of the pixels of a grid in a picture.
struct Task {
  const Grid& grid;
  const PictureView& view;
  const BoundaryParameters& parameters;

  /// The picture resized by a scale.
  Grid scaled(double scale) const {
    return {scaled_side(view.width, scale), scaled_side(view.height, scale)};
  }
};

/// The tiles in which a network computes what is wanted of a picture that is resized and turned. A
/// picture that is turned is wanted whole.
struct Tiling {
  Grid size;  ///< Of what the network sees, border included.
  std::vector<NetworkTile> columns;
  std::vector<NetworkTile> rows;

  Tiling(const Network& network, const Task& task, double scale, const Turn& turn)
      : size(task.scaled(scale)) {
    const auto& [grid, view, parameters] = task;
    size.width += 2 * parameters.border;
    size.height += 2 * parameters.border;
    columns = tiles_along(network, parameters, view.width, {view.x, view.x + grid.width}, scale);
    rows = tiles_along(network, parameters, view.height, {view.y, view.y + grid.height}, scale);
    if (!turn.transposed) return;
    std::swap(size.width, size.height);
    std::swap(columns, rows);
  }

  /// What is computed: tiles begin where all tiles may.
  Stretch x() const { return {columns.front().core_begin, columns.back().core_end}; }
  Stretch y() const { return {rows.front().core_begin, rows.back().core_end}; }
};

/// The buffers of the tensors of all networks. The networks run one after another in one set of
/// buffers.
struct TensorBudget {
  std::vector<std::vector<int>> buffer_of;  ///< [network][tensor]: the index of the buffer.
  std::vector<std::size_t> floats;  ///< The size of each buffer: the most that any network needs.

  void add(const Network& network, const Task& task) {
    std::vector<Grid> tiles;
    for (const Turn& turn : forms_to_expect(task.parameters)) {
      // The largest width and the largest height at any scale.
      Grid& most = tiles.emplace_back();
      for (const double scale : task.parameters.scales) {
        const Tiling tiling(network, task, scale, turn);
        most.width = std::max(most.width, longest(tiling.columns));
        most.height = std::max(most.height, longest(tiling.rows));
      }
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
      const Tiling tiling(*network, task, scale, {});
      most = std::max(most, static_cast<std::size_t>(tiling.x().length()) *
                                static_cast<std::size_t>(tiling.y().length()));
    }
  }
  return most;
}

/// How many cells of the embedding there are along some pixels.
int cells_of(const Network& network, int pixels) {
  return network_side(pixels, network.embedded().level);
}

/// An embedding without values of a picture resized by `scale`, with its border.
Embedding empty_embedding(const Network& network, const Task& task, double scale) {
  const Grid inner = task.scaled(scale);
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
void add_cells(const Network& network, const NetworkTensors& tensors, const Grid& tile,
               const NetworkCopy& core, Embedding& embedding) {
  const NetworkTensor& tensor = network.embedded();
  const NetworkPlanes planes = planes_at(network, tensor.level, tile.width, tile.height);
  std::vector<float> all(planes.elements(tensor.channels));
  tensors[static_cast<std::size_t>(network.embedding)]->download(all);
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

/// Enqueues a network for a picture, tile by tile, of about `tile` pixels. The maps, of the picture
/// with its border, refer to `results`, which has a buffer for each output. `enqueued`: is called
/// after each tile.
std::vector<NetworkMap> run_network(Context& context, DeviceNetwork& device_network,
                                    const NetworkTensors& tensors, const NetworkPicture& picture,
                                    const Tiling& tiling, int tile,
                                    std::vector<Buffer<float>>& results, Embedding* embedding,
                                    const std::function<void()>& enqueued) {
  const Network& network = device_network.network();
  std::vector<NetworkMap> maps;
  maps.reserve(results.size());
  for (Buffer<float>& result : results) {
    maps.push_back({result, tiling.size.width, tiling.size.height, picture.border, tiling.x().begin,
                    tiling.y().begin, tiling.x().length()});
  }
  // Of any part of a picture of this size.
  const auto most = [&](int side) {
    return longest_network_tile(side, tile, network.reach(), network.levels());
  };
  const Grid largest{most(tiling.size.width), most(tiling.size.height)};
  for (const NetworkTile& row : tiling.rows) {
    for (const NetworkTile& column : tiling.columns) {
      const Grid read{column.end - column.begin, row.end - row.begin};
      const NetworkPlanes planes = planes_at(network, 0, read.width, read.height);
      launch_network_input(context, picture, column.begin, row.begin, planes,
                           *tensors[static_cast<std::size_t>(network.input())]);
      const Buffer<float>& result =
          device_network.run(tensors, read, largest, embedding != nullptr);
      const NetworkCopy core = {column.core_begin - column.begin,
                                row.core_begin - row.begin,
                                column.core_begin,
                                row.core_begin,
                                column.core_end - column.core_begin,
                                row.core_end - row.core_begin};
      for (std::size_t k = 0; k < maps.size(); ++k) {
        launch_network_output(context, planes, result, static_cast<int>(k), core, maps[k]);
      }
      if (embedding != nullptr) add_cells(network, tensors, read, core, *embedding);
      enqueued();
    }
  }
  return maps;
}

/// How many tiles networks compute.
std::size_t count_tiles(const Networks& networks, const Task& task,
                        const std::vector<Turn>& turns) {
  std::size_t count = 0;
  for (const std::shared_ptr<const Network>& network : networks) {
    for (const double scale : task.parameters.scales) {
      const Tiling tiling(*network, task, scale, {});
      count += tiling.columns.size() * tiling.rows.size() * turns.size();
    }
  }
  return count;
}

bool has_embedding(const std::shared_ptr<const Network>& network) {
  return network->embedding >= 0;
}

}  // namespace

int scaled_side(int side, double scale) {
  return std::max(1, static_cast<int>(std::lround(side * scale)));
}

DeviceMemory network_map_memory(const Grid& grid, const Networks& networks,
                                const BoundaryParameters& parameters) {
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

bool gives_embedding(const Networks& networks, const BoundaryParameters& parameters) {
  return parameters.pose == NetworkPose::kGiven &&
         std::any_of(networks.begin(), networks.end(), has_embedding);
}

Stretch network_needs(const Networks& networks, const BoundaryParameters& parameters, int side,
                      const Stretch& wanted, bool gaps) {
  Stretch needs = wanted;
  for (const std::shared_ptr<const Network>& network : networks) {
    for (const double scale : parameters.scales) {
      const int border = parameters.border;
      const double ratio = static_cast<double>(side) / scaled_side(side, scale);
      const std::vector<NetworkTile> tiles = tiles_along(*network, parameters, side, wanted, scale);
      const Stretch read{tiles.front().begin, tiles.back().end};
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
                                 const BoundaryParameters& parameters, const PictureView& view,
                                 Embedding* embedding,
                                 const std::function<void(double share)>& tell) {
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
  const std::vector<Turn> turns = forms_of(
      parameters, parameters.pose == NetworkPose::kCanonical ? canonical_turn(image) : Turn{});
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
  const std::size_t tiles = count_tiles(shared, task, turns);
  std::size_t computed = 0;
  const auto enqueued = [&] {
    ++computed;
    if (!tell || tiles == 1) return;
    context.finish();
    tell(static_cast<double>(computed) / static_cast<double>(tiles));
  };
  bool first = true;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    NetworkTensors tensors;
    for (const int buffer : budget.buffer_of[i]) {
      tensors.push_back(buffer < 0 ? nullptr : &buffers[static_cast<std::size_t>(buffer)]);
    }
    for (const double scale : parameters.scales) {
      for (const Turn& turn : turns) {
        const bool embeds = embedder - shared.begin() == static_cast<std::ptrdiff_t>(i) &&
                            scale == embedded_scale && turn == Turn{};
        const Grid inner = task.scaled(scale);
        const std::vector<NetworkMap> seen =
            run_network(context, networks[i], tensors,
                        {pixels, image.channels, view.width, view.height, inner.width, inner.height,
                         parameters.border, turn, view.image_x, view.image_y, image.width},
                        Tiling(networks[i].network(), task, scale, turn), parameters.tile, results,
                        embeds ? embedding : nullptr, enqueued);
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
