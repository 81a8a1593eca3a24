#include "kubexx/reloader/ui/workload_record.h"

#include <cstddef>
#include <functional>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/reloader/history/history.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Result;
using codec::JsonTree;
using reloadpolicy::HoldReason;

constexpr std::size_t kShownDigits = 12;

/// What a person would read first about the state.
std::string WhyOf(PageState state, const Explanation& explanation) {
  switch (state) {
    case PageState::kFailed:
      return !explanation.failure.empty() ? explanation.failure
                                          : "its status says that the rollout makes no progress";
    case PageState::kRefused:
      return !explanation.refused.empty() ? explanation.refused : explanation.left_alone;
    case PageState::kHeld:
    case PageState::kWaiting:
      return explanation.hold ? explanation.hold->message
             : !explanation.awaits_reload.empty()
                 ? explanation.awaits_reload
                 : explanation.unread_policies.front() +
                       " may not be read: whether it may begin is not known";
    case PageState::kPaused:
      return explanation.pause;
    case PageState::kUnwatched:
      return explanation.not_watched;
    default:
      return "";
  }
}

JsonTree SourcesTree(const Explanation& explanation) {
  JsonTree sources = JsonTree::Array();
  for (const SourceExplanation& source : explanation.sources) {
    JsonTree tree = JsonTree::Object();
    tree["kind"] = NamesOf(source.id.type).kind;
    tree["name"] = source.id.key.name;
    tree["there"] = source.exists;
    tree["unknown"] = source.unknown;
    tree["rolls"] = Reloads(source.verdict) && !source.container.empty();
    tree["due"] = source.due;
    tree["digest"] = FirstDigits(source.digest);
    tree["recorded"] = FirstDigits(source.recorded);
    sources.Append(std::move(tree));
  }
  return sources;
}

/// The newest rollout in the workload's history; null when there is none that can be read.
JsonTree LastRolloutTree(const Workload& workload) {
  auto history = HistoryOf(workload);
  if (!history || history->rollouts.empty()) {
    return {};
  }
  HistoryEntry& newest = history->rollouts.front();
  CompleteFrom(workload, std::nullopt, newest);
  JsonTree tree = JsonTree::Object();
  tree["at"] = newest.at.ToString();
  tree["outcome"] = ToString(newest.outcome);
  return tree;
}

/// Changes whenever what WorkloadDetails returns does: a page that shows them asks for them again.
std::string MarkOfDetails(const Explanation& explanation, const Workload& workload) {
  const std::string details = ToJson(explanation) + ToJson(WorkloadHistoryOf(workload));
  return std::to_string(std::hash<std::string>()(details));
}

}  // namespace

std::string_view ToString(PageState state) {
  switch (state) {
    case PageState::kFailed:
      return "failed";
    case PageState::kRefused:
      return "refused";
    case PageState::kHeld:
      return "held";
    case PageState::kWaiting:
      return "waiting";
    case PageState::kDue:
      return "due";
    case PageState::kRolling:
      return "rolling";
    case PageState::kPaused:
      return "paused";
    case PageState::kUnavailable:
      return "unavailable";
    case PageState::kCurrent:
      return "current";
    case PageState::kNothing:
      return "nothing";
    case PageState::kUnwatched:
      break;
  }
  return "unwatched";
}

PageState PageStateOf(const Explanation& explanation, const Workload& workload) {
  if (!explanation.not_watched.empty()) {
    return PageState::kUnwatched;
  }
  if (!explanation.failure.empty() || workload.phase == reloadpolicy::Phase::kFailed) {
    return PageState::kFailed;
  }
  if (explanation.due) {
    if (!explanation.refused.empty() || !explanation.left_alone.empty()) {
      return PageState::kRefused;
    }
    if (explanation.hold) {
      const HoldReason reason = explanation.hold->reason;
      return reason == HoldReason::kPaused || reason == HoldReason::kSourcePaused
                 ? PageState::kHeld
                 : PageState::kWaiting;
    }
    return explanation.unread_policies.empty() && explanation.awaits_reload.empty()
               ? PageState::kDue
               : PageState::kWaiting;
  }
  if (!explanation.pause.empty()) {
    return PageState::kPaused;
  }
  switch (workload.phase) {
    case reloadpolicy::Phase::kUpdating:
    case reloadpolicy::Phase::kUnseen:
    case reloadpolicy::Phase::kWaiting:
    case reloadpolicy::Phase::kPaused:
      return PageState::kRolling;
    case reloadpolicy::Phase::kUnavailable:
      return PageState::kUnavailable;
    default:
      break;
  }
  for (const SourceExplanation& source : explanation.sources) {
    if (Reloads(source.verdict) && !source.container.empty()) {
      return PageState::kCurrent;
    }
  }
  return PageState::kNothing;
}

bool IsSettled(PageState state) {
  return state != PageState::kFailed && state != PageState::kWaiting && state != PageState::kDue &&
         state != PageState::kRolling;
}

std::string FirstDigits(std::string_view digest) {
  return std::string(digest.substr(0, kShownDigits));
}

std::string WorkloadRecord(const Explanation& explanation, const Workload& workload,
                           const std::vector<reloadpolicy::PolicyId>& policies) {
  const PageState state = PageStateOf(explanation, workload);
  JsonTree tree = JsonTree::Object();
  tree["kind"] = KindName(workload.id.kind);
  tree["namespace"] = workload.id.key.namespace_;
  tree["name"] = workload.id.key.name;
  tree["state"] = ToString(state);
  tree["why"] = WhyOf(state, explanation);
  tree["phase"] = explanation.phase;
  if (explanation.due && explanation.hold) {
    tree["reason"] = ToString(explanation.hold->reason);
    if (explanation.hold->until) {
      tree["until"] = apimachinery::Time::From(*explanation.hold->until).ToString();
    }
  }
  tree["sources"] = SourcesTree(explanation);
  tree["policies"] = JsonTree::Array();
  for (const reloadpolicy::PolicyId& policy : policies) {
    tree["policies"].Append(policy.ToString());
  }
  tree["last"] = LastRolloutTree(workload);
  tree["details"] = MarkOfDetails(explanation, workload);
  return tree.ToJson();
}

Result<std::string> WorkloadDetails(const Explanation& explanation,
                                    const WorkloadHistory& history) {
  KX_ASSIGN_OR_RETURN(JsonTree explained, JsonTree::Parse(ToJson(explanation)));
  for (JsonTree& source : explained["sources"].elements()) {
    for (const char* name : {"recorded", "digest"}) {
      source[name] = FirstDigits(source.TextAt(name));
    }
  }
  KX_ASSIGN_OR_RETURN(JsonTree past, JsonTree::Parse(ToJson(history)));
  JsonTree tree = JsonTree::Object();
  tree["explanation"] = std::move(explained);
  tree["history"] = std::move(past);
  return tree.ToJson();
}

}  // namespace kubexx::reloader
