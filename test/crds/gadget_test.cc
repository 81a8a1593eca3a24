// The custom resource of gadget.h: its definition is that of controller-gen, and the codec reads
// and writes the structs of the header.

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gadget_v1.gen.h"
#include "gadget_v1beta1.gen.h"
#include "kubexx/base/testing/places/places.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/codec/yaml.h"
#include "kubexx/crdgen/emit.h"
#include "kubexx/crdgen/header_kinds.h"

namespace kubexx {
namespace {

using crds::v1::Gadget;

std::string TextOf(const std::string& name) {
  std::ifstream in(base::testing::SourceTree() / "test/crds" / name);
  EXPECT_TRUE(in.is_open()) << name;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

codec::JsonTree TreeOf(const std::string& yaml) {
  const auto documents = codec::YamlToJson(yaml);
  EXPECT_TRUE(documents) << documents.error().ToString();
  auto tree = documents ? codec::JsonTree::Parse(documents->at(0)) : codec::JsonTree();
  EXPECT_TRUE(tree) << tree.error().ToString();
  return tree ? std::move(*tree) : codec::JsonTree();
}

std::vector<crdgen::HeaderKind> ReadGadget() {
  std::vector<crdgen::HeaderText> headers;
  for (const std::string name : {"gadget.h", "gadget_beta.h"}) {
    headers.push_back({.path = name, .include = name, .text = TextOf(name)});
  }
  auto kinds = crdgen::ReadKinds(headers);
  EXPECT_TRUE(kinds) << kinds.error().ToString();
  return kinds ? std::move(*kinds) : std::vector<crdgen::HeaderKind>();
}

TEST(GadgetTest, WhatIsCommittedIsWhatIsWritten) {
  const auto kinds = ReadGadget();
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds[0].definition, TextOf(kinds[0].definition_file));
  ASSERT_EQ(kinds[0].versions.size(), 2U);
  for (const crdgen::HeaderVersion& version : kinds[0].versions) {
    const std::string name = crdgen::FileNameOf(version.version);
    EXPECT_EQ(crdgen::HeaderOf(version.version, version.namespace_), TextOf(name + ".h"));
    EXPECT_EQ(crdgen::SourceOf(version.version, version.namespace_), TextOf(name + ".cc"));
  }
}

/// Takes away the descriptions of what Kubernetes defines. Ours are sentences of our own, and
/// controller_gen.yaml has none; see without_upstream_text.py.
void EraseOwnText(codec::JsonTree& definition) {
  for (codec::JsonTree& version : definition["spec"]["versions"].elements()) {
    codec::JsonTree& fields = version["schema"]["openAPIV3Schema"]["properties"];
    EXPECT_TRUE(fields["apiVersion"].Erase("description"));
    EXPECT_TRUE(fields["kind"].Erase("description"));
    if (fields.At({"status", "properties", "conditions"}) == nullptr) {
      continue;
    }
    codec::JsonTree& condition = fields["status"]["properties"]["conditions"]["items"];
    EXPECT_TRUE(condition.Erase("description"));
    for (const char* name :
         {"lastTransitionTime", "message", "observedGeneration", "reason", "status", "type"}) {
      EXPECT_TRUE(condition["properties"][name].Erase("description")) << name;
    }
  }
}

TEST(GadgetTest, ControllerGenWritesTheSameForTheSameTypesInGo) {
  codec::JsonTree expected = TreeOf(TextOf("controller_gen.yaml"));
  EXPECT_TRUE(expected["metadata"]["annotations"].Erase("controller-gen.kubebuilder.io/version"));
  const auto kinds = ReadGadget();
  ASSERT_EQ(kinds.size(), 1U);
  codec::JsonTree ours = TreeOf(kinds[0].definition);
  EraseOwnText(ours);
  // As text first: it shows where they differ.
  EXPECT_EQ(codec::JsonToYaml(ours.ToJson()).value_or("ours"),
            codec::JsonToYaml(expected.ToJson()).value_or("theirs"));
  EXPECT_TRUE(ours == expected);
}

TEST(GadgetTest, AnObjectThatIsReadAndWrittenStaysTheSame) {
  const std::string json =
      R"({"kind":"Gadget","apiVersion":"test.example.com/v1","metadata":{"name":"g"},)"
      R"("spec":{"size":2,"maxBytes":9007199254740993,"weight":1.5,"enabled":true,"paused":false,)"
      R"("tier":"Gold","otherTier":"Silver","link":"http://x","surge":"10%","memory":"1Gi",)"
      R"("since":"2026-01-02T03:04:05Z","until":"2026-01-02T03:04:05.000006Z","token":"aGk=",)"
      R"("extra":{"a":[1,null]},"settings":{"b":true},"template":{"kind":"Pod"},"names":[],)"
      R"("aliases":["x"],"ports":[{"number":80,"protocol":"TCP","name":"http"}],"bits":[true,false],)"
      R"("labels":{"k":"v"},"byName":{"a":{"number":1,"protocol":"UDP"}},"schedule":{"every":"1m30s"},)"
      R"("fallback":{"cron":"* * * * *"},"note":null,"reason":null,"args":[],"podIPs":["10.0.0.2"],)"
      R"("numbers":[80]},"status":{"replicas":2,"selector":"a=b","conditions":[{"type":"Ready",)"
      R"("status":"True","lastTransitionTime":"2026-01-02T03:04:05Z","reason":"R","message":"m"}]}})";
  const auto gadget = codec::DecodeJson<Gadget>(json);
  ASSERT_TRUE(gadget) << gadget.error().ToString();
  EXPECT_EQ(codec::EncodeJson(*gadget), json);
  EXPECT_EQ(gadget->spec.tier, "Gold");
  EXPECT_EQ(gadget->spec.ports.at(0).name, "http");
  EXPECT_TRUE(gadget->spec.note.has_value() && !gadget->spec.note->has_value());
  EXPECT_FALSE(gadget->spec.reason);
  EXPECT_EQ(gadget->spec.args.value_or(std::nullopt)->size(), 0U);
  EXPECT_EQ(gadget->status->conditions->at(0).reason, "R");
}

TEST(GadgetTest, WhatANewObjectDoesNotSetIsLeftOutUnlessItIsRequired) {
  EXPECT_EQ(codec::EncodeJson(Gadget()),
            R"({"kind":"Gadget","apiVersion":"test.example.com/v1","metadata":{},)"
            R"("spec":{"size":3,"maxBytes":0,"weight":0,"enabled":false,"tier":"","ports":[],)"
            R"("bits":[],"reason":null}})");
  EXPECT_EQ(codec::EncodeJson(crds::beta::Gadget()),
            R"({"kind":"Gadget","apiVersion":"test.example.com/v1beta1","metadata":{}})");
}

TEST(GadgetTest, TheResourceIsThatOfTheDefinition) {
  const apimachinery::ResourceInfo& resource = api::ResourceOf<Gadget>();
  EXPECT_EQ(resource.group, "test.example.com");
  EXPECT_EQ(resource.version, "v1");
  EXPECT_EQ(resource.plural, "gadgets");
  EXPECT_TRUE(resource.namespaced);
  EXPECT_TRUE(api::kHasStatus<Gadget>);
  EXPECT_FALSE(api::kHasStatus<crds::beta::Gadget>);
}

}  // namespace
}  // namespace kubexx
