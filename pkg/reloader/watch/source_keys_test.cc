#include "kubexx/reloader/watch/source_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/cache/shared_informer_base.h"
#include "kubexx/cache/testing/fake_source.h"
#include "kubexx/reloader/fields/field_projection.h"
#include "kubexx/reloader/plan/pair_memory.h"
#include "kubexx/reloader/plan/strategy.h"
#include "kubexx/reloader/testing/new_informer.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = PairState::Kind;

const SourceId kKeyedConfig{SourceType::kConfigMap, {"ns", "config"}};

api::core::v1::ConfigMap ConfigMapOf(const std::map<std::string, std::string>& data) {
  api::core::v1::ConfigMap object;
  object.data = data;
  return object;
}

TEST(ValueDigests, ListedKeysAloneDecide) {
  const ValueDigests one = ValueDigestsOf(ConfigMapOf({{"a", "1"}, {"b", "2"}}));
  const ValueDigests other = ValueDigestsOf(ConfigMapOf({{"a", "1"}, {"b", "3"}}));
  EXPECT_EQ(DigestOver(one, "a"), DigestOver(other, "a"));
  EXPECT_NE(DigestOver(one, "a,b"), DigestOver(other, "a,b"));
  EXPECT_EQ(DigestOver(one, "a"), DigestOver(one, "a,missing"));
  EXPECT_NE(DigestOver(one, "a"), DigestOver(one, "missing"));
  EXPECT_NE(one.whole, other.whole);
}

TEST(ValueDigests, OfASecretAreOverItsBytes) {
  api::core::v1::Secret secret;
  secret.data["a"] = apimachinery::Bytes("1");
  api::core::v1::ConfigMap binary;
  binary.binary_data["a"] = apimachinery::Bytes("1");
  EXPECT_EQ(DigestOver(ValueDigestsOf(secret), "a"),
            DigestOver(ValueDigestsOf(ConfigMapOf({{"a", "1"}})), "a"));
  EXPECT_EQ(DigestOver(ValueDigestsOf(binary), "a"), DigestOver(ValueDigestsOf(secret), "a"));
}

TEST(ValueDigestReader, ReadsOnceForEachStateOfTheData) {
  ValueDigests data = ValueDigestsOf(ConfigMapOf({{"a", "1"}}));
  int reads = 0;
  ValueDigestReader reader(
      [&](const SourceId&, const std::stop_token&) -> Result<std::optional<ValueDigests>> {
        ++reads;
        return data;
      });
  const Digest first = data.whole;
  EXPECT_EQ(*reader.Read(kKeyedConfig, first, "a", {}), DigestOver(data, "a"));
  EXPECT_EQ(*reader.Read(kKeyedConfig, first, "b", {}), DigestOver(data, "b"));
  EXPECT_EQ(reads, 1);
  data = ValueDigestsOf(ConfigMapOf({{"a", "2"}}));
  EXPECT_EQ(*reader.Read(kKeyedConfig, data.whole, "a", {}), DigestOver(data, "a"));
  EXPECT_EQ(reads, 2);
}

TEST(ValueDigestReader, DoesNotSpeakOfNewerDataThanItIsAskedFor) {
  const ValueDigests before = ValueDigestsOf(ConfigMapOf({{"a", "1"}}));
  const ValueDigests now = ValueDigestsOf(ConfigMapOf({{"a", "2"}}));
  ValueDigestReader reader(
      [&](const SourceId&, const std::stop_token&) -> Result<std::optional<ValueDigests>> {
        return now;
      });
  const auto ahead = reader.Read(kKeyedConfig, before.whole, "a", {});
  ASSERT_FALSE(ahead) << "the annotation that pauses it may be on its way as well";
  EXPECT_EQ(ahead.error().reason, Reason::kConflict);
  EXPECT_EQ(*reader.Read(kKeyedConfig, now.whole, "a", {}), DigestOver(now, "a"));
}

TEST(ValueDigestReader, AsksOnceASecondWhileTheWatchIsBehind) {
  base::testing::FakeClock clock;
  const ValueDigests before = ValueDigestsOf(ConfigMapOf({{"a", "1"}}));
  ValueDigests now = ValueDigestsOf(ConfigMapOf({{"a", "2"}}));
  int reads = 0;
  ValueDigestReader reader(
      [&](const SourceId&, const std::stop_token&) -> Result<std::optional<ValueDigests>> {
        ++reads;
        return now;
      },
      clock);
  EXPECT_FALSE(reader.Read(kKeyedConfig, before.whole, "a", {}));
  EXPECT_FALSE(reader.Read(kKeyedConfig, before.whole, "a", {}));
  EXPECT_EQ(reads, 1);
  EXPECT_TRUE(reader.Read(kKeyedConfig, now.whole, "a", {}));
  EXPECT_EQ(reads, 1);
  clock.Advance(std::chrono::seconds(1));
  EXPECT_FALSE(reader.Read(kKeyedConfig, before.whole, "a", {}));
  EXPECT_EQ(reads, 2);
  now = before;  // the data were changed back
  clock.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(reader.Read(kKeyedConfig, before.whole, "a", {}));
  const ValueDigests next = ValueDigestsOf(ConfigMapOf({{"a", "3"}}));
  now = next;
  EXPECT_TRUE(reader.Read(kKeyedConfig, next.whole, "a", {})) << "nothing was refused before";
}

TEST(ValueDigestReader, KeysThatDoNotCountDoNotTellWhenTheOthersWereWritten) {
  const auto at = [](std::int64_t second) { return apimachinery::Time{.seconds = second}; };
  const auto state = [&](const char* a, const char* noise, std::int64_t written) {
    ValueDigests data = ValueDigestsOf(ConfigMapOf({{"a", a}, {"noise", noise}}));
    data.written = at(written);
    data.keys_written = {{"a", at(100)}, {"noise", at(written)}};
    return data;
  };
  ValueDigests data = state("1", "1", 300);
  ValueDigestReader reader(
      [&](const SourceId&, const std::stop_token&) -> Result<std::optional<ValueDigests>> {
        return data;
      });
  const Digest first = data.whole;
  ASSERT_TRUE(reader.Read(kKeyedConfig, first, "a", {}));
  EXPECT_EQ(*reader.WrittenAt(kKeyedConfig, first, "a", {}), at(100));
  EXPECT_EQ(*reader.WrittenAt(kKeyedConfig, first, "", {}), at(300));
  EXPECT_EQ(*reader.WrittenAt(kKeyedConfig, first, "missing", {}), at(300)) << "nothing tells";
  data = state("1", "2", 301);  // the watch has not told of that yet
  EXPECT_EQ(*reader.WrittenAt(kKeyedConfig, first, "a", {}), at(100));
  EXPECT_EQ(reader.WrittenAt(kKeyedConfig, first, "", {}).error().reason, Reason::kConflict);
  data = state("2", "2", 302);
  EXPECT_EQ(reader.WrittenAt(kKeyedConfig, first, "a", {}).error().reason, Reason::kConflict);
}

TEST(ValueDigestReader, ComparesOnceForWhatIsOlderThanTheAnswer) {
  base::testing::FakeClock clock;
  std::optional<ValueDigests> served = ValueDigests{.whole = DigestOf("new"), .read_at = 200};
  int reads = 0;
  ValueDigestReader reader(
      [&](const SourceId&, const std::stop_token&) {
        ++reads;
        return Result<std::optional<ValueDigests>>(served);
      },
      clock);
  const auto is_same = [&](const Digest& whole, std::uint64_t since) {
    const auto compared = reader.Compare(kKeyedConfig, whole, "", since, {});
    EXPECT_TRUE(compared || compared.error().reason == Reason::kConflict);
    return compared.has_value();
  };
  EXPECT_FALSE(is_same(kNoSource, 100)) << "the cache does not have it yet";
  EXPECT_FALSE(is_same(DigestOf("old"), 100));
  EXPECT_TRUE(is_same(DigestOf("new"), 100));
  EXPECT_TRUE(is_same(DigestOf("new"), 200));
  EXPECT_FALSE(is_same(DigestOf("old"), 200));
  EXPECT_EQ(reads, 1) << "the server has said so later than that";
  EXPECT_TRUE(is_same(DigestOf("new"), 201));
  EXPECT_EQ(reads, 2);
  // The data were changed back without an event, or another state was restored.
  served->whole = DigestOf("old");
  EXPECT_FALSE(is_same(DigestOf("old"), 200));
  clock.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(is_same(DigestOf("old"), 200));
  EXPECT_EQ(reads, 3);
  served.reset();
  EXPECT_FALSE(is_same(DigestOf("new"), 300)) << "it was deleted";
  EXPECT_TRUE(is_same(kNoSource, 300));
}

TEST(ValueDigestReader, DoesNotAskAgainAtOnceWhateverTheCacheHas) {
  base::testing::FakeClock clock;
  ValueDigests served = ValueDigestsOf(ConfigMapOf({{"a", "1"}, {"b", "2"}}));
  const ValueDigests before = ValueDigestsOf(ConfigMapOf({{"a", "1"}, {"b", "1"}}));
  int reads = 0;
  ValueDigestReader reader(
      [&](const SourceId&, const std::stop_token&) {
        ++reads;
        return Result<std::optional<ValueDigests>>(served);
      },
      clock);
  const auto is_same = [&](const Digest& whole, std::string_view keys) {
    return reader.Compare(kKeyedConfig, whole, keys, 100, {}).has_value();
  };
  served.read_at = 100;
  EXPECT_FALSE(is_same(kNoSource, ""));
  EXPECT_FALSE(is_same(kNoSource, ""));
  EXPECT_EQ(reads, 1) << "the cache does not have it yet";
  EXPECT_FALSE(is_same(before.whole, "b"));
  EXPECT_FALSE(is_same(before.whole, "b"));
  EXPECT_EQ(reads, 2) << "by a list of keys";
  served = before;
  ASSERT_TRUE(reader.Read(kKeyedConfig, before.whole, "a", {}));
  served = ValueDigestsOf(ConfigMapOf({{"a", "1"}, {"b", "2"}}));
  served.read_at = 100;
  reads = 0;
  EXPECT_TRUE(is_same(before.whole, "a"));
  EXPECT_TRUE(is_same(before.whole, "a"));
  EXPECT_EQ(reads, 1) << "other keys have changed";
  served = {.whole = kNoSource, .read_at = 101};
  EXPECT_FALSE(is_same(before.whole, "b"));
  EXPECT_TRUE(is_same(kNoSource, ""));
  EXPECT_EQ(reads, 2) << "its absence is an answer as well";
  EXPECT_EQ(*reader.WrittenAt(kKeyedConfig, before.whole, "", {}), std::nullopt);
}

TEST(ValueDigestReader, DropsTheOldestAnswerAlone) {
  std::uint64_t version = 0;
  int reads = 0;
  ValueDigestReader reader([&](const SourceId&, const std::stop_token&) {
    ++reads;
    return Result<std::optional<ValueDigests>>(
        ValueDigests{.whole = DigestOf("x"), .read_at = ++version});
  });
  const auto compare = [&](std::size_t number) {
    const SourceId id{SourceType::kSecret, {"ns", std::to_string(number)}};
    EXPECT_TRUE(reader.Compare(id, DigestOf("x"), "", 0, {}));
  };
  for (std::size_t i = 0; i <= ValueDigestReader::kMaxCompared; ++i) {
    compare(i);
  }
  reads = 0;
  compare(1);
  compare(ValueDigestReader::kMaxCompared);
  EXPECT_EQ(reads, 0);
  compare(0);
  EXPECT_EQ(reads, 1);
}

TEST(ValueDigestReader, TellsOfWhatCannotBeRead) {
  bool gone = false;
  ValueDigestReader reader(
      [&](const SourceId&, const std::stop_token&) -> Result<std::optional<ValueDigests>> {
        if (gone) {
          return std::optional<ValueDigests>();
        }
        return apimachinery::Fail(Reason::kForbidden, "no");
      });
  EXPECT_FALSE(reader.Read(kKeyedConfig, {}, "a", {}));
  gone = true;
  const auto digest = reader.Read(kKeyedConfig, {}, "a", {});
  ASSERT_TRUE(digest);
  EXPECT_FALSE(*digest);
}

/// A workload of one ConfigMap, of which only some keys may count.
class KeyListPlan : public testing::Test, public DigestsOver {
 protected:
  std::optional<Digest> Over(const SourceId&, std::string_view keys) override {
    const ValueDigests data = ValueDigestsOf(ConfigMapOf(data_));
    return can_tell_ ? std::optional(keys.empty() ? data.whole : DigestOver(data, keys))
                     : std::nullopt;
  }
  std::optional<apimachinery::Time> WrittenAt(const SourceId&) override { return std::nullopt; }
  Plan Make(const Knowledge& known = {}) {
    PatternCache patterns;
    return MakePlan(workload_,
                    SourceLookup{[this](const SourceId& id) { return Present(id); },
                                 [](SourceType) { return std::vector<std::string>(); }, this},
                    known, rules_, patterns);
  }
  std::optional<Source> Present(const SourceId& id) {
    const ValueDigests data = ValueDigestsOf(ConfigMapOf(data_));
    Source source{
        .id = id, .digest = data.whole, .keys = keys_, .prints = Prints(), .by_use = by_use_};
    if (!keys_.empty()) {
      source.whole = data.whole;
      source.digest = DigestOver(data, keys_);
    }
    return source;
  }
  /// The prints that an informer keeps of the present data.
  KeyPrints Prints() const { return has_prints_ ? KeyPrintsOf(ConfigMapOf(data_)) : KeyPrints(); }
  /// Writes one value, and tells `memory` of it.
  void Edit(PairMemory& memory, const char* key, const char* value, std::uint64_t version) {
    const Digest before = ValueDigestsOf(ConfigMapOf(data_)).whole;
    data_[key] = value;
    memory.RecordChange(workload_.id, kKeyedConfig, before,
                        Move{ValueDigestsOf(ConfigMapOf(data_)).whole, version, Prints()});
  }
  /// Applies what a first look or a write leaves on the workload.
  void Record(const Plan& plan) {
    workload_.annotations[std::string(kBaselineAnnotation)] = BaselineAfter(plan, plan.changes);
  }
  std::string Recorded() { return workload_.annotations[std::string(kBaselineAnnotation)]; }

  std::map<std::string, std::string> data_{{"a", "1"}, {"b", "1"}, {"c", "1"}};
  std::string keys_;
  bool by_use_ = false;
  bool can_tell_ = true;
  bool has_prints_ = true;  ///< false: the source has too many keys for that
  DecisionRules rules_;
  Workload workload_{
      .id = {WorkloadKind::kDeployment, {"ns", "web"}},
      .uid = "u",
      .annotations = {{"reloader.stakater.com/auto", "true"}},
      .containers = {{.name = "app", .references = {{SourceType::kConfigMap, "config"}}}}};
};

TEST(KeyedSources, AWatchedObjectWithoutItsFieldsIsNotLeftOut) {
  AddSourceKinds({{.group = "keyed.example.com",
                   .version = "v1",
                   .kind = "KeyedCertificate",
                   .resource = "keyedcertificates",
                   .fields = {ObjectField::Parse("status.revision").value()}}});
  const SourceType type = TypeCalled(&SourceTypeNames::kind, "KeyedCertificate").value();
  const auto objects = std::make_shared<cache::testing::FakeSource>();
  objects->PutObject({.encoding = codec::Encoding::kJson, .bytes = "{}", .key = {"ns", "web-tls"}});
  InformerSet set;
  set.sources[type] = NewTestInformer(
      objects, {.name = "test", .transform = TransformForFields(DescribedBy(type)->described, {})});
  Caches caches(std::vector{set}, {});
  caches.Start();
  KX_AWAIT(caches.HasSynced() && set.sources[type]->GetRaw({"ns", "web-tls"}));
  SourceAbsences absences(
      {.has_selector = true,
       .exists = [](const SourceId&, const std::stop_token&) -> Result<bool> { return true; }});
  const std::stop_token stop;
  KeyedSources sources(caches, nullptr, nullptr, stop, &absences);
  EXPECT_FALSE(sources.IsLeftOut({type, {"ns", "web-tls"}}));
  EXPECT_FALSE(sources.Get({type, {"ns", "web-tls"}})) << "it is no source, and not unknown";
  EXPECT_TRUE(sources.IsLeftOut({type, {"ns", "unlabelled"}}));
}

TEST_F(KeyListPlan, OtherKeysRollNothingAndListedOnesDo) {
  keys_ = "a,b";
  Record(Make());
  EXPECT_THAT(Recorded(), HasSubstr(":a,b"));
  data_["c"] = "2";
  EXPECT_THAT(Make().changes, IsEmpty());
  EXPECT_FALSE(Make().record);
  data_["b"] = "2";
  const Plan plan = Make();
  EXPECT_THAT(plan.changes, SizeIs(1));
  Record(plan);
  EXPECT_THAT(Make().changes, IsEmpty());
  EXPECT_FALSE(Make().record);
}

TEST_F(KeyListPlan, AListThatChangesRollsNothingAndIsRecordedAnew) {
  Record(Make());
  for (const char* keys : {"a", "a,b", "c", ""}) {
    keys_ = keys;
    const Plan plan = Make();
    EXPECT_THAT(plan.changes, IsEmpty()) << keys;
    EXPECT_TRUE(plan.record) << keys;
    Record(plan);
    EXPECT_FALSE(Make().record) << keys;
  }
}

TEST_F(KeyListPlan, AChangeFromBeforeTheListIsNotLost) {
  keys_ = "a";
  Record(Make());
  data_["a"] = "2";
  keys_ = "b";
  EXPECT_THAT(Make().changes, SizeIs(1));
  data_["a"] = "1";
  data_["b"] = "2";
  EXPECT_THAT(Make().changes, IsEmpty()) << "what the old list did not name counts from now on";
}

TEST_F(KeyListPlan, TheMemoryOfTheProcessIsRebasedToo) {
  keys_ = "a";
  Plan plan = Make();
  ASSERT_THAT(plan.learnt, SizeIs(1));
  const PairState state = plan.learnt[0].second;
  EXPECT_EQ(state.keys, "a");
  keys_ = "a,b";
  plan = Make({.pairs = {{kKeyedConfig, state}}});
  EXPECT_THAT(plan.changes, IsEmpty());
  EXPECT_EQ(plan.learnt[0].second.keys, "a,b");
  data_["a"] = "2";
  EXPECT_THAT(Make({.pairs = {{kKeyedConfig, state}}}).changes, SizeIs(1));
}

// A source may change every second under keys that do not count, and a release of the image does
// not concern it.
TEST_F(KeyListPlan, ATemplateChangedBetweenChangesOfOtherKeysRollsNothing) {
  keys_ = "a";
  for (const bool is_late : {false, true}) {
    SCOPED_TRACE(is_late ? "the first change arrives after the template's" : "in order");
    PairMemory memory;
    memory.Apply(workload_.id, Make());
    const PairMemory::TemplateChange image{.since = 200, .before = "one", .now = "two"};
    if (is_late) {
      memory.TemplateChanged(workload_.id, image);
      Edit(memory, "c", "2", 100);
    } else {
      Edit(memory, "c", "2", 100);
      memory.TemplateChanged(workload_.id, image);
    }
    Edit(memory, "c", is_late ? "4" : "3", 300);
    EXPECT_THAT(Make(memory.Get(workload_.id)).changes, IsEmpty());
    Edit(memory, "a", is_late ? "3" : "2", 301);
    EXPECT_THAT(Make(memory.Get(workload_.id)).changes, SizeIs(1));
  }
}

// An edit of the key that counts, a release and the edit taken back follow one another before the
// operator makes a plan: the pods began with what is gone again. Seed 10 of 400 hours of the
// simulation did that.
TEST_F(KeyListPlan, DataThatAreTakenBackAfterAReleaseAreNotMissed) {
  keys_ = "a";
  for (const bool has_prints : {true, false}) {
    has_prints_ = has_prints;
    for (const bool is_late : {false, true}) {
      SCOPED_TRACE(is_late ? "the release is told of last" : "in order");
      data_["a"] = "1";
      data_["c"] = "1";
      PairMemory memory;
      memory.Apply(workload_.id, Make());
      const PairMemory::TemplateChange image{.since = 200, .before = "one", .now = "two"};
      Edit(memory, "a", "2", 100);
      if (!is_late) {
        memory.TemplateChanged(workload_.id, image);
      }
      Edit(memory, "a", "1", 300);
      if (is_late) {
        memory.TemplateChanged(workload_.id, image);
      }
      EXPECT_THAT(Make(memory.Get(workload_.id)).changes, SizeIs(1));
      // An edit of another key in the same breath takes nothing away from that.
      Edit(memory, "c", "2", 301);
      EXPECT_THAT(Make(memory.Get(workload_.id)).changes, SizeIs(1));
    }
  }
}

TEST_F(KeyListPlan, DataThatStayAfterAReleaseRollNothing) {
  keys_ = "a";
  PairMemory memory;
  memory.Apply(workload_.id, Make());
  Edit(memory, "a", "2", 100);
  memory.TemplateChanged(workload_.id, {.since = 200, .before = "one", .now = "two"});
  EXPECT_THAT(Make(memory.Get(workload_.id)).changes, IsEmpty());
  Edit(memory, "c", "2", 300);
  EXPECT_THAT(Make(memory.Get(workload_.id)).changes, IsEmpty());
}

// Nobody knows then which keys the earlier edit was of.
TEST_F(KeyListPlan, WithTooManyKeysAnEditAfterAReleaseMayRollOnceTooOften) {
  keys_ = "a";
  has_prints_ = false;
  PairMemory memory;
  memory.Apply(workload_.id, Make());
  Edit(memory, "c", "2", 100);
  memory.TemplateChanged(workload_.id, {.since = 200, .before = "one", .now = "two"});
  EXPECT_THAT(Make(memory.Get(workload_.id)).changes, IsEmpty());
  Edit(memory, "c", "3", 300);
  EXPECT_THAT(Make(memory.Get(workload_.id)).changes, SizeIs(1));
}

// The pod template uses one more key, and this key changes right after that: the pods may have
// begun before the change.
TEST_F(KeyListPlan, AChangeOfAKeyThatHasJustComeIntoUseIsNotMissed) {
  keys_ = "a";
  by_use_ = true;
  for (const bool is_later : {false, true}) {
    SCOPED_TRACE(is_later ? "the data change after the template" : "before it");
    data_["b"] = "1";
    PairMemory memory;
    keys_ = "a";
    memory.Apply(workload_.id, Make());
    keys_ = "a,b";
    memory.TemplateChanged(workload_.id, {.since = 200, .before = "one", .now = "two"});
    const Digest before = ValueDigestsOf(ConfigMapOf(data_)).whole;
    data_["b"] = "2";
    memory.RecordChange(workload_.id, kKeyedConfig, before,
                        Move{ValueDigestsOf(ConfigMapOf(data_)).whole, is_later ? 300U : 100U});
    EXPECT_THAT(Make(memory.Get(workload_.id)).changes, SizeIs(is_later ? 1 : 0));
  }
}

TEST_F(KeyListPlan, KeysThatComeIntoUseRollNothingByThemselves) {
  by_use_ = true;
  PairMemory memory;
  for (const char* keys : {"", "a", "a,b", "..", "c", ""}) {
    keys_ = keys;
    const Plan plan = Make(memory.Get(workload_.id));
    EXPECT_THAT(plan.changes, IsEmpty()) << keys;
    ASSERT_TRUE(memory.Apply(workload_.id, plan));
    Record(plan);
    EXPECT_THAT(Make().changes, IsEmpty()) << keys << ", after a restart";
  }
}

TEST_F(KeyListPlan, WhereNoKeyIsUsedNothingIsAChange) {
  by_use_ = true;
  keys_ = std::string(kNoKeys);
  Record(Make());
  EXPECT_THAT(Recorded(), HasSubstr(":.."));
  data_ = {{"d", "4"}};
  EXPECT_THAT(Make().changes, IsEmpty());
}

TEST_F(KeyListPlan, WhatCannotBeToldIsNoChange) {
  keys_ = "a";
  Record(Make());
  keys_ = "";
  can_tell_ = false;
  data_["c"] = "2";
  EXPECT_THAT(Make().changes, IsEmpty());
}

TEST_F(KeyListPlan, AVariableOfReloaderIsOverAllTheData) {
  keys_ = "a";
  workload_.containers[0].variables = {
      {"STAKATER_CONFIG_CONFIGMAP", ValueDigestsOf(ConfigMapOf(data_)).whole.ToString()}};
  EXPECT_THAT(Make().changes, IsEmpty());
}

TEST(KeyListBaseline, ReadsBackWhatItWrites) {
  Baseline baseline{.uid = "u"};
  baseline.Set(kKeyedConfig, DigestOf("x"), "a.yaml,b");
  baseline.Set({SourceType::kSecret, {"ns", "s"}}, kNoSource, "");
  EXPECT_EQ(Baseline::Parse(baseline.ToString(), "ns"), baseline);
  EXPECT_EQ(baseline.ToString().size(), Baseline{.uid = "u"}.ToString().size() +
                                            Baseline::SizeOf(kKeyedConfig, "a.yaml,b") +
                                            std::string(" secret/s=-").size());
  const std::string text = "v1 u configmap/config=" + DigestOf("x").ToString();
  for (const char* keys : {":", ":a,", ":a b", ":a:b", ":\n"}) {
    EXPECT_FALSE(Baseline::Parse(text + keys, "ns")) << keys;
  }
}

}  // namespace
}  // namespace kubexx::reloader
