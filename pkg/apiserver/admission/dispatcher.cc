#include "kubexx/apiserver/admission/dispatcher.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kubexx/apiserver/admission/review.h"
#include "kubexx/apiserver/object/label_match.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/base/identity.h"
#include "kubexx/logging/log.h"

namespace kubexx::apiserver::admission {
namespace {

using apimachinery::Error;
using apimachinery::Fail;
using apimachinery::LabelMap;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using codec::JsonTree;

Error Internal(const std::string& what) {
  Status status(Reason::kInternalError, "Internal error occurred: " + what, 500);
  status.details.causes.push_back({.message = what});
  return Fail(std::move(status));
}

std::string Quoted(const std::string& name) { return "\"" + name + "\""; }

/// At most this many warnings are passed on: a webhook may answer with millions of them, and only
/// some kilobytes reach the client.
constexpr std::size_t kMaxWarnings = 1'000;

void AddOnce(const std::vector<std::string>& more, std::vector<std::string>& warnings) {
  for (const std::string& warning : more) {
    if (warnings.size() >= kMaxWarnings) {
      return;
    }
    if (std::ranges::find(warnings, warning) == warnings.end()) {
      warnings.push_back(warning);
    }
  }
}

/// The objects in the versions that the webhooks want.
class Shown {
 public:
  static Result<Shown> Make(const Attributes& attributes, const Target& target,
                            const Objects& objects) {
    Shown shown;
    shown.objects_ = objects;
    if (&target == &attributes.target) {
      return shown;
    }
    for (const auto& [from, to] : {std::pair(objects.object, &shown.object_),
                                   std::pair(objects.old_object, &shown.old_object_)}) {
      if (from != nullptr) {
        auto converted = attributes.convert(*from, target);
        if (!converted) {
          return Internal(converted.error().message);
        }
        *to = std::move(*converted);
      }
    }
    shown.converted_ = true;
    return shown;
  }

  Objects objects() const {
    return {.object = converted_ && objects_.object != nullptr ? &object_ : objects_.object,
            .old_object =
                converted_ && objects_.old_object != nullptr ? &old_object_ : objects_.old_object};
  }

 private:
  Objects objects_{};
  bool converted_ = false;
  JsonTree object_{};
  JsonTree old_object_{};
};

/// The mutating webhooks of one request that are called a second time, because the object has
/// changed since their first call. One of them may have made the change itself.
class Reinvocation {
 public:
  explicit Reinvocation(std::size_t count) : again_(count, false) {}

  void OnAnswer(std::size_t index, const Webhook& webhook, bool changed) {
    if (changed) {
      OnChange();
    }
    if (webhook.reinvoked) {
      asked_.push_back(index);
    }
  }
  void OnChange() {
    for (const std::size_t earlier : asked_) {
      again_[earlier] = true;
    }
    asked_.clear();
  }
  bool Has(std::size_t index) const { return again_[index]; }

 private:
  std::vector<std::size_t> asked_{};  // called since the last change, of those with IfNeeded
  std::vector<bool> again_;
};

}  // namespace

Result<bool> Dispatcher::MatchesNamespace(const Webhook& webhook, const Dispatch& dispatch,
                                          const Objects& objects) {
  const Attributes& attributes = dispatch.attributes;
  const bool of_namespace = attributes.target.resource.resource == "namespaces" &&
                            attributes.target.resource.group.empty();
  if (IsEmptySelector(webhook.namespace_selector) ||
      (attributes.namespace_.empty() && !of_namespace)) {
    return true;
  }
  const bool written = of_namespace && attributes.subresource.empty() && objects.object != nullptr;
  if (written) {  // The labels that the namespace is about to have count.
    return MatchesSelector(webhook.namespace_selector, MetaMap(*objects.object, "labels"));
  }
  KX_ASSIGN_OR_RETURN(const LabelMap labels,
                      cluster_.NamespaceLabels(attributes.namespace_, dispatch.request.stop));
  return MatchesSelector(webhook.namespace_selector, labels);
}

Result<const Target*> Dispatcher::ShouldCall(const Webhook& webhook, const Dispatch& dispatch,
                                             const Objects& objects) {
  const Target* const target = TargetFor(webhook, dispatch.attributes);
  if (target == nullptr) {
    return nullptr;
  }
  if (!webhook.selects) {  // An older server has accepted it. Its rules must not be ignored.
    return Internal("a selector of the admission webhook " + Quoted(webhook.name) +
                    " has an expression that is none");
  }
  if (!MatchesObjectSelector(webhook, objects)) {
    return nullptr;
  }
  KX_ASSIGN_OR_RETURN(const bool matches, MatchesNamespace(webhook, dispatch, objects));
  return matches ? target : nullptr;
}

Result<Verdict> Dispatcher::Ask(const Webhook& webhook, const Attributes& attributes,
                                const Target& target, const Objects& shown, bool mutating,
                                const std::stop_token& stop) {
  if (!webhook.takes_v1) {
    return Fail(Reason::kInvalidConfig,
                "webhook does not accept known AdmissionReview versions (v1)");
  }
  const auto endpoint = EndpointOf(webhook.client, webhook.timeout, cluster_, stop);
  if (!endpoint) {
    return Fail(endpoint.error().WithContext("failed to call webhook"));
  }
  const std::string uid = base::RandomUuid();
  const auto body = caller_.Post(*endpoint, ReviewRequest(uid, attributes, target, shown), stop);
  if (!body) {
    return Fail(body.error().WithContext("failed to call webhook"));
  }
  auto verdict = ReadReviewResponse(*body, uid, webhook.name, mutating);
  if (!verdict) {
    return Fail(verdict.error().WithContext("received invalid webhook response"));
  }
  return verdict;
}

Result<std::optional<Verdict>> Dispatcher::Judge(const Webhook& webhook,
                                                 const Attributes& attributes, const Target& target,
                                                 const Objects& shown, bool mutating,
                                                 const std::stop_token& stop) {
  if (attributes.dry_run && webhook.has_side_effects) {
    return Fail(Reason::kBadRequest,
                "admission webhook " + Quoted(webhook.name) + " does not support dry run", 400);
  }
  auto verdict = Ask(webhook, attributes, target, shown, mutating, stop);
  if (verdict) {
    return std::optional(std::move(*verdict));
  }
  const std::string what =
      "failed calling webhook " + Quoted(webhook.name) + ": " + verdict.error().message;
  if (stop.stop_requested()) {
    return Fail(Reason::kTimeout, "request did not complete within requested timeout: " + what,
                504);
  }
  if (!webhook.ignores_failures) {
    return Internal(what);
  }
  logging::Warning("A webhook failed; its failurePolicy ignores that",
                   {{"configuration", webhook.configuration},
                    {"webhook", webhook.name},
                    {"error", verdict.error()}});
  return std::optional<Verdict>();
}

Result<bool> Dispatcher::AskToMutate(const Webhook& webhook, const Dispatch& dispatch,
                                     const Target& target, JsonTree* object,
                                     const JsonTree* old_object, ApplyPatch patch) {
  KX_ASSIGN_OR_RETURN(const Shown shown, Shown::Make(dispatch.attributes, target,
                                                     {.object = object, .old_object = old_object}));
  const Objects objects = shown.objects();
  std::optional<Verdict> verdict;
  {
    const http::Waiting waiting(dispatch.request);
    KX_RETURN_IF_ERROR(waiting.Check());
    KX_ASSIGN_OR_RETURN(
        verdict, Judge(webhook, dispatch.attributes, target, objects, true, dispatch.request.stop));
  }
  if (!verdict) {
    return false;
  }
  AddOnce(verdict->warnings, dispatch.warnings);
  if (!verdict->allowed) {
    return Fail(verdict->denial);
  }
  if (verdict->patch.IsNull()) {
    return false;
  }
  if (object == nullptr) {
    return Internal("admission webhook " + Quoted(webhook.name) +
                    " attempted to modify the object, which is not supported for this operation");
  }
  auto patched = patch(*objects.object, verdict->patch, target);
  if (!patched) {
    return Internal("admission webhook " + Quoted(webhook.name) + ": " + patched.error().message);
  }
  const bool changed = *patched != *object;
  *object = std::move(*patched);
  return changed;
}

Result<void> Dispatcher::Mutate(const Webhooks& webhooks, const Dispatch& dispatch,
                                JsonTree* object, const JsonTree* old_object, ApplyPatch patch,
                                Between between) {
  if (IsExempt(dispatch.attributes)) {
    return {};
  }
  Reinvocation reinvocation(webhooks.size());
  bool any_changed = false;
  for (const bool second : {false, true}) {
    for (std::size_t i = 0; i < webhooks.size(); ++i) {
      if (second && !reinvocation.Has(i)) {
        continue;
      }
      KX_ASSIGN_OR_RETURN(
          const Target* const target,
          ShouldCall(webhooks[i], dispatch, {.object = object, .old_object = old_object}));
      if (target == nullptr) {
        continue;
      }
      KX_ASSIGN_OR_RETURN(const bool changed,
                          AskToMutate(webhooks[i], dispatch, *target, object, old_object, patch));
      reinvocation.OnAnswer(i, webhooks[i], changed);
      any_changed = any_changed || changed;
    }
    if (!second && any_changed) {
      const JsonTree before = *object;
      KX_RETURN_IF_ERROR(between());
      if (*object != before) {
        reinvocation.OnChange();
      }
    }
  }
  return {};
}

Result<void> Dispatcher::AskToValidate(const Webhook& webhook, const Attributes& attributes,
                                       const Target& target, const Objects& objects,
                                       const std::stop_token& stop,
                                       std::vector<std::string>& warnings) {
  KX_ASSIGN_OR_RETURN(const Shown shown, Shown::Make(attributes, target, objects));
  KX_ASSIGN_OR_RETURN(std::optional<Verdict> verdict,
                      Judge(webhook, attributes, target, shown.objects(), false, stop));
  if (!verdict) {
    return {};
  }
  warnings = std::move(verdict->warnings);
  return verdict->allowed ? Result<void>() : Fail(std::move(verdict->denial));
}

Result<void> Dispatcher::Validate(const Webhooks& webhooks, const Dispatch& dispatch,
                                  const Objects& objects) {
  if (IsExempt(dispatch.attributes)) {
    return {};
  }
  struct Question {
    const Webhook* webhook = nullptr;
    const Target* target = nullptr;
    Result<void> answer{};
    std::vector<std::string> warnings{};
  };
  std::vector<Question> questions;
  for (const Webhook& webhook : webhooks) {
    KX_ASSIGN_OR_RETURN(const Target* const target, ShouldCall(webhook, dispatch, objects));
    if (target != nullptr) {
      questions.push_back({.webhook = &webhook, .target = target});
    }
  }
  const auto ask = [&](std::size_t i) {
    Question& question = questions[i];
    question.answer = AskToValidate(*question.webhook, dispatch.attributes, *question.target,
                                    objects, dispatch.request.stop, question.warnings);
  };
  if (questions.empty()) {
    return {};
  }
  {
    const http::Waiting waiting(dispatch.request);
    KX_RETURN_IF_ERROR(waiting.Check());
    threads_.ForEach(questions.size(), ask);
  }
  Result<void> first;
  for (Question& question : questions) {
    AddOnce(question.warnings, dispatch.warnings);
    if (first && !question.answer) {
      first = std::move(question.answer);
    }
  }
  return first;
}

}  // namespace kubexx::apiserver::admission
