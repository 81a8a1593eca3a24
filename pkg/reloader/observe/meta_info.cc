#include "kubexx/reloader/observe/meta_info.h"

#include <chrono>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/apimachinery/names.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Result;
using codec::JsonTree;

constexpr char kArguments[] = "kubexxArguments";
constexpr char kUnreadPolicies[] = "kubexxUnreadPolicies";
/// There is no notification when the lists have reached the caches.
constexpr base::Duration kLookAgain = std::chrono::seconds(5);
/// The pause after a write that failed, because the right to write may be missing for good.
constexpr base::Duration kTryAgain = std::chrono::seconds(30);

struct OptionToJson {
  JsonTree operator()(bool value) const { return value; }
  JsonTree operator()(const std::string& value) const { return value; }
  JsonTree operator()(const std::vector<std::string>& values) const {
    JsonTree list = JsonTree::Array();
    for (const std::string& value : values) {
      list.Append(value);
    }
    return list;
  }
};

}  // namespace

ConfigMap MetaInfoOf(const MetaInfoSettings& settings, const BuildInfo& build,
                     const UnreadPolicies& unread) {
  JsonTree build_info = JsonTree::Object();
  build_info["goVersion"] = "";  // readers expect the key, although this is not a Go program
  build_info["releaseVersion"] = build.version;
  build_info["commitHash"] = build.commit;
  build_info["commitTime"] = build.commit_time.empty() ? "0001-01-01T00:00:00Z" : build.commit_time;
  build_info["edition"] = "oss";
  JsonTree options = JsonTree::Object();
  for (const auto& [name, value] : settings.reported_options) {
    options[name] = std::visit(OptionToJson(), value);
  }
  JsonTree deployment = JsonTree::Object();
  deployment["name"] = settings.deployment_name;
  deployment["namespace"] = settings.namespace_;
  ConfigMap object;
  object.metadata.name = kMetaInfoName;
  object.metadata.namespace_ = settings.namespace_;
  object.metadata.labels["reloader.stakater.com/meta-info"] = "reloader";
  object.data["buildInfo"] = build_info.ToJson();
  object.data["reloaderOptions"] = options.ToJson();
  object.data["deploymentInfo"] = deployment.ToJson();
  object.data[kArguments] = OptionToJson()(settings.arguments).ToJson();
  if (!unread.empty()) {
    JsonTree by_namespace = JsonTree::Object();
    for (const auto& [name, why] : unread) {
      by_namespace[name] = why;
    }
    object.data[kUnreadPolicies] = by_namespace.ToJson();
  }
  return object;
}

std::optional<ToldOperator> ToldBy(const ConfigMap& meta_info) {
  const auto told = meta_info.data.find(kArguments);
  const auto list = told == meta_info.data.end() ? apimachinery::Result<JsonTree>(JsonTree())
                                                 : JsonTree::Parse(told->second);
  if (!list || !list->IsArray()) {
    return std::nullopt;
  }
  ToldOperator result{.deployment = {meta_info.metadata.namespace_, ""}};
  for (const JsonTree& each : list->elements()) {
    // Anybody may write such an object. The operator's own object only has names of flags.
    if (!each.AsString() || !each.AsString()->starts_with("--")) {
      return std::nullopt;
    }
    result.arguments.emplace_back(*each.AsString());
  }
  if (const auto info = meta_info.data.find("deploymentInfo"); info != meta_info.data.end()) {
    // Anybody may have written it, and it goes into paths and to people's terminals.
    if (const auto deployment = JsonTree::Parse(info->second);
        deployment && apimachinery::IsDnsSubdomain(deployment->TextAt("name"))) {
      result.deployment.name = deployment->TextAt("name");
    }
  }
  if (const auto unread = meta_info.data.find(kUnreadPolicies); unread != meta_info.data.end()) {
    if (const auto by_namespace = JsonTree::Parse(unread->second); by_namespace) {
      for (const auto& [name, why] : by_namespace->members()) {
        result.unread.emplace(name, why.AsString() == nullptr ? "" : *why.AsString());
      }
    }
  }
  return result;
}

std::optional<std::string> ToldOperator::UnreadIn(const std::string& namespace_) const {
  for (const std::string& name : {std::string(), namespace_}) {
    if (const auto found = unread.find(name); found != unread.end()) {
      return found->second;
    }
  }
  return std::nullopt;
}

Result<void> PublishMetaInfo(const std::shared_ptr<rest::RESTClient>& client,
                             const ConfigMap& object, const std::stop_token& stop) {
  const kubernetes::ResourceClient<ConfigMap> config_maps(client, object.metadata.namespace_);
  auto written = config_maps.Update(object, {}, stop);  // replaces it whatever its version is
  if (!written && apimachinery::IsObjectNotFound(written.error())) {
    written = config_maps.Create(object, {}, stop);
  }
  return written ? Result<void>() : apimachinery::Fail(written.error());
}

MetaInfoPublisher::MetaInfoPublisher(std::shared_ptr<rest::RESTClient> client,
                                     const MetaInfoSettings& settings, BuildInfo build,
                                     std::function<UnreadPolicies()> unread,
                                     std::shared_ptr<base::Executor> executor, base::Clock& clock)
    : client_(std::move(client)),
      settings_(settings),
      build_(std::move(build)),
      unread_(std::move(unread)),
      clock_(clock),
      task_(std::move(executor), clock_,
            [this](const std::stop_token& stop) { return Step(stop); }) {
  if (settings_.namespace_.empty()) {
    logging::Warning(
        "Cannot publish the ConfigMap reloader-meta-info, as RELOADER_NAMESPACE is not set");
    return;
  }
  task_.Start();
}

base::TimePoint MetaInfoPublisher::Step(const std::stop_token& stop) {
  UnreadPolicies unread = unread_ ? unread_() : UnreadPolicies();
  if (!told_ || *told_ != unread) {
    const base::Executor::Waiting waiting;  // for the answer
    const auto published = PublishMetaInfo(client_, MetaInfoOf(settings_, build_, unread), stop);
    if (published) {
      told_ = std::move(unread);
      has_failed_ = false;
    } else if (!std::exchange(has_failed_, true) && !stop.stop_requested()) {
      logging::Warning("Cannot publish the ConfigMap reloader-meta-info; the operator tries again",
                       {{"error", published.error()}});
    }
  }
  if (has_failed_) {
    return clock_.Now() + kTryAgain;
  }
  return told_->empty() ? base::TimePoint::max() : clock_.Now() + kLookAgain;
}

}  // namespace kubexx::reloader
