// Objects that are questions: they are answered and not kept.
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/admission/admit.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/endpoints/handlers/handlers.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/status_json.h"
#include "kubexx/apiserver/object/stored_object.h"

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

/// Who a review asks about: its spec, or the one who asks.
User UserOf(const JsonTree& spec) {
  User user;
  user.name = spec.TextAt("user");
  user.uid = spec.TextAt("uid");
  user.groups = StringsAt(spec, "groups");
  return user;
}

/// What a SubjectAccessReview asks for.
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

/// The answer to a SelfSubjectRulesReview.
Result<void> ListRules(const Call& call, const JsonTree& spec, JsonTree& status) {
  if (spec.TextAt("namespace").empty()) {
    return Fail(Reason::kBadRequest, "no namespace on request");
  }
  rbac::HeldRules held;
  if (call.authorizer.rbac()) {
    KX_ASSIGN_OR_RETURN(
        held, call.authorizer.RulesOf(call.user, spec.TextAt("namespace"), call.request.stop));
  } else {
    rbac::Rule everything;
    everything.verbs = everything.groups = everything.resources = {"*"};
    held.rules.push_back(std::move(everything));
    rbac::Rule everywhere;
    everywhere.verbs = everywhere.paths = {"*"};
    held.rules.push_back(std::move(everywhere));
  }
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

/// As kube-apiserver, whose error names no kind.
Status BadReview(std::string field, const std::string& value, std::string_view why) {
  ResourceType type;
  type.group = "authorization.k8s.io";
  return Invalid(type, "",
                 {{.reason = "FieldValueInvalid",
                   .message = "Invalid value: " + value + ": " + std::string(why),
                   .field = std::move(field)}});
}

Result<void> CheckAccessReview(const Call& call, const JsonTree& spec, bool self,
                               const User& user) {
  const JsonTree* const path = spec.Find("nonResourceAttributes");
  const JsonTree* const resource = spec.Find("resourceAttributes");
  if (call.type->plural == "localsubjectaccessreviews") {
    if (path != nullptr) {
      return Fail(BadReview("spec.nonResourceAttributes", path->ToJson(),
                            "disallowed on this kind of request"));
    }
    // Who may ask about one namespace does not learn about others.
    if (resource != nullptr && resource->TextAt("namespace") != call.info.namespace_) {
      return Fail(BadReview("spec.resourceAttributes.namespace",
                            JsonTree(resource->TextAt("namespace")).ToJson(),
                            "must match metadata.namespace"));
    }
  }
  if ((resource == nullptr) == (path == nullptr)) {
    return Fail(BadReview(
        path == nullptr ? "spec.resourceAttributes" : "spec.nonResourceAttributes",
        path == nullptr ? "null" : path->ToJson(),
        path == nullptr ? "exactly one of nonResourceAttributes or resourceAttributes must be "
                          "specified"
                        : "cannot be specified in combination with resourceAttributes"));
  }
  if (!self && user.name.empty() && user.groups.empty()) {
    return Fail(BadReview("spec.user", "\"\"", "at least one of user or group must be specified"));
  }
  return {};
}

/// The answer to a (Self|Local)SubjectAccessReview.
Result<void> AnswerAccess(const Call& call, const JsonTree& spec, JsonTree& status) {
  const bool self = call.type->plural == "selfsubjectaccessreviews";
  const User user = self ? call.user : UserOf(spec);
  KX_RETURN_IF_ERROR(CheckAccessReview(call, spec, self, user));
  KX_ASSIGN_OR_RETURN(const rbac::Decision decision,
                      call.authorizer.Decide(user, RequestOf(spec), call.request.stop));
  status["allowed"] = decision.allowed;
  if (!decision.reason.empty()) {
    status["reason"] = decision.reason;
  }
  return {};
}

/// The answer to a TokenReview.
void ReviewToken(const Call& call, const JsonTree& spec, JsonTree& status) {
  std::vector<std::string> audiences = StringsAt(spec, "audiences");
  if (audiences.empty()) {
    audiences.emplace_back(kApiAudience);
  }
  const auto owner =
      call.authenticator.FindToken(spec.TextAt("token"), audiences, call.request.stop);
  status["authenticated"] = owner.has_value();
  if (owner) {
    status["user"] = UserInfo(owner->user);
    for (const std::string& audience : owner->audiences) {
      status["audiences"].Append(audience);
    }
  }
}

}  // namespace

Answer HandleReview(const Call& call) {
  KX_ASSIGN_OR_RETURN(JsonTree review, ReadBody(call));
  const std::string namespace_ = MetaString(review, "namespace");
  if (!namespace_.empty() && namespace_ != call.key().namespace_) {
    return Fail(Reason::kBadRequest,
                "the namespace of the provided object does not match the namespace sent on the "
                "request");
  }
  KX_RETURN_IF_ERROR(AdmitPosted(call, *call.type, review));
  const JsonTree* const found = review.Find("spec");
  const JsonTree spec = found == nullptr ? JsonTree::Object() : *found;
  JsonTree& status = review["status"];
  status = JsonTree::Object();
  if (call.type->plural == "selfsubjectreviews") {
    status["userInfo"] = UserInfo(call.user);
  } else if (call.type->plural == "tokenreviews") {
    ReviewToken(call, spec, status);
  } else if (call.type->plural == "selfsubjectrulesreviews") {
    KX_RETURN_IF_ERROR(ListRules(call, spec, status));
  } else {
    KX_RETURN_IF_ERROR(AnswerAccess(call, spec, status));
  }
  KX_ASSIGN_OR_RETURN(const JsonTree canonical, Canonical(*call.type, review));
  return ObjectResponse(call, canonical, 201);
}

}  // namespace kubexx::apiserver
