#include "kubexx/reloader/plan/planner.h"

#include <algorithm>
#include <memory>
#include <set>

#include "kubexx/reloader/model/env_var.h"
#include "kubexx/reloader/model/stamps.h"
#include "kubexx/reloader/model/used_keys.h"
#include "kubexx/reloader/plan/foreign_list.h"
#include "kubexx/reloader/plan/planner_baseline.h"
#include "kubexx/reloader/plan/slot_planner.h"

namespace kubexx::reloader {
namespace {

using Kind = PairState::Kind;

/// A variable of a container.
using Slot = std::pair<std::size_t, std::string>;

/// Collects the sources of a plan and makes the plan.
class Planner {
 public:
  Planner(const Workload& workload, const SourceLookup& sources, const Knowledge& known,
          const DecisionRules& rules, PatternCache& patterns)
      : workload_(workload),
        sources_(sources),
        known_(known),
        rules_(rules),
        patterns_(patterns),
        recorded_(OwnBaselineOf(workload)),
        compared_(recorded_) {}

  Plan Run() {
    plan_.seen = known_.moves;
    plan_.templates = known_.templates;
    plan_.records = known_.records;
    TakeNewerRecords();
    plan_.baseline.uid = workload_.uid;
    plan_.template_written = workload_.template_written;
    plan_.is_run_by_jobs = workload_.id.kind == WorkloadKind::kCronJob;
    if (recorded_) {
      plan_.baseline.template_written = recorded_->template_written;
      plan_.baseline.edition = recorded_->edition + (workload_.baseline_restored ? 1 : 0);
    }
    const auto written_at = [this](const SourceId& id) {
      return sources_.over == nullptr ? std::nullopt : sources_.over->WrittenAt(id);
    };
    for (const SourceId& id : Candidates()) {
      if (!rules_.Ignores(id.type)) {
        Consider(id);
      }
    }
    SlotPlanner planner({.workload = workload_,
                         .recorded = compared_ ? &*compared_ : nullptr,
                         .written_at = written_at,
                         .known = known_,
                         .rules = rules_,
                         .reloaded_from = ParseReloadedFrom(workload_)},
                        plan_);
    for (const auto& [slot, members] : slots_) {
      planner.Run(slot.first, slot.second, members);
    }
    FinishBaseline({.workload = workload_,
                    .recorded = recorded_ ? &*recorded_ : nullptr,
                    .referenced = referenced_,
                    .named = named_,
                    .rules = rules_},
                   plan_);
    std::ranges::sort(plan_.bad_items, {}, &BadItem::item);
    const auto rest = std::ranges::unique(plan_.bad_items);
    plan_.bad_items.erase(rest.begin(), rest.end());
    return std::move(plan_);
  }

 private:
  /// Returns all sources that may concern the workload. Decide finds out whether they do.
  std::set<SourceId> Candidates() {
    for (SourceId& id : ReferencedSources(workload_)) {
      referenced_.insert(std::move(id));
    }
    named_ = referenced_;
    const std::string& ns = workload_.id.key.namespace_;
    std::set<SourceId> candidates;
    for (const auto& [type, text] : ReloadTextsOf(workload_, rules_.keys)) {
      const PatternList* patterns = Compile(type, text);
      ReloadList list = ReloadItemsIn(text);
      for (std::string& name : list.names) {
        named_.insert({type, {ns, std::move(name)}});
      }
      if (list.has_patterns && patterns != nullptr) {
        for (std::string& name : sources_.names(type)) {
          if (patterns->Matches(name)) {
            candidates.insert({type, {ns, std::move(name)}});
          }
        }
      }
    }
    named_.merge(ForeignSourcesOf(workload_, rules_.keys));
    candidates.insert(named_.begin(), named_.end());
    for (const auto& [id, state] : known_.pairs) {
      candidates.insert(id);
    }
    if (recorded_) {
      for (const auto& [id, digest] : recorded_->digests) {
        candidates.insert(id);
      }
    }
    return candidates;
  }

  /// Gets the compiled reload list for the whole plan. Returns null when it is not needed.
  const PatternList* Compile(SourceType type, const std::string& text) {
    if (rules_.Ignores(type)) {
      return nullptr;
    }
    const auto& list = lists_[type] = patterns_.Get(text);
    for (BadItem bad : list->bad_items()) {
      // Several annotations may have the same item, and people have to find it.
      const std::string kind = IsDescribed(type) ? std::string(NamesOf(type).kind) + "/" : "";
      bad.item = std::string(rules_.keys.Reload(type)) + ": \"" + kind + bad.item + "\"";
      plan_.bad_items.push_back(std::move(bad));
    }
    return list.get();
  }

  /// Whether every write of the source up to that of the pod template has been seen, or it does not
  /// matter: see Plan::has_seen_template.
  bool HasSeenTemplate(const SourceId& source) const {
    // Of a class every pod tells for itself.
    if (sources_.over == nullptr || source.type == SourceType::kSecretProviderClass ||
        (recorded_ && recorded_->template_written == workload_.template_written)) {
      return true;
    }
    // A CronJob starts nothing when its template changes, and when the operator makes a Job of it,
    // the baseline says so.
    if (workload_.id.kind == WorkloadKind::kCronJob &&
        !(recorded_ && IsRecordOlderThanPods(workload_, *recorded_))) {
      return true;
    }
    const std::string& written_by = IsOfDeployment(workload_) ? workload_.template_resource_version
                                                              : workload_.resource_version;
    return sources_.over->SeenUpTo(source) >= VersionNumber(written_by);
  }

  void Consider(const SourceId& id) {
    if (IsForeign(id) && !named_.contains(id)) {
      plan_.dropped.push_back(id);
      return;
    }
    const bool has_seen_template = HasSeenTemplate(id);  // before it is looked up
    auto found = sources_.get(id);
    const bool is_unseen = IsForeign(id) && (!found || found->unknown);
    if (is_unseen) {
      plan_.bad_items.push_back(NotAvailable(id));
    } else if (found || (recorded_ && recorded_->digests.contains(id))) {
      plan_.has_seen_template = plan_.has_seen_template && has_seen_template;
    }
    // Nothing is known either of a class that no pod has reported since the process began.
    if (is_unseen ||
        (found ? found->unknown : id.type == SourceType::kSecretProviderClass || IsOfOthers(id))) {
      plan_.seen.erase(id);
      KeepRecord(id);
      return;
    }
    if (found) {
      Rebase(*found);
      // Each pod reports a class for itself.
      if (found->resource_version != 0 && id.type != SourceType::kSecretProviderClass) {
        plan_.versions[id] = found->resource_version;
      }
    }
    const bool settled = found && id.type == SourceType::kSecretProviderClass && Adapt(*found);
    // Only the name of a deleted source is known. It is assumed that the source had the match
    // annotation.
    const Source source = found ? *found : Source{.id = id, .digest = kNoSource, .match = true};
    const auto list = lists_.find(id.type);
    const Verdict verdict =
        Decide(source, workload_, rules_, list == lists_.end() ? nullptr : list->second.get());
    const auto container = Reloads(verdict) ? ChooseContainer(workload_, id.type, id.key.name,
                                                              verdict == Verdict::kExplicit)
                                            : std::nullopt;
    if (container && !found && KeepOtherFields(id)) {
      return;
    }
    if (container) {
      slots_[{*container, EnvVarName(id.type, id.key.name)}].push_back(
          {.id = id,
           .digest = source.digest,
           .resource_version = VersionOfData(source),
           .object_version = SeenVersionOf(id),
           .keys = source.keys,
           .whole = source.whole,
           .named = named_.contains(id),
           .settled = settled,
           .restored_from = source.settled});
      return;
    }
    const auto state = known_.pairs.find(id);
    if (state != known_.pairs.end() && state->second.kind == Kind::kObserved && Reloads(verdict)) {
      ++plan_.not_updated;
    }
    // A recorded digest stays true of the pods, and counts when a rule includes the source again.
    const bool is_recorded = recorded_ && recorded_->digests.contains(id);
    if (!is_recorded && state != known_.pairs.end()) {
      plan_.dropped.push_back(id);
    }
  }

  /// Whether a source that was not found belongs to another operator, with another selector. Then
  /// what it has recorded must stay.
  bool IsOfOthers(const SourceId& id) const {
    return sources_.over != nullptr && recorded_ && recorded_->digests.contains(id) &&
           sources_.over->IsLeftOut(id);
  }

  std::uint64_t SeenVersionOf(const SourceId& id) const {
    const auto seen = plan_.versions.find(id);
    return seen == plan_.versions.end() ? 0 : seen->second;
  }

  /// An object's version also changes with its labels and annotations. The version of a recorded
  /// change does not, if that change was the one to these data; the store may have a later version.
  std::uint64_t VersionOfData(const Source& source) const {
    const auto moves = known_.moves.find(source.id);
    const Digest& whole = source.keys.empty() ? source.digest : source.whole;
    return moves == known_.moves.end() || moves->second.empty() ||
                   moves->second.back().digest != whole
               ? source.resource_version
               : moves->second.back().version;
  }

  /// Converts what is known about other keys to the keys that count now, unless the data under the
  /// other keys have changed.
  void Rebase(const Source& source) {
    RebaseFields(source);
    const auto rebase = [&](Digest& digest, const std::string& keys, const KeyPrints& prints) {
      if (keys == source.keys || digest == kNoSource || MayHaveMissed(source, keys)) {
        return false;
      }
      const auto present =
          sources_.over == nullptr ? std::nullopt : sources_.over->Over(source.id, keys);
      const bool is_same = !present || *present == digest ||
                           (keys.empty() && AreSameUnder(source.keys, prints, source.prints));
      if (is_same) {
        digest = source.digest;
      }
      return is_same;
    };
    const auto state = known_.pairs.find(source.id);
    if (state != known_.pairs.end() &&
        rebase(state->second.digest, state->second.keys, state->second.prints)) {
      state->second.prints = {};
      state->second.keys = source.keys;
    }
    if (compared_ && compared_->digests.contains(source.id)) {
      Digest& digest = compared_->digests[source.id];
      if (rebase(digest, compared_->KeysOf(source.id), {})) {
        compared_->Set(source.id, source.digest, source.keys, compared_->VersionOf(source.id));
      }
    }
  }

  /// What is recorded of a described kind may be about other fields than count now. That tells
  /// nothing of the data under the present ones, so the workload is taken to run with those that
  /// this process knows of it, or with the present ones: a new description rolls nothing. A rollout
  /// that waited under the former description waits on, as the workload has none of these.
  void RebaseFields(const Source& source) {
    if (!compared_ || !compared_->HasOtherFields(source.id)) {
      return;
    }
    if (compared_->IsDue(source.id)) {
      return KeepDue(source.id);
    }
    const auto state = known_.pairs.find(source.id);
    // Its data may have been others before, and have come back: that is no question here, either.
    compared_->Set(source.id, state == known_.pairs.end() ? source.digest : state->second.digest,
                   {}, std::max(compared_->VersionOf(source.id), source.resource_version));
  }

  /// Has a rollout that waits for a source wait on, whatever the source is under its present
  /// description.
  void KeepDue(const SourceId& id) {
    compared_->Set(id, UnknownData(), {}, compared_->VersionOf(id));
    compared_->due.insert(id);
  }

  /// What is recorded of a source that does not exist, or has not all of its present fields, under
  /// other fields: it stays as it is until the source has them. Written down as if it were about
  /// the present ones, it would differ from whatever the source is then. Returns false when this
  /// process knows better, nothing is recorded so, or a rollout waits that needs no source.
  bool KeepOtherFields(const SourceId& id) {
    if (!compared_ || !compared_->HasOtherFields(id)) {
      return false;
    }
    if (const auto state = known_.pairs.find(id); state != known_.pairs.end()) {
      compared_->Set(id, state->second.digest, {}, compared_->VersionOf(id));
      return false;
    }
    if (rules_.reload_on_delete && compared_->IsDue(id)) {
      KeepDue(id);
      return false;
    }
    plan_.baseline.SetAs(*recorded_, id);
    return true;
  }

  /// Whether the source may have changed since the present pods began, under keys that the workload
  /// did not use before. The pod template may use a new key, and the data under it may change right
  /// afterwards, before any plan. What is known about `keys` says nothing of such a change.
  bool MayHaveMissed(const Source& source, const std::string& keys) const {
    if (!source.by_use || HasNoKeysBeyond(source.keys, keys)) {
      return false;
    }
    const auto moves = known_.moves.find(source.id);
    return moves != known_.moves.end() &&
           std::ranges::any_of(moves->second, [this](const Move& move) {
             return move.version > known_.template_since;
           });
  }

  /// Uses what another replica has recorded since this process last knew for certain.
  void TakeNewerRecords() {
    if (!recorded_ || workload_.baseline_restored || workload_.baseline_is_foreign) {
      return;
    }
    for (auto& [id, state] : known_.pairs) {
      const auto record = recorded_->digests.find(id);
      if (state.kind == Kind::kConfirmed && !state.is_ahead_of_record &&
          record != recorded_->digests.end() && record->second != state.digest &&
          !recorded_->HasOtherFields(id)) {
        state = {.kind = Kind::kConfirmed, .digest = record->second, .keys = recorded_->KeysOf(id)};
      }
    }
  }

  void KeepRecord(const SourceId& id) {
    if (recorded_) {
      if (const auto found = recorded_->digests.find(id); found != recorded_->digests.end()) {
        plan_.baseline.SetAs(*recorded_, id);
        // Nobody doubts what a baseline says of a class, as each pod reports it for itself. A
        // source of another namespace may be unknown for good.
        plan_.is_partly_unknown = plan_.is_partly_unknown ||
                                  (id.type != SourceType::kSecretProviderClass && !IsForeign(id));
      }
    }
  }

  /// A SecretProviderClass may have several digests that are as good as the newest one. The one
  /// that the workload runs with stands for all of them. Returns whether the source cannot be a
  /// change.
  bool Adapt(Source& source) const {
    const auto known = KnownOf(source.id);
    if (known && std::ranges::find(source.current, *known) != source.current.end()) {
      source.digest = *known;
      return false;
    }
    return !known || !source.updated;
  }

  /// Returns the digest that the workload runs with, from the first source of knowledge that has
  /// it, in the order in which SlotPlanner asks them.
  std::optional<Digest> KnownOf(const SourceId& id) const {
    const auto state = known_.pairs.find(id);
    const bool has_state = state != known_.pairs.end();
    if (has_state && state->second.kind == Kind::kConfirmed) {
      return state->second.digest;
    }
    if (recorded_) {
      if (const auto found = recorded_->digests.find(id); found != recorded_->digests.end()) {
        return found->second;
      }
    }
    if (has_state) {
      return state->second.digest;
    }
    if (const auto from = ParseReloadedFrom(workload_); from && from->source == id) {
      return Digest::Parse(from->hash);
    }
    const std::string variable = EnvVarName(id.type, id.key.name);
    for (const Container& container : workload_.containers) {
      if (const std::string* value = FindVariable(container, variable)) {
        return Digest::Parse(*value);
      }
    }
    return std::nullopt;
  }

  const Workload& workload_;
  const SourceLookup& sources_;
  Knowledge known_;
  const DecisionRules& rules_;
  PatternCache& patterns_;
  std::map<SourceType, std::shared_ptr<const PatternList>> lists_;
  const std::optional<Baseline> recorded_;
  std::optional<Baseline> compared_;  ///< recorded_ after Rebase
  std::set<SourceId> referenced_;
  std::set<SourceId> named_;  ///< referenced, or a plain name of a list
  std::map<Slot, std::vector<SlotMember>> slots_;
  Plan plan_;
};

}  // namespace

bool IsDue(const Plan& plan, const SourceId& source) {
  return std::ranges::any_of(plan.changes, [&](const Change& change) {
    return std::ranges::find(change.causes, source) != change.causes.end();
  });
}

Plan MakePlan(const Workload& workload, const SourceLookup& sources, const Knowledge& known,
              const DecisionRules& rules, PatternCache& patterns) {
  Plan plan = Planner(workload, sources, known, rules, patterns).Run();
  const bool has_untold = !known.untold_stamps.empty() || !known.untold_stamps_of_others.empty() ||
                          known.has_untold_template || known.has_later_deployment;
  if (!has_untold || plan.changes.empty()) {
    return plan;
  }
  Knowledge told = known;
  told.untold_stamps.clear();
  told.untold_stamps_of_others.clear();
  told.has_untold_template = false;
  told.has_later_deployment = false;
  return Planner(workload, sources, told, rules, patterns).Run();
}

ReloadList ReloadItemsIn(std::string_view reload_text) {
  ReloadList result;
  AnyItem(reload_text, [&](std::string_view item) {
    if (!IsPlainItem(item)) {
      result.has_patterns = true;
    } else if (!item.empty()) {
      result.names.emplace_back(item);
    }
    return false;
  });
  return result;
}

ReloadList ReloadListOf(const Workload& workload, SourceType type, const AnnotationKeys& keys) {
  const auto text = ReloadTextOf(workload, type, keys);
  return text ? ReloadItemsIn(*text) : ReloadList();
}

}  // namespace kubexx::reloader
