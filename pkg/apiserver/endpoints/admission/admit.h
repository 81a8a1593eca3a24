/// @file
/// Admission webhooks on the way of a write through the handlers.
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

/// What is asked besides what the request says.
struct AdmitOptions {
  std::string operation{};  ///< CREATE, UPDATE or DELETE
  /// What is written when it is not an object of the request's type: a Scale, a Binding, an
  /// Eviction, a TokenRequest. Must outlive the Admission.
  const ResourceType* posted = nullptr;
  std::string name{};  ///< of the object, where the request has none
  /// Of a deletion: its DeleteOptions.
  codec::JsonTree options{};
  bool dry_run = false;  ///< also when the query does not say so
};

/// The webhooks that one write is shown to. Without any that are configured it costs nothing. Not
/// thread-safe; `call` must outlive it.
class Admission {
 public:
  Admission(const Call& call, AdmitOptions options);

  /// Gives a pod its tolerations, and a new one what its service account has for it, see
  /// GiveTolerations and GiveServiceAccount, and lets the mutating webhooks change `object`, with
  /// its defaults and managers, that is about to be written instead of `old`, null for a create.
  /// What they add gets its own of these, and is nobody's field, as in kube-apiserver.
  apimachinery::Result<void> Mutate(codec::JsonTree& object, const codec::JsonTree* old);

  /// The same of a create, which has the namespace of the request. kNotFound and kForbidden of the
  /// namespace come before whatever others would have said.
  apimachinery::Result<void> MutateNew(codec::JsonTree& object);
  /// Whether any mutating webhook is configured.
  bool mutates() const { return !mutating_->empty(); }

  /// Validate, as the store asks it; of the object's Scale when that is what was posted. Empty when
  /// nobody has to be asked. Must not outlive this.
  ObjectStore::Check check();

  /// Asks the validating webhooks about what is about to be written, of a deletion all.
  apimachinery::Result<void> Validate(const codec::JsonTree* object, const codec::JsonTree* old);

 private:
  bool any() const { return !mutating_->empty() || !validating_->empty(); }
  const ResourceType& written() const;
  /// `name`: of the object.
  const admission::Attributes& AttributesFor(const codec::JsonTree& object);

  const Call& call_;
  AdmitOptions options_;
  const Webhooks::List mutating_;
  const Webhooks::List validating_;
  std::optional<admission::Attributes> attributes_{};
};

/// The same for what is posted to a subresource, or never stored: both kinds of webhooks, one after
/// the other.
apimachinery::Result<void> AdmitPosted(const Call& call, const ResourceType& posted,
                                       codec::JsonTree& object);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_ADMISSION_ADMIT_H_
