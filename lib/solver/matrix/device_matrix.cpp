#include "matrix/device_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diacut/errors.hpp"
#include "matrix/block.hpp"

namespace diacut {

namespace {

/// Elements of x and y.
struct ProductSizes {
  std::size_t x;
  std::size_t y;
};

ProductSizes sizes_of(const DeviceMatrix::State& matrix, const ProductForm& form) {
  if (form.vectors == 0) throw ConfigError("a product with 0 vectors, expected 1 or more");
  const auto [x, y] =
      form.transposed ? std::pair(matrix.rows, matrix.cols) : std::pair(matrix.cols, matrix.rows);
  return {x * form.vectors, y * form.vectors};
}

/// Rows of `vectors` numbers with zeros up to `wide` numbers.
std::vector<float> widened(std::span<const float> from, std::size_t vectors, std::size_t wide) {
  std::vector<float> to(from.size() / vectors * wide, 0.0F);
  for (std::size_t i = 0; i < from.size(); ++i) to[i / vectors * wide + i % vectors] = from[i];
  return to;
}

void compute(DeviceMatrix::State& matrix, const Buffer<float>& in, Buffer<float>& out,
             const ProductForm& form) {
  if (out.size() == 0) return;
  if (form.vectors == 1) {
    matrix.launch(in, out, {form.alpha, 0, form.beta}, form.transposed);
  } else {
    matrix.launch_block(in, out, form);
  }
}

/// Part of a caller's buffer as a buffer. Where the device cannot begin a buffer there, it is a
/// copy.
struct Borrowed {
  Borrowed(Context& context, const DeviceVector& vector, std::size_t count, const char* name) {
    if (vector.buffer == nullptr) {
      throw InputError(fmt::format("the buffer of {} is null, expected a cl_mem", name));
    }
    whole = cl::Buffer(vector.buffer, true);
    with_device_errors("taking a buffer", [&] {
      if (whole.getInfo<CL_MEM_CONTEXT>()() != context.cl()()) {
        throw InputError(
            fmt::format("the buffer of {} belongs to another OpenCL context than the matrix: make "
                        "it in DeviceQueue::context(), or the queue in the buffer's context",
                        name));
      }
      const std::size_t floats = whole.getInfo<CL_MEM_SIZE>() / sizeof(float);
      if (vector.first > floats || floats - vector.first < count) {
        throw InputError(
            fmt::format("the buffer of {} holds {} numbers, expected {} from number {} on", name,
                        floats, count, vector.first));
      }
      first = vector.first;
      if (first == 0) {
        buffer = Buffer<float>(context, whole, count);
        return;
      }
      // PoCL ends the process where a kernel's argument is part of a buffer.
      cl_int code = CL_INVALID_VALUE;
      cl_mem part = nullptr;
      if (context.info().platform != "Portable Computing Language") {
        const cl_buffer_region region{first * sizeof(float),
                                      std::max<std::size_t>(count, 1) * sizeof(float)};
        part = clCreateSubBuffer(whole(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region,
                                 &code);
      }
      copied = code != CL_SUCCESS;
      buffer = copied ? context.allocate<float>(count, "a copy of a vector")
                      : Buffer<float>(context, cl::Buffer(part), count);
    });
  }

  void copy(bool back) {
    if (!copied || buffer.size() == 0) return;
    with_device_errors("copying a vector", [&] {
      const std::size_t at = first * sizeof(float);
      buffer.context().queue().enqueueCopyBuffer(back ? buffer.cl() : whole,
                                                 back ? whole : buffer.cl(), back ? 0 : at,
                                                 back ? at : 0, buffer.bytes());
    });
  }

  cl::Buffer whole;
  Buffer<float> buffer;
  std::size_t first = 0;
  bool copied = false;
};

}  // namespace

Buffer<float> borrowed(Context& context, const DeviceVector& vector, std::size_t count,
                       const char* name) {
  Borrowed part(context, vector, count, name);
  part.copy(false);
  return std::move(part.buffer);
}

DeviceMatrix::DeviceMatrix(std::unique_ptr<State> state) : state_(std::move(state)) {}
DeviceMatrix::~DeviceMatrix() {
  if (!state_) return;
  const DeviceQueue queue = state_->queue;
  const std::lock_guard lock(queue.state().turn);
  state_.reset();
}
DeviceMatrix::DeviceMatrix(DeviceMatrix&&) noexcept = default;
DeviceMatrix& DeviceMatrix::operator=(DeviceMatrix&&) noexcept = default;

const DeviceQueue& DeviceMatrix::queue() const { return state_->queue; }
std::size_t DeviceMatrix::rows() const { return state_->rows; }
std::size_t DeviceMatrix::cols() const { return state_->cols; }
std::size_t DeviceMatrix::nonzeros() const { return state_->nonzeros; }
const std::string& DeviceMatrix::format() const { return state_->format; }
std::size_t DeviceMatrix::bytes() const {
  return state_->matrix_bytes + sizeof(float) * (state_->rows + state_->cols);
}

std::vector<float> DeviceMatrix::multiply(std::span<const float> x) const {
  std::vector<float> y(state_->rows);
  multiply(x, y, {});
  return y;
}

void DeviceMatrix::multiply(std::span<const float> x, std::span<float> y,
                            const ProductForm& form) const {
  const ProductSizes sizes = sizes_of(*state_, form);
  if (x.size() != sizes.x || y.size() != sizes.y) {
    throw InputError(
        fmt::format("x has {} numbers and y {}, expected {} and {}: {} vectors by a {}"
                    "matrix of {} x {}",
                    x.size(), y.size(), sizes.x, sizes.y, form.vectors,
                    form.transposed ? "transposed " : "", state_->rows, state_->cols));
  }
  const auto turn = state_->turn();
  Context& context = state_->context();
  ProductForm padded = form;
  if (form.vectors > 1) {
    padded.vectors = static_cast<std::size_t>(narrow_block_columns(static_cast<int>(form.vectors)));
  }
  const ProductSizes held = sizes_of(*state_, padded);
  const auto hold = [&](Buffer<float>& buffer, std::size_t count, const char* what) {
    if (!buffer || buffer.size() != count) buffer = context.allocate<float>(count, what);
  };
  hold(state_->in, held.x, "a vector");
  hold(state_->out, held.y, "a product");
  state_->prepare(padded);
  const auto upload = [&](Buffer<float>& to, std::span<const float> from) {
    if (padded.vectors == form.vectors) return to.upload(from);
    to.upload(widened(from, form.vectors, padded.vectors));
  };
  upload(state_->in, x);
  if (form.beta != 0) upload(state_->out, y);
  compute(*state_, state_->in, state_->out, padded);
  if (padded.vectors == form.vectors) return state_->out.download(y);
  const std::vector<float> wide = state_->out.download();
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = wide[i / form.vectors * padded.vectors + i % form.vectors];
  }
}

void DeviceMatrix::multiply(const DeviceVector& x, const DeviceVector& y, const ProductForm& form,
                            std::span<_cl_event* const> after, _cl_event** done) const {
  const ProductSizes sizes = sizes_of(*state_, form);
  if (form.vectors > 1 && form.vectors % 4 != 0) {
    throw ConfigError(fmt::format("{} vectors on the device at once, expected 1 or a multiple of 4",
                                  form.vectors));
  }
  if (x.buffer == y.buffer && x.first < y.first + sizes.y && y.first < x.first + sizes.x) {
    throw InputError("x and y overlap in one buffer: a product needs a y of its own");
  }
  const auto turn = state_->turn();
  Context& context = state_->context();
  Borrowed in(context, x, sizes.x, "x");
  Borrowed out(context, y, sizes.y, "y");
  state_->prepare(form);  // Before the queue waits for somebody else's commands.
  if (!after.empty()) {
    with_device_errors("waiting for events", [&] {
      std::vector<cl::Event> events;
      for (_cl_event* each : after) events.emplace_back(each, true);
      context.queue().enqueueBarrierWithWaitList(&events);
    });
  }
  in.copy(false);
  if (form.beta != 0) out.copy(false);
  compute(*state_, in.buffer, out.buffer, form);
  out.copy(true);
  with_device_errors("handing a product to the device", [&] {
    if (done != nullptr) {
      cl::Event end;
      context.queue().enqueueMarkerWithWaitList(nullptr, &end);
      *done = std::exchange(end(), nullptr);
    }
    context.queue().flush();
  });
}

}  // namespace diacut
