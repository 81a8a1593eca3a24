/// @file
/// What a webhook's rules look at.
#ifndef KUBEXX_APISERVER_ADMISSION_ATTRIBUTES_H_
#define KUBEXX_APISERVER_ADMISSION_ATTRIBUTES_H_

#include <functional>
#include <string>
#include <vector>

#include "kubexx/apimachinery/group_version.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/admission/webhook.h"
#include "kubexx/apiserver/rbac/user.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::admission {

/// One version of a resource, and the kind of what is sent to it (for the subresource "scale" that
/// of a Scale).
struct Target {
  apimachinery::GroupVersionResource resource{};
  apimachinery::GroupVersionKind kind{};
};

/// A write on its way through the API. A value type.
struct Attributes {
  std::string operation{};  ///< CREATE, UPDATE, DELETE or CONNECT
  Target target{};
  /// The same resource in its other versions.
  std::vector<Target> equivalents{};
  std::string subresource{};
  /// Of a Namespace its own name.
  std::string namespace_{};
  std::string name{};  ///< "" when it is not known yet
  User user{};
  bool dry_run = false;
  /// meta.k8s.io/v1 CreateOptions and the like.
  codec::JsonTree options{};
  /// Makes an object of `equivalents` of one of the target, and back.
  std::function<apimachinery::Result<codec::JsonTree>(const codec::JsonTree& object,
                                                      const Target& wanted)>
      convert{};
};

/// What the write is about; null for what there is not.
struct Objects {
  const codec::JsonTree* object = nullptr;
  const codec::JsonTree* old_object = nullptr;
};

/// Whether one of the rules is for the resource in this version.
bool MatchesRules(const std::vector<Rule>& rules, const Attributes& attributes,
                  const Target& target);

/// In which version of the resource the webhook wants to see the request; null when its rules are
/// for none. With matchPolicy Exact only in that of the request.
const Target* TargetFor(const Webhook& webhook, const Attributes& attributes);

/// Whether a meta/v1 LabelSelector asks for nothing.
bool IsEmptySelector(const codec::JsonTree& selector);

/// Whether the object before or after has the labels that the webhook asks for.
bool MatchesObjectSelector(const Webhook& webhook, const Objects& objects);

/// Configurations of admission are never shown to a webhook: nobody could mend a bad one.
bool IsExempt(const Attributes& attributes);

}  // namespace kubexx::apiserver::admission

#endif  // KUBEXX_APISERVER_ADMISSION_ATTRIBUTES_H_
