/// @file
/// Reads and writes objects of any type in the storage.
#ifndef KUBEXX_APISERVER_ENDPOINTS_STORE_OBJECT_STORE_H_
#define KUBEXX_APISERVER_ENDPOINTS_STORE_OBJECT_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/preparation/prepare.h"
#include "kubexx/apiserver/endpoints/registry/custom_names.h"
#include "kubexx/apiserver/endpoints/registry/definition_cache.h"
#include "kubexx/apiserver/endpoints/services/service_allocator.h"
#include "kubexx/apiserver/endpoints/store/creation_gate.h"
#include "kubexx/apiserver/endpoints/store/deletion.h"
#include "kubexx/apiserver/endpoints/store/turn.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/object/stored_object.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// The result of a deletion.
struct DeleteOutcome {
  bool gone = false;         ///< false when the object waits for its finalizers or a kubelet
  codec::JsonTree object{};  ///< the object's last state
};

/// Reads and writes objects, as JSON trees with a resourceVersion. Blocking, thread-safe. A dry run
/// does everything except the write.
class ObjectStore {
 public:
  /// Makes the new object from the current one, which has its defaults.
  using Change = base::FunctionRef<apimachinery::Result<codec::JsonTree>(const codec::JsonTree&)>;
  /// Decides whether a write may be done, after everything else about it is decided. `object` is
  /// null for a deletion, `old` for a create. No lock is held during the call. Called as often as
  /// Change.
  using Check = std::function<apimachinery::Result<void>(const codec::JsonTree* object,
                                                         const codec::JsonTree* old)>;

  /// `storage` and `clock` must outlive it. `ranges` and `shared_storage`: see ServiceAllocator.
  ObjectStore(storage::Storage& storage, StoredForm form, base::Clock& clock, ServiceRanges ranges,
              bool shared_storage)
      : storage_(storage),
        form_(form),
        clock_(clock),
        services_(storage, std::move(ranges), shared_storage) {}

  storage::Storage& storage() { return storage_; }
  base::Clock& clock() { return clock_; }
  /// The gate that every Create passes.
  CreationGate& gate() { return gate_; }
  /// The ranges of addresses and ports for Services.
  const ServiceRanges& service_ranges() const { return services_.ranges(); }

  /// The names of all definitions of custom resources that are stored now.
  apimachinery::Result<std::vector<DefinitionCache<DefinitionNames>::Ref>> ReadNames(
      const std::stop_token& stop) {
    KX_ASSIGN_OR_RETURN(auto found, names_.Read(storage_, stop));
    return std::move(found.all);
  }

  /// Whoever decides about the names of a definition takes this turn before it reads the names of
  /// all, and has it until the decision is written: of two definitions that are written at once,
  /// the second one knows the names of the first. Nobody waits for anything but the storage
  /// meanwhile. Create and Update take it themselves, except for WritePart::kAll.
  Turn& naming() { return naming_; }

  /// Returns an object; kNotFound when it does not exist.
  apimachinery::Result<codec::JsonTree> Get(const ResourceType& type,
                                            const apimachinery::ObjectKey& key,
                                            std::stop_token stop);

  /// Checks whether an object may be created in a namespace, or for the object `name` in it.
  /// Returns kNotFound when the namespace does not exist, and kForbidden when it is being deleted.
  /// Create checks it again.
  apimachinery::Result<void> CheckNamespace(const ResourceType& type, const std::string& name,
                                            const std::string& namespace_,
                                            const std::stop_token& stop);

  /// Creates an object. `object` must be canonical; `namespace_` is that of the request. Returns
  /// kAlreadyExists, kInvalid, kNotFound when the namespace does not exist, and kForbidden when the
  /// namespace, or the definition of a custom resource, is being deleted.
  apimachinery::Result<codec::JsonTree> Create(const ResourceType& type,
                                               const std::string& namespace_,
                                               codec::JsonTree object, bool dry_run,
                                               std::stop_token stop, const Check& check = {});

  /// Calls `change`, possibly several times, and writes its result. Deletes the object when it was
  /// marked for deletion and this write has removed its last finalizer.
  apimachinery::Result<codec::JsonTree> Update(const ResourceType& type,
                                               const apimachinery::ObjectKey& key, WritePart part,
                                               Change change, bool dry_run, std::stop_token stop,
                                               const Check& check = {});

  apimachinery::Result<DeleteOutcome> Delete(const ResourceType& type,
                                             const apimachinery::ObjectKey& key,
                                             const DeleteOptions& options, bool dry_run,
                                             std::stop_token stop, const Check& check = {});

 private:
  /// Prepares and checks a new object. For a Service, returns the claim of its addresses and ports.
  apimachinery::Result<std::optional<ServiceAllocator::Claim>> PrepareOne(
      const ResourceType& type, const std::string& namespace_, bool dry_run,
      codec::JsonTree& object, const std::stop_token& stop);
  /// One attempt of Create, with one generated name if the object has generateName.
  apimachinery::Result<codec::JsonTree> CreateOnce(const ResourceType& type,
                                                   const std::string& namespace_,
                                                   codec::JsonTree object, bool dry_run,
                                                   std::stop_token stop, const Check& check);
  /// Decides about the names of a definition, for the webhooks that are about to be asked. Returns
  /// its status before that; null for another object.
  apimachinery::Result<codec::JsonTree> DecideFirst(const ResourceType& type,
                                                    codec::JsonTree& object,
                                                    const std::stop_token& stop);
  /// Takes the turn and decides about them again, from the status that DecideFirst returned: a
  /// webhook may take long, and others may have got the names meanwhile. Returns null for another
  /// object.
  apimachinery::Result<std::unique_ptr<Turn::Hold>> DecideNames(const ResourceType& type,
                                                                codec::JsonTree undecided,
                                                                codec::JsonTree& object,
                                                                const std::stop_token& stop);
  apimachinery::Result<codec::JsonTree> TreeOf(const ResourceType& type,
                                               const storage::KeyValue& kv,
                                               const std::stop_token& stop) const;
  /// Checks whether an object may be created there. The caller must have a pass of the gate.
  apimachinery::Result<void> CheckPlace(const ResourceType& type, const std::string& name,
                                        const std::string& namespace_, const std::stop_token& stop);
  /// Returns std::nullopt when somebody else has written the object meanwhile.
  apimachinery::Result<std::optional<DeleteOutcome>> TryDelete(
      const ResourceType& type, const apimachinery::ObjectKey& key, const DeleteOptions& options,
      bool dry_run, const std::stop_token& stop, const Check& check);

  storage::Storage& storage_;
  const StoredForm form_;
  base::Clock& clock_;
  CreationGate gate_{};
  ServiceAllocator services_;
  DefinitionCache<DefinitionNames> names_{NamesOfDefinition};
  Turn naming_{};
};

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_STORE_OBJECT_STORE_H_
