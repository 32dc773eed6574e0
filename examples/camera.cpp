// camera [NUMBER|FILE]: finds regions in the frames of a camera or a film, which keep their numbers
// from frame to frame: numbers[k] is that of region k + 1 in `labels`. Needs OpenCV.
#include <chrono>
#include <diacut/label_stack.hpp>
#include <diacut/samples.hpp>
#include <diacut/segmenter.hpp>
#include <iostream>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/video/tracking.hpp>
#include <opencv2/videoio.hpp>
#include <string>
#include <vector>

namespace {

/// A frame of 8 bits as OpenCV holds it: blue, green, red, in rows that may be padded. Nothing is
/// copied: the frame must outlive the samples.
diacut::Samples samples_of(const cv::Mat& frame) {
  diacut::Samples samples;
  samples.data = frame.data;
  samples.width = frame.cols;
  samples.height = frame.rows;
  samples.channels = frame.channels();
  samples.stride = frame.step;
  samples.blue_first = true;
  return samples;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string source = argc > 1 ? argv[1] : "0";
  cv::VideoCapture camera;
  const bool is_number = source.find_first_not_of("0123456789") == std::string::npos;
  if (!(is_number ? camera.open(std::stoi(source)) : camera.open(source))) {
    std::cerr << "'" << source << "' cannot be opened\n";
    return 1;
  }
  diacut::Parameters parameters = diacut::load_parameters("fast");
  parameters.image.detail = 320;
  parameters.image.range = diacut::ValueRange::kType;  // No frame is brightened by itself.
  diacut::Segmenter segmenter(parameters);             // One for all frames, of any size.
  diacut::PageLinker linker(0.25);
  const auto motion = cv::DISOpticalFlow::create(cv::DISOpticalFlow::PRESET_ULTRAFAST);
  cv::Mat frame, grey, grey_before, flow;
  for (int number = 1; camera.read(frame); ++number) {
    const auto start = std::chrono::steady_clock::now();
    const diacut::Image image = diacut::image_from_samples(samples_of(frame), parameters.image);
    const diacut::Labels labels = segmenter.segment(image).labels;
    cv::cvtColor(frame, grey, cv::COLOR_BGR2GRAY);
    if (grey.size() != grey_before.size()) {
      linker.end({});  // Frames of another size begin anew.
    } else {
      motion->calc(grey, grey_before, flow);
      linker.displace({flow.ptr<float>(), 2 * flow.total()});
    }
    cv::swap(grey, grey_before);
    std::vector<std::string> notes;  // Of regions that split and merge.
    const std::int64_t before = linker.found().objects;
    const std::vector<std::int32_t> numbers = linker.link(labels, notes);
    const auto fresh = linker.found().objects - before;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::cout << "frame " << number << ": " << numbers.size() << " regions, " << fresh
              << " of them new, " << 1 / seconds.count() << " frames/s\n";
  }
} catch (const diacut::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
