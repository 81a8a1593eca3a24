/// @file
/// The attributes of a request that a webhook's rules and selectors are matched with.
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

/// One version of a resource, and the kind of the objects that are sent to it (for the subresource
/// "scale" that is Scale).
struct Target {
  apimachinery::GroupVersionResource resource{};
  apimachinery::GroupVersionKind kind{};
};

/// A write request to the API. A value type.
struct Attributes {
  std::string operation{};  ///< CREATE, UPDATE, DELETE or CONNECT
  Target target{};
  /// The same resource in its other versions.
  std::vector<Target> equivalents{};
  std::string subresource{};
  /// The namespace of the object; for a Namespace, its own name.
  std::string namespace_{};
  std::string name{};  ///< "" when the object has no name yet
  User user{};
  bool dry_run = false;
  /// The options object of the request, such as meta.k8s.io/v1 CreateOptions.
  codec::JsonTree options{};
  /// Converts an object between the target's version and those of `equivalents`.
  std::function<apimachinery::Result<codec::JsonTree>(const codec::JsonTree& object,
                                                      const Target& wanted)>
      convert{};
};

/// The object of a write before and after it. Either is null when it does not exist.
struct Objects {
  const codec::JsonTree* object = nullptr;
  const codec::JsonTree* old_object = nullptr;
};

/// Whether one of the rules matches the request when its resource is seen as `target`.
bool MatchesRules(const std::vector<Rule>& rules, const Attributes& attributes,
                  const Target& target);

/// The version of the resource in which the webhook's rules match the request; null when they match
/// in none. With matchPolicy Exact only the version of the request counts.
const Target* TargetFor(const Webhook& webhook, const Attributes& attributes);

/// Whether a meta/v1 LabelSelector has no requirements.
bool IsEmptySelector(const codec::JsonTree& selector);

/// Whether the object before or after the write matches the webhook's objectSelector.
bool MatchesObjectSelector(const Webhook& webhook, const Objects& objects);

/// Whether no webhook may be asked about the request. That is so for configurations of admission:
/// otherwise a broken webhook could prevent its own repair.
bool IsExempt(const Attributes& attributes);

}  // namespace kubexx::apiserver::admission

#endif  // KUBEXX_APISERVER_ADMISSION_ATTRIBUTES_H_
