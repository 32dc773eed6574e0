#include "photos.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "diacut/image_file.hpp"
#include "diacut/output.hpp"
#include "output/npy.hpp"

namespace diacut::bench {

namespace fs = std::filesystem;

std::vector<fs::path> photos_in(const std::string& folder) {
  std::vector<fs::path> photos;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    const auto& known = image_extensions();
    if (std::find(known.begin(), known.end(), extension) != known.end()) {
      photos.push_back(entry.path());
    }
  }
  std::sort(photos.begin(), photos.end());
  if (photos.empty()) throw InputError(fmt::format("no photographs in '{}'", folder));
  return photos;
}

std::size_t write_rows(const std::vector<fs::path>& photos, std::size_t columns,
                       const std::string& output,
                       const std::function<std::vector<float>(const fs::path&)>& rows_of) {
  std::vector<std::vector<float>> found(photos.size());
  parallel_for(static_cast<int>(photos.size()), [&](int k) {
    const auto i = static_cast<std::size_t>(k);
    found[i] = rows_of(photos[i]);
  });
  std::vector<float> rows;
  for (const std::vector<float>& some : found) rows.insert(rows.end(), some.begin(), some.end());
  write_file(output, encode_npy<float>(rows, {rows.size() / columns, columns}));
  return rows.size() / columns;
}

}  // namespace diacut::bench
