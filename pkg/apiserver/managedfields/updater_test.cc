#include "kubexx/apiserver/managedfields/updater.h"

#include <gtest/gtest.h>

#include <string>

#include "kubexx/base/testing/large_input.h"

namespace kubexx::apiserver::managedfields {
namespace {

using codec::JsonTree;

JsonTree ObjectOf(const std::string& text) {
  auto tree = JsonTree::Parse(text);
  EXPECT_TRUE(tree) << text;
  return tree ? std::move(*tree) : JsonTree();
}

/// One object that several managers write, as structured-merge-diff's own tests have it.
class UpdaterTest : public ::testing::Test {
 protected:
  Writer By(const std::string& manager) const {
    return {.type = Type::Custom(&schema_),
            .manager = manager,
            .api_version = "v1",
            .now = "2026-01-01T00:00:0" + std::to_string(step_ % 10) + "Z"};
  }
  void Update(const std::string& manager, const std::string& object) {
    ++step_;
    const JsonTree after = ObjectOf(object);
    managers_ = TrackUpdate(By(manager), object_, after, std::move(managers_));
    object_ = after;
  }
  /// The conflicts, as "manager:path ..."; "" when it was done.
  std::string Apply(const std::string& manager, const std::string& config, bool force = false) {
    ++step_;
    auto applied = ApplyConfig(By(manager), object_, ObjectOf(config), managers_, force);
    if (!applied) {
      return "error: " + applied.error().message;
    }
    std::string conflicts;
    for (const FieldConflict& conflict : applied->conflicts) {
      conflicts +=
          (conflicts.empty() ? "" : " ") + conflict.manager.name + ":" + ToString(conflict.path);
    }
    if (conflicts.empty()) {
      object_ = applied->object;
      managers_ = applied->managers;
    }
    return conflicts;
  }
  std::string Object() const { return object_.ToJson(); }
  std::string OwnedBy(const std::string& manager) const {
    std::string all;
    for (const auto& [id, owned] : managers_) {
      if (id.name == manager) {
        all += owned.fields.ToJson().ToJson();
      }
    }
    return all;
  }

  const JsonTree schema_ = ObjectOf(R"({"type":"object","properties":{
      "n":{"type":"integer"},"s":{"type":"string"},"t":{"type":"string"},
      "map":{"type":"object","additionalProperties":{"type":"string"}},
      "struct":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},
        "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
      "list":{"type":"array","items":{"type":"string"}},
      "set":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},
      "keyed":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
        "items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"},
          "other":{"type":"string"}}}}}})");
  JsonTree object_ = JsonTree::Object();
  Managers managers_;
  int step_ = 0;
};

TEST_F(UpdaterTest, WhoChangesAFieldOwnsIt) {
  Update("a", R"({"n":1,"s":"x"})");
  Update("b", R"({"n":2,"s":"x"})");
  EXPECT_EQ(OwnedBy("a"), R"({"f:s":{}})");
  EXPECT_EQ(OwnedBy("b"), R"({"f:n":{}})");
  Update("b", R"({"n":2,"s":"y"})");
  EXPECT_EQ(OwnedBy("a"), "");
  EXPECT_EQ(OwnedBy("b"), R"({"f:n":{},"f:s":{}})");
}

TEST_F(UpdaterTest, RemovedFieldsAreNobodys) {
  Update("a", R"({"n":1,"struct":{"a":"1"}})");
  EXPECT_EQ(OwnedBy("a"), R"({"f:n":{},"f:struct":{".":{},"f:a":{}}})");
  Update("b", R"({"n":1})");
  EXPECT_EQ(OwnedBy("a"), R"({"f:n":{}})");
  EXPECT_EQ(OwnedBy("b"), "");
}

TEST_F(UpdaterTest, IdentityAndIgnoredFieldsAreNobodys) {
  Writer writer = By("a");
  writer.ignored.Insert({PathElement::Field("struct")});
  const Managers managers = TrackUpdate(
      writer, ObjectOf("{}"),
      ObjectOf(
          R"({"apiVersion":"v1","kind":"X","metadata":{"name":"x","uid":"u","labels":{"l":"v"}},"struct":{"a":"1"}})"),
      {});
  ASSERT_EQ(managers.size(), 1U);
  EXPECT_EQ(managers.begin()->second.fields.ToJson().ToJson(),
            R"({"f:metadata":{"f:labels":{".":{},"f:l":{}}}})");
}

TEST_F(UpdaterTest, AppliedFieldsAreOwned) {
  EXPECT_EQ(Apply("a", R"({"n":1,"struct":{"a":"1"},"list":["x"]})"), "");
  EXPECT_EQ(Object(), R"({"n":1,"struct":{"a":"1"},"list":["x"]})");
  EXPECT_EQ(OwnedBy("a"), R"({"f:list":{},"f:n":{},"f:struct":{"f:a":{}}})");
}

TEST_F(UpdaterTest, FieldsThatAnApplierGivesUpAreRemoved) {
  Apply("a", R"({"n":1,"s":"x","map":{"k":"v","l":"w"},"keyed":[{"name":"1"},{"name":"2"}]})");
  EXPECT_EQ(Apply("a", R"({"n":1,"map":{"k":"v"},"keyed":[{"name":"2"}]})"), "");
  EXPECT_EQ(Object(), R"({"n":1,"map":{"k":"v"},"keyed":[{"name":"2"}]})");
  EXPECT_EQ(Apply("a", R"({"n":1})"), "");
  EXPECT_EQ(Object(), R"({"n":1})");
  EXPECT_EQ(OwnedBy("a"), R"({"f:n":{}})");
}

TEST_F(UpdaterTest, FieldsOfOthersStayWhenAnApplierGivesThemUp) {
  Apply("a", R"({"n":1,"struct":{"a":"1"}})");
  EXPECT_EQ(Apply("b", R"({"n":1,"struct":{"b":"2"}})"), "");
  EXPECT_EQ(Apply("a", R"({"s":"x"})"), "");
  EXPECT_EQ(Object(), R"({"n":1,"struct":{"b":"2"},"s":"x"})");
  EXPECT_EQ(OwnedBy("b"), R"({"f:n":{},"f:struct":{"f:b":{}}})");
}

TEST_F(UpdaterTest, FieldsOfUpdatersStayToo) {
  Apply("a", R"({"n":1,"struct":{"a":"1"}})");
  Update("b", R"({"n":1,"struct":{"a":"1","b":"2"}})");
  EXPECT_EQ(Apply("a", R"({"n":1})"), "");
  EXPECT_EQ(Object(), R"({"n":1,"struct":{"b":"2"}})");
  EXPECT_EQ(OwnedBy("b"), R"({"f:struct":{"f:b":{}}})");
}

TEST_F(UpdaterTest, AnElementGoesWithItsOwner) {
  Apply("a", R"({"keyed":[{"name":"1","value":"x"}]})");
  Update("b", R"({"keyed":[{"name":"1","value":"x","other":"y"}]})");
  EXPECT_EQ(Apply("a", R"({"n":1})"), "");
  EXPECT_EQ(Object(), R"({"n":1})");
  EXPECT_EQ(OwnedBy("b"), "");
}

TEST_F(UpdaterTest, DifferentValuesConflict) {
  Apply("a", R"({"n":1,"s":"x"})");
  EXPECT_EQ(Apply("b", R"({"n":2,"s":"x"})"), "a:.n");
  EXPECT_EQ(Object(), R"({"n":1,"s":"x"})");
  EXPECT_EQ(OwnedBy("b"), "");
  EXPECT_EQ(Apply("b", R"({"n":2,"s":"x"})", true), "");
  EXPECT_EQ(Object(), R"({"n":2,"s":"x"})");
  EXPECT_EQ(OwnedBy("a"), R"({"f:s":{}})");
  EXPECT_EQ(OwnedBy("b"), R"({"f:n":{},"f:s":{}})");
}

TEST_F(UpdaterTest, UpdatersConflictWithAppliers) {
  Apply("a", R"({"keyed":[{"name":"1","value":"x"}]})");
  Update("b", R"({"keyed":[{"name":"1","value":"y"}]})");
  EXPECT_EQ(Apply("a", R"({"keyed":[{"name":"1","value":"x"}]})"), R"(b:.keyed[name="1"].value)");
  EXPECT_EQ(Apply("a", R"({"keyed":[{"name":"1","value":"y"}]})"), "");
  EXPECT_EQ(OwnedBy("b"), R"({"f:keyed":{"k:{\"name\":\"1\"}":{"f:value":{}}}})");
}

TEST_F(UpdaterTest, AtomicListsConflictAsAWhole) {
  Apply("a", R"({"list":["x"],"set":["x"]})");
  EXPECT_EQ(Apply("b", R"({"list":["y"],"set":["y"]})"), "a:.list");
  EXPECT_EQ(Apply("b", R"({"set":["y"]})"), "");
  EXPECT_EQ(Object(), R"({"list":["x"],"set":["x","y"]})");
  EXPECT_EQ(Apply("a", R"({"list":["x"]})"), "");
  EXPECT_EQ(Object(), R"({"list":["x"],"set":["y"]})");
}

TEST_F(UpdaterTest, SameValuesAreShared) {
  Apply("a", R"({"n":1})");
  EXPECT_EQ(Apply("b", R"({"n":1})"), "");
  EXPECT_EQ(OwnedBy("a"), R"({"f:n":{}})");
  EXPECT_EQ(OwnedBy("b"), R"({"f:n":{}})");
  EXPECT_EQ(Apply("a", R"({"s":"x"})"), "");
  EXPECT_EQ(Object(), R"({"n":1,"s":"x"})");
  EXPECT_EQ(Apply("b", R"({"t":"x"})"), "");
  EXPECT_EQ(Object(), R"({"s":"x","t":"x"})");
}

TEST_F(UpdaterTest, TimesChangeWithTheObjectOnly) {
  Apply("a", R"({"n":1})");
  const std::string time = managers_.begin()->second.time;
  EXPECT_EQ(Apply("a", R"({"n":1})"), "");
  EXPECT_EQ(managers_.begin()->second.time, time);
  EXPECT_EQ(Apply("a", R"({"n":2})"), "");
  EXPECT_NE(managers_.begin()->second.time, time);
}

TEST_F(UpdaterTest, ANullThatIsAppliedAgainChangesNothing) {
  for (const std::string before : {"1", R"({"a":1,"b":{"c":1}})", "[1]"}) {
    EXPECT_EQ(Apply("a", R"({"struct":{"free":{"k":)" + before + "}}}"), "");
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(Apply("a", R"({"struct":{"free":{"k":null}}})"), "") << before;
      EXPECT_EQ(Object(), R"({"struct":{"free":{"k":null}}})") << before;
    }
  }
  EXPECT_EQ(Apply("a", R"({"struct":{"free":{"k":{"a":1}},"a":"x"}})"), "");
  EXPECT_EQ(Apply("a", R"({"struct":{"free":{},"a":"x"}})"), "");
  EXPECT_EQ(Object(), R"({"struct":{"free":{},"a":"x"}})");
}

TEST_F(UpdaterTest, BadConfigsAreRefused) {
  EXPECT_EQ(Apply("a", R"({"none":1})"), "error: .none: field not declared in schema");
  EXPECT_EQ(Apply("a", R"({"set":["x","x"]})"), R"(error: .set: duplicate entries for key [="x"])");
}

TEST(CapManagersTest, VeryManyUpdatersArePutTogetherInTime) {
  constexpr int kMany = 50'000;
  Managers managers;
  for (int i = 0; i < kMany; ++i) {
    const std::string number = std::to_string(kMany + i);
    Owned owned{.api_version = "v1", .time = number};
    owned.fields.Insert({PathElement::Field("data"), PathElement::Field("k" + number)});
    managers[{.name = "m" + number, .api_version = "v1"}] = std::move(owned);
  }
  CapManagers(managers);
  EXPECT_EQ(managers.size(), 10U);
  std::size_t fields = 0;
  for (const auto& [id, owned] : managers) {
    fields += owned.fields.size();
  }
  EXPECT_EQ(fields, std::size_t{kMany});
}

TEST_F(UpdaterTest, TooManyUpdatersArePutTogether) {
  for (int i = 1; i <= 15; ++i) {
    Update(
        "m" + std::to_string(100 + i), R"({"n":)" + std::to_string(i) + R"(,"map":)" + [i] {
          std::string map = "{";
          for (int k = 1; k <= i; ++k) {
            map += (k > 1 ? ",\"k" : "\"k") + std::to_string(k) + R"(":"v")";
          }
          return map + "}}";
        }());
  }
  EXPECT_EQ(managers_.size(), 10U);
  EXPECT_NE(OwnedBy("ancient-changes"), "");
  FieldSet all;
  for (const auto& [id, owned] : managers_) {
    all = all.Union(owned.fields);
  }
  EXPECT_EQ(all.size(), 17U);  // 15 keys, the map and n
}

TEST(ManagersTest, AreReadAndWritten) {
  const JsonTree fields = ObjectOf(R"([
    {"manager":"a","operation":"Apply","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:n":{}}},
    {"manager":"c","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:m":{}},"subresource":"status"},
    {"manager":"b","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:n":{}}}])");
  const auto managers = ReadManagers(&fields);
  ASSERT_TRUE(managers);
  EXPECT_EQ(managers->size(), 3U);
  EXPECT_EQ(WriteManagers(*managers).ToJson(), fields.ToJson());
  EXPECT_EQ(managers->rbegin()->first.ToString(), R"("c" with subresource "status" using v1)");
  EXPECT_EQ(managers->begin()->first.ToString(), R"("a")");
}

TEST(ManagersTest, BadOnesAreRefused) {
  for (
      const char* const bad :
      {R"([{"manager":"a"}])", R"([{"operation":"Update","fieldsType":"FieldsV1"}])",
       R"([{"operation":"Update","apiVersion":"v1"}])",
       R"([{"operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"x":{}}}])"}) {
    const JsonTree tree = ObjectOf(bad);
    EXPECT_FALSE(ReadManagers(&tree)) << bad;
  }
}

TEST(ManagersTest, EmptyOnesReset) {
  const JsonTree none = ObjectOf("[]");
  const JsonTree blank = ObjectOf("[{}]");
  const JsonTree zero = ObjectOf(R"([{"manager":"","operation":"","time":null}])");
  const JsonTree one = ObjectOf(R"([{"manager":"a"}])");
  EXPECT_TRUE(IsReset(&none));
  EXPECT_TRUE(IsReset(&blank));
  EXPECT_TRUE(IsReset(&zero));
  EXPECT_FALSE(IsReset(&one));
  EXPECT_FALSE(IsReset(nullptr));
}

TEST(ManagersTest, OnlyTimesDiffer) {
  const JsonTree a =
      ObjectOf(R"({"metadata":{"managedFields":[{"manager":"a","time":"1"}]},"n":1})");
  const JsonTree b =
      ObjectOf(R"({"metadata":{"managedFields":[{"manager":"a","time":"2"}]},"n":1})");
  const JsonTree c =
      ObjectOf(R"({"metadata":{"managedFields":[{"manager":"a","time":"2"}]},"n":2})");
  const JsonTree d =
      ObjectOf(R"({"metadata":{"managedFields":[{"manager":"b","time":"2"}]},"n":1})");
  EXPECT_TRUE(DifferInTimesOnly(a, b));
  EXPECT_FALSE(DifferInTimesOnly(a, a));
  EXPECT_FALSE(DifferInTimesOnly(a, c));
  EXPECT_FALSE(DifferInTimesOnly(a, d));
}

/// What takes time by the square of the number of fields does not end.
TEST_F(UpdaterTest, ManyFieldsAreAppliedAgain) {
  constexpr int kMembers = base::testing::LargeInput(200'000);
  std::vector<JsonTree::Member> members;
  for (int i = 0; i < kMembers; ++i) {
    members.push_back({.key = "k" + std::to_string(i), .value = "v"});
  }
  object_["map"] = JsonTree::Object(std::move(members));
  EXPECT_EQ(Apply("b", R"({"map":{"x":"1","y":"1"}})"), "");
  EXPECT_EQ(Apply("b", R"({"map":{"x":"2"}})"), "");
  EXPECT_EQ(object_.Find("map")->size(), static_cast<std::size_t>(kMembers + 1));
  EXPECT_EQ(object_.Find("map")->TextAt("x"), "2");
}

TEST(ConflictTest, NotAllAreTold) {
  const auto object = [](const char* value) {
    std::vector<JsonTree::Member> members;
    for (int i = 0; i < 5000; ++i) {
      members.push_back({.key = std::to_string(i), .value = value});
    }
    JsonTree tree = JsonTree::Object();
    tree["any"][std::string(100000, 'x')] = JsonTree::Object(std::move(members));
    return tree;
  };
  const Writer one{.type = Type::Anything(), .manager = "a", .api_version = "v1"};
  const Writer other{.type = Type::Anything(), .manager = "b", .api_version = "v1"};
  const auto first = ApplyConfig(one, JsonTree::Object(), object("1"), {}, false);
  ASSERT_TRUE(first);
  const auto second = ApplyConfig(other, first->object, object("2"), first->managers, false);
  ASSERT_TRUE(second);
  EXPECT_GE(second->conflicts.size(), 1U);
  EXPECT_LT(second->conflicts.size(), 100U);
}

}  // namespace
}  // namespace kubexx::apiserver::managedfields
