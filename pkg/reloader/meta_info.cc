#include "kubexx/reloader/meta_info.h"

#include <utility>
#include <variant>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

constexpr char kArguments[] = "kubexxArguments";

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

ConfigMap MetaInfoOf(const Config& config, const BuildInfo& build) {
  JsonTree build_info = JsonTree::Object();
  build_info["goVersion"] = "";  // a key that readers expect; this is no Go program
  build_info["releaseVersion"] = build.version;
  build_info["commitHash"] = build.commit;
  build_info["commitTime"] = build.commit_time.empty() ? "0001-01-01T00:00:00Z" : build.commit_time;
  build_info["edition"] = "oss";
  JsonTree options = JsonTree::Object();
  for (const auto& [name, value] : config.reported_options) {
    options[name] = std::visit(OptionToJson(), value);
  }
  JsonTree deployment = JsonTree::Object();
  deployment["name"] = config.meta_info.deployment_name;
  deployment["namespace"] = config.meta_info.namespace_;
  ConfigMap object;
  object.metadata.name = kMetaInfoName;
  object.metadata.namespace_ = config.meta_info.namespace_;
  object.metadata.labels["reloader.stakater.com/meta-info"] = "reloader";
  object.data["buildInfo"] = build_info.ToJson();
  object.data["reloaderOptions"] = options.ToJson();
  object.data["deploymentInfo"] = deployment.ToJson();
  object.data[kArguments] = OptionToJson()(config.arguments).ToJson();
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
    if (!each.AsString()) {
      return std::nullopt;
    }
    result.arguments.emplace_back(*each.AsString());
  }
  if (const auto info = meta_info.data.find("deploymentInfo"); info != meta_info.data.end()) {
    if (const auto deployment = JsonTree::Parse(info->second)) {
      result.deployment.name = deployment->TextAt("name");
    }
  }
  return result;
}

Result<void> PublishMetaInfo(const std::shared_ptr<rest::RESTClient>& client, const Config& config,
                             const BuildInfo& build, const std::stop_token& stop) {
  const ConfigMap object = MetaInfoOf(config, build);
  const kubernetes::ResourceClient<ConfigMap> config_maps(client, object.metadata.namespace_);
  auto written = config_maps.Update(object, {}, stop);  // whatever its version
  if (!written && written.status().reason == Reason::kNotFound) {
    written = config_maps.Create(object, {}, stop);
  }
  return written ? Result<void>() : apimachinery::Fail(written.status());
}

}  // namespace kubexx::reloader
