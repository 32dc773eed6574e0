#include "report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "diacut/version.hpp"
#include "output/annotation_parts.hpp"
#include "text.hpp"

namespace diacut::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

const char* kind_in_words(ResultKind kind) {
  return kind == ResultKind::kContours ? "contour maps"
         : kind == ResultKind::kLabels ? "label images"
                                       : "ultrametric maps";
}

/// The scores of an image alone, as of a data set of one image.
struct ImageScores {
  std::optional<BoundaryPoint> boundaries;
  std::optional<RegionSummary> regions;
};

ImageScores scores_of(const ImageEvaluation& image, const EvaluationParameters& parameters) {
  ImageScores scores;
  if (image.boundaries) scores.boundaries = best_point(*image.boundaries, parameters.thresholds);
  if (image.regions) {
    scores.regions = summarise_regions({&*image.regions, 1}, parameters.thresholds);
  }
  return scores;
}

bool has_thresholds(const EvaluationParameters& parameters) {
  return parameters.kind != ResultKind::kLabels;
}

Json json_of(const BoundaryPoint& point, bool with_threshold) {
  Json json;
  if (with_threshold) json["threshold"] = point.threshold;
  json["f"] = point.f;
  json["recall"] = point.recall;
  json["precision"] = point.precision;
  return json;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Json json_of(const RegionMeasure& measure, bool with_threshold) {
  Json json;
  if (with_threshold) json["threshold"] = measure.threshold;
  json["ods"] = measure.ods;
  json["ois"] = measure.ois;
  return json;
}

Json json_of(const RegionSummary& regions, bool with_thresholds) {
  Json json;
  json["covering"] = json_of(regions.covering, with_thresholds);
  json["covering"]["best"] = regions.best_covering;
  json["pri"] = json_of(regions.pri, with_thresholds);
  json["vi"] = json_of(regions.vi, with_thresholds);
  return json;
}

Json counts_json(const std::vector<BoundaryCounts>& curve) {
  Json json;
  for (const BoundaryCounts& counts : curve) {
    json["truth"].push_back(counts.truth);
    json["truth_matched"].push_back(counts.truth_matched);
    json["found"].push_back(counts.found);
    json["found_matched"].push_back(counts.found_matched);
  }
  return json;
}

Json json_of(const ObjectMatches& matches) {
  return {{"overlap", matches.overlap}, {"matched", matches.matched},
          {"found", matches.found},     {"truth", matches.truth},
          {"f1", matches.f1()},         {"precision", matches.precision()},
          {"recall", matches.recall()}, {"ap", matches.average_precision()}};
}

Json json_of(const ObjectScores& scores) {
  Json json = {{"matches", Json::array()}};
  for (const ObjectMatches& each : scores.matches) json["matches"].push_back(json_of(each));
  json["mean_ap"] = mean_average_precision(scores);
  json["splits"] = scores.splits;
  json["merges"] = scores.merges;
  return json;
}

Json json_of(const ObjectSummary& summary) {
  Json json = json_of(summary.pooled);
  json["image_means"] = {{"f1", summary.mean_f1},
                         {"ap", summary.mean_precision},
                         {"mean_ap", mean_of(summary.mean_precision)}};
  return json;
}

Json image_json(const ImageEvaluation& image, const EvaluationParameters& parameters) {
  const bool thresholds = has_thresholds(parameters);
  const ImageScores scores = scores_of(image, parameters);
  Json json = {{"name", image.name},
               {"width", image.width},
               {"height", image.height},
               {"annotators", image.annotators}};
  if (scores.boundaries) {
    json["boundaries"] = json_of(*scores.boundaries, thresholds);
    json["boundaries"]["counts"] = counts_json(*image.boundaries);
  }
  if (scores.regions) {
    const RegionSummary& regions = *scores.regions;
    json["regions"]["covering"] = regions.covering.ois;
    if (thresholds) {
      json["regions"]["covering_threshold"] = regions.covering.threshold;
      json["regions"]["best_covering"] = regions.best_covering;
    }
    json["regions"]["pri"] = regions.pri.ois;
    json["regions"]["vi"] = regions.vi.ois;
  }
  if (image.objects) json["objects"] = json_of(*image.objects);
  return json;
}

std::string boundary_table(const BoundarySummary& summary, bool with_thresholds) {
  const auto row = [](const char* name, const BoundaryPoint& point, const std::string& threshold) {
    return fmt::format("\n  {:<10}  {:>7.4f}  {:>9}  {:>9.4f}  {:>9.4f}", name, point.f, threshold,
                       point.recall, point.precision);
  };
  std::string text = fmt::format("\n\n{:<12}  {:>7}  {:>9}  {:>9}  {:>9}", "Boundaries", "F",
                                 with_thresholds ? "threshold" : "", "recall", "precision");
  if (!with_thresholds) return text + row("", summary.ods, "");
  text += row("ODS", summary.ods, fmt::format("{:.4f}", summary.ods.threshold));
  text += row("OIS", summary.ois, "each");
  if (summary.ap) text += fmt::format("\n  {:<10}  {:>7.4f}", "AP", *summary.ap);
  return text;
}

std::string region_table(const RegionSummary& summary, bool with_thresholds) {
  if (!with_thresholds) {
    return fmt::format("\n\n{:<12}\n  {:<10}  {:>7.4f}\n  {:<10}  {:>7.4f}\n  {:<10}  {:>7.4f}",
                       "Regions", "covering", summary.covering.ods, "PRI", summary.pri.ods,
                       "VI (bits)", summary.vi.ods);
  }
  const auto row = [](const char* name, const RegionMeasure& measure) {
    return fmt::format("\n  {:<10}  {:>7.4f}  {:>9.4f}  {:>9.4f}", name, measure.ods,
                       measure.threshold, measure.ois);
  };
  return fmt::format("\n\n{:<12}  {:>7}  {:>9}  {:>9}  {:>9}", "Regions", "ODS", "threshold", "OIS",
                     "best") +
         row("covering", summary.covering) + fmt::format("  {:>9.4f}", summary.best_covering) +
         row("PRI", summary.pri) + row("VI (bits)", summary.vi);
}

std::string object_table(const ObjectSummary& summary) {
  std::string text = fmt::format("\n\n{:<12}  {:>7}  {:>9}  {:>9}  {:>9}  {:>13}", "Objects", "F1",
                                 "recall", "precision", "AP", "AP, per image");
  for (std::size_t k = 0; k < summary.pooled.matches.size(); ++k) {
    const ObjectMatches& each = summary.pooled.matches[k];
    text += fmt::format("\n  IoU {:<6.2f}  {:>7.4f}  {:>9.4f}  {:>9.4f}  {:>9.4f}  {:>13.4f}",
                        each.overlap, each.f1(), each.recall(), each.precision(),
                        each.average_precision(), summary.mean_precision[k]);
  }
  const ObjectMatches& first = summary.pooled.matches.front();
  text += fmt::format("\n  {:<10}  {:>7}  {:>9}  {:>9}  {:>9.4f}  {:>13.4f}", "mean", "", "", "",
                      mean_average_precision(summary.pooled), mean_of(summary.mean_precision));
  return text + fmt::format("\n  {} found, {} true, {} match; {} split, {} merged", first.found,
                            first.truth, first.matched, summary.pooled.splits,
                            summary.pooled.merges);
}

/// The columns of an image's objects, each after a comma.
std::string object_fields(const ObjectScores& scores) {
  const ObjectMatches& first = scores.matches.front();
  return fmt::format(",{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6f},{},{}", first.found, first.truth,
                     first.matched, first.f1(), first.precision(), first.recall(),
                     first.average_precision(), mean_average_precision(scores), scores.splits,
                     scores.merges);
}

}  // namespace

void summarise(Evaluation& evaluation) {
  const EvaluationParameters& parameters = evaluation.parameters;
  const auto all = [&]<class Scores>(std::optional<Scores> ImageEvaluation::*scores) {
    std::vector<Scores> of_images;
    for (const ImageEvaluation& image : evaluation.images) of_images.push_back(*(image.*scores));
    return of_images;
  };
  if (parameters.boundaries) {
    evaluation.boundaries =
        summarise_boundaries(all(&ImageEvaluation::boundaries), parameters.thresholds);
  }
  if (parameters.regions) {
    evaluation.regions = summarise_regions(all(&ImageEvaluation::regions), parameters.thresholds);
  }
  if (parameters.objects) evaluation.objects = summarise_objects(all(&ImageEvaluation::objects));
}

std::string describe(const Evaluation& evaluation, bool detected) {
  const EvaluationParameters& parameters = evaluation.parameters;
  const bool thresholds = has_thresholds(parameters);
  std::string text =
      fmt::format("{}, {}{}", counted(static_cast<std::int64_t>(evaluation.images.size()), "image"),
                  kind_in_words(parameters.kind), detected ? " (detected)" : "");
  if (parameters.kind == ResultKind::kContours) {
    text += parameters.suppress ? ", non-maxima suppressed" : ", not suppressed";
  }
  if (thresholds) {
    text += ", " + counted(static_cast<std::int64_t>(parameters.thresholds.size()), "threshold");
  }
  if (evaluation.boundaries) text += boundary_table(*evaluation.boundaries, thresholds);
  if (evaluation.regions) text += region_table(*evaluation.regions, thresholds);
  if (evaluation.objects) text += object_table(*evaluation.objects);
  return text;
}

std::string describe_image(const ImageEvaluation& image, const EvaluationParameters& parameters) {
  const ImageScores scores = scores_of(image, parameters);
  std::string text = image.name + ":";
  if (scores.boundaries) text += fmt::format("  F {:.4f}", scores.boundaries->f);
  if (scores.regions) {
    text += fmt::format("  covering {:.4f}  PRI {:.4f}  VI {:.4f}", scores.regions->covering.ois,
                        scores.regions->pri.ois, scores.regions->vi.ois);
  }
  if (image.objects) {
    const ObjectMatches& first = image.objects->matches.front();
    text += fmt::format("  F1 {:.4f}  AP {:.4f}  ({} found, {} true)", first.f1(),
                        first.average_precision(), first.found, first.truth);
  }
  return text;
}

std::string to_json(const Evaluation& evaluation) {
  const EvaluationParameters& parameters = evaluation.parameters;
  const bool thresholds = has_thresholds(parameters);
  Json json = {{"schema", kSchema}, {"diacut", kVersion}, {"kind", to_string(parameters.kind)}};
  if (parameters.kind == ResultKind::kContours) json["suppressed"] = parameters.suppress;
  if (thresholds) json["thresholds"] = parameters.thresholds;
  json["image_count"] = evaluation.images.size();
  if (evaluation.boundaries) {
    const BoundarySummary& boundaries = *evaluation.boundaries;
    Json& scores = json["boundaries"];
    scores["ods"] = json_of(boundaries.ods, thresholds);
    scores["ois"] = json_of(boundaries.ois, false);
    if (boundaries.ap) scores["ap"] = *boundaries.ap;
    for (const BoundaryCounts& counts : boundaries.curve) {
      scores["recall"].push_back(counts.recall());
      scores["precision"].push_back(counts.precision());
    }
  }
  if (evaluation.regions) {
    Json& scores = json["regions"];
    scores = json_of(*evaluation.regions, thresholds);
    if (thresholds) {
      scores["covering"]["by_threshold"] = evaluation.regions->covering.curve;
      scores["pri"]["by_threshold"] = evaluation.regions->pri.curve;
      scores["vi"]["by_threshold"] = evaluation.regions->vi.curve;
    }
  }
  if (evaluation.objects) json["objects"] = json_of(*evaluation.objects);
  json["images"] = Json::array();
  for (const ImageEvaluation& image : evaluation.images) {
    json["images"].push_back(image_json(image, parameters));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string to_csv(const Evaluation& evaluation) {
  const bool thresholds = has_thresholds(evaluation.parameters);
  std::string text = "name,width,height,annotators";
  if (evaluation.boundaries) {
    text += thresholds ? ",f,threshold,recall,precision" : ",f,recall,precision";
  }
  if (evaluation.regions) {
    text += thresholds ? ",covering,covering_threshold,best_covering,pri,vi" : ",covering,pri,vi";
  }
  if (evaluation.objects)
    text += ",found,truth,matched,f1,precision,recall,ap,mean_ap,splits,merges";
  for (const ImageEvaluation& image : evaluation.images) {
    const ImageScores scores = scores_of(image, evaluation.parameters);
    text += fmt::format("\n{},{},{},{}", csv_cell(image.name), image.width, image.height,
                        image.annotators);
    const auto add = [&text](double value) { text += fmt::format(",{:.6f}", value); };
    if (scores.boundaries) {
      add(scores.boundaries->f);
      if (thresholds) add(scores.boundaries->threshold);
      add(scores.boundaries->recall);
      add(scores.boundaries->precision);
    }
    if (scores.regions) {
      add(scores.regions->covering.ois);
      if (thresholds) {
        add(scores.regions->covering.threshold);
        add(scores.regions->best_covering);
      }
      add(scores.regions->pri.ois);
      add(scores.regions->vi.ois);
    }
    if (image.objects) text += object_fields(*image.objects);
  }
  return text + '\n';
}

}  // namespace diacut::app
