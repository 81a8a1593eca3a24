#include "kubexx/controller/client.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

namespace kubexx::controller {
namespace {

// It is practically for ever, but it can still be added to a time.
constexpr base::Duration kLongestWait = std::chrono::years(10);

}  // namespace

std::string ResourceName(const apimachinery::ResourceInfo& resource) {
  std::string name(resource.group);
  if (!name.empty()) {
    name += '/';
  }
  return name.append(resource.version).append("/").append(resource.plural);
}

std::string Client::NameInCluster(const apimachinery::ResourceInfo& resource) const {
  const std::string name = ResourceName(resource);
  return parts_.cluster.empty() ? name : parts_.cluster + "/" + name;
}

apimachinery::Result<void> Client::AwaitSync(cache::SharedInformerBase& informer,
                                             const apimachinery::ResourceInfo& resource,
                                             std::string_view namespace_) const {
  using Scope = informers::SharedInformerFactory::Scope;
  if (!namespace_.empty() && parts_.caches->ScopeOf(resource, namespace_) == Scope::kNone) {
    return apimachinery::Fail(apimachinery::Reason::kBadRequest,
                              "read " + NameInCluster(resource) +
                                  " from the cache: it does not watch namespace " +
                                  std::string(namespace_));
  }
  // A stopped cache does not have what was created since, and a reader would take that for deleted.
  if (parts_.caches->IsShutDown()) {
    return FromCache(resource, {apimachinery::Reason::kUnavailable,
                                "the caches have been stopped, as they are when the manager's Run "
                                "ends; a client made from a kubernetes::Clientset reads from the "
                                "server"});
  }
  if (!informer.HasSynced()) {
    try {
      informer.Start();
    } catch (const std::system_error& error) {
      NoteEarlyRead();
      return FromCache(resource, {apimachinery::Reason::kUnavailable,
                                  std::string("its informer gets no thread from the system: ") +
                                      error.what() + "; try again when it has some"});
    }
    if (const auto synced =
            informer.AwaitSync(parts_.stop, std::min(parts_.first_read_timeout, kLongestWait));
        !synced) {
      NoteEarlyRead();
      return FromCache(resource, synced.error());
    }
  }
  if (auto readable = informer.SyncError(namespace_); !readable) {
    NoteEarlyRead();
    return readable;
  }
  return CheckOwnWrites(informer, resource, namespace_);
}

apimachinery::Result<void> Client::CheckOwnWrites(const cache::SharedInformerBase& informer,
                                                  const apimachinery::ResourceInfo& resource,
                                                  std::string_view namespace_) const {
  if (!parts_.writes) {
    return {};
  }
  const auto stale = parts_.writes->CheckRead(
      NameInCluster(resource), namespace_,
      [&informer](std::string_view at) { return informer.LastSyncResourceVersion(at); });
  if (!stale) {
    return {};
  }
  NoteEarlyRead();
  return apimachinery::Fail(apimachinery::Reason::kUnavailable,
                            "read " + stale->resource + " from the cache: it is at version " +
                                stale->cached + ", and this controller has written version " +
                                stale->written +
                                " before there was a cache; try again when the cache has it");
}

apimachinery::Error Client::FromCache(const apimachinery::ResourceInfo& resource,
                                      const apimachinery::Status& status) const {
  return apimachinery::Fail(
      status.WithContext("read " + NameInCluster(resource) + " from the cache"));
}

void Client::NoteEarlyRead() const {
  if (parts_.read_early) {
    parts_.read_early->store(true);
  }
}

apimachinery::Result<cache::UntypedRef> Client::GetCached(
    cache::SharedInformerBase& informer, const apimachinery::ResourceInfo& resource,
    const apimachinery::ObjectKey& key, cache::UntypedDecoder decode) const {
  if (!resource.namespaced && !key.namespace_.empty()) {
    // As on the server, the owner's namespace is ignored in the key of an object that has no
    // namespace.
    auto found = GetCached(informer, resource, {.namespace_ = {}, .name = key.name}, decode);
    // A reconcile whose key comes from an event of such an object would take it for deleted.
    if (!found && found.error().reason == apimachinery::Reason::kNotFound &&
        informer.Contains(key)) {
      return FromCache(resource,
                       {apimachinery::Reason::kBadRequest,
                        key.ToString() + " is in a namespace, and the program's type is "
                                         "cluster-scoped: the definition on the server has another "
                                         "scope than the one that belongs to the program"});
    }
    return found;
  }
  KX_RETURN_IF_ERROR(AwaitSync(informer, resource, key.namespace_));
  auto got = informer.GetDecoded(key, decode);
  return got ? std::move(got) : FromCache(resource, got.error());
}

kubernetes::UntypedClient Client::Untyped(const Kind& kind, std::string namespace_) const {
  return {parts_.rest, std::move(namespace_), kind.resource, kind.schema, parts_.write_defaults};
}

apimachinery::Result<void> Client::CreateUntyped(const Kind& kind,
                                                 const kubernetes::ObjectName& name,
                                                 const void* object,
                                                 const kubernetes::CreateOptions& options,
                                                 Answer answer) const {
  const kubernetes::UntypedClient client = Untyped(kind, std::string(name.namespace_));
  KX_RETURN_IF_ERROR(client.Create(name, object, options, answer.object, parts_.stop));
  if (!options.dry_run) {
    Note(kind, name.namespace_, *answer.version);
  }
  return {};
}

apimachinery::Result<void> Client::UpdateUntyped(const Kind& kind,
                                                 const kubernetes::ObjectName& name,
                                                 const void* object,
                                                 const kubernetes::UpdateOptions& options,
                                                 Answer answer) const {
  const kubernetes::UntypedClient client = Untyped(kind, std::string(name.namespace_));
  KX_RETURN_IF_ERROR(client.Update(name, object, options, answer.object, parts_.stop));
  if (!options.dry_run) {
    Note(kind, name.namespace_, *answer.version);
  }
  return {};
}

apimachinery::Result<void> Client::PatchUntyped(const Kind& kind,
                                                const apimachinery::ObjectKey& key,
                                                kubernetes::RawPatch patch,
                                                const kubernetes::PatchOptions& options,
                                                Answer answer) const {
  const kubernetes::UntypedClient client = Untyped(kind, key.namespace_);
  KX_RETURN_IF_ERROR(
      client.Patch({.name = key.name}, std::move(patch), options, answer.object, parts_.stop));
  if (!options.dry_run) {
    Note(kind, key.namespace_, *answer.version);
  }
  return {};
}

apimachinery::Result<void> Client::ApplyUntyped(const Kind& kind,
                                                const kubernetes::ObjectName& name,
                                                std::string json,
                                                const kubernetes::ApplyOptions& options,
                                                Answer answer) const {
  const kubernetes::UntypedClient client = Untyped(kind, std::string(name.namespace_));
  KX_RETURN_IF_ERROR(client.Apply(name, std::move(json), options, answer.object, parts_.stop));
  if (!options.dry_run) {
    Note(kind, name.namespace_, *answer.version);
  }
  return {};
}

apimachinery::Result<void> Client::DeleteCollectionUntyped(
    const Kind& kind, std::string_view namespace_, const apimachinery::ListOptions& selection,
    const kubernetes::DeleteOptions& options) const {
  if (kind.resource.namespaced && namespace_.empty()) {
    return apimachinery::Fail(apimachinery::Reason::kBadRequest,
                              "delete " + NameInCluster(kind.resource) + ": no namespace is named");
  }
  const kubernetes::UntypedClient client =
      Untyped(kind, kind.resource.namespaced ? std::string(namespace_) : std::string());
  return client.DeleteCollection(options, selection, parts_.stop);
}

void Client::Note(const Kind& kind, std::string_view namespace_, const std::string& version) const {
  using Scope = informers::SharedInformerFactory::Scope;
  if (!parts_.writes || parts_.write_defaults.dry_run) {
    return;
  }
  const Scope scope = parts_.caches->ScopeOf(kind.resource, namespace_);
  if (scope == Scope::kNone) {
    return;  // the cache will never have the object
  }
  const ConsistencyStore::Write write{.resource = NameInCluster(kind.resource),
                                      .namespace_ = std::string(namespace_),
                                      .version = version,
                                      .may_be_unseen = scope == Scope::kSelected};
  bool is_cached = false;
  // A reconcile may read either cache, and the two do not advance together.
  for (const std::type_index type : {kind.type, kind.metadata}) {
    if (const auto informer = parts_.caches->FindUntyped(type)) {
      is_cached = true;
      ConsistencyStore::Write awaited = write;
      awaited.cache = informer.get();
      awaited.cached = [informer, namespace_ = write.namespace_] {
        return informer->LastSyncResourceVersion(namespace_);
      };
      parts_.writes->Wrote(parts_.owner, std::move(awaited));
    }
  }
  if (!is_cached) {
    parts_.writes->WroteUncached(write);
  }
}

}  // namespace kubexx::controller
