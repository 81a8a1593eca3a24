// What a World sees wrong in requests, and in lines of the log.
#include <algorithm>
#include <chrono>
#include <string_view>

#include "kubexx/codec/json_tree.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/ha/held_shards.h"
#include "kubexx/reloader/ha/leadership.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/restored_mark.h"
#include "kubexx/reloader/restore/source_store.h"
#include "world.h"

namespace kubexx::simulation {
namespace {

/// For how long after a pause a write may be late that was decided before it.
constexpr Nanoseconds kAfterPause = 5 * kSecond;
/// A write that was sent so short a time ago is waited for before a Lease is given back.
constexpr std::chrono::milliseconds kShortlyAgo{800};
/// So many writes by version are overtaken before one goes by none.
constexpr std::size_t kOvertaken = 3;
/// Within this time, with all that may be slow in between.
constexpr Nanoseconds kOneReconcile = 3 * kMinute;

/// A rollout so shortly after a fault has met it.
constexpr Nanoseconds kJustBefore = 2 * kSecond;

bool HasSecret(std::string_view text) {
  return text.find(kSecretMark) != std::string_view::npos ||
         text.find(kSecretMarkInBase64) != std::string_view::npos;
}

/// Whether a PATCH is of a workload: its path.
bool IsOfWorkload(std::string_view path) {
  return std::ranges::any_of(kWorkloadPlurals, [path](std::string_view plural) {
    return path.find("/" + std::string(plural) + "/") != std::string_view::npos;
  });
}

/// What follows "/namespaces/" in a path, without a query.
std::string InNamespaces(std::string path) {
  constexpr std::string_view kBefore = "/namespaces/";
  path.erase(0, path.find(kBefore) + kBefore.size());
  path.resize(std::min(path.find('?'), path.size()));
  return path;
}

/// "deployments/ns/name" of a workload's path.
std::string KeyOf(const std::string& path) {
  const std::string rest = InNamespaces(path);
  const std::size_t plural = rest.find('/') + 1;
  const std::size_t name = rest.find('/', plural);
  return rest.substr(plural, name - plural) + "/" + rest.substr(0, plural) +
         rest.substr(std::min(name + 1, rest.size()));
}

/// Whether it is the making of a Job, by which a CronJob is rolled. (A Job that is made anew is
/// made whatever becomes of the Lease: the old one is gone then.)
bool IsRun(std::string_view method, const std::string& path, std::string_view body) {
  return method == "POST" && InNamespaces(path).ends_with("/jobs") &&
         body.find(reloader::kRolledFor) != std::string_view::npos;
}

bool HasTemplate(std::string_view body) {
  return body.find(R"("template":{)") != std::string_view::npos;
}

/// Whether new pods follow from it.
bool IsRollout(const http::Request& request) {
  return (request.method == "PATCH" && IsOfWorkload(request.path) && HasTemplate(request.body)) ||
         IsRun(request.method, request.path, request.body);
}

/// Whether it writes a Secret for a policy that has Secrets restored: a snapshot, or what a
/// snapshot has.
bool IsOfRestore(const std::string& method, const std::string& target) {
  const std::string rest = InNamespaces(target);
  return (method == "POST" || method == "PUT") && rest.find("/secrets") != std::string::npos &&
         target.ends_with(std::string("fieldManager=") + reloader::kRestoreFieldManager);
}

}  // namespace

void World::CatchLog() {
  logging::Init({.level = logging::Level::kInfo});
  log_.emplace([this](std::string_view line) {
    while (line.ends_with('\n')) {
      line.remove_suffix(1);
    }
    timeline_.Add("log: " + std::string(line.substr(std::min(line.find(' ') + 1, line.size()))));
    if (HasSecret(line)) {
      Fail("a Secret's value is in the log: " + std::string(line));
    }
  });
}

void World::Inspect(const std::string& client, const rest::HttpRequest& request) {
  if (!client.starts_with("operator")) {
    return;
  }
  if ((HasSecret(request.body) && !(Restores() && IsOfRestore(request.method, request.target))) ||
      HasSecret(request.target)) {
    Fail("a Secret's value is in a request of " + client + ": " + request.method + " " +
         request.target + " " + std::string(request.body));
  }
  const bool is_patch = request.method == "PATCH" && IsOfWorkload(request.target);
  if (is_patch) {
    CheckVersion(client, request);
  }
  if (has_leases_ && (is_patch || IsRun(request.method, request.target, request.body))) {
    CheckLeader(client, request);
  }
}

void World::CheckVersion(const std::string& client, const rest::HttpRequest& request) {
  if (!HasTemplate(request.body)) {
    return;
  }
  std::deque<Nanoseconds>& sent = versioned_[client + " " + request.target];
  while (!sent.empty() && sent.front() + kOneReconcile < scheduler_.now()) {
    sent.pop_front();
  }
  if (request.body.find(R"("resourceVersion":)") != std::string_view::npos) {
    sent.push_back(scheduler_.now());
    return;
  }
  oracle_->AllowBlind(KeyOf(request.target));
  if (sent.size() < kOvertaken && denied_until_ < scheduler_.now()) {
    Fail(client + " sends a rollout that goes by no version: " + request.target + " " +
         std::string(request.body));
  }
}

std::pair<std::string, std::string> World::HolderFor(const std::string& path) {
  const std::string rest = InNamespaces(path);
  const std::string lease =
      reloader::LeaseNameOf(reloader::ShardOf(rest.substr(0, rest.find('/')), shards_), shards_);
  const auto stored = storage_->Get("/registry/leases/operators/" + lease, 0, {});
  const auto tree = stored ? codec::JsonTree::Parse(*stored->value)
                           : apimachinery::Result<codec::JsonTree>(codec::JsonTree());
  const codec::JsonTree* const spec = tree ? tree->Find("spec") : nullptr;
  return {std::string(spec == nullptr ? "" : spec->TextAt("holderIdentity")), lease};
}

bool World::IsDisturbed(const std::string& client) {
  const auto replica = std::ranges::find(replicas_, client, &Replica::name);
  return replica == replicas_.end() || replica->disturbed + kAfterPause > scheduler_.now();
}

void World::CheckLeader(const std::string& client, const rest::HttpRequest& request) {
  const auto [holder, lease] = HolderFor(request.target);
  if (holder != client && !IsDisturbed(client)) {
    Fail(client + " writes " + request.target + ", whose Lease " + lease + " \"" + holder +
         "\" has: " + std::string(request.body));
  }
}

void World::CheckArrival(WireCall& call) {
  const http::Request& request = call.request();
  const bool is_write = (request.method == "PATCH" && IsOfWorkload(request.path)) ||
                        IsRun(request.method, request.path, request.body);
  if (!has_leases_ || !is_write || !call.client().starts_with("operator") ||
      base::Clock::Real().Now() - call.sent_at() > kShortlyAgo) {
    return;
  }
  const auto [holder, lease] = HolderFor(request.path);
  if (holder != call.client() && !IsDisturbed(call.client())) {
    call.Suspect(call.client() + " has a write made to " + request.path + ", whose Lease " + lease +
                 " \"" + holder + "\" has by then: " + request.body);
  }
}

void World::CountMet() {
  const Nanoseconds since = scheduler_.now() - kJustBefore;
  for (std::size_t i = 1; i < kFaults; ++i) {
    const Nanoseconds last = network_.LastOf(static_cast<Fault>(i));
    result_.fault_rollouts[i] += last != kNotYet && last >= since ? 1 : 0;
  }
  for (std::size_t i = 0; i < kMishaps; ++i) {
    result_.mishap_rollouts[i] += lasts_until_[i] != kNotYet && lasts_until_[i] >= since ? 1 : 0;
  }
}

void World::OnAnswer(const WireCall& call, int status) {
  ++result_.requests;
  const http::Request& request = call.request();
  const bool is_patch = request.method == "PATCH" && call.client().starts_with("operator");
  timeline_.Add(call.client(), request.method + " " + request.path +
                                   (request.query.empty() ? "" : "?" + request.query) + " " +
                                   std::to_string(status) + (is_patch ? " " + request.body : ""));
  if (status != 200 && status != 201) {
    return;
  }
  if (!call.suspicion().empty()) {
    Fail(call.suspicion());
  }
  if (call.client().starts_with("operator") && IsRollout(request)) {
    CountMet();
  }
}

void World::CheckQuiet(std::uint64_t& checks) {
  ++checks;
  if (const auto many = oracle_->TooMany()) {
    Fail(*many);
  }
}

void World::CheckMetrics(const Replica& replica, std::string_view metrics) {
  if (HasSecret(metrics)) {
    Fail("a Secret's value is in the metrics of " + replica.name);
  }
}

}  // namespace kubexx::simulation
