// Objects that are questions. Nobody is refused anything here, so the answers are simple.
#include <utility>

#include "kubexx/apiserver/endpoints/call.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/stored_object.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Result;
using codec::JsonTree;

JsonTree UserInfo(const User& user) {
  JsonTree info = JsonTree::Object();
  info["username"] = user.name;
  info["groups"] = JsonTree::Array();
  for (const std::string& group : user.groups) {
    info["groups"].Append(group);
  }
  return info;
}

JsonTree AnyRule(bool resources) {
  JsonTree star = JsonTree::Array();
  star.Append("*");
  JsonTree rule = JsonTree::Object();
  rule["verbs"] = star;
  if (resources) {
    rule["apiGroups"] = star;
    rule["resources"] = star;
  } else {
    rule["nonResourceURLs"] = star;
  }
  JsonTree rules = JsonTree::Array();
  rules.Append(std::move(rule));
  return rules;
}

}  // namespace

Answer HandleReview(const Call& call) {
  KX_ASSIGN_OR_RETURN(JsonTree review, ReadBody(call));
  JsonTree& status = review["status"];
  status = JsonTree::Object();
  if (call.type->plural == "selfsubjectreviews") {
    status["userInfo"] = UserInfo(call.user);
  } else if (call.type->plural == "tokenreviews") {
    // The same authenticator as for requests: the token as if it had come with one.
    http::Request request;
    request.headers = {{"Authorization", "Bearer " + StringAt(review, {"spec", "token"})}};
    const auto user = call.authenticator.Authenticate(request);
    status["authenticated"] = user.has_value();
    if (user) {
      status["user"] = UserInfo(*user);
    }
  } else if (call.type->plural == "selfsubjectrulesreviews") {
    status["resourceRules"] = AnyRule(true);
    status["nonResourceRules"] = AnyRule(false);
    status["incomplete"] = false;
  } else {
    status["allowed"] = true;
  }
  KX_ASSIGN_OR_RETURN(const JsonTree canonical, Canonical(*call.type, review));
  return ObjectResponse(call, canonical, 201);
}

}  // namespace kubexx::apiserver
