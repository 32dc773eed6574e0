#include "mat_writer.hpp"

#include <matio.h>
#include <zlib.h>

#include <Eigen/Core>
#include <array>
#include <stdexcept>

#include "npz_writer.hpp"

namespace diacut::testing {

namespace {

template <typename T>
matvar_t* matrix(const char* name, matio_classes type, matio_types stored, int width, int height,
                 const std::vector<T>& values) {
  std::array dims = {static_cast<std::size_t>(height), static_cast<std::size_t>(width)};
  using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> data =
      Eigen::Map<const Rows>(values.data(), height, width);  // By columns.
  return Mat_VarCreate(name, type, stored, 2, dims.data(), data.data(), 0);
}

void write(const std::string& path, matvar_t* variable, bool compressed) {
  mat_t* file = Mat_CreateVer(path.c_str(), nullptr, MAT_FT_MAT5);
  if (file == nullptr || variable == nullptr) throw std::runtime_error("matio: " + path);
  const int failed =
      Mat_VarWrite(file, variable, compressed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE);
  Mat_VarFree(variable);
  Mat_Close(file);
  if (failed != 0) throw std::runtime_error("matio: " + path);
}

}  // namespace

void write_ground_truth_mat(const std::string& path, int width, int height,
                            const std::vector<WrittenAnnotation>& annotations, bool compressed) {
  std::array cells = {std::size_t{1}, annotations.size()};
  matvar_t* array =
      Mat_VarCreate("groundTruth", MAT_C_CELL, MAT_T_CELL, 2, cells.data(), nullptr, 0);
  for (std::size_t i = 0; i < annotations.size(); ++i) {
    const WrittenAnnotation& annotation = annotations[i];
    std::vector<const char*> names;
    if (!annotation.segmentation.empty()) names.push_back("Segmentation");
    if (!annotation.boundaries.empty()) names.push_back("Boundaries");
    std::array one = {std::size_t{1}, std::size_t{1}};
    matvar_t* structure = Mat_VarCreateStruct("groundTruth", 2, one.data(), names.data(),
                                              static_cast<unsigned>(names.size()));
    if (!annotation.segmentation.empty()) {
      Mat_VarSetStructFieldByName(structure, "Segmentation", 0,
                                  matrix("Segmentation", MAT_C_UINT16, MAT_T_UINT16, width, height,
                                         annotation.segmentation));
    }
    if (!annotation.boundaries.empty()) {
      Mat_VarSetStructFieldByName(
          structure, "Boundaries", 0,
          matrix("Boundaries", MAT_C_UINT8, MAT_T_UINT8, width, height, annotation.boundaries));
    }
    Mat_VarSetCell(array, static_cast<int>(i), structure);
  }
  write(path, array, compressed);
}

void write_matrix_mat(const std::string& path, const std::string& name, int width, int height,
                      const std::vector<double>& values, bool compressed) {
  write(path, matrix(name.c_str(), MAT_C_DOUBLE, MAT_T_DOUBLE, width, height, values), compressed);
}

std::string mat_element(std::uint32_t type, const std::string& data) {
  std::string made = bytes_of(std::vector{type, static_cast<std::uint32_t>(data.size())}) + data;
  made.resize((made.size() + 7) / 8 * 8);
  return made;
}

std::string mat_array(std::uint32_t flags, const std::vector<std::uint32_t>& sizes,
                      const std::string& name, const std::string& parts) {
  const std::vector<std::uint32_t> head = {flags, 0};
  return mat_element(MAT_T_MATRIX, mat_element(MAT_T_UINT32, bytes_of(head)) +
                                       mat_element(MAT_T_INT32, bytes_of(sizes)) +
                                       mat_element(MAT_T_INT8, name) + parts);
}

std::string mat_compressed(const std::string& elements) {
  uLongf size = compressBound(elements.size());
  std::string packed(size, '\0');
  if (::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                 reinterpret_cast<const Bytef*>(elements.data()), elements.size()) != Z_OK) {
    throw std::runtime_error("zlib");
  }
  packed.resize(size);
  return bytes_of(std::vector<std::uint32_t>{MAT_T_COMPRESSED, static_cast<std::uint32_t>(size)}) +
         packed;
}

std::string mat_file(const std::string& elements) {
  std::string head = "MATLAB 5.0 MAT-file, made by a test";
  head.resize(124, ' ');
  return head + std::string("\x00\x01IM", 4) + elements;
}

}  // namespace diacut::testing
