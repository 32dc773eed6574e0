// recut IMAGE TREE: segments an image once, saves the tree of all its regions, and cuts the saved
// tree in several ways. Cutting needs neither the image nor a device.
#include <diacut/hierarchy.hpp>
#include <diacut/image.hpp>
#include <diacut/output.hpp>
#include <diacut/segmenter.hpp>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: recut IMAGE TREE\n";
    return 2;
  }
  diacut::Segmenter segmenter(diacut::load_parameters("fast"));
  diacut::write_tree(argv[2], segmenter.segment(diacut::read_image(argv[1])).hierarchy);

  const diacut::Hierarchy hierarchy = diacut::read_tree(argv[2]);
  for (const double threshold : {0.1, 0.3, 0.5}) {
    std::cout << "threshold " << threshold << ": " << diacut::cut(hierarchy, threshold).count
              << " regions\n";
  }
  std::vector<std::string> notes;
  std::cout << "asked for 12: " << diacut::cut_to_count(hierarchy, 12, notes).count << " regions\n";
  for (const std::string& note : notes) std::cout << "note: " << note << '\n';
} catch (const diacut::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
