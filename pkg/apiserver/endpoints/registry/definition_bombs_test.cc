// Small definitions of custom resources that would cost much more than their bytes: memory by what
// they repeat, time by what they have checked. Each is refused, or costs what it says; where that
// fails, the test does not end.
#include <gmock/gmock.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "kubexx/apiserver/endpoints/registry/custom_types.h"
#include "kubexx/apiserver/endpoints/registry/type_registry.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/testing/large_input.h"

namespace kubexx::apiserver {
namespace {

using base::testing::LargeInput;
using codec::JsonTree;
using ::testing::HasSubstr;
using testing::kDefinitions;
using ::testing::SizeIs;

constexpr const char* kBombs = "/apis/e.x/v1/widgets";

/// `text` so often, with commas.
std::string ListedTimes(const std::string& text, int times) {
  std::string list;
  list.reserve((text.size() + 1) * static_cast<std::size_t>(times));
  for (int i = 0; i < times; ++i) {
    list.append(i == 0 ? "" : ",").append(text);
  }
  return list;
}

std::string VersionWith(const std::string& name, bool stored, const std::string& spec_schema) {
  return R"({"name":")" + name + R"(","served":true,"storage":)" + (stored ? "true" : "false") +
         R"(,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":)" + spec_schema +
         "}}}}";
}

std::string WidgetsDefinition(const std::string& versions) {
  return R"({"metadata":{"name":"widgets.e.x"},"spec":{"group":"e.x","scope":"Cluster",)"
         R"("names":{"plural":"widgets","kind":"Widget"},"versions":[)" +
         versions + "]}}";
}

/// A definition of so many versions that is established.
JsonTree EstablishedWith(int versions) {
  JsonTree definition = *JsonTree::Parse(WidgetsDefinition(""));
  std::vector<JsonTree> list;
  for (int i = 0; i < versions; ++i) {
    JsonTree version = JsonTree::Object();
    version["name"] = "v" + std::to_string(i + 1);
    version["served"] = true;
    version["storage"] = i + 1 == versions;
    version["deprecated"] = true;
    list.push_back(std::move(version));
  }
  definition["spec"]["versions"] = JsonTree::Array(std::move(list));
  definition["status"]["conditions"] =
      *JsonTree::Parse(R"([{"type":"Established","status":"True"}])");
  return definition;
}

class DefinitionBombsTest : public testing::ApiFixture {
 protected:
  void Define(const std::string& spec_schema) {
    const http::Response made =
        Do("POST", kDefinitions, WidgetsDefinition(VersionWith("v1", true, spec_schema)));
    ASSERT_EQ(made.status, 201) << made.body.substr(0, 500);
  }
  http::Response Make(const std::string& spec) {
    return Do(
        "POST", kBombs,
        R"({"apiVersion":"e.x/v1","kind":"Widget","metadata":{"name":"w"},"spec":)" + spec + "}");
  }
};

TEST_F(DefinitionBombsTest, DefaultsOfManyElements) {
  Define(R"({"type":"array","items":{"type":"object","properties":{"a":{"type":"string",)"
         R"("default":")" +
         std::string(60'000, 'x') + R"("}}}})");
  const http::Response refused = Make("[" + ListedTimes("{}", LargeInput(300'000)) + "]");
  EXPECT_EQ(refused.status, 413) << refused.body.substr(0, 500);
  EXPECT_THAT(Message(refused), HasSubstr("defaults"));
  EXPECT_EQ(Make("[{},{}]").status, 201);
}

TEST_F(DefinitionBombsTest, DefaultsThatCameAfterTheObject) {
  const auto schema = [](const std::string& more) {
    return R"({"type":"array","items":{"type":"object","properties":{"b":{"type":"string"})" +
           more + "}}}";
  };
  Define(schema(""));
  ASSERT_EQ(Make("[" + ListedTimes("{}", LargeInput(200'000)) + "]").status, 201);
  const std::string url = std::string(kDefinitions) + "/widgets.e.x";
  JsonTree definition = Json(Do("GET", url));
  definition["spec"]["versions"].elements()[0]["schema"]["openAPIV3Schema"]["properties"]["spec"] =
      *JsonTree::Parse(
          schema(R"(,"a":{"type":"string","default":")" + std::string(60'000, 'x') + R"("})"));
  ASSERT_EQ(Do("PUT", url, definition.ToJson()).status, 200);
  // It is served without them, and can be deleted.
  const http::Response read = Do("GET", std::string(kBombs) + "/w");
  EXPECT_EQ(read.status, 200);
  EXPECT_LT(read.body.size(), 1'000'000U);
  EXPECT_EQ(Do("GET", kBombs).status, 200);
  EXPECT_EQ(Do("DELETE", std::string(kBombs) + "/w").status, 200);
}

TEST_F(DefinitionBombsTest, DefaultsOfDefaults) {
  std::string schema = R"({"type":"string","default":"xxxxxxxxxxxxxxxx"})";
  for (int i = 0; i < 12; ++i) {
    schema = R"({"type":"array","items":{"type":"object","properties":{"p":)" + schema +
             R"(}},"default":[)" + ListedTimes("{}", 20) + "]}";
  }
  const http::Response refused =
      Do("POST", kDefinitions, WidgetsDefinition(VersionWith("v1", true, schema)));
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(Message(refused), HasSubstr("default"));
}

TEST_F(DefinitionBombsTest, JunctorsOfManyElements) {
  Define(R"({"type":"array","items":{"type":"integer"},"allOf":[)" +
         ListedTimes(R"({"items":{"allOf":[)" + ListedTimes(R"({"minimum":0})", 40) + "]}}", 1000) +
         "]}");
  const http::Response refused = Make("[" + ListedTimes("1", LargeInput(700'000)) + "]");
  EXPECT_EQ(refused.status, 422) << refused.body.substr(0, 500);
  EXPECT_THAT(Message(refused), HasSubstr("too much work"));
  EXPECT_EQ(Make("[1,2,3]").status, 201);
}

/// How often the processor time of `few` that `many` takes, ten times the work. In linear time that
/// is about 10, in quadratic time 100.
double RatioOfTimes(base::FunctionRef<void()> few, base::FunctionRef<void()> many) {
  constexpr double kMeasurable = CLOCKS_PER_SEC / 1000.0;
  const auto time_of = [](base::FunctionRef<void()> work) {
    const std::clock_t begun = std::clock();
    work();
    return static_cast<double>(std::clock() - begun);
  };
  few();  // What is made once is there then.
  const double of_few = std::max(time_of(few), kMeasurable);
  return time_of(many) / of_few;
}

constexpr double kNotQuadratic = 40;

TEST_F(DefinitionBombsTest, ManyVersions) {
  const auto define = [this](int versions) {
    std::string list = VersionWith("v1", true, R"({"type":"object"})");
    for (int i = 2; i <= versions; ++i) {
      list += "," + VersionWith("v" + std::to_string(i), false, R"({"type":"object"})");
    }
    ASSERT_EQ(Do("POST", kDefinitions, WidgetsDefinition(list)).status, 201);
    const std::string last = "/apis/e.x/v" + std::to_string(versions) + "/widgets";
    EXPECT_EQ(Do("GET", last).status, 200);
    EXPECT_EQ(Do("DELETE", std::string(kDefinitions) + "/widgets.e.x").status, 200);
    Tick();
    EXPECT_EQ(Do("GET", last).status, 404);
  };
  EXPECT_LT(RatioOfTimes([&] { define(LargeInput(1'000)); }, [&] { define(LargeInput(10'000)); }),
            kNotQuadratic);
}

TEST(TypesOfDefinitionTest, ManyVersions) {
  const JsonTree few = EstablishedWith(1'000);
  const JsonTree many = EstablishedWith(10'000);
  std::vector<ResourceTypeRef> types;
  EXPECT_LT(RatioOfTimes([&] { types = TypesOfDefinition(few, nullptr); },
                         [&] { types = TypesOfDefinition(many, nullptr); }),
            kNotQuadratic);
  ASSERT_THAT(types, SizeIs(10'000));
  for (std::size_t i = 0; i < types.size(); ++i) {
    ASSERT_EQ(types[i]->version, "v" + std::to_string(i + 1));
    ASSERT_EQ(types[i]->custom->storage_version, "v10000");
  }
}

TEST(TypesOfDefinitionTest, VersionsShareTheConversion) {
  JsonTree definition = EstablishedWith(1'000);
  definition["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = std::string(1'000, 'x');
  const auto types = TypesOfDefinition(definition, nullptr);
  ASSERT_THAT(types, SizeIs(1'000));
  const auto& conversion = types.front()->custom->conversion;
  ASSERT_NE(conversion, nullptr);
  EXPECT_EQ(*conversion, *definition.At({"spec", "conversion"}));
  for (const ResourceTypeRef& type : types) {
    ASSERT_EQ(type->custom->conversion, conversion);  // the same one, not one that is equal
  }
}

TEST(TypeRegistryTest, ManyTypes) {
  const auto storage = *storage::NewMemoryStorage({});
  TypeRegistry registry(*storage, {});
  constexpr int kTypes = LargeInput(100'000);
  const auto before = TypesOfDefinition(EstablishedWith(kTypes), nullptr);
  registry.SetCustom(before, 0);
  registry.SetCustom(TypesOfDefinition(EstablishedWith(kTypes), nullptr), 0);
  for (int i = 1; i <= kTypes; ++i) {  // What has not changed stays.
    ASSERT_EQ(registry.Find("e.x", "v" + std::to_string(i), "widgets"),
              before[static_cast<std::size_t>(i - 1)]);
  }
  registry.SetCustom({}, 0);
  EXPECT_EQ(registry.Find("e.x", "v1", "widgets"), nullptr);
}

}  // namespace
}  // namespace kubexx::apiserver
