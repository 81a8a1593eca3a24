// Handles reviews, which are answered and not stored.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/admission/admit.h"
#include "kubexx/apiserver/endpoints/behavior/type_behavior.h"
#include "kubexx/apiserver/endpoints/call/call.h"
#include "kubexx/apiserver/endpoints/handlers/handlers.h"
#include "kubexx/apiserver/endpoints/reviews/review_context.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/object_form.h"

namespace kubexx::apiserver {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using codec::JsonTree;

/// Answers with what the server of a call knows.
class ReviewOfCall final : public ReviewContext {
 public:
  /// `call` must outlive it.
  explicit ReviewOfCall(const Call& call) : call_(call) {}

  const User& sender() const override { return call_.user; }
  std::string_view namespace_of_url() const override { return call_.info.namespace_; }

  Result<rbac::Decision> Decide(const User& user, const rbac::Request& request) override {
    return call_.authorizer.Decide(user, request, call_.request.stop);
  }

  Result<rbac::HeldRules> RulesIn(std::string_view namespace_) override {
    if (call_.authorizer.rbac()) {
      return call_.authorizer.RulesOf(call_.user, namespace_, call_.request.stop);
    }
    rbac::HeldRules held;
    rbac::Rule everything;
    everything.verbs = everything.groups = everything.resources = {"*"};
    held.rules.push_back(std::move(everything));
    rbac::Rule everywhere;
    everywhere.verbs = everywhere.paths = {"*"};
    held.rules.push_back(std::move(everywhere));
    return held;
  }

  Result<std::optional<TokenOwner>> FindToken(std::string_view token,
                                              std::vector<std::string> audiences) override {
    if (audiences.empty()) {
      audiences.emplace_back(kApiAudience);
    }
    return call_.authenticator.FindToken(token, audiences, call_.request.stop);
  }

 private:
  const Call& call_;
};

}  // namespace

Answer HandleReview(const Call& call) {
  auto* const answer = BehaviorOf(*call.type).answer_review;
  if (answer == nullptr) {
    return Fail(Reason::kInternalError,
                "no answer to a " + call.type->kind + " is in the table of the built-in types",
                500);
  }
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
  ReviewOfCall context(call);
  KX_RETURN_IF_ERROR(answer(context, spec, status));
  KX_ASSIGN_OR_RETURN(const JsonTree canonical, Canonical(*call.type, review));
  return ObjectResponse(call, canonical, 201);
}

}  // namespace kubexx::apiserver
