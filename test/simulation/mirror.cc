#include "mirror.h"

#include <initializer_list>
#include <utility>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/schema.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/cache/list_watch_from_client.h"
#include "kubexx/cache/shared_informer.h"
#include "kubexx/cache/shared_informer_base.h"

namespace kubexx::simulation {
namespace {

using apimachinery::ObjectKey;

constexpr std::size_t kConfigMaps = 0;

std::string VersionOf(const std::map<ObjectKey, std::string>& versions, const ObjectKey& key) {
  const auto found = versions.find(key);
  return found == versions.end() ? "none" : found->second;
}

}  // namespace

Mirror::Mirror(const std::shared_ptr<rest::RESTClient>& client, oracle::Random random,
               std::chrono::seconds watches_last)
    : watches_last_(watches_last),
      copier_([this](const ObjectKey& key) { return Told(kConfigMaps, key); }, random) {
  {
    const base::MutexLock lock(mu_);
    kinds_.resize(3);
  }
  Add<api::core::v1::ConfigMap>(client, kConfigMaps, "/registry/configmaps/");
  Add<api::core::v1::Secret>(client, 1, "/registry/secrets/");
  Add<api::apps::v1::Deployment>(client, 2, "/registry/deployments/");
}

Mirror::~Mirror() {
  handlers_.clear();
  std::vector<Kind> kinds;
  {
    const base::MutexLock lock(mu_);
    kinds.swap(kinds_);
  }
  for (const Kind& kind : kinds) {
    kind.informer->Stop();
  }
}

template <class T>
void Mirror::Add(const std::shared_ptr<rest::RESTClient>& client, std::size_t index,
                 std::string prefix) {
  auto informer = std::make_shared<cache::SharedInformer<T>>(
      cache::NewListWatchFromClient(client, api::ResourceOf<T>(), ""),
      cache::InformerOptions{
          .name = prefix, .tuning = {.min_watch_timeout = watches_last_}, .executor = executor_});
  handlers_.push_back(informer->AddEventHandler(
      "mirror", {.on_add =
                     [this, index](const cache::Ref<T>& object, bool) {
                       Tell(index, {object->metadata.namespace_, object->metadata.name},
                            &object->metadata.resource_version);
                     },
                 .on_update =
                     [this, index](const cache::Ref<T>&, const cache::Ref<T>& object) {
                       Tell(index, {object->metadata.namespace_, object->metadata.name},
                            &object->metadata.resource_version);
                     },
                 .on_delete =
                     [this, index](const cache::Ref<T>& object, bool) {
                       Tell(index, {object->metadata.namespace_, object->metadata.name}, nullptr);
                     }}));
  {
    const base::MutexLock lock(mu_);
    kinds_[index].prefix = std::move(prefix);
    kinds_[index].informer = informer;
  }
  informer->Start();
}

void Mirror::Tell(std::size_t index, const ObjectKey& key, const std::string* version) {
  {
    const base::MutexLock lock(mu_);
    if (version == nullptr) {
      kinds_[index].told.erase(key);
    } else {
      kinds_[index].told[key] = *version;
    }
  }
  if (index == kConfigMaps) {
    copier_.Changed(key);
  }
}

std::string Mirror::Told(std::size_t index, const ObjectKey& key) {
  const base::MutexLock lock(mu_);
  return VersionOf(kinds_[index].told, key);
}

Mirror::Versions Mirror::VersionsIn(const cache::SharedInformerBase& informer) {
  Versions versions;
  informer.ForEachRaw(
      [&versions](const cache::Object& object) { versions[object.key] = object.resource_version; });
  return versions;
}

std::optional<std::string> Mirror::Difference(apiserver::storage::Storage& storage) {
  std::vector<Kind> kinds;
  {
    const base::MutexLock lock(mu_);
    kinds = kinds_;
  }
  for (const Kind& kind : kinds) {
    Versions there;
    (void)storage.GetList(kind.prefix, {.keys_only = true},
                          [&](apiserver::storage::KeyValue&& item) -> apimachinery::Result<void> {
                            const std::string key = item.key.substr(kind.prefix.size());
                            const std::size_t slash = key.find('/');
                            there[{key.substr(0, slash), key.substr(slash + 1)}] =
                                std::to_string(item.mod_revision);
                            return {};
                          },
                          {});
    const Versions stored = VersionsIn(*kind.informer);
    for (const Versions* const each :
         std::initializer_list<const Versions*>{&there, &stored, &kind.told}) {
      for (const auto& [key, version] : *each) {
        if (VersionOf(there, key) != version || VersionOf(stored, key) != version ||
            VersionOf(kind.told, key) != version) {
          return kind.prefix + key.ToString() + " has version " + VersionOf(there, key) +
                 ", in the informer " + VersionOf(stored, key) + ", for its handler " +
                 VersionOf(kind.told, key);
        }
      }
    }
  }
  const Versions copies = copier_.copies();
  for (const Versions* const each :
       std::initializer_list<const Versions*>{&copies, &kinds[kConfigMaps].told}) {
    for (const auto& [key, version] : *each) {
      const std::string told = VersionOf(kinds[kConfigMaps].told, key);
      if (const std::string copied = VersionOf(copies, key); copied != told) {
        return "the configmap " + key.ToString() + " has version " + told +
               ", and the controller that copies it has copied " + copied;
      }
    }
  }
  return std::nullopt;
}

}  // namespace kubexx::simulation
