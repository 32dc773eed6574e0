#include "batch_options.hpp"

#include <fmt/format.h>

namespace diacut::app {

void declare_batch(CommandLine& line, BatchOptions& options) {
  constexpr const char* kMany = "Many images";
  line.option("--files-from", options.list, "FILE|-", kMany,
              "Read the images' names from a file or standard input, one a line, instead of "
              "inputs; results go into folders");
  line.flag("-0,--null", options.null, kMany,
            "Names of --files-from end with a null byte, as from find -print0");
  line.option("--base", options.base, "DIR", kMany,
              "With --files-from: results keep their images' place below this folder, DIR/a/b.jpg "
              "gives a/b.png (default: b.png)");
  line.option("--shard", options.share, "I/N|auto", kMany,
              "Do the I-th of N shares of the images, I from 1; auto: the share of this job in an "
              "array of Slurm, AWS Batch or Kubernetes (with DIACUT_SHARDS)");
  line.flag("--skip-existing", options.skip_existing, kMany,
            "Leave out images whose results exist; --json FILE is continued");
}

void check_batch(const CommandLine& line, const BatchOptions& options) {
  for (const char* name : {"--files-from", "--base", "--shard"}) {
    const CLI::Option* option = line.app().get_option(name);
    if (option->count() == 0 || !option->as<std::string>().empty()) continue;
    fail_usage("segment", fmt::format("{} has an empty value; it needs a text", name));
  }
  if (!options.list.empty()) return;
  for (const char* name : {"--null", "--base"}) {
    if (line.app().get_option(name)->count() == 0) continue;
    fail_usage("segment",
               fmt::format("{} applies to a list of images: it needs --files-from", name));
  }
}

}  // namespace diacut::app
