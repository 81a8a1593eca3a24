#include "kubexx/reloader/ui/policy_record.h"

#include <chrono>
#include <cstddef>
#include <utility>

#include "kubexx/apimachinery/time.h"
#include "kubexx/codec/codec.h"
#include "kubexx/reloader/observe/cluster_status.h"
#include "kubexx/reloader/ui/open_times.h"

namespace kubexx::reloader {
namespace {

using codec::JsonTree;

constexpr base::Duration kTimeLine = std::chrono::hours(24 * 7);
/// More than a person can tell from each other on the time line.
constexpr std::size_t kMaxOpenTimes = 200;

std::string TextOfTime(base::WallTime time) { return apimachinery::Time::From(time).ToString(); }

template <class Policy>
std::string RecordFor(const Policy& object, std::string_view kind, const JsonTree& waves,
                      base::WallTime now) {
  const reloadpolicy::Policy policy = reloadpolicy::PolicyFrom(object);
  JsonTree tree = JsonTree::Object();
  tree["kind"] = kind;
  tree["namespace"] = policy.id.namespace_;
  tree["name"] = policy.id.name;
  tree["standing"] = StandingTree(StandingOf(object));
  // It was decoded from JSON.
  tree["spec"] = JsonTree::Parse(codec::EncodeJson(object.spec)).value_or(JsonTree::Object());
  if (policy.settings.windows) {
    const auto hour = std::chrono::floor<std::chrono::hours>(now);
    tree["windows"] = JsonTree::Array();
    for (const OpenTime& time :
         OpenTimes(*policy.settings.windows, hour, hour + kTimeLine, kMaxOpenTimes)) {
      JsonTree item = JsonTree::Object();
      item["from"] = TextOfTime(time.from);
      item["until"] = TextOfTime(time.until);
      tree["windows"].Append(std::move(item));
    }
  }
  tree["waves"] = waves;
  return tree.ToJson();
}

}  // namespace

std::string PolicyKeyOf(const reloadpolicy::PolicyId& id) {
  return "p/" + id.namespace_ + "/" + id.name;
}

std::string PolicyRecord(const reloadpolicy::v1alpha1::ReloadPolicy& policy, const JsonTree& waves,
                         base::WallTime now) {
  return RecordFor(policy, "ReloadPolicy", waves, now);
}

std::string PolicyRecord(const reloadpolicy::v1alpha1::ClusterReloadPolicy& policy,
                         const JsonTree& waves, base::WallTime now) {
  return RecordFor(policy, "ClusterReloadPolicy", waves, now);
}

}  // namespace kubexx::reloader
