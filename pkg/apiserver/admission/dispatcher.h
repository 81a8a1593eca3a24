/// @file
/// Sends requests to admission webhooks and applies their answers.
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
#include "kubexx/apiserver/admission/helper_threads.h"
#include "kubexx/apiserver/admission/review.h"
#include "kubexx/apiserver/admission/webhook.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/http/message.h"

namespace kubexx::apiserver::admission {

/// What the dispatcher needs to know about the cluster. Thread-safe.
class Cluster : public ServiceResolver {
 public:
  /// Returns the labels of a namespace; kNotFound when it does not exist.
  virtual apimachinery::Result<apimachinery::LabelMap> NamespaceLabels(
      const std::string& name, const std::stop_token& stop) = 0;
};

/// One request that is sent to webhooks. Not thread-safe.
struct Dispatch {
  const Attributes& attributes;
  const http::Request& request;
  /// The dispatcher appends the webhooks' warnings for the client, each text once.
  std::vector<std::string>& warnings;
};

/// Asks the webhooks whose rules match a request. Semantics: kube-apiserver's mutating and
/// validating dispatchers (apiserver/pkg/admission/plugin/webhook). Blocks for as long as webhooks
/// take. Thread-safe.
class Dispatcher {
 public:
  using Webhooks = std::vector<Webhook>;
  /// Applies a webhook's JSON patch to the object that was sent to it (in the version `shown`), and
  /// returns the result in the version of the request. Returns errors of the patch.
  using ApplyPatch = base::FunctionRef<apimachinery::Result<codec::JsonTree>(
      const codec::JsonTree& object, const codec::JsonTree& patch, const Target& shown)>;

  /// All of them must outlive it. `threads` are those on which Validate asks webhooks.
  Dispatcher(Caller& caller, Cluster& cluster, HelperThreads& threads)
      : caller_(caller), cluster_(cluster), threads_(threads) {}

  /// The server's own admission, which runs again on the object when a webhook has changed it.
  using Between = base::FunctionRef<apimachinery::Result<void>()>;

  /// Asks the webhooks one after the other, in their order; each gets `object` as the ones before
  /// have changed it. When one has changed it, `between` is called after all have been asked. A
  /// webhook with reinvocationPolicy IfNeeded is asked once more when `object` has changed since
  /// its first call: by a later webhook, by `between`, or by an earlier webhook that is asked once
  /// more itself. `object` is null for a deletion, which webhooks cannot change. Returns the error
  /// that the client gets. Semantics: kube-apiserver's admission/reinvocation.go.
  apimachinery::Result<void> Mutate(const Webhooks& webhooks, const Dispatch& dispatch,
                                    codec::JsonTree* object, const codec::JsonTree* old_object,
                                    ApplyPatch patch, Between between);

  /// Asks the webhooks at the same time, as far as there are threads for that. When several fail or
  /// deny, it returns the error of the first in their order.
  apimachinery::Result<void> Validate(const Webhooks& webhooks, const Dispatch& dispatch,
                                      const Objects& objects);

 private:
  /// The version in which the webhook gets the request; null when it is not asked.
  apimachinery::Result<const Target*> ShouldCall(const Webhook& webhook, const Dispatch& dispatch,
                                                 const Objects& objects);
  apimachinery::Result<bool> MatchesNamespace(const Webhook& webhook, const Dispatch& dispatch,
                                              const Objects& objects);
  /// Calls the webhook. Returns an error when the call fails; a denial is part of the verdict.
  apimachinery::Result<Verdict> Ask(const Webhook& webhook, const Attributes& attributes,
                                    const Target& target, const Objects& shown, bool mutating,
                                    const std::stop_token& stop);
  /// Returns the verdict, or std::nullopt when the call failed and the webhook's failurePolicy
  /// ignores that. An error is the one that the client gets.
  apimachinery::Result<std::optional<Verdict>> Judge(const Webhook& webhook,
                                                     const Attributes& attributes,
                                                     const Target& target, const Objects& shown,
                                                     bool mutating, const std::stop_token& stop);
  /// Asks one validating webhook and collects its warnings.
  apimachinery::Result<void> AskToValidate(const Webhook& webhook, const Attributes& attributes,
                                           const Target& target, const Objects& objects,
                                           const std::stop_token& stop,
                                           std::vector<std::string>& warnings);
  /// Asks a mutating webhook. Returns whether it has changed the object.
  apimachinery::Result<bool> AskToMutate(const Webhook& webhook, const Dispatch& dispatch,
                                         const Target& target, codec::JsonTree* object,
                                         const codec::JsonTree* old_object, ApplyPatch patch);

  Caller& caller_;
  Cluster& cluster_;
  HelperThreads& threads_;
};

}  // namespace kubexx::apiserver::admission

#endif  // KUBEXX_APISERVER_ADMISSION_DISPATCHER_H_
