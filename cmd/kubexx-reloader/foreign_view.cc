#include "foreign_view.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/cache/object.h"
#include "kubexx/codec/codec.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/model/value_digests.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/plan/foreign_list.h"
#include "kubexx/reloader/watch/served_apis.h"

namespace kubexx {
namespace {

using apimachinery::Fail;
using apimachinery::Result;
using reloader::SourceId;

/// How many objects, and policies of how many namespaces, are read anew at once.
constexpr std::size_t kRefreshed = 10;

/// Whether the operator watches the object at all.
bool IsWatched(const SourceId& object, const reloader::Config& config) {
  const std::vector<std::string>& watched = config.namespaces;
  return !config.rules.Ignores(object.type) &&
         (watched.empty() || std::ranges::find(watched, object.key.namespace_) != watched.end());
}

template <class T>
Result<std::optional<reloader::ChangedSource>> ReadSource(
    const std::shared_ptr<rest::RESTClient>& client, const SourceId& object,
    const reloader::Config& config, const std::stop_token& stop) {
  const kubernetes::ResourceClient<T> resource(client, object.key.namespace_);
  KX_ASSIGN_OR_RETURN(const auto list,
                      resource.List({.label_selector = config.source_label_selector,
                                     .field_selector = "metadata.name=" + object.key.name},
                                    stop));
  if (list.items.empty()) {
    return std::nullopt;
  }
  const T& item = list.items[0];
  cache::Object kept{
      .encoding = codec::Encoding::kJson, .bytes = codec::EncodeJson(item), .key = object.key};
  KX_RETURN_IF_ERROR(reloader::ProjectSource(object.type, config.rules.keys, kept));
  KX_ASSIGN_OR_RETURN(reloader::Source source, reloader::SourceFrom(object.type, kept));
  source.resource_version = reloader::VersionNumber(item.metadata.resource_version);
  return reloader::ChangedSource{.source = std::move(source),
                                 .data = reloader::ValueDigestsOf(item)};
}

}  // namespace

// The data are compared by their digest.
bool ForeignView::Answer::operator==(const Answer& other) const {
  return may_read == other.may_read && found.has_value() == other.found.has_value() &&
         (!found || found->source == other.found->source);
}

ForeignView::ForeignView(const std::shared_ptr<rest::RESTClient>& client,
                         const reloader::Config& config, reloader::PolicyEnforcer& enforcer)
    : client_(client),
      config_(config),
      sources_({.read = [this](const SourceId& object,
                               const std::stop_token& stop) { return Read(object, stop); }}),
      policies_(enforcer,
                reloader::NewPolicyList(client, std::make_shared<reloader::ServedApis>(client))) {}

Result<ForeignView::Answer> ForeignView::Read(const SourceId& object,
                                              const std::stop_token& stop) const {
  auto read = object.type == reloader::SourceType::kSecret
                  ? ReadSource<api::core::v1::Secret>(client_, object, config_, stop)
                  : ReadSource<api::core::v1::ConfigMap>(client_, object, config_, stop);
  if (!read && reloader::IsDenied(read.error())) {
    return Answer{.may_read = false};
  }
  if (!read) {
    return Fail(read.error().WithContext("cannot read " +
                                         std::string(reloader::NamesOf(object.type).kind) + " " +
                                         object.key.ToString()));
  }
  return Answer{.found = *std::move(read)};
}

Result<ForeignView::Named> ForeignView::NamedBy(const reloader::Workload& workload,
                                                const std::stop_token& stop) {
  Named named;
  std::set<std::string> spaces;
  for (const SourceId& id : reloader::ForeignSourcesOf(workload, config_.rules.keys)) {
    const SourceId object{id.type, reloader::ObjectKeyOf(id)};
    if (!IsWatched(object, config_)) {
      continue;
    }
    auto answer = sources_.Get(object, stop);
    if (!answer && stop.stop_requested()) {
      return Fail(answer.error());
    }
    if (!answer || !answer->may_read) {
      named.unread.emplace(id, answer ? "" : answer.error().message);
    } else if (answer->found && reloader::Allows(answer->found->source, id.key.namespace_)) {
      answer->found->source.id = id;
      named.rolling.emplace(id, *std::move(answer->found));
      spaces.insert(object.key.namespace_);
    }
  }
  for (const std::string& space : config_.reload_policies ? spaces : std::set<std::string>()) {
    const auto may_read = policies_.Read(space, stop);
    if (!may_read && stop.stop_requested()) {
      return Fail(may_read.error());
    }
    if (!may_read || !*may_read) {
      named.unread_policies.insert(space);
    }
  }
  return named;
}

ForeignView::News ForeignView::Refresh(base::FunctionRef<bool(const SourceId&)> is_named,
                                       const std::stop_token& stop) {
  sources_.Refresh(kRefreshed, is_named, stop);
  return {
      .objects = sources_.TakeChanged(),
      .has_policies = policies_.Refresh(kRefreshed, [](const std::string&) { return true; }, stop)};
}

}  // namespace kubexx
