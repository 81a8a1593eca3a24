#include "kubexx/reloader/write/clean_up.h"

#include <utility>

#include "kubexx/apimachinery/list_options.h"
#include "kubexx/reloader/permissions/fallbacks.h"
#include "kubexx/reloader/write/kind_writers.h"
#include "kubexx/reloader/write/writer.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

/// One run of the clean-up over a cluster.
class CleanUpRun {
 public:
  CleanUpRun(const std::shared_ptr<rest::RESTClient>& client, const CleanUpOptions& options,
             CleanUpNews on_workload, CleanUpFailure on_failure)
      : client_(client),
        options_(options),
        on_workload_(on_workload),
        on_failure_(on_failure),
        writer_(NewWriter(client)) {}

  /// Whether the server serves the kind. A client that may not list it is refused in either case.
  bool IsServed(WorkloadKind kind, const std::stop_token& stop) const {
    if (IsBuiltIn(kind)) {
      return true;
    }
    const auto group =
        client_->Get().AbsPath("/apis/" + std::string(ResourceOf(kind).group)).Do(stop);
    return group || group.error().reason != Reason::kNotFound;
  }

  Result<void> Look(WorkloadKind kind, const std::string& namespace_, const std::stop_token& stop) {
    apimachinery::ListOptions list_options;
    list_options.label_selector = options_.label_selector;
    const auto list = ResourceFor(client_, kind, namespace_).List(list_options, stop);
    if (stop.stop_requested()) {
      return Stopped();
    }
    // The group may exist for other kinds, as argoproj.io does with Argo CD.
    if (!list && !IsBuiltIn(kind) && list.error().reason == Reason::kNotFound) {
      return {};
    }
    if (!list) {
      ++counts_.failed;
      on_failure_(list.error());
      return {};
    }
    for (const dynamic::Unstructured& object : list->items) {
      if (stop.stop_requested()) {
        return Stopped();
      }
      ++counts_.seen;
      const Traces traces = TracesOn(kind, object, options_.keys);
      if (!traces.empty()) {
        Take(traces, stop);
      }
    }
    return {};
  }

  const CleanUpCounts& counts() const { return counts_; }

 private:
  static Result<void> Stopped() { return Fail(Reason::kCancelled, "it was interrupted"); }

  void Take(const Traces& traces, const std::stop_token& stop) {
    const WorkloadWrite write = RemovalOf(traces, options_.removal, options_.keys);
    const Result<void> written =
        options_.dry_run || write.empty() ? Result<void>() : Write(traces.workload, write, stop);
    if (!written && apimachinery::IsObjectNotFound(written.error())) {
      return;  // it is gone, with all of its annotations
    }
    ++counts_.traced;
    if (!written) {
      ++counts_.failed;
    } else if (!write.empty()) {
      ++counts_.cleaned;
    }
    if (!LeftBy(traces, options_.removal).empty()) {
      ++counts_.left;
    }
    on_workload_(traces, written);
  }

  /// It is an error here when the server refuses annotations, because there is nothing else to do.
  Result<void> Write(const WorkloadId& workload, const WorkloadWrite& write,
                     const std::stop_token& stop) {
    KX_ASSIGN_OR_RETURN(const WriteOutcome outcome, writer_->Write(workload, write, stop));
    if (outcome.refusal) {
      return Fail(*outcome.refusal);
    }
    if (!outcome.recorded) {
      return Fail(Reason::kForbidden, "the right to patch was refused in this namespace before");
    }
    if (!outcome.left_alone.empty()) {
      return Fail(Reason::kConflict, outcome.left_alone);
    }
    return {};
  }

  const std::shared_ptr<rest::RESTClient>& client_;
  const CleanUpOptions& options_;
  const CleanUpNews on_workload_;
  const CleanUpFailure on_failure_;
  const std::unique_ptr<WorkloadWriter> writer_;
  CleanUpCounts counts_;
};

/// Returns "1 workload has" or "2 workloads have".
std::string Many(std::int64_t number, const std::string& one, const std::string& many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

}  // namespace

Result<CleanUpCounts> CleanUp(const std::shared_ptr<rest::RESTClient>& client,
                              const CleanUpOptions& options, CleanUpNews on_workload,
                              CleanUpFailure on_failure, const std::stop_token& stop) {
  CleanUpRun run(client, options, on_workload, on_failure);
  std::vector<std::string> namespaces = options.namespaces;
  if (namespaces.empty()) {
    namespaces.emplace_back();
  }
  for (const WorkloadKind kind : AllWorkloadKinds()) {
    if (!run.IsServed(kind, stop)) {
      continue;
    }
    for (const std::string& namespace_ : namespaces) {
      KX_RETURN_IF_ERROR(run.Look(kind, namespace_, stop));
    }
  }
  return run.counts();
}

std::string CleanUpLine(const Traces& traces, const CleanUpOptions& options) {
  Traces taken = traces;
  const Traces left = LeftBy(traces, options.removal);
  if (!options.removal.templates) {
    taken.variables.clear();
    taken.template_annotations.clear();
  }
  taken.paused = traces.paused && options.removal.pauses;
  taken.keeps.clear();
  std::string line =
      std::string(KindName(traces.workload.kind)) + " " + traces.workload.key.ToString() + ": ";
  if (!taken.empty()) {
    line += (options.dry_run ? "would take away " : "took away ") + TextOf(taken);
  }
  if (!left.empty()) {
    line += (taken.empty() ? "leaves " : "; leaves ") + TextOf(left);
  }
  return line;
}

std::string CleanUpSummary(const CleanUpCounts& counts, const CleanUpOptions& options) {
  std::string text = Many(counts.seen, "workload", "workloads") + " looked at; " +
                     Many(counts.traced, "has", "have") + " traces of an operator; " +
                     Many(counts.cleaned, options.dry_run ? "would be cleaned" : "was cleaned",
                          options.dry_run ? "would be cleaned" : "were cleaned") +
                     ".\n";
  if (counts.left > 0) {
    text += Many(counts.left, "keeps", "keep") + " something that was not asked for";
    text += options.removal.templates ? ""
                                      : "; --templates takes away what is in pod templates, "
                                        "which makes new pods";
    text += options.removal.pauses ? "" : "; --resume ends pauses";
    text += ".\n";
  }
  if (counts.failed > 0) {
    text += Many(counts.failed, "failure", "failures") + ": see above; run it again.\n";
  }
  text +=
      "Policies, snapshots of good data (the label reloader.kubexx.io/snapshot-of) and their key "
      "(the Secret kubexx-reloader-snapshot-key) stay, where there are any.\n";
  if (options.dry_run && counts.cleaned > 0) {
    text += "Nothing was changed. --dry-run=false does it.\n";
  }
  return text;
}

}  // namespace kubexx::reloader
