#include "spmv/contact_jacobian.hpp"

#include <string>

#include "opencl/arguments.hpp"
#include "spmv/spmv_kernels.hpp"

namespace diacut {

namespace {

std::string file(ContactLayout layout) {
  switch (layout) {
    case ContactLayout::kStructures:
      return "spmv/contact_jacobian_structures.cl";
    case ContactLayout::kArrays:
      return "spmv/contact_jacobian_arrays.cl";
    case ContactLayout::kVectors:
      return "spmv/contact_jacobian_vectors.cl";
    case ContactLayout::kArms:
      break;
  }
  return "spmv/contact_jacobian_arms.cl";
}

}  // namespace

std::size_t contact_floats(ContactLayout layout) {
  return layout == ContactLayout::kArms ? 12 : 36;
}

ContactJacobian::ContactJacobian(Context& context, const ContactMatrix& matrix,
                                 ContactLayout layout)
    : context_(&context),
      contacts_(matrix.contacts),
      kernel_(context.kernel(file(layout), "contact_jacobian", "", embedded_spmv_kernels())) {
  set_arguments(kernel_, matrix.values, matrix.pitch, matrix.contacts, matrix.bodies);
}

void ContactJacobian::product(const Buffer<float>& in, Buffer<float>& out) {
  set_arguments_from(kernel_, 4, in, out);
  context_->launch(kernel_, cl::NDRange(round_up(contacts_, kRowGroup)), cl::NDRange(kRowGroup));
}

}  // namespace diacut
