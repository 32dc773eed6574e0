#include "batch_options.hpp"

#include <fmt/format.h>

namespace diacut::app {

void declare_batch(CommandLine& line, BatchOptions& options) {
  constexpr const char* kMany = "Many images";
  line.option("--files-from", options.list, "FILE|-", kMany,
              "The images' names, one a line, from a file or standard input, in place of inputs; "
              "results go into folders");
  line.flag("-0,--null", options.null, kMany,
            "Names of --files-from end with a null byte, as find -print0 writes them");
  line.option("--base", options.base, "DIR", kMany,
              "Results of --files-from keep the place of their images below this folder: "
              "DIR/a/b.jpg gives a/b.png; without it b.png");
  line.option("--shard", options.share, "I/N|auto", kMany,
              "Of the images the I-th of N shares, I from 1; auto: that of this job in an array of "
              "Slurm, AWS Batch or Kubernetes (with DIACUT_SHARDS)");
  line.flag("--skip-existing", options.skip_existing, kMany,
            "Leave out images whose output files exist; --json goes on where it was");
}

void check_batch(const CommandLine& line, const BatchOptions& options) {
  for (const char* name : {"--files-from", "--base", "--shard"}) {
    const CLI::Option* option = line.app().get_option(name);
    if (option->count() == 0 || !option->as<std::string>().empty()) continue;
    fail_usage("segment", fmt::format("{} is given an empty text; it needs a value", name));
  }
  if (!options.list.empty()) return;
  for (const char* name : {"--null", "--base"}) {
    if (line.app().get_option(name)->count() == 0) continue;
    fail_usage("segment", fmt::format("{} is about a list of images: it needs --files-from", name));
  }
}

}  // namespace diacut::app
