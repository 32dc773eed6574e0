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

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PixelSize, width, height, unit)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PictureFacts, channels, channel, pages, pixel, spacing, slices,
                                   frames, slice, frame, image, is_ome)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Decoded, has_alpha, hidden, premultiplied, zero_is_white,
                                   indexed, is_damaged, orientation, notes, pages, facts)

namespace {

using Json = nlohmann::json;

/// What the child is asked; the names of the channel and of the file follow.
struct Request {
  std::int64_t max_pixels = 0;
  DecodeTask::Purpose purpose = DecodeTask::kPicture;
  std::int32_t page = 0;
  std::int32_t takes_damaged = 0;
  std::int32_t name_size = 0;  ///< Of the channel's name.
};

/// The child's only messages. What it decoded is in its file: the length of a text, that text, the
/// samples, and a byte of each pixel if pixels are left out. The text is JSON of Decoded and of
/// `samples`, or of why the file is refused.
struct Size {
  std::int32_t width = 0;
  std::int32_t height = 0;
  std::int32_t channels = 0;
};

template <class Plain>
Message message_of(const Plain& plain, std::string_view text = {}) {
  static_assert(std::is_trivially_copyable_v<Plain>);
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

void write_out(int file, const void* bytes, std::size_t size) {
  if (write_all(file, bytes, size) != 0) throw std::bad_alloc();
}

void write_text(int file, const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::uint64_t size = text.size();
  write_out(file, &size, sizeof size);
  write_out(file, text.data(), text.size());
}

void write_answer(int file, const Decoded& decoded) {
  const cv::Mat& samples = decoded.samples;
  Json json = decoded;
  json["samples"] = {samples.rows, samples.cols, samples.type(), decoded.valid.empty() ? 0 : 1};
  if (decoded.type_range) json["range"] = *decoded.type_range;
  write_text(file, json);
  for (const cv::Mat& rows : {samples, cv::Mat(decoded.valid)}) {
    for (int row = 0; row < rows.rows; ++row) {
      write_out(file, rows.ptr(row), static_cast<std::size_t>(rows.cols) * rows.elemSize());
    }
  }
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
    channel.ask(message_of(Size{size.width, size.height, size.channels}));
  };
  const auto refuse = [&](const std::string& why) {
    write_text(channel.output(), {{"refusal", why}});
  };
  try {
    const auto file = MappedFile::of(channel.input(), 1);
    if (!file) throw std::bad_alloc();
    write_answer(channel.output(), decode(file->bytes(), {request.max_pixels, accepts}, task));
  } catch (const InputError& error) {
    refuse(error.what());
  } catch (const cv::Exception& error) {
    if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
    refuse("cannot be decoded (" + error.err + ")");
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

/// A text made fit to be shown.
std::string shown(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '?');
  return text;
}

/// The first `most` texts, made fit to be shown.
std::vector<std::string> shown(std::vector<std::string> texts, std::size_t most) {
  texts.resize(std::min(texts.size(), most));
  for (std::string& text : texts) text = shown(text);
  return texts;
}

/// Reads what the child's file holds from `at` on.
void read(int file, void* to, std::size_t size, std::size_t& at) {
  if (!read_all(file, to, size, at)) damaged_answer();
  at += size;
}

Json text_of(int file, std::size_t& at) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 20;  // JSON may take 64 times as much memory.
  std::uint64_t size = 0;
  read(file, &size, sizeof size, at);
  if (size > kMost) damaged_answer();
  std::string text(size, '\0');
  read(file, text.data(), text.size(), at);
  return Json::parse(text, nullptr, false);
}

/// Whether facts are such as a file may have.
bool are_sane(const PictureFacts& facts) {
  std::vector<double> numbers = {facts.pixel.width, facts.pixel.height, facts.spacing};
  for (const int count :
       {facts.channel, facts.slices, facts.frames, facts.slice, facts.frame, facts.image}) {
    numbers.push_back(count);
  }
  numbers.insert(numbers.end(), facts.pages.begin(), facts.pages.end());
  const std::size_t planes = facts.channel > 0 ? facts.channels.size() : 0;
  return facts.pages.size() == planes && static_cast<std::size_t>(facts.channel) <= planes &&
         std::all_of(numbers.begin(), numbers.end(),
                     [](double number) { return number >= 0 && std::isfinite(number); });
}

/// Takes what JSON says of a picture but for its samples.
Decoded described(const Json& json) {
  auto decoded = json.get<Decoded>();
  decoded.type_range.reset();
  if (json.contains("range")) decoded.type_range = json["range"].get<std::pair<double, double>>();
  decoded.hidden = shown(decoded.hidden);
  decoded.notes = shown(decoded.notes, 100);
  decoded.facts.channels = shown(decoded.facts.channels, 10'000);
  decoded.facts.pixel.unit = decoded.facts.pixel.width > 0 ? "um" : "";
  const TypeRange& range = decoded.type_range;
  const bool is_range = !range || (std::isfinite(range->first) && std::isfinite(range->second) &&
                                   range->first < range->second);
  if (!is_range || !are_sane(decoded.facts) || decoded.pages < 1 || decoded.orientation < 1 ||
      decoded.orientation > 8 || (decoded.premultiplied && !decoded.has_alpha)) {
    damaged_answer();
  }
  return decoded;
}

/// What the child's file says. `accepted`: pixels of the largest size that was accepted.
Decoded read_answer(int file, std::int64_t accepted) try {
  std::size_t at = 0;
  const Json json = text_of(file, at);
  if (json.contains("refusal")) throw InputError(shown(json["refusal"].get<std::string>()));
  Decoded decoded = described(json);
  const auto [rows, columns, type, has_valid] = json.at("samples").get<std::array<int, 4>>();
  if (rows == 0 && columns == 0) return decoded;
  const int colours = CV_MAT_CN(type) - (decoded.has_alpha ? 1 : 0);
  if (type != CV_MAKETYPE(CV_MAT_DEPTH(type), CV_MAT_CN(type)) || CV_MAT_DEPTH(type) > CV_64F ||
      (colours != 1 && colours != 3) || rows <= 0 || columns <= 0 ||
      std::int64_t{rows} * columns > accepted) {
    damaged_answer();
  }
  decoded.samples.create(rows, columns, type);
  read(file, decoded.samples.data, decoded.samples.total() * decoded.samples.elemSize(), at);
  if (has_valid != 0) {
    decoded.valid.create(rows, columns);
    read(file, decoded.valid.data, decoded.valid.total(), at);
  }
  return decoded;
} catch (const Json::exception&) {
  damaged_answer();
}

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
  std::int64_t accepted = 0;
  const Descriptor output =
      own_sandbox().get()->run(message_of(request, channel + task.name), file_of(file).get(),
                               limits, [&](const Message& message) -> Message {
                                 const auto [width, height, channels] = plain_of<Size>(message);
                                 check_size(width, height, limit, channels);
                                 accepted = std::max(accepted, std::int64_t{width} * height);
                                 return {1};
                               });
  return read_answer(output.get(), accepted);
}

}  // namespace diacut
