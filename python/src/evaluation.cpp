#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diacut/evaluate.hpp"
#include "released.hpp"

namespace diacut::python {

using namespace nb::literals;

namespace {

LabelScores scores(const Plane<std::int32_t>& labels,
                   const std::vector<Plane<std::int32_t>>& truths) {
  std::vector<std::span<const std::int32_t>> spans;
  for (const Plane<std::int32_t>& truth : truths) spans.push_back(span_of(truth));
  const Released release;
  return evaluate_labels(span_of(labels), spans, static_cast<int>(labels.shape(1)),
                         static_cast<int>(labels.shape(0)));
}

}  // namespace

void bind_evaluation(nb::module_& module) {
  nb::class_<LabelScores>(module, "Scores", "The scores of one segmentation against people's.")
      .def_ro("precision", &LabelScores::precision,
              "Share of its boundary pixels that match a person's.")
      .def_ro("recall", &LabelScores::recall,
              "Share of the people's boundary pixels that it matches.")
      .def_ro("f", &LabelScores::f, "Harmonic mean of precision and recall.")
      .def_ro("covering", &LabelScores::covering, "How well its regions cover those of the people.")
      .def_ro("pri", &LabelScores::pri, "The probabilistic Rand index.")
      .def_ro("vi", &LabelScores::vi, "The variation of information, bits; 0 is best.")
      .def("__repr__", [](const LabelScores& s) {
        return nb::str(
                   "<Scores precision={:.3f} recall={:.3f} f={:.3f} covering={:.3f} "
                   "pri={:.3f} vi={:.3f}>")
            .format(s.precision, s.recall, s.f, s.covering, s.pri, s.vi);
      });
  module.def("evaluate_labels", &scores, "labels"_a, "truths"_a);
}

}  // namespace diacut::python
