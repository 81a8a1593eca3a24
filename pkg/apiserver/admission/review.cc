#include "kubexx/apiserver/admission/review.h"

#include <optional>
#include <utility>

#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/codec/base64.h"

namespace kubexx::apiserver::admission {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using codec::JsonTree;

constexpr int kLowestErrorCode = 400;

JsonTree TreeOf(const apimachinery::GroupVersionKind& kind) {
  JsonTree tree = JsonTree::Object();
  tree["group"] = kind.group;
  tree["version"] = kind.version;
  tree["kind"] = kind.kind;
  return tree;
}

JsonTree TreeOf(const apimachinery::GroupVersionResource& resource) {
  JsonTree tree = JsonTree::Object();
  tree["group"] = resource.group;
  tree["version"] = resource.version;
  tree["resource"] = resource.resource;
  return tree;
}

JsonTree TreeOf(const User& user) {
  JsonTree tree = JsonTree::Object();
  tree["username"] = user.name;
  if (!user.uid.empty()) {
    tree["uid"] = user.uid;
  }
  for (const std::string& group : user.groups) {
    tree["groups"].Append(group);
  }
  return tree;
}

JsonTree OrNull(const JsonTree* tree) { return tree == nullptr ? JsonTree() : *tree; }

void SetUnlessEmpty(JsonTree& tree, std::string_view member, const std::string& value) {
  if (!value.empty()) {
    tree[member] = value;
  }
}

/// `result` is a meta/v1 Status, or null.
Status DenialOf(const std::string& name, const JsonTree* result) {
  const std::string denied = "admission webhook \"" + name + "\" denied the request";
  Status status(Reason::kUnknown, denied + " without explanation", kLowestErrorCode);
  if (result == nullptr || !result->IsObject()) {
    return status;
  }
  const std::string_view reason = result->TextAt("reason");
  if (const std::string_view message = result->TextAt("message"); !message.empty()) {
    status.message = denied + ": " + std::string(message);
  } else if (!reason.empty()) {
    status.message = denied + ": " + std::string(reason);
  }
  status.reason = apimachinery::ParseReason(reason);
  if (status.reason == Reason::kUnknown) {
    status.other_reason = reason;
  }
  const JsonTree* const code = result->Find("code");
  const auto number = code == nullptr ? std::nullopt : code->AsInt();
  if (number && *number >= kLowestErrorCode && *number <= 599) {
    status.code = static_cast<int>(*number);
  }
  if (const JsonTree* const details = result->Find("details")) {
    status.details.name = details->TextAt("name");
    status.details.group = details->TextAt("group");
    status.details.kind = details->TextAt("kind");
    status.details.uid = details->TextAt("uid");
    if (const JsonTree* const causes = details->Find("causes")) {
      for (const JsonTree& cause : causes->elements()) {
        status.details.causes.push_back({.reason = std::string(cause.TextAt("reason")),
                                         .message = std::string(cause.TextAt("message")),
                                         .field = std::string(cause.TextAt("field"))});
      }
    }
  }
  return status;
}

apimachinery::Error Bad(std::string what) { return Fail(Reason::kMalformed, std::move(what)); }

/// Returns the patch of an answer that allows the request, or null when there is none.
Result<JsonTree> PatchOf(const JsonTree& response, bool mutating) {
  const std::string_view encoded = response.TextAt("patch");
  const std::string_view type = response.TextAt("patchType");
  if (!mutating) {
    return encoded.empty() && type.empty()
               ? Result<JsonTree>(JsonTree())
               : Bad("a validating webhook may not return response.patch or response.patchType");
  }
  if (encoded.empty() != type.empty()) {
    return type.empty() ? Bad("webhook returned response.patch but not response.patchType")
                        : Bad("webhook returned response.patchType but not response.patch");
  }
  if (encoded.empty()) {
    return JsonTree();
  }
  if (type != "JSONPatch") {
    return Bad("webhook returned invalid response.patchType of \"" + std::string(type) + "\"");
  }
  std::string text;
  auto patch = codec::DecodeBase64(encoded, text) ? JsonTree::Parse(text)
                                                  : Result<JsonTree>(Bad("it is no base64"));
  if (!patch || !patch->IsArray()) {
    return Bad("response.patch is no JSON patch");
  }
  return patch->size() == 0 ? JsonTree() : std::move(*patch);
}

}  // namespace

std::string ReviewRequest(const std::string& uid, const Attributes& attributes, const Target& shown,
                          const Objects& objects) {
  JsonTree request = JsonTree::Object();
  request["uid"] = uid;
  request["kind"] = TreeOf(shown.kind);
  request["resource"] = TreeOf(shown.resource);
  SetUnlessEmpty(request, "subResource", attributes.subresource);
  request["requestKind"] = TreeOf(attributes.target.kind);
  request["requestResource"] = TreeOf(attributes.target.resource);
  SetUnlessEmpty(request, "requestSubResource", attributes.subresource);
  SetUnlessEmpty(request, "name", attributes.name);
  SetUnlessEmpty(request, "namespace", attributes.namespace_);
  request["operation"] = attributes.operation;
  request["userInfo"] = TreeOf(attributes.user);
  request["object"] = OrNull(objects.object);
  request["oldObject"] = OrNull(objects.old_object);
  request["dryRun"] = attributes.dry_run;
  request["options"] = attributes.options;
  JsonTree review = JsonTree::Object();
  review["kind"] = "AdmissionReview";
  review["apiVersion"] = "admission.k8s.io/v1";
  review["request"] = std::move(request);
  return review.ToJson();
}

Result<Verdict> ReadReviewResponse(std::string_view body, const std::string& uid,
                                   const std::string& name, bool mutating) {
  const auto review = JsonTree::Parse(body);
  if (!review || !review->IsObject()) {
    return Bad("the answer is no JSON object" + (review ? "" : ": " + review.error().message));
  }
  const JsonTree* const response = review->Find("response");
  if (response == nullptr || !response->IsObject()) {
    return Bad("webhook response was absent");
  }
  if (const std::string_view answered = response->TextAt("uid"); answered != uid) {
    return Bad("expected response.uid=\"" + uid + "\", got \"" + std::string(answered) + "\"");
  }
  const std::string_view version = review->TextAt("apiVersion");
  const std::string_view kind = review->TextAt("kind");
  if (version != "admission.k8s.io/v1" || kind != "AdmissionReview") {
    return Bad("expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got " +
               std::string(version) + ", Kind=" + std::string(kind));
  }
  Verdict verdict;
  KX_ASSIGN_OR_RETURN(verdict.patch, PatchOf(*response, mutating));
  verdict.warnings = StringsAt(*response, "warnings");
  const JsonTree* const allowed = response->Find("allowed");
  verdict.allowed = allowed != nullptr && allowed->AsBool().value_or(false);
  if (!verdict.allowed) {
    verdict.denial = DenialOf(name, response->Find("status"));
  }
  return verdict;
}

}  // namespace kubexx::apiserver::admission
