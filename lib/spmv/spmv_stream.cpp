#include "spmv/spmv_stream.hpp"

#include <fmt/format.h>

namespace diacut {

SpmvStreamForm spmv_stream_form(const DeviceInfo& device) {
  SpmvStreamForm form;
  form.group = spmv_group(device, form.group);
  while (form.tile > form.group && (form.tile + form.group) * sizeof(float) > device.local_memory) {
    form.tile /= 2;
  }
  if ((form.tile + form.group) * sizeof(float) > device.local_memory) {
    throw DeviceError(
        fmt::format("{} has {} bytes of local memory, and the product needs {}; choose one without "
                    "local memory",
                    device.name, device.local_memory, (form.tile + form.group) * sizeof(float)));
  }
  return form;
}

std::vector<std::uint32_t> spmv_stream_bounds(const std::vector<std::uint64_t>& starts,
                                              const SpmvStreamForm& form) {
  const std::size_t rows = starts.size() - 1;
  std::vector<std::uint32_t> bounds = {0};
  for (std::size_t row = 0; row < rows;) {
    std::size_t next = row + 1;
    while (next < rows && next - row < form.group && starts[next + 1] - starts[row] <= form.tile) {
      ++next;
    }
    bounds.push_back(static_cast<std::uint32_t>(next));
    row = next;
  }
  return bounds;
}

SpmvStream::SpmvStream(Context& context, const SpmvStreamMatrix& matrix, const SpmvStreamForm& form,
                       SpmvStore store)
    : SpmvLauncher(context, "spmv/spmv_stream.cl",
                   fmt::format("-DGROUP={} -DTILE={} -DSTART={}", form.group, form.tile,
                               matrix.starts.type()),
                   store, {(matrix.bounds.size() - 1) * form.group, form.group}) {
  bind(matrix.bounds.cl(), matrix.starts.cl(), matrix.columns.cl(), matrix.values.cl());
}

}  // namespace diacut
