#include "evaluate/mat_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <matio.h>

#include <cstdint>
#include <mutex>

#include "diacut/errors.hpp"
#include "diacut/image.hpp"
#include "evaluate/mat_sizes.hpp"

namespace diacut {

namespace {

struct FreeVariable {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using Variable = std::unique_ptr<matvar_t, FreeVariable>;

/// Keeps matio from writing errors to stderr, and from ending the process for some of them.
void be_quiet() {
  static std::once_flag once;
  std::call_once(once, [] { Mat_LogInitFunc("diacut", [](int, auto*) {}); });
}

template <typename T>
void copy_transposed(const matvar_t& variable, Raster& raster) {
  const auto* data = static_cast<const T*>(variable.data);
  const auto width = static_cast<std::size_t>(raster.width);
  const auto height = static_cast<std::size_t>(raster.height);
  raster.values.resize(width * height);
  for (std::size_t x = 0; x < width; ++x) {
    for (std::size_t y = 0; y < height; ++y) {
      raster.values[y * width + x] = static_cast<double>(data[x * height + y]);
    }
  }
}

/// Throws InputError without the name of the file.
Raster to_raster(const matvar_t& variable, const std::string& name) {
  if (variable.rank != 2 || variable.isComplex != 0) {
    throw InputError(fmt::format("'{}' is no matrix of real numbers", name));
  }
  const std::size_t height = variable.dims[0];
  const std::size_t width = variable.dims[1];
  const auto most = static_cast<std::size_t>(ImageParameters().max_pixels);
  if (width == 0 || height == 0 || width > most / height) {
    throw InputError(
        fmt::format("'{}' has {} x {} elements: expected 1 to {}", name, height, width, most));
  }
  Raster raster;
  raster.width = static_cast<int>(width);
  raster.height = static_cast<int>(height);
  raster.is_integer = variable.class_type != MAT_C_DOUBLE && variable.class_type != MAT_C_SINGLE;
  const bool is_numeric =
      variable.class_type >= MAT_C_DOUBLE && variable.class_type <= MAT_C_UINT64;
  if (!is_numeric || variable.data == nullptr ||
      variable.nbytes < width * height * static_cast<std::size_t>(variable.data_size)) {
    throw InputError(fmt::format("'{}' does not hold numbers (sparse arrays are not read)", name));
  }
  switch (variable.data_type) {
    case MAT_T_DOUBLE:
      copy_transposed<double>(variable, raster);
      break;
    case MAT_T_SINGLE:
      copy_transposed<float>(variable, raster);
      break;
    case MAT_T_INT8:
      copy_transposed<std::int8_t>(variable, raster);
      break;
    case MAT_T_UINT8:
      copy_transposed<std::uint8_t>(variable, raster);
      break;
    case MAT_T_INT16:
      copy_transposed<std::int16_t>(variable, raster);
      break;
    case MAT_T_UINT16:
      copy_transposed<std::uint16_t>(variable, raster);
      break;
    case MAT_T_INT32:
      copy_transposed<std::int32_t>(variable, raster);
      break;
    case MAT_T_UINT32:
      copy_transposed<std::uint32_t>(variable, raster);
      break;
    case MAT_T_INT64:
      copy_transposed<std::int64_t>(variable, raster);
      break;
    case MAT_T_UINT64:
      copy_transposed<std::uint64_t>(variable, raster);
      break;
    default:
      throw InputError(fmt::format("'{}' holds elements of an unknown type", name));
  }
  return raster;
}

/// The field of a structure, or null. The search of matio itself would crash on a damaged file that
/// lacks names.
const matvar_t* field_named(matvar_t& structure, const std::string& name) {
  char* const* names = Mat_VarGetStructFieldnames(&structure);
  const unsigned count = Mat_VarGetNumberOfFields(&structure);
  if (names == nullptr || structure.nbytes < count * sizeof(matvar_t*)) return nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (names[i] != nullptr && name == names[i]) {
      return Mat_VarGetStructFieldByIndex(&structure, i, 0);
    }
  }
  return nullptr;
}

std::vector<Raster> fields_of(matvar_t* cell, const std::vector<std::string>& fields) {
  if (cell == nullptr || cell->class_type != MAT_C_STRUCT || cell->data == nullptr) {
    throw InputError("is no structure");
  }
  std::vector<Raster> result;
  for (const std::string& field : fields) {
    const matvar_t* value = field_named(*cell, field);
    if (value == nullptr) throw InputError(fmt::format("has no field '{}'", field));
    result.push_back(to_raster(*value, field));
  }
  return result;
}

}  // namespace

void MatFile::Close::operator()(_mat_t* file) const { Mat_Close(file); }

MatFile::MatFile(const std::string& path) : path_(path) {
  be_quiet();
  const std::vector<std::uint8_t> bytes = read_file(path);
  if (has_text(bytes, 0, "MATLAB 7.3")) {
    throw InputError(fmt::format(
        "{}: is a MATLAB file of version 7.3, expected version 5: save it with -v7", path));
  }
  try {
    check_mat_sizes(bytes, static_cast<std::uint64_t>(ImageParameters().max_pixels));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
  file_.reset(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
  if (!file_) {
    throw InputError(fmt::format(
        "{}: is not a MATLAB file that can be read: expected version 5 (save with -v7)", path));
  }
}

Raster MatFile::matrix(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    const Variable variable(Mat_VarRead(file_.get(), name.c_str()));
    if (!variable) continue;
    try {
      return to_raster(*variable, name);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", path_, error.what()));
    }
  }
  throw InputError(
      fmt::format("{}: holds no variable '{}', or is damaged", path_, fmt::join(names, "' or '")));
}

std::vector<std::vector<Raster>> MatFile::cells(const std::string& variable,
                                                const std::vector<std::string>& fields) const {
  const Variable array(Mat_VarRead(file_.get(), variable.c_str()));
  if (!array) {
    throw InputError(fmt::format("{}: holds no variable '{}', or is damaged", path_, variable));
  }
  if (array->class_type != MAT_C_CELL || array->data == nullptr || array->data_size == 0) {
    throw InputError(fmt::format("{}: '{}' is no cell array", path_, variable));
  }
  const std::size_t count = array->nbytes / static_cast<std::size_t>(array->data_size);
  std::vector<std::vector<Raster>> result;
  for (std::size_t i = 0; i < count; ++i) {
    try {
      result.push_back(fields_of(Mat_VarGetCell(array.get(), static_cast<int>(i)), fields));
    } catch (const InputError& error) {
      throw InputError(
          fmt::format("{}: cell {} of '{}': {}", path_, i + 1, variable, error.what()));
    }
  }
  if (result.empty()) throw InputError(fmt::format("{}: '{}' is empty", path_, variable));
  return result;
}

}  // namespace diacut
