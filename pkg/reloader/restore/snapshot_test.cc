#include "kubexx/reloader/restore/snapshot.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/reloader/restore/appliers.h"

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

apimachinery::Bytes TheKey() { return apimachinery::Bytes("the key of snapshots"); }

SourceObject Settings(const std::string& value, const std::string& name = "settings") {
  api::core::v1::ConfigMap config_map;
  config_map.metadata.namespace_ = "shop";
  config_map.metadata.name = name;
  config_map.metadata.uid = "u1";
  config_map.metadata.labels = {{"app", "shop"}};
  config_map.metadata.annotations = {{"note", "x"}};
  config_map.data["a"] = value;
  config_map.binary_data["b"] = apimachinery::Bytes("bytes");
  return SourceObject(std::move(config_map));
}

SourceObject Numbered(std::int64_t number, std::vector<ReplacedData> replaced = {}) {
  SourceObject snapshot = SnapshotOf(Settings(std::to_string(number)), number, "ignore", TheKey());
  SetReplaced(snapshot, replaced);
  Seal(snapshot, TheKey());
  return snapshot;
}

TEST(Snapshot, IsAnImmutableCopyThatTheSourceOwns) {
  const SourceObject source = Settings("1");
  const SourceObject snapshot = SnapshotOf(source, 7, "example.com/ignore", TheKey());
  EXPECT_EQ(snapshot.type(), SourceType::kConfigMap);
  EXPECT_TRUE(snapshot.is_immutable());
  EXPECT_EQ(snapshot.DigestOfAll(), source.DigestOfAll());
  EXPECT_TRUE(IsOwn(snapshot, "u1", TheKey()));
  EXPECT_EQ(NumberOf(snapshot), 7);
  EXPECT_EQ(snapshot.metadata().namespace_, "shop");
  EXPECT_THAT(snapshot.metadata().name, StartsWith("settings-good-"));
  EXPECT_THAT(snapshot.metadata().labels, ElementsAre(Pair(kSnapshotOf, "u1")));
  EXPECT_THAT(snapshot.metadata().annotations,
              UnorderedElementsAre(Pair(kSnapshotSource, "ConfigMap/settings"),
                                   Pair(kSnapshotDigest, source.DigestOfAll().ToString()),
                                   Pair(kSnapshotNumber, "7"), Pair(kSnapshotSeal, SizeIs(64)),
                                   Pair("example.com/ignore", "true")));
  ASSERT_THAT(snapshot.metadata().owner_references, SizeIs(1));
  const auto& owner = snapshot.metadata().owner_references[0];
  EXPECT_EQ(owner.api_version + " " + owner.kind + " " + owner.name + " " + owner.uid,
            "v1 ConfigMap settings u1");
  EXPECT_EQ(owner.controller, std::nullopt);
}

TEST(Snapshot, OfASecretIsASecretOfNoParticularType) {
  api::core::v1::Secret secret;
  secret.metadata.name = "password";
  secret.metadata.uid = "u2";
  secret.type = "kubernetes.io/tls";
  secret.data["a"] = apimachinery::Bytes("SWORDFISH");
  const SourceObject source(std::move(secret));
  const SourceObject snapshot = SnapshotOf(source, 1, "ignore", TheKey());
  EXPECT_EQ(snapshot.type(), SourceType::kSecret);
  EXPECT_EQ(snapshot.DigestOfAll(), source.DigestOfAll());
  EXPECT_EQ(std::get<api::core::v1::Secret>(snapshot.object()).type, "");
  EXPECT_EQ(snapshot.metadata().owner_references[0].kind, "Secret");
}

TEST(Snapshot, HasANameForEachSourceAndItsData) {
  const auto name_of = [](const SourceObject& source) {
    return SnapshotOf(source, 1, "ignore", TheKey()).metadata().name;
  };
  EXPECT_EQ(name_of(Settings("1")), name_of(Settings("1")));
  EXPECT_NE(name_of(Settings("1")), name_of(Settings("2")));
  SourceObject other = Settings("1");
  other.metadata().uid = "u2";
  EXPECT_NE(name_of(Settings("1")), name_of(other));
  EXPECT_LE(name_of(Settings("1", std::string(253, 'x'))).size(), 253U);
  EXPECT_THAT(name_of(Settings("1", std::string(219, 'x') + ".more")),
              StartsWith(std::string(219, 'x') + "-good-"));
}

TEST(Snapshot, NobodyElseCanMakeOneOrChangeOne) {
  const auto is_own = [](SourceObject snapshot, const std::function<void(SourceObject&)>& change) {
    change(snapshot);
    return IsOwn(snapshot, "u1", TheKey());
  };
  const auto annotate = [](const char* key, const char* value) {
    return [=](SourceObject& each) { each.metadata().annotations[key] = value; };
  };
  const SourceObject own = Numbered(1, {{.bad = DigestOf("bad"), .version = "1"}});
  EXPECT_TRUE(is_own(own, [](SourceObject&) {}));
  EXPECT_TRUE(is_own(own, annotate("note", "of a tool")));
  EXPECT_FALSE(is_own(own, [](SourceObject& each) { each.TakeData(Settings("other")); }));
  EXPECT_FALSE(is_own(own, [](SourceObject& each) { each.metadata().name += "-copy"; }));
  EXPECT_FALSE(is_own(own, [](SourceObject& each) { each.metadata().namespace_ = "other"; }));
  EXPECT_FALSE(is_own(own, annotate(kSnapshotNumber, "9")));
  EXPECT_FALSE(is_own(own, annotate(kSnapshotReplaced, "")));
  EXPECT_FALSE(is_own(own, annotate(kSnapshotAppliers, "{}")));
  EXPECT_FALSE(is_own(own, annotate(kSnapshotSeal, "")));
  EXPECT_FALSE(
      is_own(own, [](SourceObject& each) { each.metadata().annotations.erase(kSnapshotSeal); }));
  EXPECT_FALSE(is_own(own, [](SourceObject& each) { Seal(each, apimachinery::Bytes("guess")); }));
  EXPECT_FALSE(IsOwn(own, "u2", TheKey()));
  SourceObject relabelled = own;
  relabelled.metadata().labels[kSnapshotOf] = "u2";
  EXPECT_FALSE(IsOwn(relabelled, "u2", TheKey()));
}

TEST(Snapshot, ItsSealTellsDataApartThatHaveOneDigest) {
  api::core::v1::ConfigMap one;
  one.metadata.uid = "u1";
  one.data["a"] = "1;b=2";
  api::core::v1::ConfigMap two = one;
  two.data = {{"a", "1"}, {"b", "2"}};
  SourceObject snapshot = SnapshotOf(SourceObject(std::move(one)), 1, "ignore", TheKey());
  const SourceObject other(std::move(two));
  ASSERT_EQ(snapshot.DigestOfAll(), other.DigestOfAll());
  snapshot.TakeData(other);
  EXPECT_FALSE(IsOwn(snapshot, "u1", TheKey()));
}

TEST(Snapshot, TheHighestNumberIsTheNewest) {
  std::vector<SourceObject> snapshots{Numbered(9), Numbered(11), Numbered(10)};
  snapshots[2].metadata().annotations[kSnapshotNumber] = "ten";
  SortNewestFirst(snapshots);
  EXPECT_EQ(NumberOf(snapshots[0]), 11);
  EXPECT_EQ(NumberOf(snapshots[1]), 9);
  EXPECT_EQ(NumberOf(snapshots[2]), 0);
}

TEST(Snapshot, RemembersWhatWasReplaced) {
  const ReplacedData one{.bad = DigestOf("1"), .version = "10"};
  const ReplacedData two{.bad = DigestOf("2"), .version = "20"};
  EXPECT_THAT(ReplacedIn(Numbered(1, {one, two})), ElementsAre(one, two));
  EXPECT_THAT(ReplacedIn(Numbered(1)), IsEmpty());
  const std::vector<SourceObject> both{Numbered(2, {two}), Numbered(1, {one, two})};
  EXPECT_THAT(ReplacedInAll(both), ElementsAre(one, two)) << "those of the older one first";
  SourceObject spoilt = Numbered(1);
  spoilt.metadata().annotations[kSnapshotReplaced] = "x@1  " + one.bad.ToString() + " @ ";
  EXPECT_THAT(ReplacedIn(spoilt), IsEmpty());
}

TEST(Snapshot, ForgetsTheOldestThatWereReplaced) {
  std::vector<ReplacedData> many;
  for (std::size_t i = 0; i <= kMaxReplaced; ++i) {
    many.push_back({.bad = DigestOf(std::to_string(i)), .version = std::to_string(i)});
  }
  const auto kept = ReplacedIn(Numbered(1, many));
  EXPECT_THAT(kept, SizeIs(kMaxReplaced));
  EXPECT_EQ(kept.front(), many[1]);
  EXPECT_EQ(kept.back(), many.back());
}

TEST(Snapshot, TheNameOfASnapshotSaysOfWhichSourceItIs) {
  const auto of = [](const std::string& name) {
    const auto source = SourceOfSnapshot({SourceType::kSecret, {"team", name}});
    return source ? source->key.ToString() : "";
  };
  EXPECT_EQ(of("settings-good-6f1c0a2b93d4e5f6"), "team/settings");
  EXPECT_EQ(of("so-good-good-6f1c0a2b93d4e5f6"), "team/so-good");
  EXPECT_EQ(SourceOfSnapshot({SourceType::kSecret, {"a", "b-good-6f1c0a2b93d4e5f6"}})->type,
            SourceType::kSecret);
  for (const std::string name : {"settings", "settings-good-", "settings-good-6f1c0a2b93d4e5f",
                                 "-good-6f1c0a2b93d4e5f6", "settings-good-6f1c0a2b93d4e5fx"}) {
    EXPECT_EQ(of(name), "") << name;
  }
  EXPECT_EQ(of(std::string(230, 'a') + "-good-6f1c0a2b93d4e5f6"), "") << "that name is cut";
}

}  // namespace
}  // namespace kubexx::reloader
