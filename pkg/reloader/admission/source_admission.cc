#include "kubexx/reloader/admission/source_admission.h"

#include <cstddef>
#include <exception>
#include <utility>

#include "kubexx/codec/json_tree.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/restored_mark.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// API servers cut longer warnings.
constexpr std::size_t kMaxWarning = 119;

metrics::Counter WarningsCounter(metrics::Registry* registry, const char* result) {
  return registry == nullptr
             ? metrics::Counter()
             : registry->Counter(
                   "kubexx_reloader_admission_warnings_total",
                   "Answers to the API server about updates of ConfigMaps and Secrets",
                   {{"result", result}});
}

std::string WorkloadCount(std::size_t number) {
  return std::to_string(number) + (number == 1 ? " workload" : " workloads");
}

/// Returns "head: a, b and 7 more", with as many names as there is room for.
std::string WithNames(const std::string& head, const std::vector<std::string>& names) {
  std::string text = head;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string next = (i == 0 ? ": " : ", ") + names[i];
    const std::string rest = " and " + std::to_string(names.size() - i) + " more";
    const std::size_t after = i + 1 == names.size() ? 0 : rest.size();
    if (text.size() + next.size() + after > kMaxWarning) {
      return i == 0 ? text : text + rest;
    }
    text += next;
  }
  return text;
}

/// Whether the operator itself puts data back: nobody would read the warnings but its own log.
bool IsOfARestore(const webhook::AdmissionRequest& request) {
  const auto options = JsonTree::Parse(request.options.raw);
  return options && options->TextAt("fieldManager") == kRestoreFieldManager;
}

}  // namespace

std::vector<std::string> WarningsOf(const Preview& preview) {
  std::vector<std::string> names;
  std::vector<std::string> waits;
  for (const PreviewedRollout& rollout : preview.rollouts) {
    if (!IsMade(rollout)) {
      continue;
    }
    const WorkloadId& id = rollout.forecast.workload;
    names.push_back(std::string(KindName(id.kind)) + "/" + id.key.name);
    if (rollout.forecast.hold) {
      waits.push_back(names.back() + " (" + std::string(ToString(rollout.forecast.hold->reason)) +
                      ")");
    }
  }
  std::vector<std::string> warnings;
  if (!names.empty()) {
    const char* rolls =
        preview.not_looked_at > 0 ? "kubexx-reloader rolls at least " : "kubexx-reloader rolls ";
    warnings.push_back(WithNames(rolls + WorkloadCount(names.size()), names));
  } else if (preview.not_looked_at > 0) {
    warnings.push_back("kubexx-reloader rolls none of " + WorkloadCount(preview.looked_at) +
                       ", and " + std::to_string(preview.not_looked_at) +
                       " more that may use it were not looked at");
  }
  if (!waits.empty()) {
    warnings.push_back(
        WithNames(std::to_string(waits.size()) + " of them cannot begin at once", waits));
  }
  return warnings;
}

SourceAdmission::SourceAdmission(Forecast forecast, AnnotationKeys keys, base::Clock& clock,
                                 metrics::Registry* registry)
    : forecast_(std::move(forecast)),
      keys_(std::move(keys)),
      clock_(clock),
      warned_(WarningsCounter(registry, "warned")),
      silent_(WarningsCounter(registry, "silent")),
      failed_(WarningsCounter(registry, "failed")) {}

Result<std::vector<std::string>> SourceAdmission::Warnings(const webhook::Call& call) const {
  const webhook::AdmissionRequest& request = call.request;
  const bool is_secret = request.resource.resource == "secrets";
  if (!request.resource.group.empty() || request.operation != "UPDATE" ||
      !request.sub_resource.empty() || (!is_secret && request.resource.resource != "configmaps")) {
    return std::vector<std::string>();
  }
  if (IsOfARestore(request)) {
    return std::vector<std::string>();
  }
  DescribedSource described{.id = {is_secret ? SourceType::kSecret : SourceType::kConfigMap,
                                   {request.namespace_, request.name}}};
  KX_ASSIGN_OR_RETURN(described.object, JsonTree::Parse(request.object.raw));
  KX_ASSIGN_OR_RETURN(
      const ChangedSource changed,
      ChangedSourceOf(described, {}, keys_, apimachinery::Time::From(clock_.Wall())));
  KX_ASSIGN_OR_RETURN(const Preview preview, forecast_(changed, call.stop));
  return WarningsOf(preview);
}

webhook::Response SourceAdmission::Answer(const webhook::Call& call) const {
  webhook::Response response = webhook::Response::Allowed();
  apimachinery::Status why;
  try {
    auto warnings = Warnings(call);
    if (warnings) {
      (warnings->empty() ? silent_ : warned_).Increment();
      response.warnings = *std::move(warnings);
      return response;
    }
    why = warnings.error();
  } catch (const std::exception& error) {  // out of memory
    why = apimachinery::Status(Reason::kInternalError, error.what());
  }
  failed_.Increment();
  // The level is debug, because users may write as often as they like.
  logging::Debug("Cannot tell what an update of a source would roll",
                 {{"source", call.request.name},
                  {"namespace", call.request.namespace_},
                  {"reason", ToString(why.reason)}});
  return response;
}

}  // namespace kubexx::reloader
