#include "kubexx/reloader/restore/restore_work.h"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/reloader/model/restored_mark.h"
#include "kubexx/reloader/restore/appliers.h"
#include "kubexx/reloader/testing/fake_source_store.h"

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const SourceId kWorkSettings{SourceType::kConfigMap, {"shop", "settings"}};
const SourceId kWorkFlags{SourceType::kConfigMap, {"shop", "flags"}};
const SourceId kWorkPassword{SourceType::kSecret, {"shop", "password"}};

Digest DigestWith(const std::string& value) { return DigestOf("a=" + value); }

apimachinery::Status MissingRight() {
  return {apimachinery::Reason::kForbidden,
          R"(configmaps "x" is forbidden: User "reloader" cannot update resource "configmaps")",
          403};
}

std::optional<apimachinery::Status> NoAnswerToAnUpdate(const std::string& verb,
                                                       const SourceId& id) {
  return verb == "update" && id == kWorkSettings
             ? std::optional(apimachinery::Status(apimachinery::Reason::kUnavailable, "gone"))
             : std::nullopt;
}

class RestoreWorkTest : public testing::Test {
 protected:
  /// Somebody writes these data, and all workloads are healthy with them.
  void BecomeGood(const std::string& value, const SourceId& source = kWorkSettings) {
    store_.Put(source, value);
    EXPECT_EQ(work_.KeepSnapshot(source, DigestWith(value), {}), std::nullopt);
  }
  static FailedRollout FailedWith(const std::string& value,
                                  std::vector<SourceId> sources = {kWorkSettings}) {
    FailedRollout failed{.workload = {"Deployment", {"shop", "canary"}}};
    for (SourceId& source : sources) {
      failed.sources.push_back({.id = std::move(source), .bad = DigestWith(value)});
    }
    return failed;
  }
  /// The sources that are restored, or a text for why not.
  std::set<std::string> Restore(const FailedRollout& failed) {
    const auto done = work_.Restore(failed, {});
    if (const auto* not_done = std::get_if<NotDone>(&done)) {
      EXPECT_EQ(not_done->needs_person, !not_done->reason.empty());
      return {not_done->needs_person ? not_done->reason : "again: " + not_done->message};
    }
    std::set<std::string> names;
    for (const auto& each : std::get<std::vector<RestoreWork::Restored>>(done)) {
      names.insert(each.source.key.name + (each.is_new ? "" : " before"));
    }
    return names;
  }
  /// A source of this name whose key "a" has the value.
  static SourceObject Source(const SourceId& id, const std::string& value) {
    FakeSourceStore store;
    store.Put(id, value);
    return *store.Get(id, {});
  }
  std::vector<std::string> SnapshotValues() const {
    std::vector<SourceObject> snapshots = store_.Snapshots();
    SortNewestFirst(snapshots);
    std::vector<std::string> values;
    for (const SourceObject& each : snapshots) {
      values.push_back(FakeSourceStore::ValueIn(each));
    }
    return values;
  }

  base::testing::FakeClock clock_;
  FakeSourceStore store_;
  RestoreWork work_{store_, clock_, "reloader.stakater.com/ignore"};
};

TEST_F(RestoreWorkTest, KeepsSnapshotsOfTheLastGoodDataOnly) {
  BecomeGood("1");
  EXPECT_THAT(SnapshotValues(), ElementsAre("1"));
  BecomeGood("2");
  EXPECT_THAT(SnapshotValues(), ElementsAre("2", "1"));
  BecomeGood("3");
  EXPECT_THAT(SnapshotValues(), ElementsAre("3", "2"));
  BecomeGood("2");
  EXPECT_THAT(SnapshotValues(), ElementsAre("2", "3")) << "data that come back are the newest";
  BecomeGood("4");
  EXPECT_THAT(SnapshotValues(), ElementsAre("4", "2"));
}

TEST_F(RestoreWorkTest, ASnapshotThatIsThereIsNotWrittenAgain) {
  BecomeGood("1");
  const std::string before = store_.requests();
  EXPECT_EQ(work_.KeepSnapshot(kWorkSettings, DigestWith("1"), {}), std::nullopt);
  EXPECT_EQ(store_.requests(), before + "get list key ");
}

TEST_F(RestoreWorkTest, TakesNoSnapshotOfOtherDataThanThoseThatAreGood) {
  store_.Put(kWorkSettings, "newer");
  const auto not_done = work_.KeepSnapshot(kWorkSettings, DigestWith("1"), {});
  ASSERT_TRUE(not_done);
  EXPECT_FALSE(not_done->needs_person);
  EXPECT_THAT(store_.Snapshots(), SizeIs(0));
}

TEST_F(RestoreWorkTest, TakesNoSnapshotOfWhatCannotChange) {
  store_.Put(kWorkSettings, "1");
  store_.Edit(kWorkSettings, [](SourceObject& object) { object.MakeImmutable(); });
  EXPECT_EQ(work_.KeepSnapshot(kWorkSettings, DigestWith("1"), {}), std::nullopt);
  EXPECT_THAT(store_.Snapshots(), SizeIs(0));
}

TEST_F(RestoreWorkTest, AMissingRightIsNamedWithWhatToGrant) {
  store_.Put(kWorkSettings, "1");
  store_.FailBefore([](const std::string& verb, const SourceId&) {
    return verb == "create" ? std::optional(MissingRight()) : std::nullopt;
  });
  const auto not_done = work_.KeepSnapshot(kWorkSettings, DigestWith("1"), {});
  ASSERT_TRUE(not_done);
  EXPECT_TRUE(not_done->needs_person);
  EXPECT_EQ(not_done->reason, "Forbidden");
  EXPECT_EQ(not_done->uid, "uid-1");
  EXPECT_THAT(not_done->message, HasSubstr("take a snapshot of ConfigMap shop/settings"));
  EXPECT_THAT(not_done->message, HasSubstr("grant get, list, create, update and delete of "
                                           "configmaps"));
}

TEST_F(RestoreWorkTest, PutsTheLastGoodDataBack) {
  BecomeGood("1");
  BecomeGood("2");
  store_.Put(kWorkSettings, "bad");
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("settings"));
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "2");
  const auto mark = RestoredMark::Parse(store_.AnnotationOf(kWorkSettings, kRestoredAnnotation));
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->uid, "uid-1");
  EXPECT_EQ(mark->good, DigestWith("2"));
  EXPECT_EQ(mark->bad, DigestWith("bad"));
  EXPECT_EQ(mark->settled, std::nullopt) << "older versions take a mark with more words for none";
  EXPECT_THAT(store_.AnnotationOf(kWorkSettings, kRestoredFromAnnotation),
              testing::StartsWith(mark->ToString() + " "));
}

TEST_F(RestoreWorkTest, DataThatComeBackAreNotReplacedAgain) {
  BecomeGood("1");
  store_.Put(kWorkSettings, "bad");
  ASSERT_THAT(Restore(FailedWith("bad")), ElementsAre("settings"));
  store_.Put(kWorkSettings, "bad");
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("RestoredBefore"));
  store_.Edit(kWorkSettings, [](SourceObject& object) { object.metadata().annotations.clear(); });
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("RestoredBefore"))
      << "kubectl replace takes the annotation away, and the snapshot still knows";
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "bad");
  store_.Put(kWorkSettings, "worse");
  EXPECT_THAT(Restore(FailedWith("worse")), ElementsAre("settings")) << "these are others";
}

TEST_F(RestoreWorkTest, DataThatWereReplacedStayKnownWhenSnapshotsGo) {
  BecomeGood("1");
  store_.Put(kWorkSettings, "bad");
  ASSERT_THAT(Restore(FailedWith("bad")), ElementsAre("settings"));
  for (const char* value : {"2", "3", "4"}) {
    BecomeGood(value);
  }
  store_.Put(kWorkSettings, "bad");
  store_.Edit(kWorkSettings, [](SourceObject& object) { object.metadata().annotations.clear(); });
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("RestoredBefore"));
}

TEST_F(RestoreWorkTest, WhatSomebodyHasWrittenSinceIsLeftAlone) {
  BecomeGood("1");
  store_.Put(kWorkSettings, "mended");
  EXPECT_THAT(Restore(FailedWith("bad")),
              ElementsAre("again: ConfigMap shop/settings has other data by now"));
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "mended");
}

TEST_F(RestoreWorkTest, WhatSomebodyWritesAtTheSameMomentIsLeftAlone) {
  BecomeGood("1");
  store_.Put(kWorkSettings, "bad");
  store_.BeforeUpdates([this](const SourceId& id) {
    if (id == kWorkSettings) {
      store_.Put(kWorkSettings, "mended");
    }
  });
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre(HasSubstr("again: cannot restore")));
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "mended");
}

TEST_F(RestoreWorkTest, AConflictWithAnotherFieldIsTriedAgain) {
  BecomeGood("1");
  store_.Put(kWorkSettings, "bad");
  store_.BeforeUpdates([this](const SourceId& id) {
    if (id == kWorkSettings) {
      store_.Edit(kWorkSettings, [](SourceObject& object) { object.metadata().labels["l"] = "1"; });
    }
  });
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre(HasSubstr("again: cannot restore")));
  store_.BeforeUpdates({});
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("settings"));
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "1");
}

TEST_F(RestoreWorkTest, AWriteWithoutAnAnswerIsFoundToHaveBeenMade) {
  BecomeGood("1");
  store_.Put(kWorkSettings, "bad");
  store_.FailAfter(NoAnswerToAnUpdate);
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre(HasSubstr("again: cannot restore")));
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "1");
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("settings before"));
}

TEST_F(RestoreWorkTest, AWriteThatNeverArrivedIsMadeOnceMore) {
  BecomeGood("1");
  store_.Put(kWorkSettings, "bad");
  bool fails = true;
  store_.FailBefore([&fails](const std::string& verb, const SourceId& id) {
    return fails && verb == "update" && id == kWorkSettings
               ? std::optional(apimachinery::Status(apimachinery::Reason::kUnavailable, "gone"))
               : std::nullopt;
  });
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre(HasSubstr("again: cannot restore")));
  fails = false;
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("settings"));
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "1");
}

TEST_F(RestoreWorkTest, ARefusedWriteMayBeTriedWhenTheRightIsGranted) {
  BecomeGood("1");
  store_.Put(kWorkSettings, "bad");
  store_.FailBefore([](const std::string& verb, const SourceId& id) {
    return verb == "update" && id == kWorkSettings ? std::optional(MissingRight()) : std::nullopt;
  });
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("Forbidden"));
  store_.FailBefore({});
  store_.Edit(kWorkSettings, [](SourceObject& object) { object.metadata().labels["l"] = "1"; });
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("settings"));
}

TEST_F(RestoreWorkTest, AnAttemptOfWhichNothingIsKnownIsNotRepeatedOverAnotherVersion) {
  BecomeGood("1");
  store_.Put(kWorkSettings, "bad");
  store_.FailAfter(NoAnswerToAnUpdate);
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre(HasSubstr("again: cannot restore")));
  store_.FailAfter({});
  // A tool puts its data back before the operator has looked, and takes the annotation away.
  store_.Put(kWorkSettings, "bad");
  store_.Edit(kWorkSettings, [](SourceObject& object) { object.metadata().annotations.clear(); });
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("RestoredBefore"));
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "bad");
}

TEST_F(RestoreWorkTest, SaysWhatKeepsItFromRestoring) {
  store_.Put(kWorkSettings, "bad");
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("NoSnapshot"));
  store_.Remove(kWorkSettings);
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("SourceDeleted"));
  BecomeGood("1");
  EXPECT_THAT(Restore(FailedWith("1")), ElementsAre("WereGood"));
  store_.Put(kWorkSettings, "bad");
  store_.Edit(kWorkSettings, [](SourceObject& object) { object.MakeImmutable(); });
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("Immutable"));
  const auto immutable = work_.Restore(FailedWith("bad"), {});
  EXPECT_THAT(std::get<NotDone>(immutable).message,
              HasSubstr("save the data of ConfigMap shop/" + store_.Snapshots()[0].metadata().name +
                        " first, then delete"));
  EXPECT_THAT(Restore(FailedWith("bad", {{SourceType::kSecretProviderClass, {"shop", "vault"}}})),
              ElementsAre("NotRestorable"));
  const FailedRollout foreign =
      FailedWith("bad", {ForeignId(SourceType::kConfigMap, {"shared", "settings"}, "shop")});
  EXPECT_THAT(Restore(foreign), ElementsAre("NotRestorable"));
  EXPECT_THAT(std::get<NotDone>(work_.Restore(foreign, {})).message,
              HasSubstr("ConfigMap shared/settings is of another namespace"));
  FailedRollout unnamed = FailedWith("bad", {kWorkPassword});
  unnamed.sources[0].is_named = false;
  EXPECT_THAT(Restore(unnamed), ElementsAre("SecretNotNamed"));
  FailedRollout changed = FailedWith("bad");
  changed.changed = kWorkFlags;
  EXPECT_THAT(Restore(changed), ElementsAre("OtherDataChanged"));
  changed.sources.clear();
  EXPECT_THAT(Restore(changed), ElementsAre("ChangedSince"));
}

TEST_F(RestoreWorkTest, ASnapshotThatSomebodyHasReplacedDoesNotCount) {
  BecomeGood("1");
  const SourceObject snapshot = store_.Snapshots()[0];
  const SourceId id{SourceType::kConfigMap, {"shop", snapshot.metadata().name}};
  store_.Put(id, "forged");
  store_.Put(kWorkSettings, "bad");
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("NoSnapshot"));
}

/// Gives the object a key beside "a", or takes it away.
void SetKey(SourceObject& object, const std::string& key, const std::string& value) {
  auto config_map = std::get<api::core::v1::ConfigMap>(object.object());
  value.empty() ? static_cast<void>(config_map.data.erase(key))
                : static_cast<void>(config_map.data.insert_or_assign(key, value));
  object = SourceObject(std::move(config_map));
}

TEST_F(RestoreWorkTest, AMixtureOfBadAndRestoredDataIsNotReplacedEither) {
  store_.Put(kWorkSettings, "1");
  store_.Edit(kWorkSettings, [](SourceObject& object) { SetKey(object, "removed", "r"); });
  EXPECT_EQ(work_.KeepSnapshot(kWorkSettings, DigestOf("a=1;removed=r"), {}), std::nullopt);
  store_.Put(kWorkSettings, "bad");
  store_.Edit(kWorkSettings, [](SourceObject& object) { SetKey(object, "removed", ""); });
  ASSERT_THAT(Restore(FailedWith("bad")), ElementsAre("settings"));
  // A tool that knows nothing of the key, as it has removed it before, writes the bad data again.
  store_.Put(kWorkSettings, "bad");
  FailedRollout again = FailedWith("bad");
  again.sources[0].bad = DigestOf("a=bad;removed=r");
  EXPECT_THAT(Restore(again), ElementsAre("RestoredBefore"));
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "bad");
}

// They were replaced once more, and once more after that.
TEST_F(RestoreWorkTest, ARefusedWriteForgetsNothingThatWasReplacedBefore) {
  store_.Put(kWorkSettings, "1");
  store_.Edit(kWorkSettings, [](SourceObject& object) { SetKey(object, "removed", "r"); });
  EXPECT_EQ(work_.KeepSnapshot(kWorkSettings, DigestOf("a=1;removed=r"), {}), std::nullopt);
  const auto write = [this](const std::string& removed) {
    store_.Put(kWorkSettings, "bad");
    store_.Edit(kWorkSettings, [&removed](SourceObject& object) {
      SetKey(object, "removed", removed);
      object.metadata().annotations.clear();
    });
  };
  FailedRollout failed = FailedWith("bad");
  failed.sources[0].bad = DigestOf("a=bad;removed=r");
  write("r");
  ASSERT_THAT(Restore(failed), ElementsAre("settings"));
  // With the last good data these make a mixture, which are the data from before.
  write("");
  store_.FailBefore([](const std::string& verb, const SourceId& id) {
    return verb == "update" && id == kWorkSettings ? std::optional(MissingRight()) : std::nullopt;
  });
  ASSERT_THAT(Restore(FailedWith("bad")), ElementsAre("Forbidden"));
  store_.FailBefore({});
  write("r");
  EXPECT_THAT(Restore(failed), ElementsAre("RestoredBefore"));
}

TEST_F(RestoreWorkTest, GivesTheKeysBackToTheToolThatAppliesThem) {
  const auto owned = [](const std::string& manager, const std::string& operation,
                        const std::string& fields) {
    return [=](SourceObject& object) {
      auto& entries = object.metadata().managed_fields;
      std::erase_if(entries, [&](const auto& each) { return each.manager == manager; });
      entries.push_back({.manager = manager,
                         .operation = operation,
                         .api_version = "v1",
                         .time = apimachinery::Time{.seconds = 1},
                         .fields_type = "FieldsV1",
                         .fields_v1 = apimachinery::FieldsV1{.raw = fields}});
    };
  };
  store_.Put(kWorkSettings, "1");
  store_.Edit(kWorkSettings, owned("flux", "Apply", R"({"f:data":{"f:a":{}}})"));
  EXPECT_EQ(work_.KeepSnapshot(kWorkSettings, DigestWith("1"), {}), std::nullopt);
  store_.Put(kWorkSettings, "bad");
  bool is_written = false;
  store_.FailAfter([&](const std::string& verb, const SourceId& id) {
    if (verb == "update" && id == kWorkSettings && !std::exchange(is_written, true)) {
      // What the API server does with a write.
      store_.Edit(id, owned("flux", "Apply", R"({"f:metadata":{}})"));
      store_.Edit(id, owned(kRestoreFieldManager, "Update", R"({"f:data":{"f:a":{}}})"));
    }
    return std::optional<apimachinery::Status>();
  });
  ASSERT_THAT(Restore(FailedWith("bad")), ElementsAre("settings"));
  const SourceObject after = *store_.Get(kWorkSettings, {});
  EXPECT_EQ(AppliersOf(after), (Appliers{{"flux", {"a"}}}));
  EXPECT_FALSE(OwnsKeys(after)) << "or nobody could ever remove them";
  // As if the process had ended before it gave them back.
  store_.Edit(kWorkSettings, owned("flux", "Apply", R"({"f:metadata":{}})"));
  store_.Edit(kWorkSettings, owned(kRestoreFieldManager, "Update", R"({"f:data":{"f:a":{}}})"));
  ASSERT_TRUE(work_.PutBackInto(kWorkSettings, {}));
  EXPECT_EQ(AppliersOf(*store_.Get(kWorkSettings, {})), (Appliers{{"flux", {"a"}}}));
}

TEST_F(RestoreWorkTest, ASnapshotLearnsOfAnotherTool) {
  BecomeGood("1");
  EXPECT_THAT(AppliersIn(store_.Snapshots().at(0)), IsEmpty());
  store_.Edit(kWorkSettings, [](SourceObject& object) {
    object.metadata().managed_fields = {
        {.manager = "flux",
         .operation = "Apply",
         .api_version = "v1",
         .fields_type = "FieldsV1",
         .fields_v1 = apimachinery::FieldsV1{.raw = R"({"f:data":{"f:a":{}}})"}}};
  });
  EXPECT_EQ(work_.KeepSnapshot(kWorkSettings, DigestWith("1"), {}), std::nullopt);
  ASSERT_THAT(store_.Snapshots(), SizeIs(1));
  EXPECT_EQ(AppliersIn(store_.Snapshots().at(0)), (Appliers{{"flux", {"a"}}}));
}

TEST_F(RestoreWorkTest, WhatSomebodyPlantsAsASnapshotIsNeverPutBack) {
  BecomeGood("1");
  const SourceObject source = Source(kWorkSettings, "forged");
  // All that whoever may create objects can give it: label, owner, digest, number.
  SourceObject planted = SnapshotOf(source, 99, "ignore", apimachinery::Bytes("guessed"));
  planted.metadata().labels[kSnapshotOf] = "uid-1";
  store_.Plant(planted);
  store_.Put(kWorkSettings, "bad");
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("settings"));
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "1");
}

TEST_F(RestoreWorkTest, WithNothingButAPlantedSnapshotThereIsNone) {
  store_.Put(kWorkSettings, "bad");
  SourceObject planted =
      SnapshotOf(Source(kWorkSettings, "forged"), 1, "ignore", apimachinery::Bytes("guessed"));
  planted.metadata().labels[kSnapshotOf] = "uid-1";
  store_.Plant(planted);
  const auto done = work_.Restore(FailedWith("bad"), {});
  ASSERT_TRUE(std::holds_alternative<NotDone>(done));
  EXPECT_EQ(std::get<NotDone>(done).reason, "NoSnapshot");
  EXPECT_THAT(std::get<NotDone>(done).message, HasSubstr("what is labelled as one does not count"));
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "bad");
}

TEST_F(RestoreWorkTest, APersonsCopiesOfASnapshotAreLeftAlone) {
  BecomeGood("1");
  SourceObject copy = store_.Snapshots()[0];
  for (const char* name : {"mine", "mine-too", "and-another"}) {
    copy.metadata().name = name;
    store_.Plant(copy);
  }
  for (const char* value : {"2", "3", "4"}) {
    BecomeGood(value);
  }
  EXPECT_EQ(store_.ValueOf({SourceType::kConfigMap, {"shop", "mine"}}), "1");
  EXPECT_EQ(store_.ValueOf({SourceType::kConfigMap, {"shop", "mine-too"}}), "1");
  EXPECT_EQ(store_.ValueOf({SourceType::kConfigMap, {"shop", "and-another"}}), "1");
  EXPECT_THAT(store_.Snapshots(), SizeIs(3 + kMaxSnapshots));
}

TEST_F(RestoreWorkTest, AnOldSnapshotThatSomebodyMakesAgainIsNotTheNewest) {
  BecomeGood("1");
  const SourceObject old = store_.Snapshots()[0];
  for (const char* value : {"2", "3"}) {
    BecomeGood(value);
  }
  store_.Plant(old);
  store_.Put(kWorkSettings, "bad");
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("settings"));
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "3");
}

TEST_F(RestoreWorkTest, WhenTheKeyIsLostSnapshotsAreTakenAnew) {
  BecomeGood("1");
  store_.LoseKey("the second key");
  store_.Put(kWorkSettings, "bad");
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("NoSnapshot"));
  BecomeGood("1");
  EXPECT_THAT(SnapshotValues(), ElementsAre("1", "1")) << "the first one is nobody's now";
  store_.Put(kWorkSettings, "bad");
  EXPECT_THAT(Restore(FailedWith("bad")), ElementsAre("settings"));
}

TEST_F(RestoreWorkTest, AMissingRightToTheKeyIsTold) {
  store_.Put(kWorkSettings, "1");
  store_.FailBefore([](const std::string& verb, const SourceId&) {
    return verb == "key" ? std::optional(MissingRight()) : std::nullopt;
  });
  const auto not_done = work_.KeepSnapshot(kWorkSettings, DigestWith("1"), {});
  ASSERT_TRUE(not_done);
  EXPECT_EQ(not_done->reason, "Forbidden");
  EXPECT_THAT(not_done->message, HasSubstr("grant get and create of that Secret"));
  EXPECT_THAT(store_.Snapshots(), SizeIs(0));
}

TEST_F(RestoreWorkTest, TheSourcesOfOneRolloutAreRestoredTogether) {
  BecomeGood("1");
  BecomeGood("1", kWorkPassword);
  store_.Put(kWorkSettings, "bad");
  store_.Put(kWorkPassword, "bad");
  EXPECT_THAT(Restore(FailedWith("bad", {kWorkSettings, kWorkPassword})),
              ElementsAre("password", "settings"));
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "1");
  EXPECT_EQ(store_.ValueOf(kWorkPassword), "1");
}

TEST_F(RestoreWorkTest, NoneOfTheSourcesIsRestoredWhenOneCannotBe) {
  BecomeGood("1");
  store_.Put(kWorkSettings, "bad");
  store_.Put(kWorkFlags, "bad");
  EXPECT_THAT(Restore(FailedWith("bad", {kWorkSettings, kWorkFlags})), ElementsAre("NoSnapshot"));
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "bad");
}

TEST_F(RestoreWorkTest, OneThatHasItsLastGoodDataDoesNotKeepTheOthersFromBeingRestored) {
  BecomeGood("1");
  BecomeGood("1", kWorkFlags);
  store_.Put(kWorkFlags, "bad");
  FailedRollout failed = FailedWith("bad", {kWorkFlags});
  failed.sources.push_back({.id = kWorkSettings, .bad = DigestWith("1")});
  EXPECT_THAT(Restore(failed), ElementsAre("flags"));
  EXPECT_EQ(store_.ValueOf(kWorkFlags), "1");
  failed.sources = {{.id = kWorkSettings, .bad = DigestWith("1")}};
  EXPECT_THAT(Restore(failed), ElementsAre("WereGood"));
  failed.others_put_back = true;
  EXPECT_THAT(Restore(failed), IsEmpty()) << "nothing is left to do, or to tell";
}

TEST_F(RestoreWorkTest, OfMoreSourcesThanAreKnownNoneIsRestored) {
  BecomeGood("1");
  store_.Put(kWorkSettings, "bad");
  FailedRollout failed = FailedWith("bad");
  failed.may_be_cut = true;
  EXPECT_THAT(Restore(failed), ElementsAre("TooManySources"));
  EXPECT_EQ(store_.ValueOf(kWorkSettings), "bad");
}

TEST_F(RestoreWorkTest, ARestoreThatEndsAmidItsSourcesIsCompleted) {
  BecomeGood("1");
  BecomeGood("1", kWorkFlags);
  store_.Put(kWorkSettings, "bad");
  store_.Put(kWorkFlags, "bad");
  bool fails = true;
  store_.FailBefore([&fails](const std::string& verb, const SourceId& id) {
    return fails && verb == "update" && id == kWorkFlags
               ? std::optional(apimachinery::Status(apimachinery::Reason::kUnavailable, "gone"))
               : std::nullopt;
  });
  EXPECT_THAT(Restore(FailedWith("bad", {kWorkSettings, kWorkFlags})),
              ElementsAre(HasSubstr("again: cannot restore ConfigMap shop/flags")));
  fails = false;
  EXPECT_THAT(Restore(FailedWith("bad", {kWorkSettings, kWorkFlags})),
              ElementsAre("flags", "settings before"));
}

}  // namespace
}  // namespace kubexx::reloader
