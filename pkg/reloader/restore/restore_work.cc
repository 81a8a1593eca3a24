#include "kubexx/reloader/restore/restore_work.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "kubexx/apimachinery/time.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/model/object_refs.h"
#include "kubexx/reloader/model/restored_mark.h"
#include "kubexx/reloader/permissions/denial.h"
#include "kubexx/reloader/restore/appliers.h"
#include "kubexx/reloader/restore/not_done.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;

SourceId SourceIdOf(const SourceObject& object) {
  return {object.type(), {object.metadata().namespace_, object.metadata().name}};
}

/// What data become when a tool writes those of `bad` and leaves the other keys alone, as they are
/// in `good`.
Digest DigestOfMixture(const SourceObject& bad, const SourceObject& good) {
  SourceObject mixture = good;
  mixture.AddData(bad);
  return mixture.DigestOfAll();
}

/// So often it tries to give keys back while others write the source.
constexpr int kMostHandBacks = 3;

/// The reason where the data that failed are the last good ones.
constexpr char kWereGood[] = "WereGood";

/// `snapshots`: of the source, newest first. The cluster deletes them together with it.
std::string WhatToDoAboutImmutable(const std::string& name,
                                   const std::vector<SourceObject>& snapshots) {
  if (snapshots.empty()) {
    return name + " is immutable, and there is no snapshot of good data: delete it and create it " +
           "anew with good data";
  }
  const std::string snapshot = SourceName(SourceIdOf(snapshots.front()));
  return name + " is immutable, and its last good data are in " + snapshot +
         ", which goes when it is deleted: save the data of " + snapshot + " first, then delete " +
         name + " and create it anew with them";
}

std::optional<RestoredMark> MarkOn(const SourceObject& object) {
  auto mark = RestoredMark::In(object.metadata().annotations);
  return mark && mark->uid == object.metadata().uid ? mark : std::nullopt;
}

}  // namespace

std::optional<NotDone> RestoreWork::KeepSnapshot(const SourceId& source, const Digest& good,
                                                 const std::stop_token& stop) {
  const std::string name = SourceName(source);
  const auto object = store_.Get(source, stop);
  if (!object) {
    return apimachinery::IsObjectNotFound(object.error())
               ? TryAgain(name + " does not exist")
               : WhyRefused("read " + name, source.type, object.error());
  }
  if (object->DigestOfAll() != good) {
    return TryAgain(name + " has other data by now");
  }
  if (object->is_immutable()) {
    return std::nullopt;
  }
  auto own = OwnSnapshots(*object, true, stop);
  if (auto* not_done = std::get_if<NotDone>(&own)) {
    not_done->uid = object->metadata().uid;
    return std::move(*not_done);
  }
  Snapshots& snapshots = std::get<Snapshots>(own);
  if (auto not_done = Number(snapshots, *object, stop)) {
    not_done->uid = object->metadata().uid;
    return not_done;
  }
  // The one that was just made is not among them, and is the newest then.
  std::erase_if(snapshots.own,
                [&good](const SourceObject& each) { return each.DigestOfAll() == good; });
  return Prune(snapshots.own, stop);
}

std::variant<RestoreWork::Snapshots, NotDone> RestoreWork::OwnSnapshots(
    const SourceObject& source, bool make_key, const std::stop_token& stop) {
  const SourceId id = SourceIdOf(source);
  auto listed = store_.ListSnapshots(id, source.metadata().uid, stop);
  if (!listed) {
    return WhyRefused("list snapshots of " + SourceName(id), id.type, listed.error());
  }
  Snapshots snapshots;
  auto key = store_.Key(make_key, stop);
  if (!key && (make_key || !apimachinery::IsObjectNotFound(key.error()))) {
    return WhyNoKey(key.error());
  }
  if (key) {
    snapshots.key = *std::move(key);
    for (SourceObject& each : *listed) {
      if (IsOwn(each, source.metadata().uid, snapshots.key)) {
        snapshots.own.push_back(std::move(each));
      }
    }
  }
  snapshots.foreign = listed->size() - snapshots.own.size();
  SortNewestFirst(snapshots.own);
  return snapshots;
}

std::optional<NotDone> RestoreWork::Number(const Snapshots& all, const SourceObject& object,
                                           const std::stop_token& stop) {
  const std::string name = SourceName(SourceIdOf(object));
  std::vector<SourceObject> snapshots = all.own;
  const std::int64_t next = snapshots.empty() ? 1 : NumberOf(snapshots.front()) + 1;
  const Digest good = object.DigestOfAll();
  const auto known = std::ranges::find_if(
      snapshots, [&good](const SourceObject& each) { return each.DigestOfAll() == good; });
  const Appliers appliers = AppliersOf(object);
  // Data that are good need no memory of having been replaced, and have to be good once more after
  // a failure; so what was replaced stays remembered.
  const std::vector<ReplacedData> replaced = ReplacedInAll(snapshots);
  if (known == snapshots.end()) {
    SourceObject snapshot = SnapshotOf(object, next, ignore_annotation_, all.key);
    SetReplaced(snapshot, replaced);
    SetAppliers(snapshot, appliers);
    Seal(snapshot, all.key);
    const auto created = store_.Create(snapshot, stop);
    if (!created && created.error().reason == Reason::kAlreadyExists) {
      return AskAPerson("SnapshotTaken", "there is another object with the name of a snapshot of " +
                                             name + ": delete " + SourceName(SourceIdOf(snapshot)));
    }
    return created ? std::nullopt
                   : std::optional(
                         WhyRefused("take a snapshot of " + name, object.type(), created.error()));
  }
  // While a restore has not given back the keys, the snapshot knows better whose they are.
  const bool has_other_appliers = !OwnsKeys(object) && AppliersIn(*known) != appliers;
  if (known == snapshots.begin() && !has_other_appliers) {
    return std::nullopt;
  }
  if (known != snapshots.begin()) {
    known->metadata().annotations[kSnapshotNumber] = std::to_string(next);
  }
  SetReplaced(*known, replaced);
  if (has_other_appliers) {
    SetAppliers(*known, appliers);
  }
  Seal(*known, all.key);
  const auto updated = store_.Update(*known, stop);
  return updated ? std::nullopt
                 : std::optional(
                       WhyRefused("number a snapshot of " + name, object.type(), updated.error()));
}

std::optional<NotDone> RestoreWork::Prune(const std::vector<SourceObject>& snapshots,
                                          const std::stop_token& stop) {
  for (std::size_t i = kMaxSnapshots - 1; i < snapshots.size(); ++i) {
    const SourceId id = SourceIdOf(snapshots[i]);
    const auto deleted = store_.Delete(snapshots[i], stop);
    if (!deleted && !apimachinery::IsObjectNotFound(deleted.error())) {
      return WhyRefused("delete the old snapshot " + SourceName(id), id.type, deleted.error());
    }
  }
  return std::nullopt;
}

std::variant<std::vector<RestoreWork::Restored>, NotDone> RestoreWork::Restore(
    const FailedRollout& failed, const std::stop_token& stop) {
  if (failed.changed && failed.sources.empty()) {
    return AskAPerson(
        "ChangedSince",
        SourceName(*failed.changed) +
            " has been written since then, though nothing has changed that the workload takes "
            "from it; the operator never takes away what somebody wrote later: write good data");
  }
  if (failed.changed) {
    return AskAPerson(
        "OtherDataChanged",
        SourceName(*failed.changed) +
            ", for which the rollout was, too, has other data by now, and nobody "
            "knows whether the old data of the others go with these: write good data");
  }
  if (failed.may_be_cut) {
    return AskAPerson("TooManySources",
                      "the rollout was for more sources than the operator can note on a workload, "
                      "so it does not know all that would have to be put back together: write good "
                      "data");
  }
  apimachinery::Time now = apimachinery::Time::From(clock_.Wall());
  now.nanos = 0;  // as the mark has it
  std::vector<Step> steps;
  std::optional<NotDone> all_good;
  for (const FailedSource& source : failed.sources) {
    auto prepared = Prepare(source, stop);
    if (auto* not_done = std::get_if<NotDone>(&prepared)) {
      if (not_done->reason != kWereGood) {
        return std::move(*not_done);
      }
      // It has its last good data, as those of an earlier restore that had not shown yet that
      // they are good when another source got bad ones.
      all_good = std::move(*not_done);
      continue;
    }
    Step& step = steps.emplace_back(std::move(std::get<Step>(prepared)));
    step.at = step.is_done ? step.at : now;
  }
  if (steps.empty() && all_good && !failed.others_put_back) {
    return *std::move(all_good);
  }
  std::vector<Restored> restored;
  for (Step& step : steps) {
    if (!step.is_done) {
      if (auto not_done = Write(step, stop)) {
        return *std::move(not_done);
      }
    }
    restored.push_back({.source = SourceIdOf(step.object),
                        .uid = step.object.metadata().uid,
                        .good = step.snapshot.DigestOfAll(),
                        .bad = step.bad,
                        .at = step.at,
                        .is_new = !step.is_done});
  }
  return restored;
}

std::optional<RestoreWork::Restored> RestoreWork::PutBackInto(const SourceId& source,
                                                              const std::stop_token& stop) {
  const auto object = store_.Get(source, stop);
  const auto mark = object ? MarkOn(*object) : std::nullopt;
  if (!mark) {
    return std::nullopt;
  }
  HandBackLater(*object, stop);
  return Restored{.source = source,
                  .uid = object->metadata().uid,
                  .good = mark->good,
                  .bad = mark->bad,
                  .at = mark->at,
                  .is_new = false};
}

std::variant<RestoreWork::Step, NotDone> RestoreWork::Prepare(const FailedSource& source,
                                                              const std::stop_token& stop) {
  const std::string name = SourceName(source.id);
  if (source.id.type == SourceType::kSecretProviderClass || IsDescribed(source.id.type)) {
    return AskAPerson("NotRestorable",
                      name + " has its data elsewhere, where the operator cannot restore them");
  }
  if (IsForeign(source.id)) {
    return AskAPerson("NotRestorable",
                      name +
                          " is of another namespace than the workloads that have failed, and the "
                          "operator restores none: write good data there");
  }
  if (!source.is_named) {
    return AskAPerson("SecretNotNamed", name +
                                            " is not restored: write good data, and name it in "
                                            "spec.waves.restoreSecrets for the next time");
  }
  auto object = store_.Get(source.id, stop);
  if (!object) {
    return apimachinery::IsObjectNotFound(object.error())
               ? AskAPerson("SourceDeleted", name + " was deleted: create it with good data")
               : WhyRefused("read " + name, source.id.type, object.error());
  }
  const Digest present = object->DigestOfAll();
  const auto mark = MarkOn(*object);
  if (present != source.bad) {
    if (mark && mark->bad == source.bad && mark->good == present) {
      HandBackLater(*object, stop);
      return Step{.object = *object,
                  .snapshot = *object,
                  .bad = source.bad,
                  .at = mark->at,
                  .is_done = true};
    }
    return TryAgain(name + " has other data by now");
  }
  auto own = OwnSnapshots(*object, false, stop);
  if (auto* not_done = std::get_if<NotDone>(&own)) {
    return std::move(*not_done);
  }
  Snapshots& snapshots = std::get<Snapshots>(own);
  if (auto why_not = WhyNot(source, *object, snapshots)) {
    return *std::move(why_not);
  }
  return Step{.object = *std::move(object),
              .snapshot = std::move(snapshots.own.front()),
              .key = std::move(snapshots.key),
              .bad = source.bad};
}

std::optional<NotDone> RestoreWork::WhyNot(const FailedSource& source, const SourceObject& object,
                                           const Snapshots& all) {
  const std::string name = SourceName(source.id);
  const std::vector<SourceObject>& snapshots = all.own;
  const auto mark = MarkOn(object);
  bool was_replaced = mark && mark->bad == source.bad;
  for (const ReplacedData& replaced : ReplacedInAll(snapshots)) {
    // With the same version nobody has written the source since, so the attempt failed.
    was_replaced = was_replaced || (replaced.bad == source.bad &&
                                    replaced.version != object.metadata().resource_version);
  }
  if (was_replaced) {
    return AskAPerson("RestoredBefore",
                      name +
                          " was restored before from these data, or from data of which these are "
                          "a part, and somebody has written them since: write good data where they "
                          "come from, such as a repository",
                      &object);
  }
  if (object.is_immutable()) {
    return AskAPerson("Immutable", WhatToDoAboutImmutable(name, snapshots), &object);
  }
  if (snapshots.empty()) {
    return AskAPerson(
        "NoSnapshot",
        "there is no snapshot of good data of " + name +
            (all.foreign == 0 ? std::string()
                              : ", and what is labelled as one does not count: it is of an earlier "
                                "key of snapshots or version of the operator, or somebody else has "
                                "made or changed it, and it may be deleted") +
            ": write good data",
        &object);
  }
  if (snapshots.front().DigestOfAll() == source.bad) {
    return AskAPerson(kWereGood,
                      "workloads have been healthy with these data of " + name +
                          " before, so something else is wrong: look at the workload that has "
                          "failed",
                      &object);
  }
  return std::nullopt;
}

std::optional<NotDone> RestoreWork::Write(Step& step, const std::stop_token& stop) {
  const SourceId id = SourceIdOf(step.object);
  const std::string name = SourceName(id);
  const std::vector<ReplacedData> before = ReplacedIn(step.snapshot);
  // A tool that leaves keys alone which it does not know makes a mixture of the two when it writes
  // the bad data again.
  std::set<Digest> bad{step.bad, DigestOfMixture(step.object, step.snapshot)};
  bad.erase(step.snapshot.DigestOfAll());
  const auto is_of_these = [&](const ReplacedData& each) { return bad.contains(each.bad); };
  std::vector<ReplacedData> replaced = before;
  std::erase_if(replaced, is_of_these);
  for (const Digest& each : bad) {
    replaced.push_back({.bad = each, .version = step.object.metadata().resource_version});
  }
  const Appliers recorded = AppliersIn(step.snapshot);
  const Appliers appliers = AppliersAfter(recorded, AppliersOf(step.object));
  if (replaced != before || appliers != recorded) {
    SetReplaced(step.snapshot, replaced);
    SetAppliers(step.snapshot, appliers);
    Seal(step.snapshot, step.key);
    auto noted = store_.Update(step.snapshot, stop);
    if (!noted) {
      return WhyRefused("write the snapshot " + SourceName(SourceIdOf(step.snapshot)), id.type,
                        noted.error());
    }
    step.snapshot.metadata().resource_version = *std::move(noted);
  }
  step.object.TakeData(step.snapshot);
  AddToLastApplied(step.object, appliers);
  RestoredMark{.uid = step.object.metadata().uid,
               .good = step.snapshot.DigestOfAll(),
               .bad = step.bad,
               .at = step.at,
               .settled = step.snapshot.metadata().creation_timestamp}
      .WriteTo(step.object.metadata().annotations);
  const auto written = store_.Update(step.object, stop);
  if (written) {
    HandBackTo(id, step.snapshot, stop);
    return std::nullopt;
  }
  if (!MayHaveBeenMade(written.error())) {
    // It was certainly not made, so another attempt is allowed, also with another version. What was
    // replaced at earlier versions stays known, and may be the same data.
    replaced = before;
    std::erase_if(replaced, [&](const ReplacedData& each) {
      return is_of_these(each) && each.version == step.object.metadata().resource_version;
    });
    SetReplaced(step.snapshot, replaced);
    Seal(step.snapshot, step.key);
    if (auto taken_back = store_.Update(step.snapshot, stop); !taken_back) {
      return WhyRefused("write the snapshot " + SourceName(SourceIdOf(step.snapshot)), id.type,
                        taken_back.error());
    }
  }
  NotDone not_done = WhyRefused("restore " + name, id.type, written.error());
  not_done.uid = step.object.metadata().uid;
  return not_done;
}

void RestoreWork::HandBackTo(const SourceId& source, const SourceObject& snapshot,
                             const std::stop_token& stop) {
  const Appliers appliers = AppliersIn(snapshot);
  for (int attempt = 0; attempt < kMostHandBacks; ++attempt) {
    auto object = store_.Get(source, stop);
    if (!object || object->DigestOfAll() != snapshot.DigestOfAll() || !MarkOn(*object) ||
        !HandBack(*object, appliers)) {
      return;
    }
    const auto written = store_.Update(*object, stop);
    if (written || written.error().reason != Reason::kConflict) {
      if (!written) {
        logging::Debug("Keys of a restored source are not given back to the tool that applies them",
                       {{"source", SourceName(source)}, {"error", written.error().message}});
      }
      return;
    }
  }
}

void RestoreWork::HandBackLater(const SourceObject& source, const std::stop_token& stop) {
  if (!OwnsKeys(source)) {
    return;
  }
  const auto own = OwnSnapshots(source, false, stop);
  if (const auto* snapshots = std::get_if<Snapshots>(&own)) {
    for (const SourceObject& each : snapshots->own) {
      if (each.DigestOfAll() == source.DigestOfAll()) {
        return HandBackTo(SourceIdOf(source), each, stop);
      }
    }
  }
}

}  // namespace kubexx::reloader
