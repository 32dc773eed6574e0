#include "eigen/lobpcg/columns.hpp"

#include <fmt/format.h>

#include "eigen/lobpcg/workspace.hpp"
#include "opencl/arguments.hpp"

namespace diacut {

BlockColumns::BlockColumns(Context& context, int columns)
    : context_(&context),
      columns_(columns),
      rows_(rows_in_local_memory(context.info(), columns)),
      group_(block_group(context.info())) {
  constexpr char kFile[] = "eigen/lobpcg/columns.cl";
  const std::string options =
      fmt::format("{} -DROWS={} -DGROUP={}", block_options(context.info(), columns), rows_, group_);
  insert_ = context.kernel(kFile, "insert_column", options);
  extract_ = context.kernel(kFile, "extract_columns", options);
}

void BlockColumns::insert(const Buffer<float>& vector, const Buffer<float>& factors,
                          std::size_t first_factor, std::size_t segments, std::size_t rows,
                          int column, Buffer<float>& x) {
  const std::size_t total = segments * rows;
  set_arguments(insert_, vector, factors, first_factor, rows, total, column, x);
  context_->launch(insert_, cl::NDRange(round_up(total, kRowGroup)), cl::NDRange(kRowGroup));
}

void BlockColumns::extract(const Buffer<float>& x, const Extraction& from, std::size_t pitch,
                           Buffer<float>& vectors) {
  const std::size_t lines = rows_ * (static_cast<std::size_t>(columns_) + 1) * sizeof(float);
  set_arguments(extract_, x, from.first, from.rows, pitch, from.columns.words(),
                static_cast<int>(from.first_column), from.count, vectors, cl::Local(lines));
  const std::size_t groups = round_up(pitch, rows_) / rows_;
  context_->launch(extract_, cl::NDRange(groups * group_), cl::NDRange(group_));
}

}  // namespace diacut
