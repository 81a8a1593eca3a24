#include "kubexx/apiserver/endpoints/validation/workloads/job_validation.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/names.h"
#include "kubexx/apiserver/endpoints/checks/field_path.h"
#include "kubexx/apiserver/endpoints/checks/selector_validation.h"
#include "kubexx/apiserver/endpoints/checks/value_checks.h"
#include "kubexx/apiserver/endpoints/validation/pods/pod_validation.h"
#include "kubexx/apiserver/endpoints/validation/workloads/job_policies.h"
#include "kubexx/apiserver/endpoints/validation/workloads/schedule.h"
#include "kubexx/apiserver/endpoints/validation/workloads/time_zones.h"
#include "kubexx/apiserver/object/label_match.h"
#include "kubexx/apiserver/object/metadata.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

constexpr std::int64_t kMaxIndexedParallelism = 100'000;
constexpr std::int64_t kMaxFailedIndexes = 100'000;
/// With more completions and a limit of failures per index, the other numbers have lower limits.
constexpr std::int64_t kManyCompletions = 100'000;
constexpr std::int64_t kMaxForMany = 10'000;
constexpr std::size_t kMaxJobManagerBytes = 63;
constexpr std::size_t kMaxNameLabel = 63;
/// The Jobs of a CronJob have its name and 11 more bytes.
constexpr std::size_t kMaxCronJobName = 52;

void CheckMost(const JsonTree& spec, std::string_view member, std::int64_t most,
               const std::string& why, const FieldPath& at, FieldCauses& causes) {
  if (const auto number = IntAt(spec, member); number && *number > most) {
    causes.Invalid(at.Of(member), std::to_string(*number), "must be less than or equal to " + why);
  }
}

/// Checks Jobs whose pods have indexes.
void CheckIndexed(const JsonTree& spec, const FieldPath& at, FieldCauses& causes) {
  const auto completions = IntAt(spec, "completions");
  if (!completions) {
    causes.Required(at.Of("completions"), "when completion mode is Indexed");
  }
  CheckMost(spec, "parallelism", kMaxIndexedParallelism, "100000 when completion mode is Indexed",
            at, causes);
  if (completions) {
    CheckMost(spec, "maxFailedIndexes", *completions, "completions", at, causes);
  }
  CheckMost(spec, "maxFailedIndexes", kMaxFailedIndexes, "100000", at, causes);
  if (!completions || *completions <= kManyCompletions || !IntAt(spec, "backoffLimitPerIndex")) {
    return;
  }
  if (!IntAt(spec, "maxFailedIndexes")) {
    causes.Required(at.Of("maxFailedIndexes"),
                    "must be specified when completions is above 100000");
  }
  const std::string why =
      "10000 when completions are above 100000 and used with backoff limit per index";
  CheckMost(spec, "parallelism", kMaxForMany, why, at, causes);
  CheckMost(spec, "maxFailedIndexes", kMaxForMany, why, at, causes);
}

void CheckCompletionMode(const JsonTree& spec, const FieldPath& at, FieldCauses& causes) {
  const std::string_view mode = spec.TextAt("completionMode");
  CheckChoice(spec, "completionMode", "NonIndexed|Indexed", at, causes);
  if (mode == "Indexed") {
    CheckIndexed(spec, at, causes);
  } else if (mode.empty() || mode == "NonIndexed") {
    for (const std::string_view member : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
      if (const auto number = IntAt(spec, member)) {
        causes.Invalid(at.Of(member), std::to_string(*number), "requires indexed completion mode");
      }
    }
  }
}

/// Checks the name of the controller that works on the Job instead of Kubernetes' own.
void CheckJobManager(const JsonTree& spec, const FieldPath& at, FieldCauses& causes) {
  if (GivenAt(spec, "managedBy") == nullptr) {
    return;
  }
  const std::string_view manager = spec.TextAt("managedBy");
  CheckDomainPath(manager, at.Of("managedBy"), causes);
  if (manager.size() > kMaxJobManagerBytes) {
    causes.TooLong(at.Of("managedBy"), kMaxJobManagerBytes);
  }
}

void CheckRestart(const JsonTree& spec, const FieldPath& at, FieldCauses& causes) {
  const JsonTree& pod = PartAt(PartAt(spec, "template"), "spec");
  const std::string_view policy = pod.TextAt("restartPolicy");
  const std::string field = at.Of("template.spec.restartPolicy");
  if (policy.empty() || policy == "Always") {
    causes.Required(field, "valid values: \"OnFailure\", \"Never\"");
  } else if (!IsAmong(policy, "OnFailure|Never")) {
    AddNotSupported(policy, "OnFailure|Never", field, causes);
  } else if (policy != "Never" && GivenAt(spec, "podFailurePolicy") != nullptr) {
    causes.Invalid(field, QuotedJson(policy),
                   "only \"Never\" is supported when podFailurePolicy is specified");
  }
}

void CheckJobSpec(const JsonTree& spec, const FieldPath& at, FieldCauses& causes) {
  for (const std::string_view member :
       {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
        "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    CheckLeast(spec, member, 0, at, causes);
  }
  if (IntAt(spec, "maxFailedIndexes") && !IntAt(spec, "backoffLimitPerIndex")) {
    causes.Required(at.Of("backoffLimitPerIndex"), "when maxFailedIndexes is specified");
  }
  CheckJobManager(spec, at, causes);
  CheckCompletionMode(spec, at, causes);
  CheckJobPolicies(spec, at, causes);
  CheckPodTemplate(spec.Find("template"), at.Of("template"), {}, causes);
  CheckRestart(spec, at, causes);
}

/// Checks the selector. Unless the Job has a manual selector, Kubernetes gives it a selector and
/// labels with its uid and its name.
void CheckJobSelector(const JsonTree& object, const JsonTree& spec, FieldCauses& causes) {
  const JsonTree* const selector = GivenAt(spec, "selector");
  const bool manual = IsTrueAt(spec, "manualSelector");
  const std::string name = MetaString(object, "name");
  if (!manual && name.size() > kMaxNameLabel) {
    causes.Invalid("spec.template.labels", QuotedJson(name), "must be no more than 63 bytes");
  }
  if (selector == nullptr) {
    if (manual) {
      const JsonTree* const none = spec.At({"template", "metadata", "labels"});
      causes.Required("spec.selector");
      causes.Invalid("spec.template.metadata.labels", none == nullptr ? "null" : none->ToJson(),
                     "`selector` does not match template `labels`");
    }
    return;
  }
  CheckLabelSelector(selector, "spec.selector", causes);
  if (!manual) {
    const std::string uid = MetaString(object, "uid");
    const apimachinery::LabelMap own{{"batch.kubernetes.io/controller-uid", uid},
                                     {"batch.kubernetes.io/job-name", name},
                                     {"controller-uid", uid},
                                     {"job-name", name}};
    if (!MatchesSelector(*selector, own)) {
      causes.Invalid("spec.selector", selector->ToJson(), "`selector` not auto-generated");
    }
  }
  const JsonTree* const labels = spec.At({"template", "metadata", "labels"});
  if (!MatchesSelector(*selector, LabelMapOf(labels))) {
    causes.Invalid("spec.template.metadata.labels", labels == nullptr ? "null" : labels->ToJson(),
                   "`selector` does not match template `labels`");
  }
}

void CheckSchedule(const JsonTree* old, const JsonTree& spec, const FieldPath& at,
                   FieldCauses& causes) {
  if (!NeedText(spec, "schedule", at, causes)) {
    return;
  }
  const std::string_view schedule = spec.TextAt("schedule");
  const auto add = [&](std::string_view why) {
    causes.Invalid(at.Of("schedule"), QuotedJson(schedule), why);
  };
  if (const std::string problem = ScheduleProblem(schedule); !problem.empty()) {
    add(problem);
  }
  if (schedule.find("TZ") == std::string_view::npos) {
    return;
  }
  const bool had =
      old != nullptr && PartAt(*old, "spec").TextAt("schedule").find("TZ") != std::string::npos;
  if (!had) {
    add("cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (GivenAt(spec, "timeZone") != nullptr) {
    add("cannot use both timeZone field and TZ or CRON_TZ in schedule");
  }
}

}  // namespace

void CheckJob(const JsonTree& object, FieldCauses& causes) {
  const FieldPath at("spec");
  const JsonTree& spec = PartAt(object, "spec");
  CheckJobSelector(object, spec, causes);
  CheckJobSpec(spec, at, causes);
  const std::int64_t completions = IntAt(spec, "completions").value_or(0);
  if (spec.TextAt("completionMode") == "Indexed" && completions > 0) {
    const std::string name = MetaString(object, "name");
    if (!apimachinery::IsDnsLabel(name + "-" + std::to_string(completions - 1))) {
      causes.Invalid("metadata.name", QuotedJson(name),
                     "the last pod's name would be no DNS label");
    }
  }
}

void CheckCronJob(const JsonTree* old, const JsonTree& object, FieldCauses& causes) {
  const FieldPath at("spec");
  const JsonTree& spec = PartAt(object, "spec");
  CheckSchedule(old, spec, at, causes);
  CheckLeast(spec, "startingDeadlineSeconds", 0, at, causes);
  if (const JsonTree* const zone = GivenAt(spec, "timeZone")) {
    const std::string problem = TimeZoneProblem(spec.TextAt("timeZone"));
    const JsonTree* const former = old == nullptr ? nullptr : old->At({"spec", "timeZone"});
    if (!problem.empty() && (former == nullptr || *former != *zone)) {
      causes.Invalid(at.Of("timeZone"), zone->ToJson(), problem);
    }
  }
  if (!spec.TextAt("concurrencyPolicy").empty()) {
    CheckChoice(spec, "concurrencyPolicy", "Allow|Forbid|Replace", at, causes);
  }
  CheckLeast(spec, "successfulJobsHistoryLimit", 0, at, causes);
  CheckLeast(spec, "failedJobsHistoryLimit", 0, at, causes);
  const FieldPath jobs = at.Member("jobTemplate.spec");
  const JsonTree& job = PartAt(PartAt(spec, "jobTemplate"), "spec");
  CheckJobSpec(job, jobs, causes);
  if (const JsonTree* const selector = GivenAt(job, "selector")) {
    causes.Invalid(jobs.Of("selector"), selector->ToJson(), "`selector` will be auto-generated");
  }
  if (IsTrueAt(job, "manualSelector")) {
    causes.NotSupported(jobs.Of("manualSelector"), "true", R"("nil", "false")");
  }
  if (const std::string name = MetaString(object, "name");
      old == nullptr && name.size() > kMaxCronJobName) {
    causes.Invalid("metadata.name", QuotedJson(name), "must be no more than 52 characters");
  }
}

}  // namespace kubexx::apiserver
