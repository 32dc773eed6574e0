#include "spmv/contact_jacobian.hpp"

#include <fmt/format.h>

#include "opencl/arguments.hpp"

namespace diacut {

std::size_t contact_floats(ContactLayout layout) {
  return layout == ContactLayout::kArms ? 12 : 36;
}

ContactJacobian::ContactJacobian(Context& context, const ContactMatrix& matrix,
                                 ContactLayout layout)
    : context_(&context),
      contacts_(matrix.contacts),
      kernel_(context.kernel("spmv/contact_jacobian.cl", "contact_jacobian",
                             fmt::format("-DLAYOUT={}", static_cast<int>(layout)))) {
  set_arguments(kernel_, matrix.values, matrix.pitch, matrix.contacts, matrix.bodies);
}

void ContactJacobian::product(const Buffer<float>& in, Buffer<float>& out) {
  with_device_errors("binding the vectors of a product", [&] {
    kernel_.setArg(4, in.cl());
    kernel_.setArg(5, out.cl());
  });
  context_->launch(kernel_, cl::NDRange(round_up(contacts_, kRowGroup)), cl::NDRange(kRowGroup));
}

}  // namespace diacut
