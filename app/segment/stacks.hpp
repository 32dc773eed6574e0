#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "diacut/label_stack.hpp"
#include "exit_code.hpp"
#include "options.hpp"
#include "plan.hpp"

namespace diacut::app {

struct WrittenImage;

/// Gives the regions of the pages of a file one number, if --link asks for it.
class PageLinks {
 public:
  /// `options` must outlive the object.
  explicit PageLinks(const LinkOptions& options) : options_(options) {}

  /// Sets what files call the regions of the next page, and what is new on it. `facts`: of the
  /// page. Throws InputError.
  void link(const PictureFacts& facts, WrittenImage& page);

 private:
  const LinkOptions& options_;
  std::string linked_;  ///< The file whose pages the linker links.
  std::optional<PageLinker> linker_;
};

/// "3 objects, 1 split and 0 merges".
std::string linked_text(const LinkedThings& linked);

/// The TIFF files whose pages are the labels of the pages of an input. A file is written when all
/// of its pages are there; where a page failed it is not.
class Stacks {
 public:
  /// `skip_existing`: whether files that are there are left as they are.
  explicit Stacks(bool skip_existing) : skip_existing_(skip_existing) {}

  /// Adds the labels of a job, in the order of the pages. After the last page the file is written:
  /// what fails then is returned. Jobs without a stack are passed over.
  std::optional<Failure> add(const WrittenImage& written);

 private:
  struct Stack {
    std::optional<LabelStack> file;
    int pages = 0;
  };
  bool skip_existing_;
  std::map<std::string, Stack> stacks_;  ///< Of inputs under way, by file.
};

/// The table of the objects that --link finds. It is written with the first of --table.
class ObjectTable {
 public:
  explicit ObjectTable(const Options& options) : place_(objects_place(options)) {}

  void add(const WrittenImage& written);
  void commit() const;

 private:
  struct Object {
    int first = 0;
    int last = 0;
    int pages = 0;
    std::int64_t pixels = 0;
    double volume = 0;
  };
  std::string place_;
  std::map<std::pair<std::string, std::int32_t>, Object> objects_;  ///< Of a file.
};

}  // namespace diacut::app
