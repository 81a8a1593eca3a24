// What hack/codegen --crd has written for testing/keepers.yaml: nothing that is read gets lost when
// the object is written back.
#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kubexx/apimachinery/or_empty.h"
#include "kubexx/codec/codec.h"
#include "kubexx/kubernetes/apply.h"
#include "kubexx/kubernetes/testing/keeper_v1.gen.h"

namespace kubexx::kubernetes {
namespace {

using apimachinery::OrEmpty;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Keeper;
using testing::KeeperSpec;

std::string KeeperJson(const std::string& spec) {
  return R"({"kind":"Keeper","apiVersion":"test.example.com/v1","metadata":{"name":"k"},"spec":)" +
         spec + "}";
}

/// The spec as it is after it has been read and written.
std::string WrittenBack(const std::string& spec) {
  const auto keeper = codec::DecodeJson<Keeper>(KeeperJson(spec));
  if (!keeper) {
    return keeper.error().ToString();
  }
  const std::string json = codec::EncodeJson(*keeper);
  const std::size_t begin = json.find(R"("spec":)") + 7;
  return json.substr(begin, json.size() - begin - 1);
}

constexpr const char* kMust = R"("must":["m"],"mustMap":{"m":1},"mustText":"m")";

TEST(GeneratedKeeperTest, WhatIsEmptyIsNotMissing) {
  for (const std::string spec :
       {R"({"allowed":[],"flags":[],"limits":{},$,"rules":[]})",
        R"({"allowed":["a",""],"flags":[false,true],"limits":{"a":""},$,"rules":[{},{"ports":[]},)"
        R"({"ports":[0,1]}]})",
        R"({$})"}) {
    std::string full = spec;
    full.replace(full.find('$'), 1, kMust);
    EXPECT_EQ(WrittenBack(full), full);
  }
}

TEST(GeneratedKeeperTest, NullIsNeitherEmptyNorMissing) {
  for (
      const std::string spec :
      {R"({"any":null,"byName":null,$,"names":null,"part":null,"text":null})",
       R"({"any":{"a":null},"byName":{},$,"names":[],"part":{},"text":""})",
       R"({"any":[],"byName":{"a":{},"b":{"v":""}},$,"names":["n"],"part":{"a":""},"text":"t"})"}) {
    std::string full = spec;
    full.replace(full.find('$'), 1, kMust);
    EXPECT_EQ(WrittenBack(full), full);
  }
  for (const char* const spec : {R"({"must":null,"mustMap":null,"mustText":null})",
                                 R"({"must":[],"mustMap":{},"mustText":""})"}) {
    EXPECT_EQ(WrittenBack(spec), spec);
  }
  EXPECT_EQ(WrittenBack(R"({"allowed":null,"limits":null})"),
            R"({"must":null,"mustMap":null,"mustText":null})")
      << "the server drops a null that the definition does not allow";
}

TEST(GeneratedKeeperTest, NamesAreEscaped) {
  const std::string spec =
      R"({"a\tb":"1",)" + std::string(kMust) + R"(,"nul\u0000l":"2","say \"hi\"\\":"3"})";
  EXPECT_EQ(WrittenBack(spec), spec);
}

TEST(GeneratedKeeperTest, LastValuesAndErrorsAreThoseOfTheField) {
  const auto twice = codec::DecodeJson<Keeper>(
      KeeperJson(R"({"allowed":["a"],"allowed":["b"],"names":["a"],"names":null})"));
  ASSERT_TRUE(twice) << twice.error().ToString();
  EXPECT_THAT(*twice->spec.allowed, ElementsAre("b"));
  EXPECT_TRUE(twice->spec.names.has_value());
  EXPECT_EQ(*twice->spec.names, std::nullopt);
  const auto bad = codec::DecodeJson<Keeper>(KeeperJson(R"({"rules":[{},{"ports":[1,"x"]}]})"));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().details.causes.at(0).field, "spec.rules[1].ports[1]");
  const auto worse = codec::DecodeJson<Keeper>(KeeperJson(R"({"names":{"a":1}})"));
  ASSERT_FALSE(worse);
  EXPECT_EQ(worse.error().details.causes.at(0).field, "spec.names");
}

TEST(GeneratedKeeperTest, WhatMayBeMissingIsReadInOneWay) {
  KeeperSpec spec;
  EXPECT_THAT(OrEmpty(spec.allowed), IsEmpty());
  EXPECT_THAT(OrEmpty(spec.names), IsEmpty());
  spec.allowed = {"a", "b"};
  spec.names.emplace();
  EXPECT_THAT(OrEmpty(spec.allowed), ElementsAre("a", "b"));
  EXPECT_THAT(OrEmpty(spec.names), IsEmpty());
  spec.names->emplace().push_back("n");
  EXPECT_THAT(OrEmpty(spec.names), ElementsAre("n"));
}

TEST(GeneratedKeeperTest, AppliesHaveTheValuesThemselves) {
  ApplyObject<Keeper> apply("k");
  auto spec = apply.In(&Keeper::spec);
  spec.Set(&KeeperSpec::allowed, std::vector<std::string>())
      .Append(&KeeperSpec::flags, true)
      .Put(&KeeperSpec::limits, "cpu", "1")
      .Set(&KeeperSpec::text, "t")
      .Set(&KeeperSpec::names, std::vector<std::string>{"n"})
      .Append(&KeeperSpec::names, "m");
  spec.In(&KeeperSpec::part).Set(&testing::KeeperSpecPart::a, "");
  spec.Append(&KeeperSpec::rules)
      .Set(&testing::KeeperSpecRulesItem::ports, std::vector<std::int64_t>{1});
  testing::KeeperSpecByNameValue value;
  value.v = "v";
  spec.Put(&KeeperSpec::by_name, "x", value);
  EXPECT_EQ(
      apply.ToJson(),
      R"({"apiVersion":"test.example.com/v1","kind":"Keeper","metadata":{"name":"k"},)"
      R"("spec":{"allowed":[],"flags":[true],"limits":{"cpu":"1"},"text":"t",)"
      R"("names":["n","m"],"part":{"a":""},"rules":[{"ports":[1]}],"byName":{"x":{"v":"v"}}}})");
}

}  // namespace
}  // namespace kubexx::kubernetes
