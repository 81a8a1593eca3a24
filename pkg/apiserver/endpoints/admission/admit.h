/// @file
/// The admission of writes: built-in plugins and webhooks.
#ifndef KUBEXX_APISERVER_ENDPOINTS_ADMISSION_ADMIT_H_
#define KUBEXX_APISERVER_ENDPOINTS_ADMISSION_ADMIT_H_

#include <optional>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/admission/attributes.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/endpoints/webhooks/webhooks.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// What the admission needs to know besides the request.
struct AdmitOptions {
  std::string operation{};  ///< CREATE, UPDATE or DELETE
  /// The type of the posted object when it is not that of the request: a Scale, a Binding, an
  /// Eviction or a TokenRequest. Must outlive the Admission.
  const ResourceType* posted = nullptr;
  std::string name{};  ///< the object's name when the request has none
  /// The DeleteOptions of a deletion.
  codec::JsonTree options{};
  bool dry_run = false;  ///< treat the request as a dry run even if the query does not say so
};

/// The admission of one write. It costs little when no webhooks are configured. Not thread-safe;
/// `call` must outlive it.
class Admission {
 public:
  Admission(const Call& call, AdmitOptions options);

  /// Changes `object`, which is about to be written instead of `old` (null for a create): gives
  /// pods their tolerations, new pods the parts of their service account and of their classes, and
  /// new claims and Ingresses the default class (see GiveTolerations, GiveServiceAccount,
  /// GivePriority, GiveRuntimeClass and GiveDefaultClass), and calls the mutating webhooks.
  /// `object` must have its defaults and managers. Defaults are set again for what webhooks add; no
  /// manager owns those fields, as in kube-apiserver. Takes out owner references that the object
  /// has twice; see DropDuplicateOwners.
  apimachinery::Result<void> Mutate(codec::JsonTree& object, const codec::JsonTree* old);

  /// The same for a create, in the namespace of the request. When the namespace does not exist or
  /// is being deleted, it returns kNotFound or kForbidden before it asks anybody else.
  apimachinery::Result<void> MutateNew(codec::JsonTree& object);
  /// Whether any mutating webhook is configured.
  bool mutates() const { return !mutating_->empty(); }

  /// Returns Validate as a check for the ObjectStore. When a Scale was posted, the check validates
  /// the object's Scale. Empty when nothing has to be checked and no webhook asked. Must not
  /// outlive this object.
  ObjectStore::Check check();

  /// Checks a write that is about to happen (see CheckOverhead and CheckClaimGrowth), and asks the
  /// validating webhooks about it. For a deletion it asks
  /// both kinds of webhooks.
  apimachinery::Result<void> Validate(const codec::JsonTree* object, const codec::JsonTree* old);

 private:
  /// Mutate without the owners of the object.
  apimachinery::Result<void> AskToMutate(codec::JsonTree& object, const codec::JsonTree* old);
  bool any() const { return !mutating_->empty() || !validating_->empty(); }
  const ResourceType& written() const;
  /// The attributes of the write of `object`.
  const admission::Attributes& AttributesFor(const codec::JsonTree& object);

  const Call& call_;
  AdmitOptions options_;
  const Webhooks::List mutating_;
  const Webhooks::List validating_;
  std::optional<admission::Attributes> attributes_{};
};

/// The admission of an object that is posted to a subresource, or that is never stored. Asks the
/// mutating and then the validating webhooks.
apimachinery::Result<void> AdmitPosted(const Call& call, const ResourceType& posted,
                                       codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_ADMISSION_ADMIT_H_
