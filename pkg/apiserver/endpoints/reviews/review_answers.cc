#include "kubexx/apiserver/endpoints/reviews/review_answers.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/resource_type.h"
#include "kubexx/apiserver/object/status_json.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using codec::JsonTree;

JsonTree UserInfo(const User& user) {
  JsonTree info = JsonTree::Object();
  info["username"] = user.name;
  if (!user.uid.empty()) {
    info["uid"] = user.uid;
  }
  info["groups"] = JsonTree::Array();
  for (const std::string& group : user.groups) {
    info["groups"].Append(group);
  }
  return info;
}

/// Returns the user about whom a SubjectAccessReview asks.
User UserOf(const JsonTree& spec) {
  User user;
  user.name = spec.TextAt("user");
  user.uid = spec.TextAt("uid");
  user.groups = StringsAt(spec, "groups");
  return user;
}

/// Returns the right about which a SubjectAccessReview asks.
rbac::Request RequestOf(const JsonTree& spec) {
  rbac::Request request;
  if (const JsonTree* const path = spec.Find("nonResourceAttributes")) {
    request.verb = path->TextAt("verb");
    request.path = path->TextAt("path");
    request.is_path = true;
    return request;
  }
  if (const JsonTree* const attributes = spec.Find("resourceAttributes")) {
    request.verb = attributes->TextAt("verb");
    request.group = attributes->TextAt("group");
    request.resource = attributes->TextAt("resource");
    request.subresource = attributes->TextAt("subresource");
    request.namespace_ = attributes->TextAt("namespace");
    request.name = attributes->TextAt("name");
  }
  return request;
}

/// As in kube-apiserver, the error names no kind.
Status BadReview(std::string field, const std::string& value, std::string_view why) {
  ResourceType type;
  type.group = "authorization.k8s.io";
  return Invalid(type, "",
                 {{.reason = "FieldValueInvalid",
                   .message = "Invalid value: " + value + ": " + std::string(why),
                   .field = std::move(field)}});
}

/// A review is about either a path or a resource.
Result<void> CheckWhat(const JsonTree& spec) {
  const JsonTree* const path = spec.Find("nonResourceAttributes");
  const JsonTree* const resource = spec.Find("resourceAttributes");
  if ((resource == nullptr) != (path == nullptr)) {
    return {};
  }
  return Fail(path == nullptr
                  ? BadReview("spec.resourceAttributes", "null",
                              "exactly one of nonResourceAttributes or resourceAttributes must be "
                              "specified")
                  : BadReview("spec.nonResourceAttributes", path->ToJson(),
                              "cannot be specified in combination with resourceAttributes"));
}

/// A user who may ask about one namespace must not learn about others.
Result<void> CheckIsLocal(std::string_view namespace_, const JsonTree& spec) {
  if (const JsonTree* const path = spec.Find("nonResourceAttributes")) {
    return Fail(BadReview("spec.nonResourceAttributes", path->ToJson(),
                          "disallowed on this kind of request"));
  }
  if (const JsonTree* const resource = spec.Find("resourceAttributes");
      resource != nullptr && resource->TextAt("namespace") != namespace_) {
    return Fail(BadReview("spec.resourceAttributes.namespace",
                          JsonTree(resource->TextAt("namespace")).ToJson(),
                          "must match metadata.namespace"));
  }
  return {};
}

/// Answers whether the user may do what the spec describes.
Result<void> AnswerAccess(ReviewContext& context, const User& user, const JsonTree& spec,
                          JsonTree& status) {
  KX_ASSIGN_OR_RETURN(const rbac::Decision decision, context.Decide(user, RequestOf(spec)));
  status["allowed"] = decision.allowed;
  if (!decision.reason.empty()) {
    status["reason"] = decision.reason;
  }
  return {};
}

}  // namespace

Result<void> AnswerAccessReview(ReviewContext& context, const JsonTree& spec, JsonTree& status) {
  KX_RETURN_IF_ERROR(CheckWhat(spec));
  const User user = UserOf(spec);
  if (user.name.empty() && user.groups.empty()) {
    return Fail(BadReview("spec.user", "\"\"", "at least one of user or group must be specified"));
  }
  return AnswerAccess(context, user, spec, status);
}

Result<void> AnswerLocalAccessReview(ReviewContext& context, const JsonTree& spec,
                                     JsonTree& status) {
  KX_RETURN_IF_ERROR(CheckIsLocal(context.namespace_of_url(), spec));
  return AnswerAccessReview(context, spec, status);
}

Result<void> AnswerSelfAccessReview(ReviewContext& context, const JsonTree& spec,
                                    JsonTree& status) {
  KX_RETURN_IF_ERROR(CheckWhat(spec));
  return AnswerAccess(context, context.sender(), spec, status);
}

Result<void> AnswerRulesReview(ReviewContext& context, const JsonTree& spec, JsonTree& status) {
  const std::string_view namespace_ = spec.TextAt("namespace");
  if (namespace_.empty()) {
    return Fail(Reason::kBadRequest, "no namespace on request");
  }
  KX_ASSIGN_OR_RETURN(const rbac::HeldRules held, context.RulesIn(namespace_));
  status["resourceRules"] = JsonTree::Array();
  status["nonResourceRules"] = JsonTree::Array();
  for (const rbac::Rule& rule : held.rules) {
    status[rule.paths.empty() ? "resourceRules" : "nonResourceRules"].Append(rule.ToJson());
  }
  status["incomplete"] = false;
  if (!held.error.empty()) {
    status["evaluationError"] = held.error;
  }
  return {};
}

Result<void> AnswerSelfReview(ReviewContext& context, const JsonTree& /*spec*/, JsonTree& status) {
  status["userInfo"] = UserInfo(context.sender());
  return {};
}

Result<void> AnswerTokenReview(ReviewContext& context, const JsonTree& spec, JsonTree& status) {
  const Result<std::optional<TokenOwner>> found =
      context.FindToken(spec.TextAt("token"), StringsAt(spec, "audiences"));
  const bool is_valid = found && *found;
  status["authenticated"] = is_valid;
  if (!found) {
    status["error"] = found.error().message;
  }
  if (is_valid) {
    const TokenOwner& owner = **found;
    status["user"] = UserInfo(owner.user);
    for (const std::string& audience : owner.audiences) {
      status["audiences"].Append(audience);
    }
  }
  return {};
}

}  // namespace kubexx::apiserver
