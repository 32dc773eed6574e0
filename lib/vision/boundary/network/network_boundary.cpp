#include "boundary/network/network_boundary.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "boundary/network/picture_kernels.hpp"
#include "diacut/errors.hpp"
#include "image/resize.hpp"

namespace diacut {

namespace {

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

  Grid scaled(double scale) const {
    return {scaled_side(view.width, scale), scaled_side(view.height, scale)};
  }
};

/// The tiles in which a network computes what is wanted of a picture that is resized and turned. A
/// picture that is turned is wanted whole.
struct NetworkTiling {
  Grid size;  ///< Of what the network sees, border included.
  std::vector<NetworkTile> columns;
  std::vector<NetworkTile> rows;

  NetworkTiling(const Network& network, const Task& task, double scale, const Turn& turn)
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

  void add(const Network& network, const Task& task, int images) {
    std::vector<Grid> tiles;
    for (const Turn& turn : forms_to_expect(task.parameters)) {
      // The largest width and the largest height at any scale.
      Grid& most = tiles.emplace_back();
      for (const double scale : task.parameters.scales) {
        const NetworkTiling tiling(network, task, scale, turn);
        most.width = std::max(most.width, longest(tiling.columns));
        most.height = std::max(most.height, longest(tiling.rows));
      }
    }
    NetworkBuffers buffers = tensor_buffers(network, tiles, images);
    floats.resize(std::max(floats.size(), buffers.floats.size()), 0);
    for (std::size_t i = 0; i < buffers.floats.size(); ++i) {
      floats[i] = std::max(floats[i], buffers.floats[i]);
    }
    buffer_of.push_back(std::move(buffers.buffer_of));
  }
};

/// Calls visit(tiling) for the tiles of each network at each scale.
template <class Visit>
void each_tiling(const Networks& networks, const Task& task, const Visit& visit) {
  for (const std::shared_ptr<const Network>& network : networks) {
    for (const double scale : task.parameters.scales) {
      visit(NetworkTiling(*network, task, scale, {}));
    }
  }
}

/// The most pixels that any network's result has at any scale.
std::size_t most_pixels(const Networks& networks, const Task& task) {
  std::size_t most = 0;
  each_tiling(networks, task, [&](const NetworkTiling& tiling) {
    most = std::max(most, static_cast<std::size_t>(tiling.x().length()) * tiling.y().length());
  });
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

/// Where in the embedding the cells of a tile's core lie. Cores begin at whole cells.
NetworkCopy cells_of(const Network& network, const NetworkCopy& core) {
  const int level = network.embedded().level;
  return {core.from_x >> level, core.from_y >> level,          core.to_x >> level,
          core.to_y >> level,   cells_of(network, core.width), cells_of(network, core.height)};
}

/// A picture on its way through the networks.
struct Mapped {
  Buffer<float> pixels;
  int channels = 3;
  int width = 0;  ///< Of a row of `pixels`.
  const Buffer<std::uint8_t>* valid = nullptr;
  NetworkMaps* maps = nullptr;
  std::vector<Buffer<float>> results = {};  ///< For each output what one run of a network gives.
  bool begun = false;                       ///< Whether something was added to the maps.
};

/// The pixels of a picture on the device. Memory for three channels for a grey picture too: the
/// budget does not know the channels.
Buffer<float> uploaded(Context& context, const Image& image, bool filled) {
  auto pixels = context.allocate<float>(3 * image.pixel_count(), "the picture");
  if (filled) {
    pixels.upload(filled_from_nearest(image));
  } else {
    pixels.upload(image.pixels);
  }
  return pixels;
}

/// How many tiles networks compute of a picture; 0 where none of them divides it.
std::size_t count_tiles(const Networks& networks, const Task& task, std::size_t turns) {
  std::size_t count = 0;
  bool divided = false;
  each_tiling(networks, task, [&](const NetworkTiling& tiling) {
    const std::size_t tiles = tiling.columns.size() * tiling.rows.size();
    divided = divided || tiles > 1;
    count += tiles * turns;
  });
  return divided ? count : 0;
}

/// Runs of networks on pictures of one size, which are turned in the same way.
class NetworkRuns {
 public:
  /// The arguments must outlive the object.
  NetworkRuns(Context& context, const Task& task, std::span<Mapped> pictures)
      : context_(context), task_(task), pictures_(pictures) {}

  /// Enqueues a network, tile by tile, and adds `share` times its maps to those of the pictures.
  /// Calls `enqueued` after each tile.
  void add(DeviceNetwork& device_network, const NetworkTensors& tensors, double scale,
           const Turn& turn, float share, bool embeds, const std::function<void()>& enqueued) {
    const Network& network = device_network.network();
    const NetworkTiling tiling(network, task_, scale, turn);
    // Of any part of a picture of this size.
    const auto most = [&](int side) {
      return longest_network_tile(side, task_.parameters.tile, network.reach(), network.levels());
    };
    const Grid largest{most(tiling.size.width), most(tiling.size.height)};
    const auto images = static_cast<int>(pictures_.size());
    for (const NetworkTile& row : tiling.rows) {
      for (const NetworkTile& column : tiling.columns) {
        const Grid read{column.end - column.begin, row.end - row.begin};
        give(network, tensors, column.begin, row.begin, read, scale, turn);
        const Buffer<float>& result = device_network.run(tensors, read, largest, images, embeds);
        const NetworkCopy core = {column.core_begin - column.begin,
                                  row.core_begin - row.begin,
                                  column.core_begin,
                                  row.core_begin,
                                  column.core_end - column.core_begin,
                                  row.core_end - row.core_begin};
        take(network, tensors, result, read, core, tiling, embeds);
        enqueued();
      }
    }
    for (Mapped& picture : pictures_) blend(picture, tiling, turn, share);
  }

 private:
  /// Writes the input of a network: a tile of each picture.
  void give(const Network& network, const NetworkTensors& tensors, int left, int top,
            const Grid& read, double scale, const Turn& turn) const {
    const PictureView& view = task_.view;
    const Grid inner = task_.scaled(scale);
    const NetworkPlanes planes = planes_at(network, 0, read, static_cast<int>(pictures_.size()));
    for (std::size_t k = 0; k < pictures_.size(); ++k) {
      const Mapped& picture = pictures_[k];
      launch_network_input(
          context_,
          {picture.pixels, picture.channels, view.width, view.height, inner.width, inner.height,
           task_.parameters.border, turn, view.image_x, view.image_y, picture.width},
          left, top, planes, k, *tensors[network.input()]);
    }
  }

  /// Takes what a network made of a tile of each picture.
  void take(const Network& network, const NetworkTensors& tensors, const Buffer<float>& result,
            const Grid& read, const NetworkCopy& core, const NetworkTiling& tiling, bool embeds) {
    const auto images = static_cast<int>(pictures_.size());
    for (std::size_t k = 0; k < pictures_.size(); ++k) {
      Mapped& picture = pictures_[k];
      for (std::size_t output = 0; output < picture.results.size(); ++output) {
        launch_network_output(context_, planes_at(network, 0, read, images), result, k,
                              static_cast<int>(output), core, map_of(picture, output, tiling));
      }
      if (!embeds) continue;
      launch_network_embedding(context_, planes_at(network, network.embedded().level, read, images),
                               *tensors[network.embedding], k, cells_of(network, core),
                               picture.maps->embedding);
    }
  }

  NetworkMap map_of(Mapped& picture, std::size_t output, const NetworkTiling& tiling) const {
    return {picture.results[output], tiling.size.width, tiling.size.height, task_.parameters.border,
            tiling.x().begin,        tiling.y().begin,  tiling.x().length()};
  }

  void blend(Mapped& picture, const NetworkTiling& tiling, const Turn& turn, float share) {
    for (std::size_t output = 0; output < picture.results.size(); ++output) {
      launch_network_blend(context_, map_of(picture, output, tiling), turn, task_.grid,
                           *picture.valid, share, !picture.begun,
                           output == 0 ? picture.maps->boundary : picture.maps->inside, task_.view);
    }
    picture.begun = true;
  }

  Context& context_;
  const Task& task_;
  std::span<Mapped> pictures_;
};

bool has_embedding(const std::shared_ptr<const Network>& network) {
  return network->embedding >= 0;
}

/// Maps of images of one size, which are turned in the same way and go through the networks
/// together.
class MapsTogether {
 public:
  MapsTogether(Context& context, std::vector<DeviceNetwork>& networks, const Task& task,
               bool embeds)
      : context_(context), networks_(networks), task_(task) {
    for (const DeviceNetwork& network : networks) shared_.push_back(network.shared());
    const auto off = [](double a, double b) {
      return std::abs(std::log(a)) < std::abs(std::log(b));
    };
    const std::vector<double>& scales = task.parameters.scales;
    embedded_scale_ = *std::min_element(scales.begin(), scales.end(), off);
    if (!embeds || !gives_embedding(shared_, task.parameters)) return;
    const auto embedder = std::find_if(shared_.begin(), shared_.end(), has_embedding);
    embedder_ = static_cast<std::size_t>(embedder - shared_.begin());
  }

  /// Enqueues. `pose`: the canonical form of the images, if that is asked for. Calls `computed`
  /// with the number of tiles that the device has computed since the last call, and that of all
  /// tiles of a picture, where it divides them.
  void add(std::span<Mapped> pictures, TensorBuffers& kept, const Turn& pose,
           const std::function<void(std::size_t, std::size_t)>& computed) {
    const std::vector<Turn> turns = forms_of(task_.parameters, pose);
    const std::vector<double>& scales = task_.parameters.scales;
    const float share = 1.0f / static_cast<float>(scales.size() * networks_.size() * turns.size());
    TensorBudget budget;
    for (const auto& network : shared_) {
      budget.add(*network, task_, static_cast<int>(pictures.size()));
    }
    std::vector<Buffer<float>>& buffers = kept.get(context_, budget.floats);
    for (Mapped& picture : pictures) make_room(picture);
    const std::size_t tiles = computed ? count_tiles(shared_, task_, turns.size()) : 0;
    const auto enqueued = [&] {
      if (tiles == 0) return;
      context_.finish();
      computed(pictures.size(), tiles);
    };
    NetworkRuns runs(context_, task_, pictures);
    for (std::size_t i = 0; i < networks_.size(); ++i) {
      NetworkTensors tensors;
      for (const int buffer : budget.buffer_of[i]) {
        tensors.push_back(buffer < 0 ? nullptr : &buffers[buffer]);
      }
      for (const double scale : scales) {
        for (const Turn& turn : turns) {
          const bool embeds = embedder_ == i && scale == embedded_scale_ && turn == Turn{};
          runs.add(networks_[i], tensors, scale, turn, share, embeds, enqueued);
        }
      }
    }
  }

 private:
  void make_room(Mapped& picture) const {
    for (int k = 0; k < shared_.front()->outputs(); ++k) {
      picture.results.push_back(
          context_.allocate<float>(most_pixels(shared_, task_), "the network's result"));
    }
    if (!embedder_) return;
    DeviceEmbedding& embedding = picture.maps->embedding;
    embedding.layout = empty_embedding(*shared_[*embedder_], task_, embedded_scale_);
    embedding.cells =
        context_.allocate<std::int16_t>(embedding.layout.values.size(), "the embedding");
    embedding.layout.values.clear();
  }

  Context& context_;
  std::vector<DeviceNetwork>& networks_;
  const Task& task_;
  Networks shared_;
  double embedded_scale_ = 1;
  std::optional<std::size_t> embedder_;  ///< The network whose embedding is wanted.
};

}  // namespace

int scaled_side(int side, double scale) {
  return std::max(1, static_cast<int>(std::lround(side * scale)));
}

DeviceMemory network_map_memory(const Grid& grid, int images, const Networks& networks,
                                const BoundaryParameters& parameters) {
  const PictureView view = whole_picture(grid);
  const Task task{grid, view, parameters};
  TensorBudget tensors;
  for (const std::shared_ptr<const Network>& network : networks) {
    tensors.add(*network, task, images);
  }
  // The pictures, of up to three channels, their maps, and maps of what a network sees.
  const auto outputs = static_cast<std::size_t>(networks.front()->outputs());
  std::size_t floats = static_cast<std::size_t>(images) *
                       ((3 + outputs) * grid.rows() + outputs * most_pixels(networks, task));
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

std::vector<NetworkMaps> network_boundary_maps(
    Context& context, std::vector<DeviceNetwork>& networks, TensorBuffers& kept,
    std::span<const ImageToMap> images, const Grid& grid, const BoundaryParameters& parameters,
    const PictureView& view, bool embeds, const std::function<void(double share)>& tell) {
  const Task task{grid, view, parameters};
  std::vector<NetworkMaps> maps;
  std::vector<std::size_t> left;  // Those with data.
  for (std::size_t k = 0; k < images.size(); ++k) {
    NetworkMaps& own = maps.emplace_back();
    own.boundary = context.allocate<float>(grid.rows(), "boundary map");
    if (networks.front().network().outputs() > 1) {
      own.inside = context.allocate<float>(grid.rows(), "inside map");
    }
    if (images[k].valid_pixels > 0) {
      left.push_back(k);
      continue;
    }
    own.boundary.fill(0);
    if (own.inside) own.inside.fill(0);
  }
  MapsTogether together(context, networks, task, embeds);
  const auto pose_of = [&](std::size_t k) {
    return parameters.pose == NetworkPose::kCanonical ? canonical_turn(images[k].image) : Turn{};
  };
  const std::size_t with_data = left.size();
  std::size_t done = 0;
  std::function<void(std::size_t, std::size_t)> computed;
  if (tell) {
    computed = [&](std::size_t tiles, std::size_t of_each) {
      done += tiles;
      tell(static_cast<double>(done) / static_cast<double>(of_each * with_data));
    };
  }
  while (!left.empty()) {
    const Turn pose = pose_of(left.front());
    std::vector<Mapped> pictures;
    while (pictures.size() < left.size()) {
      const std::size_t k = left[pictures.size()];
      const auto& [image, valid, valid_pixels] = images[k];
      if (pose_of(k) != pose) break;
      const bool filled = valid_pixels < grid.rows() || !image.valid.empty();
      pictures.push_back(
          {uploaded(context, image, filled), image.channels, image.width, &valid, &maps[k]});
    }
    left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(pictures.size()));
    together.add(pictures, kept, pose, computed);
  }
  return maps;
}

}  // namespace diacut
