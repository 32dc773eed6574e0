#include "mat_writer.hpp"
#include "npz_writer.hpp"
#include "spoilt.hpp"

namespace diacut::fuzz {
namespace {

using testing::bytes_of;
using testing::mat_array;
using testing::mat_compressed;
using testing::mat_element;
using testing::mat_file;
using Words = std::vector<std::uint32_t>;

/// Types of elements and classes of arrays (MathWorks, MAT-File Format, version 5).
enum Type : std::uint32_t { kInt8 = 1, kInt32 = 5, kUint32 = 6, kDouble = 9, kMatrix = 14 };
enum Class : std::uint32_t { kCell = 1, kStructure = 2, kChar = 4, kSparse = 5, kDoubles = 6 };
constexpr std::uint32_t kComplex = 0x0800;
/// Of an element with four bytes of data within its tag.
constexpr std::uint32_t kSmall = 4U << 16;

std::string matrix(const std::string& name, const Words& sizes = {2, 3}) {
  return mat_array(kDoubles, sizes, name,
                   mat_element(kDouble, bytes_of(std::vector<double>(6, 1.0))));
}

std::string structure(const std::vector<std::string>& names) {
  constexpr std::uint32_t kLength = 32;
  std::string list;
  std::string fields;
  for (const std::string& name : names) {
    list += name;
    list.resize((list.size() / kLength + 1) * kLength);
    fields += matrix("");
  }
  return mat_array(kStructure, {1, 1}, "",
                   bytes_of(Words{kSmall | kInt32, kLength}) + mat_element(kInt8, list) + fields);
}

std::string cells(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return mat_array(kCell, {1, static_cast<std::uint32_t>(parts.size())}, "groundTruth", all);
}

FileBytes file_of(const std::string& elements) { return fuzz::bytes_of(mat_file(elements)); }

/// A file of version 4: type, rows, columns, imaginary, length of the name; the name; the numbers.
FileBytes version_4(const Words& head, std::size_t bytes = 16) {
  return fuzz::bytes_of(bytes_of(head) + std::string("ucm\0", 4) + std::string(bytes, '\0'));
}

}  // namespace

std::vector<FileBytes> mats_of_all_types() {
  struct Numbers {
    std::uint32_t array;
    std::uint32_t type;
    std::size_t bytes;
  };
  constexpr Numbers kAll[] = {{6, 9, 8},  {7, 7, 4},  {8, 1, 1},  {9, 2, 1},   {10, 3, 2},
                              {11, 4, 2}, {12, 5, 4}, {13, 6, 4}, {14, 12, 8}, {15, 13, 8}};
  std::vector<FileBytes> files;
  for (const Numbers& each : kAll) {
    files.push_back(file_of(mat_array(each.array, {2, 3}, "ucm2",
                                      mat_element(each.type, std::string(6 * each.bytes, '\0')))));
  }
  files.push_back(file_of(cells({structure({"Segmentation", "Boundaries"})})));
  files.push_back(file_of(mat_compressed(matrix("ucm2"))));
  files.push_back(file_of(mat_array(kCell, {0, 0}, "empty", "") + matrix("ucm2")));
  return files;
}

std::vector<SpoiltFile> spoilt_mats() {
  const std::string numbers = mat_element(kDouble, bytes_of(std::vector<double>(6, 1.0)));
  const std::string whole = matrix("ucm2");
  std::string nested = matrix("");
  for (int level = 0; level < 40; ++level) nested = mat_array(kCell, {1, 1}, "", nested);
  FileBytes big = file_of(whole);
  big[126] = 'M';
  big[127] = 'I';
  std::vector<SpoiltFile> files = {
      file_of(""),
      file_of(whole.substr(0, whole.size() - 8)),
      file_of(whole + std::string(4, '\0')),
      {file_of(matrix("another")), "no variable 'groundTruth'"},
      file_of(mat_element(2, "anything") + matrix("ucm2")),
      file_of(matrix("ucm2", {2, 3, 1})),
      file_of(matrix("ucm2", {0, 3})),
      file_of(mat_array(kDoubles | kComplex, {2, 3}, "ucm2", numbers + numbers)),
      file_of(mat_array(kChar, {2, 3}, "ucm2", mat_element(4, std::string(12, 'a')))),
      file_of(mat_array(kSparse, {2, 3}, "ucm2",
                        mat_element(kInt32, bytes_of(Words{0})) +
                            mat_element(kInt32, bytes_of(Words{0, 1, 1, 1})) +
                            mat_element(kDouble, bytes_of(std::vector<double>{1})))),
      file_of(mat_array(kCell, {0, 0}, "groundTruth", "")),
      file_of(cells({})),
      file_of(cells({matrix("")})),
      file_of(cells({structure({})})),
      {file_of(cells({structure({"Segmentation"})})), "no field 'Boundaries'"},
      file_of(cells({structure({"Boundaries", "Sizes"})})),
      file_of(mat_array(kCell, {1, 1}, "groundTruth", nested)),
      {file_of(matrix("groundTruth")), "no cell array"},
      file_of(
          mat_array(kStructure, {1, 1}, "ucm2", mat_element(kInt32, "") + mat_element(kInt8, ""))),
      file_of(mat_element(kMatrix, mat_element(kUint32, ""))),
      file_of(mat_element(kMatrix, std::string("\x06\x00\x05\x00more", 8))),
      file_of(replaced_once(mat_compressed(whole), "x", "y")),
      file_of(mat_compressed(whole.substr(0, 40))),
      // A variable that announces the most that a length can say.
      {file_of(mat_compressed(bytes_of(Words{kMatrix, 0xffffffff}) + whole)), "damaged or cut off"},
      big,
      fuzz::bytes_of("MATLAB 7.3 MAT-file"),
      {fuzz::bytes_of("\x89HDF\r\n\x1a\n"), "expected version 5"},
      {fuzz::bytes_of("no MATLAB file at all"), "not a MATLAB file"},
      {version_4({0, 2, 3, 0, 5}), "expected version 5"},
      version_4({0, 1, 2, 0, 400}),
      version_4({0, 1000, 2000, 0, 4}),
      version_4({0, 1, 1, 0, 4}),  // Eight bytes too many.
      version_4({1000, 1, 2, 0, 4}),
      {},
  };
  const std::string fields =
      mat_element(kInt32, bytes_of(Words{8})) + mat_element(kInt8, std::string(16, 'a'));
  for (const std::string& sizes :
       {matrix("ucm2", {200, 3}), matrix("ucm2", {1U << 31, 1U << 31}),
        mat_array(kCell, {1, 2'000'000'000}, "groundTruth", ""),
        mat_array(kCell, {4'000'000'000U, 4'000'000'000U, 99}, "groundTruth", ""),
        cells({matrix("", {15'000, 16'000})}),
        mat_array(kStructure, {1, 50'000'000}, "groundTruth", fields)}) {
    for (const FileBytes& file : {file_of(sizes), file_of(mat_compressed(sizes))}) {
      files.emplace_back(file, "for which the file has no room");
    }
  }
  return files;
}

}  // namespace diacut::fuzz
