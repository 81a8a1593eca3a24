/// @file
/// Shows requests to webhooks and does what they say.
#ifndef KUBEXX_APISERVER_ADMISSION_DISPATCHER_H_
#define KUBEXX_APISERVER_ADMISSION_DISPATCHER_H_

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/admission/attributes.h"
#include "kubexx/apiserver/admission/caller.h"
#include "kubexx/apiserver/admission/review.h"
#include "kubexx/apiserver/admission/webhook.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver::admission {

/// What webhooks need to know of the cluster. Thread-safe.
class Cluster : public ServiceResolver {
 public:
  /// The labels of a namespace; kNotFound.
  virtual apimachinery::Result<apimachinery::LabelMap> NamespaceLabels(
      const std::string& name, const std::stop_token& stop) = 0;
};

/// One request, while it is shown to webhooks. Not thread-safe.
struct Dispatch {
  const Attributes& attributes;
  const http::Request& request;
  /// Gets what the webhooks want the client to know, each text once.
  std::vector<std::string>& warnings;
};

/// Asks the webhooks that a request is for. Semantics: kube-apiserver's mutating and validating
/// dispatchers (apiserver/pkg/admission/plugin/webhook). Blocks for as long as webhooks take.
/// Thread-safe.
class Dispatcher {
 public:
  using Webhooks = std::vector<Webhook>;
  /// Makes of an object, as it was shown to a webhook, and a JSON patch what the request goes on
  /// with, in the version of the request; errors of the patch.
  using ApplyPatch = base::FunctionRef<apimachinery::Result<codec::JsonTree>(
      const codec::JsonTree& object, const codec::JsonTree& patch, const Target& shown)>;

  /// Both must outlive it.
  Dispatcher(Caller& caller, Cluster& cluster) : caller_(caller), cluster_(cluster) {}

  /// What the server itself does to the object once more when a webhook has changed it.
  using Between = base::FunctionRef<apimachinery::Result<void>()>;

  /// Asks one webhook after the other, in their order; each sees what those before made of
  /// `object`. When one has changed it, `between` is called after all have been asked. Those with
  /// IfNeeded are asked once more when a later one, `between`, or an earlier one that is asked once
  /// more itself, has changed it since. `object` is null for a deletion, which nobody can change.
  /// The error is the one that the client gets. As kube-apiserver's admission/reinvocation.go.
  apimachinery::Result<void> Mutate(const Webhooks& webhooks, const Dispatch& dispatch,
                                    codec::JsonTree* object, const codec::JsonTree* old_object,
                                    ApplyPatch patch, Between between);

  /// Asks all webhooks at the same time. Of several errors, the client gets that of the first.
  apimachinery::Result<void> Validate(const Webhooks& webhooks, const Dispatch& dispatch,
                                      const Objects& objects);

 private:
  /// The version in which the webhook is to be asked; null when it is not.
  apimachinery::Result<const Target*> ShouldCall(const Webhook& webhook, const Dispatch& dispatch,
                                                 const Objects& objects);
  apimachinery::Result<bool> MatchesNamespace(const Webhook& webhook, const Dispatch& dispatch,
                                              const Objects& objects);
  /// An error is one of the call; a denial is part of the verdict.
  apimachinery::Result<Verdict> Ask(const Webhook& webhook, const Attributes& attributes,
                                    const Target& target, const Objects& shown, bool mutating,
                                    const std::stop_token& stop);
  /// The verdict, or nothing where a failed call does not matter; the error is the client's.
  apimachinery::Result<std::optional<Verdict>> Judge(const Webhook& webhook,
                                                     const Attributes& attributes,
                                                     const Target& target, const Objects& shown,
                                                     bool mutating, const std::stop_token& stop);
  /// What one validating webhook says, and what it warns of.
  apimachinery::Result<void> AskToValidate(const Webhook& webhook, const Attributes& attributes,
                                           const Target& target, const Objects& objects,
                                           const std::stop_token& stop,
                                           std::vector<std::string>& warnings);
  /// Asks a mutating webhook. Whether it has changed the object.
  apimachinery::Result<bool> AskToMutate(const Webhook& webhook, const Dispatch& dispatch,
                                         const Target& target, codec::JsonTree* object,
                                         const codec::JsonTree* old_object, ApplyPatch patch);

  Caller& caller_;
  Cluster& cluster_;
};

}  // namespace kubexx::apiserver::admission

#endif  // KUBEXX_APISERVER_ADMISSION_DISPATCHER_H_
