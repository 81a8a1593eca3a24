#include "kubexx/reloader/watch/kubernetes_io.h"

#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/reflector.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/dynamic/dynamic_informer.h"
#include "kubexx/dynamic/metadata_client.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/fields/field_projection.h"
#include "kubexx/reloader/model/baseline_owner.h"
#include "kubexx/reloader/model/projection.h"
#include "kubexx/reloader/model/provider_class_projection.h"
#include "kubexx/reloader/watch/described_list_watch.h"
#include "kubexx/reloader/watch/watch_errors.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::reloader {
namespace {

namespace core = api::core::v1;
using apimachinery::Reason;
using apimachinery::Result;

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

/// Makes one view over the set's namespaces, or over all namespaces. `list_watch_of` makes the
/// ListerWatcher of one namespace.
template <class Informer = cache::SharedInformerBase>
std::shared_ptr<Informer> NewInformer(
    const InformerSet& set, cache::InformerOptions options,
    base::FunctionRef<std::shared_ptr<cache::ListerWatcher>(const std::string&)> list_watch_of) {
  if (set.namespaces.empty()) {
    return std::make_shared<Informer>(list_watch_of(""), std::move(options));
  }
  std::vector<cache::NamespacedSource> list_watches;
  for (const std::string& namespace_ : set.namespaces) {
    list_watches.push_back({namespace_, list_watch_of(namespace_)});
  }
  return std::make_shared<Informer>(std::move(list_watches), std::move(options));
}

cache::InformerOptions OptionsOf(const apimachinery::ResourceInfo& resource,
                                 const WatchSettings& settings,
                                 std::function<Result<void>(cache::Object&)> transform) {
  return {.name = std::string(resource.plural),
          .registry = settings.registry,
          .transform = std::move(transform),
          .executor = settings.executor,
          .group = std::string(resource.group),
          .version = std::string(resource.version),
          .resource = std::string(resource.plural)};
}

/// Logs an error that does not only control the reflector.
void LogOthers(WatchErrors& errors, const apimachinery::Status& status) {
  if (!WorkloadListWatch::IsOwn(status)) {
    errors.Log(status);
  }
}

/// Adds SecretProviderClasses, whose API comes with the driver, and the driver's reports of them.
/// The label selector applies only to the classes, because nobody labels the driver's objects.
void AddProviderClasses(const std::shared_ptr<rest::RESTClient>& client,
                        const WatchSettings& settings, const std::shared_ptr<Fallbacks>& fallbacks,
                        InformerSet& set) {
  const auto informer_of = [&](const apimachinery::ResourceInfo& resource,
                               const std::string& label_selector, auto transform) {
    WorkloadListWatch::Options options{.other_kind = resource.kind};
    options.is_served = [served = settings.served, resource](base::Duration max_age,
                                                             const std::stop_token& stop) {
      return served->Has(resource, max_age, stop);
    };
    cache::InformerOptions informer = OptionsOf(resource, settings, std::move(transform));
    informer.use_watch_list = false;
    informer.on_error = [errors = std::make_shared<WatchErrors>(informer.name)](
                            const apimachinery::Status& status) { LogOthers(*errors, status); };
    return NewInformer(set, std::move(informer), [&](const std::string& namespace_) {
      options.namespace_ = namespace_;
      return std::make_shared<WorkloadListWatch>(
          DynamicListWatchOf(client, resource, namespace_, label_selector), fallbacks, options);
    });
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
    WorkloadListWatch::Options options{.kind = kind};
    if (!IsBuiltIn(kind)) {
      options.is_served = [served = settings.served, kind](base::Duration max_age,
                                                           const std::stop_token& stop) {
        return served->Has(ResourceOf(kind), max_age, stop);
      };
    }
    if (set.namespaces.empty()) {
      options.in_namespace = [client, kind](const std::string& namespace_) {
        return ListWatchOf(client, kind, namespace_);
      };
    }
    cache::InformerOptions informer =
        OptionsOf(resource, settings, TransformFor(kind, settings.keys));
    std::stop_source late;
    set.late[kind] = late.get_token();
    options.on_late = [late, plural = informer.name](const apimachinery::Status& status) mutable {
      if (late.request_stop()) {
        logging::Warning(
            "Cannot list the workloads of a kind; the operator rolls those of other kinds "
            "meanwhile",
            {{"resource", plural}, {"error", status}});
      }
    };
    // A refused WatchList is logged each time, and it is usual that a custom API is not served.
    informer.use_watch_list = IsBuiltIn(kind);
    informer.on_error = [errors = std::make_shared<WatchErrors>(informer.name)](
                            const apimachinery::Status& status) { LogOthers(*errors, status); };
    set.workloads[kind] = NewInformer(set, std::move(informer), [&](const std::string& namespace_) {
      options.namespace_ = namespace_;
      const auto list_watch = std::make_shared<WorkloadListWatch>(
          ListWatchOf(client, kind, namespace_), fallbacks, options);
      set.workload_list_watches[kind].push_back({namespace_, list_watch});
      return list_watch;
    });
  }
}

/// For a type of the core group.
template <class T>
void AddSources(const std::shared_ptr<rest::RESTClient>& client, SourceType type,
                const WatchSettings& settings, InformerSet& set) {
  const apimachinery::ResourceInfo& resource = api::ResourceOf<T>();
  cache::InformerOptions options =
      OptionsOf(resource, settings, TransformFor(type, settings.keys, settings.source_detail));
  const auto errors = std::make_shared<WatchErrors>(options.name);
  options.on_error = [errors](const apimachinery::Status& status) { errors->Log(status); };
  if (set.namespaces.empty()) {
    const std::stop_source refused;
    set.refused[type] = refused.get_token();
    options.on_error = [refused, errors](const apimachinery::Status& status) mutable {
      errors->Log(status);
      if (status.reason == Reason::kForbidden || status.reason == Reason::kUnauthorized ||
          status.reason == Reason::kNotFound) {
        refused.request_stop();
      }
    };
  }
  set.sources[type] = NewInformer<cache::SharedInformer<T>>(
      set, std::move(options), [&](const std::string& namespace_) {
        std::shared_ptr<cache::ListerWatcher> list_watch = cache::NewListWatchFromClient(
            client, resource, namespace_,
            {.label_selector = settings.source_label_selector,
             .field_selector = type == SourceType::kSecret
                                   ? "type!=" + std::string(kHelmReleaseType)
                                   : std::string()});
        if (settings.refusals != nullptr) {
          list_watch =
              settings.refusals->Follow(std::move(list_watch), std::string(resource.plural),
                                        namespace_, Refusals::Need::kPart);
        }
        return list_watch;
      });
}

/// Adds a described kind, whose API may come and go. Nobody waits for it: until it is listed, its
/// sources are unknown.
void AddDescribed(const std::shared_ptr<rest::RESTClient>& client, SourceType type,
                  const WatchSettings& settings, const std::shared_ptr<Fallbacks>& fallbacks,
                  InformerSet& set) {
  const SourceKind& kind = DescribedBy(type)->described;
  const apimachinery::ResourceInfo resource = kind.Resource();
  cache::InformerOptions options = OptionsOf(
      resource, settings, TransformForFields(kind, settings.keys, settings.source_detail));
  options.use_watch_list = false;
  const std::stop_source refused;
  set.refused[type] = refused.get_token();
  options.on_error = [refused, errors = std::make_shared<WatchErrors>(options.name)](
                         const apimachinery::Status& status) mutable {
    if (!DescribedListWatch::IsTold(status)) {
      errors->Log(status);
    }
    refused.request_stop();
  };
  set.sources[type] = NewInformer(set, std::move(options), [&](const std::string& namespace_) {
    std::shared_ptr<cache::ListerWatcher> list_watch = std::make_shared<DescribedListWatch>(
        DynamicListWatchOf(client, resource, namespace_, settings.source_label_selector), fallbacks,
        kind.kind, namespace_);
    if (settings.refusals != nullptr) {
      list_watch = settings.refusals->Follow(std::move(list_watch), kind.resource, namespace_,
                                             Refusals::Need::kPart);
    }
    return list_watch;
  });
}

dynamic::DynamicResource ObjectsOfType(const std::shared_ptr<rest::RESTClient>& client,
                                       const SourceId& id) {
  const SourceKind& kind = DescribedBy(id.type)->described;
  return dynamic::DynamicClient(client).Resource({kind.group, kind.version, kind.resource},
                                                 id.key.namespace_);
}

Result<std::optional<ValueDigests>> FetchFields(const std::shared_ptr<rest::RESTClient>& client,
                                                const SourceId& id, const std::stop_token& stop) {
  KX_ASSIGN_OR_RETURN(
      const auto list,
      ObjectsOfType(client, id).List({.field_selector = "metadata.name=" + id.key.name}, stop));
  ValueDigests digests{.whole = kNoSource};
  if (!list.items.empty()) {
    digests = FieldDigestsOf(DescribedBy(id.type)->described, list.items[0].tree());
  }
  digests.read_at = VersionNumber(list.metadata.resource_version);
  return std::optional(std::move(digests));
}

template <class T>
Result<std::optional<ValueDigests>> FetchValues(const std::shared_ptr<rest::RESTClient>& client,
                                                const SourceId& id, const std::stop_token& stop) {
  const kubernetes::ResourceClient<T> resource(client, id.key.namespace_);
  KX_ASSIGN_OR_RETURN(const auto list,
                      resource.List({.field_selector = "metadata.name=" + id.key.name}, stop));
  const std::uint64_t read_at = VersionNumber(list.metadata.resource_version);
  if (list.items.empty()) {
    return std::optional(ValueDigests{.whole = kNoSource, .read_at = read_at});
  }
  ValueDigests digests = ValueDigestsOf(list.items[0]);
  digests.read_at = read_at;
  digests.written = LastWritten(list.items[0].metadata);
  digests.keys_written = KeysLastWritten(list.items[0].metadata);
  return std::optional(std::move(digests));
}

}  // namespace

ValueDigestReader::Fetch NewValueFetch(std::shared_ptr<rest::RESTClient> client) {
  return [client = std::move(client)](const SourceId& source, const std::stop_token& stop) {
    const SourceId id{source.type, ObjectKeyOf(source)};
    return IsDescribed(id.type)             ? FetchFields(client, id, stop)
           : id.type == SourceType::kSecret ? FetchValues<core::Secret>(client, id, stop)
                                            : FetchValues<core::ConfigMap>(client, id, stop);
  };
}

SourceExists NewSourceQuery(std::shared_ptr<rest::RESTClient> client) {
  return [client = std::move(client)](const SourceId& id,
                                      const std::stop_token& stop) -> Result<bool> {
    const KnownSourceKind* kind = DescribedBy(id.type);
    const dynamic::MetadataResource resource = dynamic::MetadataClient(client).Resource(
        {kind == nullptr ? "" : kind->described.group,
         kind == nullptr ? "v1" : kind->described.version, std::string(NamesOf(id.type).plural)},
        id.key.namespace_);
    KX_ASSIGN_OR_RETURN(const auto list,
                        resource.List({.field_selector = "metadata.name=" + id.key.name}, stop));
    return !list.items.empty();
  };
}

InformerSet NewInformers(std::shared_ptr<rest::RESTClient> client,
                         const std::vector<std::string>& namespaces, WatchSettings settings) {
  if (!settings.executor) {
    settings.executor = std::make_shared<base::Executor>();
  }
  if (!settings.served) {
    settings.served = std::make_shared<ServedApis>(client);
  }
  const auto fallbacks =
      settings.fallbacks ? settings.fallbacks : std::make_shared<Fallbacks>(settings.registry);
  InformerSet set;
  set.namespaces.insert(namespaces.begin(), namespaces.end());
  if (!settings.ignored_types.contains(SourceType::kConfigMap)) {
    AddSources<core::ConfigMap>(client, SourceType::kConfigMap, settings, set);
  }
  if (!settings.ignored_types.contains(SourceType::kSecret)) {
    AddSources<core::Secret>(client, SourceType::kSecret, settings, set);
  }
  if (!settings.ignored_types.contains(SourceType::kSecretProviderClass)) {
    AddProviderClasses(client, settings, fallbacks, set);
  }
  for (const std::string& kind : settings.source_kinds) {
    if (const auto type = TypeCalled(&SourceTypeNames::kind, kind); type && IsDescribed(*type)) {
      AddDescribed(client, *type, settings, fallbacks, set);
    }
  }
  AddWorkloads(client, settings, fallbacks, set);
  return set;
}

InformerSet NewInformers(std::shared_ptr<rest::RESTClient> client, std::string namespace_,
                         const WatchSettings& settings) {
  std::vector<std::string> namespaces;
  if (!namespace_.empty()) {
    namespaces.push_back(std::move(namespace_));
  }
  return NewInformers(std::move(client), namespaces, settings);
}

}  // namespace kubexx::reloader
