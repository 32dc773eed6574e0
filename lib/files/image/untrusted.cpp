#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <opencv2/core/utility.hpp>
#include <system_error>
#include <type_traits>

#include "core/file_bytes.hpp"
#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "image/decoded.hpp"
#include "sandbox/sandbox.hpp"

namespace diacut {

// The names of channels have messages of their own.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PixelSize, width, height, unit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PictureFacts, channel, pages, pixel, spacing, slices, frames,
                                   slice, frame, image, is_ome)

namespace {

/// What a message of the child begins with.
enum class Kind : std::int32_t { kSize, kRefusal, kNote, kChannel, kFacts, kSamples };

/// What the child is asked; the names of the channel and of the file follow.
struct Request {
  std::int64_t max_pixels = 0;
  DecodeTask::Purpose purpose = DecodeTask::kPicture;
  std::int32_t page = 0;
  std::int32_t takes_damaged = 0;
  std::int32_t name_size = 0;  ///< Of the channel's name.
};

struct Size {
  Kind kind = Kind::kSize;
  std::int32_t width = 0;
  std::int32_t height = 0;
  std::int32_t channels = 0;
};

constexpr std::array kFlags = {&Decoded::has_alpha, &Decoded::premultiplied,
                               &Decoded::zero_is_white, &Decoded::indexed, &Decoded::is_damaged};

/// The child's last message. The samples are in its file.
struct SamplesInfo {
  Kind kind = Kind::kSamples;
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  std::int32_t type = 0;
  std::int32_t pages = 1;
  std::array<std::uint8_t, kFlags.size()> flags = {};  ///< As kFlags has them.
  std::uint8_t orientation = 1;
  std::uint8_t has_valid = 0;  ///< A byte of each pixel follows the samples.
  std::uint8_t has_range = 0;
  std::array<double, 2> range = {};
};

template <class Plain>
Message message_of(const Plain& plain, std::string_view text = {}) {
  static_assert(std::is_trivially_copyable_v<Plain>);
  const std::size_t most = SandboxChannel::kMostMessage - sizeof plain;
  text = text.substr(0, most);
  Message message(sizeof plain + text.size());
  std::memcpy(message.data(), &plain, sizeof plain);
  std::copy(text.begin(), text.end(), message.begin() + sizeof plain);
  return message;
}

[[noreturn]] void damaged_answer() {
  throw InputError(
      "its decoder gave an answer that makes no sense: the file is damaged, or made to "
      "attack programs");
}

template <class Plain>
Plain plain_of(std::span<const std::uint8_t> message) {
  if (message.size() < sizeof(Plain)) damaged_answer();
  Plain plain;
  std::memcpy(static_cast<void*>(&plain), message.data(), sizeof plain);
  return plain;
}

/// The text behind what a message begins with, made fit to be shown.
template <class Plain>
std::string text_of(std::span<const std::uint8_t> message) {
  std::string text(message.begin() + sizeof(Plain), message.end());
  std::replace_if(
      text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '?');
  return text;
}

void write_out(int file, const void* bytes, std::size_t size) {
  if (write_all(file, bytes, size) != 0) throw std::bad_alloc();
}

void answer(const SandboxChannel& channel, const Decoded& decoded) {
  const cv::Mat& samples = decoded.samples;
  for (const cv::Mat& rows : {samples, cv::Mat(decoded.valid)}) {
    for (int row = 0; row < rows.rows; ++row) {
      write_out(channel.output(), rows.ptr(row),
                static_cast<std::size_t>(rows.cols) * rows.elemSize());
    }
  }
  for (const std::string& note : decoded.notes) channel.send(message_of(Kind::kNote, note));
  const PictureFacts& facts = decoded.facts;
  for (const std::string& name : facts.channels) channel.send(message_of(Kind::kChannel, name));
  channel.send(message_of(Kind::kFacts, nlohmann::json(facts).dump()));
  SamplesInfo info;
  info.rows = samples.rows;
  info.columns = samples.cols;
  info.type = samples.type();
  info.pages = decoded.pages;
  for (std::size_t k = 0; k < kFlags.size(); ++k) info.flags[k] = decoded.*kFlags[k] ? 1 : 0;
  info.orientation = static_cast<std::uint8_t>(decoded.orientation);
  info.has_valid = decoded.valid.empty() ? 0 : 1;
  info.has_range = decoded.type_range ? 1 : 0;
  if (decoded.type_range) info.range = {decoded.type_range->first, decoded.type_range->second};
  channel.send(message_of(info, decoded.hidden));
}

/// What the child does.
void decode_in_sandbox(SandboxChannel& channel) {
  // The threads that the program had are not in this process.
  cv::setNumThreads(1);
  set_parallel_threads(1);
  const Message& asked = channel.request();
  const auto request = plain_of<Request>(asked);
  const std::string names(asked.begin() + sizeof(Request), asked.end());
  const auto end = static_cast<std::size_t>(request.name_size);
  const DecodeTask task{request.purpose,
                        {request.page, names.substr(0, end)},
                        request.takes_damaged != 0,
                        names.substr(end)};
  const auto accepts = [&](const ImageSize& size) {
    channel.ask(message_of(Size{Kind::kSize, size.width, size.height, size.channels}));
  };
  try {
    const auto file = MappedFile::of(channel.input(), 1);
    if (!file) throw std::bad_alloc();
    answer(channel, decode(file->bytes(), {request.max_pixels, accepts}, task));
  } catch (const InputError& error) {
    channel.send(message_of(Kind::kRefusal, error.what()));
  } catch (const cv::Exception& error) {
    if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
    channel.send(message_of(Kind::kRefusal, "cannot be decoded (" + error.err + ")"));
  }
}

Descriptor file_of(Bytes bytes) {
  Descriptor file(::memfd_create("image", MFD_CLOEXEC));
  if (file.get() < 0) {
    throw InputError(
        fmt::format("cannot be given to the sandbox: {}", std::generic_category().message(errno)));
  }
  write_out(file.get(), bytes.data(), bytes.size());
  return file;
}

/// What the child's messages say.
class Answers {
 public:
  explicit Answers(const SizeLimit& limit) : limit_(limit) {}

  Message take(const Message& message) {
    switch (plain_of<Kind>(message)) {
      case Kind::kSize:
        check_size(plain_of<Size>(message));
        return {1};
      case Kind::kRefusal:
        throw InputError(text_of<Kind>(message));
      case Kind::kNote:
        if (decoded_.notes.size() < kMostNotes) decoded_.notes.push_back(text_of<Kind>(message));
        return {};
      case Kind::kChannel:
        if (channels().size() < kMostChannels) channels().push_back(text_of<Kind>(message));
        return {};
      case Kind::kFacts:
        take_facts(text_of<Kind>(message));
        return {};
      case Kind::kSamples:
        take_info(plain_of<SamplesInfo>(message));
        decoded_.hidden = text_of<SamplesInfo>(message);
        return {};
    }
    damaged_answer();
  }

  /// What was decoded, with the samples that the child's file holds.
  Decoded finish(int file) {
    if (!info_) damaged_answer();
    if (info_->rows == 0) return std::move(decoded_);
    decoded_.samples.create(info_->rows, info_->columns, info_->type);
    const std::size_t size = decoded_.samples.total() * decoded_.samples.elemSize();
    read(file, decoded_.samples.data, 0, size);
    if (info_->has_valid != 0) {
      decoded_.valid.create(info_->rows, info_->columns);
      read(file, decoded_.valid.data, size, decoded_.valid.total());
    }
    return std::move(decoded_);
  }

 private:
  static constexpr std::size_t kMostNotes = 100;
  static constexpr std::size_t kMostChannels = 10'000;

  std::vector<std::string>& channels() { return decoded_.facts.channels; }

  static void read(int file, std::uint8_t* to, std::size_t begin, std::size_t size) {
    if (!read_all(file, to, size, begin)) damaged_answer();
  }

  void check_size(const Size& size) {
    diacut::check_size(size.width, size.height, limit_, size.channels);
    accepted_ = std::max(accepted_, std::int64_t{size.width} * size.height);
  }

  void take_facts(const std::string& text) {
    PictureFacts& facts = decoded_.facts;
    const nlohmann::json told = nlohmann::json::parse(text, nullptr, false);
    try {
      told.get_to(facts);
    } catch (const nlohmann::json::exception&) {
      damaged_answer();
    }
    facts.pixel.unit = facts.pixel.width > 0 ? "um" : "";
    std::vector<double> numbers = {facts.pixel.width, facts.pixel.height, facts.spacing};
    for (const int count :
         {facts.channel, facts.slices, facts.frames, facts.slice, facts.frame, facts.image}) {
      numbers.push_back(count);
    }
    numbers.insert(numbers.end(), facts.pages.begin(), facts.pages.end());
    const bool is_good = std::all_of(numbers.begin(), numbers.end(), [](double number) {
      return number >= 0 && std::isfinite(number);
    });
    const std::size_t planes = facts.channel > 0 ? channels().size() : 0;
    if (!is_good || facts.pages.size() != planes ||
        static_cast<std::size_t>(facts.channel) > planes) {
      damaged_answer();
    }
  }

  void take_info(const SamplesInfo& info) {
    const int depth = CV_MAT_DEPTH(info.type);
    const int channels = CV_MAT_CN(info.type);
    const bool is_type = info.type == CV_MAKETYPE(depth, channels) && depth <= CV_64F;
    const bool is_empty = info.rows == 0 && info.columns == 0;
    const bool is_range =
        info.has_range == 0 || (std::isfinite(info.range[0]) && std::isfinite(info.range[1]) &&
                                info.range[0] < info.range[1]);
    for (std::size_t k = 0; k < kFlags.size(); ++k) decoded_.*kFlags[k] = info.flags[k] != 0;
    const int colours = channels - (decoded_.has_alpha ? 1 : 0);
    const bool is_size = is_empty || (info.rows > 0 && info.columns > 0 &&
                                      std::int64_t{info.rows} * info.columns <= accepted_);
    if (!is_type || !is_range || !is_size || info.pages < 1 || (colours != 1 && colours != 3) ||
        info.orientation < 1 || info.orientation > 8 ||
        (decoded_.premultiplied && !decoded_.has_alpha)) {
      damaged_answer();
    }
    decoded_.pages = info.pages;
    decoded_.orientation = info.orientation;
    decoded_.type_range.reset();
    if (info.has_range != 0) decoded_.type_range = std::pair{info.range[0], info.range[1]};
    info_ = info;
  }

  const SizeLimit& limit_;
  std::int64_t accepted_ = 0;  ///< Pixels of the largest size that was accepted.
  Decoded decoded_;
  std::optional<SamplesInfo> info_;
};

/// The sandbox of this process. A copy of a process gets its own.
class OwnSandbox {
 public:
  void use_program(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (program_ == path) return;
    program_ = path;
    forget();
  }

  std::shared_ptr<Sandbox> get() {
    const std::lock_guard lock(mutex_);
    if (owner_ != ::getpid()) forget();
    if (!made_) {
      if (program_.empty()) load_decoders();
      made_ = program_.empty() ? std::make_shared<Sandbox>(decode_in_sandbox)
                               : std::make_shared<Sandbox>(program_);
      owner_ = ::getpid();
    }
    return made_;
  }

 private:
  void forget() {
    // A server that another process started is not this one's to end.
    if (made_ && owner_ != ::getpid()) static_cast<void>(new std::shared_ptr<Sandbox>(made_));
    made_.reset();
  }

  std::mutex mutex_;
  std::string program_;
  std::shared_ptr<Sandbox> made_;
  pid_t owner_ = 0;
};

OwnSandbox& own_sandbox() {
  static OwnSandbox own;
  return own;
}

}  // namespace

void start_sandbox() { own_sandbox().get(); }

void use_sandbox_program(const std::string& path) { own_sandbox().use_program(path); }

int serve_sandbox() {
  load_decoders();
  Sandbox::serve(decode_in_sandbox);
  return 2;
}

Decoded decode_as_asked(Bytes file, const SizeLimit& limit, const DecodeTask& task,
                        const ImageParameters& parameters) {
  if (!parameters.untrusted) return decode(file, limit, task);
  const std::string& channel = task.part.channel;
  const Request request{limit.max_pixels, task.purpose, task.part.page, task.takes_damaged ? 1 : 0,
                        static_cast<std::int32_t>(channel.size())};
  const SandboxLimits limits{static_cast<std::uint64_t>(parameters.decoding_memory) << 20,
                             parameters.decoding_seconds};
  Answers answers(limit);
  const Descriptor output = own_sandbox().get()->run(
      message_of(request, channel + task.name), file_of(file).get(), limits,
      [&](const Message& message) { return answers.take(message); });
  return answers.finish(output.get());
}

}  // namespace diacut
