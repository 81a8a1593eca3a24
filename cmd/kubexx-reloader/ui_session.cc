#include "ui_session.h"

#include <chrono>
#include <cstddef>

#include "kubexx/apimachinery/time.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/identity.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// How often the API server is asked whether it answers, and for operators.
constexpr base::Duration kProbeEvery = std::chrono::seconds(3);
constexpr base::Duration kProbePatience = std::chrono::seconds(5);
constexpr base::Duration kOperatorsEvery = std::chrono::seconds(15);
constexpr base::Duration kOperatorsPatience = std::chrono::seconds(20);
/// Pages that are open at the same time.
constexpr std::size_t kMaxStreams = 16;

/// A name for this state: those of an earlier process are others.
std::string StateName() {
  std::string name = base::RandomUuid();
  std::erase(name, '-');
  return name;
}

std::string OperatorRecord(const reloader::ToldOperator& each) {
  JsonTree tree = JsonTree::Object();
  tree["namespace"] = each.deployment.namespace_;
  tree["name"] = each.deployment.name;
  tree["flags"] = JsonTree::Array();
  for (const std::string& argument : each.arguments) {
    tree["flags"].Append(argument);
  }
  tree["unread"] = JsonTree::Array();
  for (const auto& [namespace_, why] : each.unread) {
    tree["unread"].Append(why);
  }
  return tree.ToJson();
}

}  // namespace

UiSession::UiSession(std::shared_ptr<rest::RESTClient> client, Options options)
    : client_(std::move(client)),
      options_(std::move(options)),
      feed_({.name = StateName(), .on_change = [this] { streams_.Wake(); }}),
      streams_(feed_, kMaxStreams) {}

std::shared_ptr<LiveView> UiSession::view() const {
  const base::MutexLock lock(mu_);
  return view_;
}

std::shared_ptr<LiveView> UiSession::TakeView() {
  const base::MutexLock lock(mu_);
  return std::exchange(view_, nullptr);
}

Result<std::string> UiSession::Workload(const reloader::WorkloadId& id,
                                        const std::stop_token& stop) const {
  const auto live = view();
  return live ? live->Details(id, stop)
              : Fail(Reason::kUnavailable, "the cluster has not answered yet");
}

Result<std::string> UiSession::Source(const reloader::SourceId& id,
                                      const std::stop_token& /*stop*/) const {
  const auto live = view();
  return live ? Result<std::string>(live->HistoryOf(id))
              : Fail(Reason::kUnavailable, "the cluster has not answered yet");
}

void UiSession::Run(const std::stop_token& stop) {
  base::Clock& clock = base::Clock::Real();
  base::TimePoint look = clock.Now();
  do {
    Probe(stop);
    streams_.Beat();
    if (clock.Now() >= look && LookForOperators(stop)) {
      look = clock.Now() + kOperatorsEvery;
    }
  } while (clock.SleepFor(kProbeEvery, stop));
  TakeView().reset();  // waits for its threads
}

void UiSession::Probe(const std::stop_token& stop) {
  const base::StopTimer deadline(base::Clock::Real(), stop, kProbePatience);
  const auto answered = CheckReachable(client_, deadline.token());
  bool has_view = false;
  {
    const base::MutexLock lock(mu_);
    if (answered) {
      unreachable_.clear();
      since_.clear();
    } else if (!stop.stop_requested()) {
      if (unreachable_.empty()) {
        since_ = apimachinery::Time::From(base::Clock::Real().Wall()).ToString();
      }
      unreachable_ = answered.error().message;
    }
    has_view = view_ != nullptr;
  }
  if (!has_view) {
    std::map<std::string, std::string> records;
    AddRecords(records);
    reloader::RecordEdits edits;
    for (auto& [key, json] : records) {
      edits[key] = std::move(json);
    }
    feed_.Apply(std::move(edits));
  }
}

bool UiSession::LookForOperators(const std::stop_token& stop) {
  {
    const base::MutexLock lock(mu_);
    if (!unreachable_.empty()) {
      return false;
    }
  }
  const base::StopTimer deadline(base::Clock::Real(), stop, kOperatorsPatience);
  const auto found = FindOperators(client_, options_.operator_namespace, deadline.token());
  Operators now;
  {
    const base::MutexLock lock(mu_);
    operators_error_ = found ? "" : found.error().message;
    operator_records_.clear();
    const std::vector<reloader::ToldOperator> none;
    for (const reloader::ToldOperator& each : found ? found->running : none) {
      operator_records_["o/" + each.deployment.ToString()] = OperatorRecord(each);
      now.emplace_back(each.deployment.ToString(), each.arguments);
    }
  }
  const bool may_not = !found && (found.error().reason == Reason::kForbidden ||
                                  found.error().reason == Reason::kUnauthorized);
  if (!found && !may_not) {
    return false;
  }
  if (operators_ != now && !stop.stop_requested()) {
    Begin(deadline.token());
    operators_ = std::move(now);
  }
  return true;
}

void UiSession::Begin(const std::stop_token& stop) {
  const std::string& space = options_.namespace_;
  Judge judge = FindJudge(
      client_, {reloader::WorkloadKind::kDeployment, space, options_.operator_namespace},
      options_.own, options_.given,
      [&]() -> Result<apimachinery::LabelMap> {
        return space.empty() ? Result<apimachinery::LabelMap>() : LabelsOf(client_, space, stop);
      },
      stop);
  TakeView().reset();  // waits for its threads
  feed_.Clear();
  auto live = std::make_shared<LiveView>(
      client_, std::move(judge), space, feed_,
      [this](std::map<std::string, std::string>& records) { AddRecords(records); });
  const base::MutexLock lock(mu_);
  view_ = std::move(live);
}

void UiSession::AddRecords(std::map<std::string, std::string>& records) const {
  const base::MutexLock lock(mu_);
  JsonTree tree = JsonTree::Object();
  tree["reachable"] = unreachable_.empty();
  tree["error"] = unreachable_;
  tree["since"] = since_;
  tree["operatorsError"] = operators_error_;
  records["cluster"] = tree.ToJson();
  records.insert(operator_records_.begin(), operator_records_.end());
}

}  // namespace kubexx
