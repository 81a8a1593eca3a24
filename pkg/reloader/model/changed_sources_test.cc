#include "kubexx/reloader/model/changed_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

apimachinery::Result<DescribedSources> ReadOne(const std::string& text) {
  return ReadSources(std::vector{InputText{"a.yaml", text}}, "shop");
}

std::string ErrorOfSources(const std::string& text) {
  const auto read = ReadOne(text);
  return read ? "no error" : read.error().message;
}

ChangedSource ChangedBy(const std::string& text, const Annotations& present = {}) {
  const auto read = ReadOne(text);
  EXPECT_TRUE(read && read->sources.size() == 1) << text;
  const auto changed =
      ChangedSourceOf(read->sources.at(0), present, AnnotationKeys(), {.seconds = 100});
  EXPECT_TRUE(changed) << text;
  return changed.value_or(ChangedSource());
}

TEST(ChangedSources, AreReadFromSeveralDocumentsAndLists) {
  const auto read = ReadOne(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data: {a: "1"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: password, namespace: other}}
- {apiVersion: example.com/v1, kind: ConfigMap, metadata: {name: no-source}}
)");
  ASSERT_TRUE(read) << read.error().ToString();
  ASSERT_THAT(read->sources, SizeIs(2));
  EXPECT_EQ(read->sources[0].id, (SourceId{SourceType::kConfigMap, {"shop", "config"}}));
  EXPECT_EQ(read->sources[1].id, (SourceId{SourceType::kSecret, {"other", "password"}}));
  EXPECT_THAT(read->others, ElementsAre("Deployment web", "ConfigMap no-source"));
  EXPECT_THAT(ReadOne(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"j"}})")->sources,
              SizeIs(1));
  EXPECT_THAT(ReadOne("")->sources, IsEmpty());
}

TEST(ChangedSources, SayWhichDocumentIsWrong) {
  EXPECT_THAT(ErrorOfSources("a: [1"), HasSubstr("neither YAML nor JSON"));
  EXPECT_THAT(ErrorOfSources("--- {kind: Pod, metadata: {name: a}}\n--- {a: 1}"),
              HasSubstr("document 2 has no kind"));
  EXPECT_THAT(ErrorOfSources("[1, 2]"), HasSubstr("document 1 has no kind"));
  EXPECT_THAT(ErrorOfSources("kind: Secret\nmetadata: {}"),
              HasSubstr("document 1, a Secret, has no name"));
  EXPECT_THAT(ErrorOfSources("kind: List\nitems: [{kind: ConfigMap}]"),
              HasSubstr("document 1, item 1, a ConfigMap, has no name"));
  const std::string one = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n";
  EXPECT_THAT(ErrorOfSources(one + one),
              HasSubstr("a.yaml: document 2: ConfigMap shop/a is described twice"));
}

TEST(ChangedSources, SayWhichInputIsWrong) {
  const std::string one = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}";
  const auto error_of = [&one](const std::string& second) {
    const auto read =
        ReadSources(std::vector{InputText{"a.yaml", one}, InputText{"b.json", second}}, "shop");
    return read ? "no error" : read.error().message;
  };
  EXPECT_EQ(error_of(one), "b.json: document 1: ConfigMap shop/a is described twice");
  EXPECT_EQ(error_of("{}"), "b.json: document 1 has no kind");
  EXPECT_EQ(error_of("\n{]"), "b.json is neither YAML nor JSON: line 2: illegal flow end");
  // Each document is a text of its own, as kubectl reads them.
  EXPECT_EQ(error_of("%YAML 1.2\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}"),
            "no error");
}

TEST(ChangedSources, NeverNameAValue) {
  const auto read =
      ReadOne("{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {k: [hunter2]}}");
  ASSERT_TRUE(read);
  const auto changed = ChangedSourceOf(read->sources[0], {}, AnnotationKeys(), {});
  ASSERT_FALSE(changed);
  EXPECT_THAT(changed.error().message, HasSubstr("Secret shop/a is not valid"));
  EXPECT_THAT(changed.error().message, Not(HasSubstr("hunter2")));
  for (const char* const value :
       {"{k: hunter2", "{k: *hunter2}", "{k: !<hunter2 x}", "{k: \"\\hunter2\"}",
        "{? [hunter2] : x}", "{k: !!float hunter2}", "{k: !!binary hunter2}", "{k: @hunter2}",
        "{k: &hunter2 &hunter2 x}", "{k: .inf, hunter2: .nan}"}) {
    EXPECT_THAT(ErrorOfSources("kind: Secret\nstringData: " + std::string(value)),
                Not(HasSubstr("unter2")));
  }
}

TEST(ChangedSources, NameTheKeyWhoseValueIsNoString) {
  const auto error_of = [](const std::string& data) {
    const auto read =
        ReadOne("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, " + data + "}");
    EXPECT_TRUE(read);
    const auto changed = ChangedSourceOf(read->sources[0], {}, AnnotationKeys(), {});
    return changed ? std::string("no error") : changed.error().message;
  };
  EXPECT_EQ(
      error_of("data: {HOST: db, PORT: 5432}"),
      "ConfigMap shop/a is not valid: the value of data.PORT is not a string; numbers and true "
      "and false need quotes there");
  EXPECT_THAT(error_of("data: {FLAG: true}"), HasSubstr("the value of data.FLAG is not a string"));
  EXPECT_THAT(error_of("data: [x]"), HasSubstr("data is not a map"));
  EXPECT_THAT(error_of("metadata: {name: a, labels: {x: 1}}"), HasSubstr("a wrong type"));
  EXPECT_EQ(error_of("data: {PORT: '5432'}"), "no error");
}

TEST(ChangedSources, HaveTheDigestsThatTheOperatorComputes) {
  const ChangedSource config =
      ChangedBy("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '1', b: '2'}}");
  EXPECT_EQ(config.source.digest, DigestOf("a=1;b=2"));
  EXPECT_EQ(config.data.whole, config.source.digest);
  EXPECT_EQ(config.data.values.at("b"), DigestOf("2"));
  EXPECT_EQ(config.data.written, (apimachinery::Time{.seconds = 100}));
  const ChangedSource secret = ChangedBy(
      "{apiVersion: v1, kind: Secret, metadata: {name: c}, data: {a: MQ==, b: eA==}, "
      "stringData: {b: '2'}}");
  EXPECT_EQ(secret.source.digest, DigestOf("a=1;b=2")) << "stringData comes first";
}

TEST(ChangedSources, KeepTheAnnotationsThatTheyDoNotName) {
  const std::string text =
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, annotations: "
      "{reloader.kubexx.io/keys: 'a'}}}";
  const ChangedSource changed =
      ChangedBy(text, {{"reloader.kubexx.io/paused", "true"}, {"reloader.kubexx.io/keys", "b"}});
  EXPECT_TRUE(changed.source.paused);
  EXPECT_EQ(changed.source.keys, "a");
  EXPECT_FALSE(ChangedBy(text).source.paused);
}

TEST(ChangedSources, HaveToBeSuchAsTheApiServerTakes) {
  const auto error_of = [](const std::string& fields) {
    const InputText input{
        .name = "f",
        .text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, " + fields + "}"};
    const auto read = ReadSources(std::vector{input}, "shop");
    EXPECT_TRUE(read);
    const auto changed = ChangedSourceOf(read->sources.at(0), {}, AnnotationKeys(), {});
    return changed ? std::string() : changed.error().message;
  };
  const std::size_t most = std::size_t{1024} * 1024;
  EXPECT_EQ(error_of("data: {a: '" + std::string(most, 'x') + "'}"), "");
  EXPECT_THAT(error_of("data: {a: '" + std::string(most, 'x') + "', b: 'x'}"),
              HasSubstr("no more than 1048576"));
  EXPECT_THAT(error_of("data: {a: '1'}, binaryData: {a: MQ==}"),
              HasSubstr("the key a is in data and in binaryData"));
  EXPECT_THAT(error_of("data: {'a b': '1'}"), HasSubstr("cannot be a key"));
  EXPECT_THAT(error_of("data: {'..a': '1'}"), HasSubstr("cannot be a key"));
}

TEST(ChangedSources, KeysAreCompared) {
  const ValueDigests before{.values = {{"a", DigestOf("1")}, {"b", DigestOf("1")}}};
  const ValueDigests after{.values = {{"b", DigestOf("2")}, {"c", DigestOf("1")}}};
  const ChangedKeys keys = CompareKeys(before, after);
  EXPECT_THAT(keys.added, ElementsAre("c"));
  EXPECT_THAT(keys.changed, ElementsAre("b"));
  EXPECT_THAT(keys.removed, ElementsAre("a"));
  EXPECT_TRUE(CompareKeys(before, before).empty());
}

}  // namespace
}  // namespace kubexx::reloader
