// Deployment: rolls from ReplicaSet to ReplicaSet. rollout.h decides their sizes, and
// deployment_status.h the status. This file reads and writes.
#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/apps/v1/types.gen.h"
#include "kubexx/apiserver/controllers/claims.h"
#include "kubexx/apiserver/controllers/deployment_status.h"
#include "kubexx/apiserver/controllers/expected_errors.h"
#include "kubexx/apiserver/controllers/pods.h"
#include "kubexx/apiserver/controllers/refusals.h"
#include "kubexx/apiserver/controllers/rollout.h"
#include "kubexx/apiserver/controllers/setup.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/owned_objects.h"

namespace kubexx::apiserver::controllers {
namespace {

using api::apps::v1::Deployment;
using api::apps::v1::ReplicaSet;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using controller::Action;
using controller::Client;
using controller::OwnedObjects;

constexpr const char* kHashLabel = "pod-template-hash";
constexpr const char* kRevision = "deployment.kubernetes.io/revision";
constexpr const char* kRevisionHistory = "deployment.kubernetes.io/revision-history";
constexpr const char* kDesired = "deployment.kubernetes.io/desired-replicas";
constexpr const char* kMost = "deployment.kubernetes.io/max-replicas";
constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr const char* kRollbackTo = "deprecated.deployment.rollback.to";
/// The annotations that a ReplicaSet does not get from its Deployment.
constexpr std::array kNotCopied = {kRevision, kRevisionHistory, kDesired,
                                   kMost,     kLastApplied,     kRollbackTo};
/// The most characters of an object's name.
constexpr std::size_t kLongestName = 253;

std::int64_t NumberOf(const ReplicaSet& set, const char* annotation) {
  const auto found = set.metadata.annotations.find(annotation);
  std::int64_t number = 0;
  if (found != set.metadata.annotations.end()) {
    const std::string& text = found->second;
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return number;
}

/// The label tells the sets apart. It is ignored in the Deployment's own template, which may have
/// it as a copy of a set's template.
bool IsOfTemplate(const ReplicaSet& set, PodTemplateSpec wanted) {
  PodTemplateSpec own = set.spec.template_;
  own.metadata.labels.erase(kHashLabel);
  wanted.metadata.labels.erase(kHashLabel);
  return own == wanted;
}

std::int32_t ReplicasOf(const ReplicaSet& set) { return set.spec.replicas.value_or(1); }

ReplicaCount CountOf(const ReplicaSet* set) {
  return set == nullptr ? ReplicaCount()
                        : ReplicaCount{.replicas = ReplicasOf(*set),
                                       .available = set->status.available_replicas};
}

/// One Deployment with its ReplicaSets from the cache, and what a reconcile does about them.
class Rollout {
 public:
  Rollout(const controller::Context& context, const Refusals& refusals,
          const Deployment& deployment, std::vector<cache::Ref<ReplicaSet>> owned)
      : context_(context),
        client_(context.client),
        refusals_(refusals),
        deployment_(deployment),
        owned_(std::move(owned)) {
    std::ranges::sort(owned_, {}, [](const cache::Ref<ReplicaSet>& set) {
      return std::tuple(set->metadata.creation_timestamp, set->metadata.name);
    });
    for (const cache::Ref<ReplicaSet>& set : owned_) {
      if (sets_.current == nullptr && IsOfTemplate(*set, deployment_.spec.template_)) {
        sets_.current = set.get();
      } else {
        sets_.old.push_back(set.get());
      }
    }
    limits_ = LimitsOf(deployment_);
    wanted_ = deployment_.spec.replicas.value_or(1);
  }

  /// Makes and scales ReplicaSets.
  Result<void> Step() {
    const RolloutStep step = Plan();
    if (sets_.current != nullptr) {
      KX_RETURN_IF_ERROR(WriteCurrent(step.current));
    } else if (!deployment_.spec.paused && !HasToWait()) {
      KX_RETURN_IF_ERROR(MakeCurrent(step.current));
    }
    for (std::size_t i = 0; i < step.old.size(); ++i) {
      KX_RETURN_IF_ERROR(WriteOld(*sets_.old[i], step.old[i]));
    }
    return {};
  }

  /// Writes the status after `stepped`. When everything is done, it deletes the ReplicaSets that
  /// exceed the history limit.
  Result<Action> Report(const Result<void>& stepped) {
    outcome_.failed = !stepped;
    Deployment changed = deployment_;
    changed.status =
        NextStatus(deployment_, sets_, outcome_, apimachinery::Time::From(context_.clock.Wall()));
    if (stepped && sets_.current != nullptr) {
      // This is written together with the status, because it would be a new generation otherwise.
      changed.metadata.annotations[kRevision] = std::to_string(NumberOf(*sets_.current, kRevision));
    }
    if (changed != deployment_) {
      KX_RETURN_IF_ERROR(client_.UpdateStatus(changed));
    }
    if (outcome_.failed) {
      return Action::Done();
    }
    if (IsComplete(deployment_, changed.status)) {
      KX_RETURN_IF_ERROR(CleanUp());
      return Action::Done();
    }
    const auto deadline = ProgressDeadlineOf(deployment_);
    return deadline && !deployment_.spec.paused
               ? Action::RequeueAfter(std::chrono::seconds(std::int64_t{*deadline} + 1))
               : Action::Done();
  }

 private:
  /// Whether the earlier pods have to go first, and whether those that are ending have to be gone.
  bool HasToWait() const {
    return deployment_.spec.strategy.type == "Recreate" &&
           std::ranges::any_of(sets_.old, [](const ReplicaSet* set) {
             return set->status.replicas > 0 || ReplicasOf(*set) > 0 ||
                    set->status.terminating_replicas.value_or(0) > 0;
           });
  }

  /// Whether the ReplicaSet of the template alone has enough ready pods, so that the others are no
  /// longer needed. This holds while the Deployment is paused, too.
  bool IsSaturated() const {
    return sets_.current != nullptr && ReplicasOf(*sets_.current) == wanted_ &&
           NumberOf(*sets_.current, kDesired) == wanted_ &&
           sets_.current->status.available_replicas == wanted_;
  }

  RolloutStep Plan() const {
    RolloutState state{.wanted = wanted_,
                       .limits = limits_,
                       .current = CountOf(sets_.current),
                       .has_current = sets_.current != nullptr};
    for (const ReplicaSet* const set : sets_.old) {
      state.old.push_back(CountOf(set));
    }
    std::int64_t old_total = 0;
    bool rescaled = false;
    for (const cache::Ref<ReplicaSet>& set : owned_) {
      if (ReplicasOf(*set) > 0) {
        rescaled = rescaled || (set->metadata.annotations.contains(kDesired) &&
                                NumberOf(*set, kDesired) != wanted_);
        old_total = std::max(old_total, NumberOf(*set, kMost));
      }
    }
    if (deployment_.spec.paused || rescaled) {
      if (IsSaturated()) {
        return {.current = wanted_, .old = std::vector<std::int32_t>(state.old.size(), 0)};
      }
      return NextScalingStep(state, old_total > 0 ? old_total : deployment_.status.replicas);
    }
    if (deployment_.spec.strategy.type != "Recreate") {
      return NextRollingStep(state);
    }
    return {.current = HasToWait() ? state.current.replicas : wanted_,
            .old = std::vector<std::int32_t>(state.old.size(), 0)};
  }

  std::int64_t NextRevision() const {
    std::int64_t highest = 0;
    for (const ReplicaSet* const set : sets_.old) {
      highest = std::max(highest, NumberOf(*set, kRevision));
    }
    return highest + 1;
  }

  void Annotate(ReplicaSet& set) const {
    set.metadata.annotations[kDesired] = std::to_string(wanted_);
    set.metadata.annotations[kMost] = std::to_string(std::int64_t{wanted_} + limits_.surge);
  }

  /// Sets the annotations of the Deployment's present ReplicaSet.
  void AnnotateCurrent(ReplicaSet& set) const {
    auto& annotations = set.metadata.annotations;
    for (const auto& [key, value] : deployment_.metadata.annotations) {
      if (std::ranges::find(kNotCopied, key) == kNotCopied.end()) {
        annotations[key] = value;
      }
    }
    const std::int64_t before = NumberOf(set, kRevision);
    const std::int64_t revision = NextRevision();
    if (before < revision) {
      if (before > 0) {
        std::string& history = annotations[kRevisionHistory];
        history.append(history.empty() ? "" : ",").append(std::to_string(before));
      }
      annotations[kRevision] = std::to_string(revision);
    }
    Annotate(set);
  }

  Result<void> MakeCurrent(std::int32_t replicas) {
    const std::string hash =
        TemplateHash(deployment_.spec.template_, deployment_.status.collision_count);
    ReplicaSet set;
    set.metadata.name =
        deployment_.metadata.name.substr(0, kLongestName - hash.size() - 1) + "-" + hash;
    set.metadata.namespace_ = deployment_.metadata.namespace_;
    set.metadata.labels = deployment_.spec.template_.metadata.labels;
    set.metadata.labels[kHashLabel] = hash;
    set.spec.replicas = replicas;
    set.spec.min_ready_seconds = deployment_.spec.min_ready_seconds;
    set.spec.template_ = deployment_.spec.template_;
    set.spec.template_.metadata.labels[kHashLabel] = hash;
    set.spec.selector = deployment_.spec.selector;
    set.spec.selector.get_or_emplace().match_labels[kHashLabel] = hash;
    AnnotateCurrent(set);
    KX_RETURN_IF_ERROR(controller::SetControllerReference(deployment_, set));
    auto created = client_.Create(set);
    if (!created && created.error().reason == Reason::kAlreadyExists) {
      return TellApart(set, created.error());
    }
    if (!created) {
      const std::string what = "Failed to create new replica set \"" + set.metadata.name + "\": ";
      outcome_.refusal = IsOfEndingNamespace(created.error()) ? "" : what + created.error().message;
      return refusals_.Of(context_, deployment_, "ReplicaSetCreateError", what, created);
    }
    created_ = std::move(*created);
    sets_.current = &created_;
    outcome_.made = true;
    return {};
  }

  /// Another object has the name, so the next attempt uses another one.
  Result<void> TellApart(const ReplicaSet& wanted, const apimachinery::Status& error) {
    KX_ASSIGN_OR_RETURN(
        const ReplicaSet other,
        client_.GetLive<ReplicaSet>({wanted.metadata.namespace_, wanted.metadata.name}));
    if (!controller::IsControlledBy(other, deployment_) ||
        !IsOfTemplate(other, deployment_.spec.template_)) {
      Deployment changed = deployment_;
      changed.status.collision_count = changed.status.collision_count.value_or(0) + 1;
      KX_RETURN_IF_ERROR(client_.UpdateStatus(changed));
    }
    return Fail(error);
  }

  Result<void> WriteCurrent(std::int32_t replicas) {
    ReplicaSet changed = *sets_.current;
    changed.spec.replicas = replicas;
    changed.spec.min_ready_seconds = deployment_.spec.min_ready_seconds;
    AnnotateCurrent(changed);
    if (changed != *sets_.current) {
      KX_ASSIGN_OR_RETURN(created_, client_.Update(changed));
      sets_.current = &created_;
    }
    return {};
  }

  Result<void> WriteOld(const ReplicaSet& set, std::int32_t replicas) const {
    if (replicas == ReplicasOf(set) && (replicas == 0 || NumberOf(set, kDesired) == wanted_)) {
      return {};
    }
    ReplicaSet changed = set;
    changed.spec.replicas = replicas;
    Annotate(changed);
    KX_RETURN_IF_ERROR(client_.Update(changed));
    return {};
  }

  Result<void> CleanUp() {
    const auto keep =
        static_cast<std::size_t>(std::max(0, deployment_.spec.revision_history_limit.value_or(10)));
    std::vector<const ReplicaSet*> done;
    for (const ReplicaSet* const set : sets_.old) {
      if (ReplicasOf(*set) == 0 && set->status.replicas == 0 &&
          set->status.observed_generation >= set->metadata.generation &&
          !controller::IsBeingDeleted(*set)) {
        done.push_back(set);
      }
    }
    std::ranges::sort(done, {}, [](const ReplicaSet* set) { return NumberOf(*set, kRevision); });
    for (std::size_t i = 0; i + keep < done.size(); ++i) {
      const auto& metadata = done[i]->metadata;
      const auto deleted =
          client_.Delete<ReplicaSet>({metadata.namespace_, metadata.name}, {.uid = metadata.uid});
      if (!deleted && deleted.error().reason != Reason::kNotFound) {
        return Fail(deleted.error());
      }
    }
    return {};
  }

  const controller::Context& context_;
  const Client& client_;
  const Refusals& refusals_;
  const Deployment& deployment_;
  std::vector<cache::Ref<ReplicaSet>> owned_;
  ReplicaSets sets_{};
  ReplicaSet created_{};  ///< what sets_.current points at after a write
  RolloutLimits limits_{};
  std::int32_t wanted_ = 0;
  RolloutOutcome outcome_{};
};

/// Whether the caches have been behind. The next attempt, which comes soon, has newer data.
bool IsPassing(const apimachinery::Status& error) {
  return error.reason == Reason::kConflict || error.reason == Reason::kAlreadyExists;
}

}  // namespace

Result<void> AddDeploymentController(const Setup& setup) {
  auto reconcile = [sets = OwnedObjects<ReplicaSet>(setup.manager),
                    refusals = Refusals(setup, "deployment-controller")](
                       const controller::Request& request,
                       controller::Context& context) -> Result<Action> {
    const auto found = context.client.Get<Deployment>(request.object);
    if (!found) {
      return controller::IgnoreNotFound(found.error());
    }
    KX_ASSIGN_OR_RETURN(auto owned, Claim<ReplicaSet>(context.client, sets, **found));
    Rollout rollout(context, refusals, **found, std::move(owned));
    const Result<void> stepped =
        controller::IsBeingDeleted(**found) ? Result<void>() : rollout.Step();
    if (!stepped && IsPassing(stepped.error())) {
      return apimachinery::Fail(stepped.error());
    }
    return AfterReport(stepped, rollout.Report(stepped));
  };
  KX_RETURN_IF_ERROR(controller::ControllerBuilder<Deployment>(setup.manager)
                         .Owns<ReplicaSet>()
                         .Watches<ReplicaSet>(AdoptersOf<Deployment, ReplicaSet>(setup.manager))
                         .Complete(WithExpectedErrors(std::move(reconcile))));
  return {};
}

}  // namespace kubexx::apiserver::controllers
