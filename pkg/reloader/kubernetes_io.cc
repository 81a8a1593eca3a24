#include "kubexx/reloader/kubernetes_io.h"

#include <algorithm>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/dynamic/dynamic_informer.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/reloader/kind_writers.h"
#include "kubexx/reloader/projection.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;
using apimachinery::Result;

/// Whether the server has the resource's API; asked of discovery, which everyone may read, since a
/// list of what does not exist is refused before it is not found.
Result<bool> IsServed(const std::shared_ptr<rest::RESTClient>& client,
                      const apimachinery::ResourceInfo& resource, const std::stop_token& stop) {
  rest::Request request = client->Get();
  const auto response =
      request.AbsPath("/apis/" + std::string(resource.group) + "/" + std::string(resource.version))
          .Do(stop);
  if (!response) {
    if (response.status().reason == apimachinery::Reason::kNotFound) {
      return false;
    }
    return apimachinery::Fail(response.status());
  }
  KX_ASSIGN_OR_RETURN(const codec::JsonTree list, codec::JsonTree::Parse(response->body));
  const codec::JsonTree* resources = list.Find("resources");
  return resources != nullptr &&
         std::ranges::any_of(resources->elements(), [&](const codec::JsonTree& each) {
           return each.TextAt("name") == resource.plural;
         });
}

std::shared_ptr<cache::ListerWatcher> DynamicListWatchOf(
    const std::shared_ptr<rest::RESTClient>& client, const apimachinery::ResourceInfo& resource,
    const std::string& namespace_, const std::string& label_selector = "") {
  return dynamic::NewDynamicListWatch(
      client,
      {std::string(resource.group), std::string(resource.version), std::string(resource.plural)},
      namespace_, {.label_selector = label_selector});
}

std::shared_ptr<cache::ListerWatcher> ListWatchOf(const std::shared_ptr<rest::RESTClient>& client,
                                                  WorkloadKind kind,
                                                  const std::string& namespace_) {
  const apimachinery::ResourceInfo& resource = ResourceOf(kind);
  if (IsBuiltIn(kind)) {
    return cache::NewListWatchFromClient(client, resource, namespace_);
  }
  return DynamicListWatchOf(client, resource, namespace_);
}

/// SecretProviderClasses, whose API comes with the driver, and what the driver reports of them. The
/// label selector is about the classes: nobody labels what the driver makes.
void AddProviderClasses(const std::shared_ptr<rest::RESTClient>& client,
                        const WatchSettings& settings, const std::shared_ptr<Fallbacks>& fallbacks,
                        InformerSet& set) {
  const auto informer_of = [&](const apimachinery::ResourceInfo& resource,
                               const std::string& label_selector, auto transform) {
    WorkloadSource::Options options{.other_kind = resource.kind};
    options.is_served = [client, resource](const std::stop_token& stop) {
      return IsServed(client, resource, stop);
    };
    return std::make_shared<cache::SharedInformerBase>(
        std::make_shared<WorkloadSource>(
            DynamicListWatchOf(client, resource, set.namespace_, label_selector), fallbacks,
            std::move(options)),
        cache::InformerOptions{.name = std::string(resource.plural),
                               .registry = settings.registry,
                               .transform = std::move(transform),
                               .use_watch_list = false,
                               .group = std::string(resource.group),
                               .version = std::string(resource.version),
                               .resource = std::string(resource.plural)});
  };
  constexpr SourceType kType = SourceType::kSecretProviderClass;
  set.sources[kType] = informer_of(kPodStatusResource, "", TransformFor(kType, settings.keys));
  set.provider_classes = informer_of(kProviderClassResource, settings.source_label_selector,
                                     TransformForProviderClass(settings.keys));
  set.selects_provider_classes = !settings.source_label_selector.empty();
}

void AddWorkloads(const std::shared_ptr<rest::RESTClient>& client, const WatchSettings& settings,
                  const std::shared_ptr<Fallbacks>& fallbacks, InformerSet& set) {
  for (const WorkloadKind kind : settings.kinds) {
    const apimachinery::ResourceInfo& resource = ResourceOf(kind);
    WorkloadSource::Options options{.kind = kind};
    if (!IsBuiltIn(kind)) {
      options.is_served = [client, kind](const std::stop_token& stop) {
        return IsServed(client, ResourceOf(kind), stop);
      };
    }
    const auto source = std::make_shared<WorkloadSource>(ListWatchOf(client, kind, set.namespace_),
                                                         fallbacks, std::move(options));
    set.workload_sources[kind] = source;
    set.workloads[kind] = std::make_shared<cache::SharedInformerBase>(
        source, cache::InformerOptions{.name = std::string(resource.plural),
                                       .registry = settings.registry,
                                       .transform = TransformFor(kind, settings.keys),
                                       // A refused one is logged each time, and an API that is
                                       // not served is a usual thing.
                                       .use_watch_list = IsBuiltIn(kind),
                                       .group = std::string(resource.group),
                                       .version = std::string(resource.version),
                                       .resource = std::string(resource.plural)});
  }
}

/// Of a type of the core group.
template <class T>
std::shared_ptr<cache::SharedInformerBase> SourceInformer(
    const std::shared_ptr<rest::RESTClient>& client, const std::string& namespace_, SourceType type,
    const WatchSettings& settings) {
  const apimachinery::ResourceInfo& resource = api::ResourceOf<T>();
  std::shared_ptr<cache::ListerWatcher> source = cache::NewListWatchFromClient(
      client, resource, namespace_, {.label_selector = settings.source_label_selector});
  if (settings.refusals != nullptr) {
    source = settings.refusals->Follow(std::move(source), std::string(resource.plural), namespace_);
  }
  return std::make_shared<cache::SharedInformer<T>>(
      std::move(source), cache::InformerOptions{.name = std::string(resource.plural),
                                                .registry = settings.registry,
                                                .transform = TransformFor(type, settings.keys),
                                                .group = std::string(resource.group),
                                                .version = std::string(resource.version),
                                                .resource = std::string(resource.plural)});
}

template <class T>
Result<std::optional<ValueDigests>> FetchValues(const std::shared_ptr<rest::RESTClient>& client,
                                                const SourceId& id, const std::stop_token& stop) {
  const kubernetes::ResourceClient<T> resource(client, id.key.namespace_);
  KX_ASSIGN_OR_RETURN(const auto list,
                      resource.List({.field_selector = "metadata.name=" + id.key.name}, stop));
  return list.items.empty() ? std::nullopt : std::optional(ValueDigestsOf(list.items[0]));
}

Result<std::optional<Workload>> ReadWorkload(const std::shared_ptr<rest::RESTClient>& client,
                                             const AnnotationKeys& keys, const WorkloadId& id,
                                             const std::stop_token& stop) {
  const auto read = ResourceFor(client, id.kind, id.key.namespace_).Get(id.key.name, {}, stop);
  if (!read) {
    return read.status().reason == apimachinery::Reason::kNotFound
               ? Result<std::optional<Workload>>(std::nullopt)
               : apimachinery::Fail(read.status());
  }
  cache::Object object{.encoding = codec::Encoding::kJson, .bytes = read->ToJson(), .key = id.key};
  KX_RETURN_IF_ERROR(ProjectWorkload(id.kind, keys, object));
  KX_ASSIGN_OR_RETURN(Workload workload, WorkloadFrom(id.kind, object));
  return std::optional(std::move(workload));
}

}  // namespace

WorkloadRead NewWorkloadRead(std::shared_ptr<rest::RESTClient> client, AnnotationKeys keys) {
  return [client = std::move(client), keys = std::move(keys)](
             const WorkloadId& id, const std::stop_token& stop) -> Result<std::optional<Workload>> {
    KX_ASSIGN_OR_RETURN(std::optional<Workload> workload, ReadWorkload(client, keys, id, stop));
    if (workload && IsOfDeployment(*workload)) {
      const WorkloadId owner{WorkloadKind::kDeployment,
                             {id.key.namespace_, workload->template_ref->name}};
      KX_ASSIGN_OR_RETURN(auto deployment, ReadWorkload(client, keys, owner, stop));
      if (deployment) {
        TakeTemplateOf(*std::move(deployment), *workload);
      }
    }
    return workload;
  };
}

ValueDigestReader::Fetch NewValueFetch(std::shared_ptr<rest::RESTClient> client) {
  return [client = std::move(client)](const SourceId& id, const std::stop_token& stop) {
    return id.type == SourceType::kSecret ? FetchValues<core::Secret>(client, id, stop)
                                          : FetchValues<core::ConfigMap>(client, id, stop);
  };
}

InformerSet NewInformers(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                         const WatchSettings& settings) {
  const auto fallbacks =
      settings.fallbacks ? settings.fallbacks : std::make_shared<Fallbacks>(settings.registry);
  InformerSet set{.namespace_ = std::move(namespace_)};
  const auto add_source = [&]<class T>(SourceType type) {
    if (!settings.ignored_types.contains(type)) {
      set.sources[type] = SourceInformer<T>(client, set.namespace_, type, settings);
    }
  };
  add_source.operator()<core::ConfigMap>(SourceType::kConfigMap);
  add_source.operator()<core::Secret>(SourceType::kSecret);
  if (!settings.ignored_types.contains(SourceType::kSecretProviderClass)) {
    AddProviderClasses(client, settings, fallbacks, set);
  }
  AddWorkloads(client, settings, fallbacks, set);
  return set;
}

}  // namespace kubexx::reloader
