// batch FOLDER IMAGE...: segments many images. While the device works on one image, another thread
// computes the regions of the image before it and writes its labels.
#include <diacut/image.hpp>
#include <diacut/output.hpp>
#include <diacut/segmenter.hpp>
#include <filesystem>
#include <future>
#include <iostream>
#include <string>
#include <utility>

namespace {

/// The host's part of a segmentation. A BegunSegmentation refers to neither the Segmenter nor the
/// image, so that this may run in any thread.
std::string finish_and_write(diacut::BegunSegmentation begun, const std::string& place) {
  const diacut::Labels labels = std::move(begun).finish()->labels;
  diacut::write_labels(place, labels);
  return place + ": " + std::to_string(labels.count) + " regions\n";
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::cerr << "usage: batch FOLDER IMAGE...\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);

  diacut::Segmenter segmenter(diacut::load_parameters("fast"));

  std::future<std::string> previous;
  for (int i = 2; i < argc; ++i) {
    const diacut::Image image = diacut::read_image(argv[i]);
    diacut::BegunSegmentation begun = segmenter.begin(image);  // The device's part.
    if (previous.valid()) std::cout << previous.get();
    const std::string name = std::filesystem::path(argv[i]).stem().string() + ".png";
    previous = std::async(std::launch::async, finish_and_write, std::move(begun),
                          (folder / name).string());
  }
  std::cout << previous.get();
} catch (const diacut::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
