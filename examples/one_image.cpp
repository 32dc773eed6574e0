// one_image IMAGE LABELS.png: divides an image into regions and writes their labels.
#include <diacut/image.hpp>
#include <diacut/output.hpp>
#include <diacut/segmenter.hpp>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: one_image IMAGE LABELS.png\n";
    return 2;
  }
  const diacut::Image image = diacut::read_image(argv[1]);

  diacut::Parameters parameters = diacut::load_parameters("fast");
  parameters.region.threshold = 0.4;  // Only boundaries stronger than this part regions.

  // "" is the first GPU, or the CPU where there is none. Opening a device takes a while, so one
  // Segmenter should serve many images.
  diacut::Segmenter segmenter(parameters, "");
  const diacut::HierarchyCut result = segmenter.segment(image);

  diacut::write_labels(argv[2], result.labels);
  std::cout << result.labels.count << " regions on " << segmenter.device().name << '\n';
  for (const diacut::StageTime& time : result.costs.times) {
    std::cout << time.stage << ": " << time.wall_ms << " ms\n";
  }
  for (const std::string& note : result.notes) std::cout << "note: " << note << '\n';
} catch (const diacut::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
