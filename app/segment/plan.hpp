#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "diacut/image_file.hpp"
#include "exit_code.hpp"
#include "find_images.hpp"
#include "options.hpp"
#include "results.hpp"

namespace diacut::app {

/// One image and where its results go.
struct Job {
  std::string input;  ///< A file, or "-" for standard input.
  /// Files, except for the eigenvectors, which go into a folder. In a batch without those that all
  /// images share (NamedResult::of_run()).
  Places results;
  /// Files; empty: none. Where a folder has none for the image, the file's path without its
  /// extension.
  Sidecars sidecars = {};
  ImagePart part = {};  ///< Of the input.
  /// The pages of the input that are jobs of the run, this one among them; 1: the input is one.
  int pages = 1;
  /// The TIFF file whose page part.page holds the labels; empty: none. Only with several pages.
  std::string stack = {};
  /// What annotations call the image: its path from the folder that was named, or its file name.
  std::string name = {};
  std::int64_t number = 1;  ///< Among the images of the run, from 1.
  bool map = false;         ///< Whether the input is read as a scene, with its coordinates.
  /// Whether the input is a scene that is read as a picture all the same, without coordinates.
  bool as_picture = false;
  std::vector<int> bands = {};  ///< Of a scene, that are looked at; empty: not named.
  /// The merge tree or the labels that are read in place of a device's work; empty: none.
  std::string made = {};
};

/// What messages call the image of a job: its file in quotes, and of several pages the page.
std::string shown_name(const Job& job);

/// Sets the least size in pixels where it is an area on the ground. Throws InputError where a
/// scene's pixels have no size there, or where that differs between scenes.
void set_least_size(const std::vector<Job>& jobs, Options& options);

/// All the work of a run.
struct Plan {
  bool batch =
      false;  ///< Whether a list, a folder or several inputs are named, a share, or all pages.
  /// Where the labels of all pages of the only input go; empty: there is no such file.
  std::string stack;
  /// The places that the command line names, in a batch the folders of all jobs.
  Job roots;
  std::vector<Job> jobs;
  std::vector<Failure> failures;  ///< Folders that cannot be read.
  std::size_t ignored = 0;        ///< Files and folders within folders that are not images.
};

/// For --page all: takes the file that the labels of all pages go to out of the places of a run,
/// whose labels otherwise go into a folder; empty if there is no such file. `is_one_file`: whether
/// the pages are those of one input. Throws ConfigError for a format that holds no pages.
std::string take_stack(bool is_one_file, Job& roots);

/// The pages of a file, each of which becomes a job; 1 where they cannot be counted, so that the
/// job reports why.
int pages_to_do(const std::string& input, const ImageParameters& parameters,
                const std::string& channel);

/// The name of a page's results: "a-07" for page 7 of 12 of a.
std::filesystem::path page_name(const std::filesystem::path& name, int page, int pages);

/// Lets the labels of a job be a page of a stack, if labels are wanted. `name`: of the results of
/// the whole file.
void give_stack(const Plan& plan, const std::filesystem::path& name, Job& job);

/// Where the table of linked objects goes: NAME-objects.csv for --table NAME.csv, objects.csv in a
/// folder; empty without --link or --table.
std::string objects_place(const Options& options);

/// The index of the pages of a batch; empty where there are no pages.
std::string page_index(const Plan& plan);

/// The extension of labels of which only the folder is named. `map`: whether they are of a scene:
/// people who have scenes expect the labels to be GeoTIFFs.
const char* labels_extension(const LabelStyle& style, bool map);

/// The job of an image of a batch, whose results go into folders. `labels`: their extension.
Job mirrored(const Job& roots, const FoundImage& image, const char* labels);

/// The file of this name, without its extension, in a folder; without an extension where there is
/// none. `option`: what messages name. Throws ConfigError where there are several.
std::string mirrored_file(const char* option, const std::vector<std::string>& extensions,
                          const std::string& folder, const std::filesystem::path& name);

/// Throws ConfigError when two results would be one file, or a result an input.
void check_names(const Options& options, const Plan& plan);

/// Finds the images and names their results, as the help describes. Reads folders, writes nothing.
/// Throws ConfigError when two results would be one file, or a result an input; InputError when
/// there is no image.
Plan make_plan(const Options& options);

/// Makes the folders that results go to, and checks that every place named on the command line
/// can be written to. Throws InputError, or ConfigError for a format that is not known.
void prepare_results(const Options& options, const Plan& plan);

/// Throws InputError or ConfigError if `path` cannot be a folder: if it is a file, or if there is
/// nothing there and it is named as an image file is. `option`: the option that names it.
void check_folder_name(const char* option, const std::string& path);

/// Whether every result of a job is there already.
bool is_done(const Job& job);

}  // namespace diacut::app
