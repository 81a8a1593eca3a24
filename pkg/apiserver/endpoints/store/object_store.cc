#include "kubexx/apiserver/endpoints/store/object_store.h"

#include <memory>
#include <optional>
#include <utility>

#include "kubexx/api/registry.gen.h"
#include "kubexx/apimachinery/status_causes.h"
#include "kubexx/apimachinery/time.h"
#include "kubexx/apiserver/endpoints/preparation/server_metadata.h"
#include "kubexx/apiserver/endpoints/registry/custom_types.h"
#include "kubexx/apiserver/endpoints/registry/definition_type.h"
#include "kubexx/apiserver/endpoints/services/service_addresses.h"
#include "kubexx/apiserver/managedfields/managers.h"
#include "kubexx/apiserver/object/conditions.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/status_json.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using codec::JsonTree;

/// As in kube-apiserver, this many names are generated for one object when others have the first
/// ones.
constexpr int kMaxNames = 8;

const ResourceType& NamespaceType() {
  static const ResourceType kType = [] {
    ResourceType type;
    type.kind = "Namespace";
    type.plural = "namespaces";
    type.version = "v1";
    type.prefix = "/registry/namespaces/";
    type.namespaced = false;
    type.schema = api::Registry().Find("v1", "Namespace");
    return type;
  }();
  return kType;
}

/// Turns the storage's error about a key into an error about the object.
Status AboutObject(const ResourceType& type, std::string_view name, Status status) {
  if (status.reason == Reason::kNotFound) {
    return NotFound(type, name);
  }
  return status.reason == Reason::kAlreadyExists ? AlreadyExists(type, name) : std::move(status);
}

using ServiceClaim = std::optional<ServiceAllocator::Claim>;

/// Keeps or gives back what was claimed for a write, depending on the store's answer.
void EndClaim(ServiceClaim& claim, const Result<void>& written) {
  if (!claim) {
    return;
  }
  if (written) {
    claim->Commit();
    return;
  }
  switch (written.error().reason) {
    case Reason::kNotFound:
    case Reason::kAlreadyExists:
    case Reason::kConflict:
    case Reason::kInvalid:
    case Reason::kForbidden:
    case Reason::kBadRequest:
    case Reason::kRequestEntityTooLarge:
      break;
    default:
      claim->Doubt();
  }
  claim.reset();
}

}  // namespace

Result<JsonTree> ObjectStore::TreeOf(const ResourceType& type, const storage::KeyValue& kv,
                                     const std::stop_token& stop) const {
  KX_ASSIGN_OR_RETURN(const std::string json, JsonOfStored(type, *kv.value, kv.mod_revision, stop));
  return JsonTree::Parse(json);
}

Result<JsonTree> ObjectStore::Get(const ResourceType& type, const apimachinery::ObjectKey& key,
                                  std::stop_token stop) {
  const auto kv = storage_.Get(type.StorageKey(key), 0, stop);
  if (!kv) {
    return Fail(AboutObject(type, key.name, kv.error()));
  }
  return TreeOf(type, *kv, stop);
}

Result<void> ObjectStore::CheckPlace(const ResourceType& type, const std::string& name,
                                     const std::string& namespace_, const std::stop_token& stop) {
  if (type.custom && !gate_.IsOpen(type.prefix, type.definition_uid)) {
    return Fail(Forbidden(type, name,
                          "create not allowed while custom resource definition is terminating"));
  }
  return CheckNamespace(type, name, namespace_, stop);
}

Result<void> ObjectStore::CheckNamespace(const ResourceType& type, const std::string& name,
                                         const std::string& namespace_,
                                         const std::stop_token& stop) {
  if (!type.namespaced) {
    return {};
  }
  KX_ASSIGN_OR_RETURN(const JsonTree object, Get(NamespaceType(), {.name = namespace_}, stop));
  if (!IsDeleting(object)) {
    return {};
  }
  Status status = Forbidden(type, name,
                            "unable to create new content in namespace " + namespace_ +
                                " because it is being terminated");
  status.details.causes.push_back({.reason = std::string(apimachinery::kNamespaceTerminatingCause),
                                   .message = "namespace " + namespace_ + " is being terminated",
                                   .field = "metadata.namespace"});
  return Fail(std::move(status));
}

Result<JsonTree> ObjectStore::Create(const ResourceType& type, const std::string& namespace_,
                                     JsonTree object, bool dry_run, std::stop_token stop,
                                     const Check& check) {
  const bool generated = MetaString(object, "name").empty();
  for (int others = generated ? kMaxNames - 1 : 0; others > 0; --others) {
    auto created = CreateOnce(type, namespace_, object, dry_run, stop, check);
    if (created || created.error().reason != Reason::kAlreadyExists) {
      return created;
    }
  }
  return CreateOnce(type, namespace_, std::move(object), dry_run, stop, check);
}

Result<ServiceClaim> ObjectStore::PrepareOne(const ResourceType& type,
                                             const std::string& namespace_, bool dry_run,
                                             JsonTree& object, const std::stop_token& stop) {
  ServiceClaim claim;
  if (IsService(type)) {
    if (const std::string prefix = MetaString(object, "generateName");
        MetaString(object, "name").empty() && !prefix.empty()) {
      SetMeta(object, "name", GeneratedName(prefix));
    }
    SetDefaults(type, object);
    KX_ASSIGN_OR_RETURN(auto allocated, AllocateNew(services_, type, dry_run, object, stop));
    claim.emplace(std::move(allocated));
  }
  KX_RETURN_IF_ERROR(PrepareCreate(type, namespace_, clock_, object, stop));
  return claim;
}

Result<JsonTree> ObjectStore::DecideFirst(const ResourceType& type, JsonTree& object,
                                          const std::stop_token& stop) {
  JsonTree undecided;
  if (IsCustomResourceDefinition(type)) {
    undecided = object["status"];
    KX_ASSIGN_OR_RETURN(const auto names, ReadNames(stop));
    EstablishDefinition(clock_, TakenBy(names), object);
  }
  return undecided;
}

Result<std::unique_ptr<Turn::Hold>> ObjectStore::DecideNames(const ResourceType& type,
                                                             JsonTree undecided, JsonTree& object,
                                                             const std::stop_token& stop) {
  if (!IsCustomResourceDefinition(type)) {
    return nullptr;
  }
  KX_ASSIGN_OR_RETURN(auto hold, naming_.Take(clock_, stop));
  object["status"] = std::move(undecided);
  KX_RETURN_IF_ERROR(DecideFirst(type, object, stop));
  return hold;
}

Result<JsonTree> ObjectStore::CreateOnce(const ResourceType& type, const std::string& namespace_,
                                         JsonTree object, bool dry_run, std::stop_token stop,
                                         const Check& check) {
  const bool generated = MetaString(object, "name").empty();
  // As in kube-apiserver, only the store checks the version of a new object, and a dry run does not
  // reach the store.
  const std::string version = dry_run ? MetaString(object, "resourceVersion") : std::string();
  if (dry_run) {
    SetMeta(object, "resourceVersion", "");
  }
  auto prepared = PrepareOne(type, namespace_, dry_run, object, stop);
  if (!prepared) {
    // When nothing can be created there, the other faults of the object do not matter.
    KX_RETURN_IF_ERROR(CheckPlace(type, MetaString(object, generated ? "generateName" : "name"),
                                  namespace_, stop));
    return Fail(prepared.error());
  }
  ServiceClaim claim = std::move(*prepared);
  KX_ASSIGN_OR_RETURN(JsonTree undecided, DecideFirst(type, object, stop));
  if (check) {
    KX_RETURN_IF_ERROR(check(&object, nullptr));
  }
  const apimachinery::ObjectKey key = KeyOf(object);
  KX_ASSIGN_OR_RETURN(auto naming, DecideNames(type, std::move(undecided), object, stop));
  if (IsConverted(type)) {  // When nothing can be created there, no webhook is called.
    KX_RETURN_IF_ERROR(CheckPlace(type, key.name, namespace_, stop));
  }
  KX_ASSIGN_OR_RETURN(std::string value, StoredOf(type, object, form_, stop));
  std::optional<CreationGate::Pass> pass(
      std::in_place, gate_,
      CreationGate::Place{.prefix = type.prefix, .namespace_ = key.namespace_});
  KX_RETURN_IF_ERROR(CheckPlace(type, key.name, namespace_, stop));
  if (dry_run) {
    const auto existing = storage_.Get(type.StorageKey(key), 0, std::move(stop));
    if (existing) {
      return Fail(AlreadyExists(type, key.name));
    }
    SetMeta(object, "resourceVersion", version);
    return object;
  }
  const auto kv = storage_.Create(type.StorageKey(key), std::move(value), stop);
  pass.reset();  // a webhook may be called for the answer
  naming.reset();
  EndClaim(claim, kv ? Result<void>() : Fail(kv.error()));
  if (!kv) {
    Status status = AboutObject(type, key.name, kv.error());
    if (status.reason == Reason::kAlreadyExists) {
      const auto other = Get(type, key, stop);
      status.message.insert(0, other && IsDeleting(*other) ? "object is being deleted: " : "");
    }
    if (generated && status.reason == Reason::kAlreadyExists) {
      status.details.retry_after = std::chrono::seconds(1);  // another attempt gets another name
    }
    return Fail(std::move(status));
  }
  return TreeOf(type, *kv, stop);
}

Result<JsonTree> ObjectStore::Update(const ResourceType& type, const apimachinery::ObjectKey& key,
                                     WritePart part, Change change, bool dry_run,
                                     std::stop_token stop, const Check& check) {
  // Is set when the last call of the update was for an object that only lacked its last finalizer.
  std::optional<JsonTree> last;
  std::optional<JsonTree> would_be;
  ServiceClaim claim;
  std::unique_ptr<Turn::Hold> naming;
  const auto update = [&](const storage::KeyValue& current) -> Result<std::optional<std::string>> {
    last.reset();
    claim.reset();
    naming.reset();
    KX_ASSIGN_OR_RETURN(const JsonTree stored, TreeOf(type, current, stop));
    // A default that did not exist when the object was stored is not a change of the next client.
    JsonTree before = stored;
    SetDefaults(type, before);
    KX_ASSIGN_OR_RETURN(JsonTree after, change(before));
    if (type.Has(Subresource::Is::kApproval) &&
        (part == WritePart::kStatus || part == WritePart::kApproval)) {
      SetConditionTimes(before, apimachinery::Time::From(clock_.Wall()).ToString(), after);
    }
    if (IsService(type) && part == WritePart::kObject) {
      KX_RETURN_IF_ERROR(CheckVersion(type, before, after));
      KX_ASSIGN_OR_RETURN(auto allocated,
                          AllocateChange(services_, type, dry_run, before, after, stop));
      claim.emplace(std::move(allocated));
    }
    KX_RETURN_IF_ERROR(PrepareUpdate(type, part, before, after, stop));
    JsonTree undecided;
    if (part == WritePart::kObject) {
      KX_ASSIGN_OR_RETURN(undecided, DecideFirst(type, after, stop));
    }
    if (check) {
      KX_RETURN_IF_ERROR(check(&after, &before));
    }
    if (part == WritePart::kObject) {
      KX_ASSIGN_OR_RETURN(naming, DecideNames(type, std::move(undecided), after, stop));
    }
    if (IsDone(type, before, after)) {
      last = std::move(after);
      if (IsService(type)) {
        claim.emplace(services_, type, dry_run, stop).GiveUpAll(stored);
      }
      return std::optional<std::string>();
    }
    // An object that is stored in another version is written in the present one, as a storage
    // migration expects.
    if ((after == stored || managedfields::DifferInTimesOnly(stored, after)) &&
        IsOfStorageVersion(type, *current.value)) {
      return std::optional<std::string>();
    }
    if (dry_run) {
      would_be = std::move(after);
      return std::optional<std::string>();
    }
    KX_ASSIGN_OR_RETURN(std::string value, StoredOf(type, after, form_, stop));
    return std::optional<std::string>(std::move(value));
  };
  while (true) {
    const auto kv = storage::GuaranteedUpdate(storage_, type.StorageKey(key), update, {}, stop);
    naming.reset();
    if (!last) {
      EndClaim(claim, kv ? Result<void>() : Fail(kv.error()));
    }
    if (!kv) {
      return Fail(AboutObject(type, key.name, kv.error()));
    }
    if (would_be) {
      return std::move(*would_be);
    }
    if (!last) {
      return TreeOf(type, *kv, stop);
    }
    if (dry_run) {
      return std::move(*last);
    }
    const auto deleted = storage_.Delete(type.StorageKey(key), kv->mod_revision, stop);
    EndClaim(claim, deleted ? Result<void>() : Fail(deleted.error()));
    if (deleted || deleted.error().reason == Reason::kNotFound) {
      return std::move(*last);
    }
    if (deleted.error().reason != Reason::kConflict) {
      return Fail(deleted.error());
    }
  }
}

Result<DeleteOutcome> ObjectStore::Delete(const ResourceType& type,
                                          const apimachinery::ObjectKey& key,
                                          const DeleteOptions& options, bool dry_run,
                                          std::stop_token stop, const Check& check) {
  while (true) {
    KX_ASSIGN_OR_RETURN(std::optional<DeleteOutcome> outcome,
                        TryDelete(type, key, options, dry_run, stop, check));
    if (outcome) {
      return std::move(*outcome);
    }
  }
}

Result<std::optional<DeleteOutcome>> ObjectStore::TryDelete(
    const ResourceType& type, const apimachinery::ObjectKey& key, const DeleteOptions& options,
    bool dry_run, const std::stop_token& stop, const Check& check) {
  const std::string storage_key = type.StorageKey(key);
  const auto kv = storage_.Get(storage_key, 0, stop);
  if (!kv) {
    return Fail(AboutObject(type, key.name, kv.error()));
  }
  KX_ASSIGN_OR_RETURN(JsonTree object, TreeOf(type, *kv, stop));
  KX_RETURN_IF_ERROR(CheckPreconditions(type, object, options));
  if (check) {
    KX_RETURN_IF_ERROR(check(nullptr, &object));
  }
  const DeletionStep step = PlanDeletion(type, options, clock_, object);
  if (dry_run || step == DeletionStep::kWait) {
    return std::optional<DeleteOutcome>(
        {.gone = step == DeletionStep::kRemove, .object = std::move(object)});
  }
  if (step == DeletionStep::kMark) {
    KX_ASSIGN_OR_RETURN(std::string value, StoredOf(type, object, form_, stop));
    KX_ASSIGN_OR_RETURN(
        const storage::Swap swap,
        storage_.CompareAndSwap(storage_key, kv->mod_revision, std::move(value), stop));
    if (!swap.done) {
      return std::optional<DeleteOutcome>();
    }
    KX_ASSIGN_OR_RETURN(JsonTree written, TreeOf(type, swap.current, stop));
    return std::optional<DeleteOutcome>({.gone = false, .object = std::move(written)});
  }
  ServiceClaim claim;
  if (IsService(type)) {
    claim.emplace(services_, type, dry_run, stop).GiveUpAll(object);
  }
  const auto deleted = storage_.Delete(storage_key, kv->mod_revision, stop);
  EndClaim(claim, deleted ? Result<void>() : Fail(deleted.error()));
  if (!deleted) {
    if (deleted.error().reason == Reason::kConflict) {
      return std::optional<DeleteOutcome>();
    }
    return Fail(AboutObject(type, key.name, deleted.error()));
  }
  SetMeta(object, "resourceVersion", std::to_string(deleted->revision));
  return std::optional<DeleteOutcome>({.gone = true, .object = std::move(object)});
}

}  // namespace kubexx::apiserver
