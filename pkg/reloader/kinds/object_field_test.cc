#include "kubexx/reloader/kinds/object_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kubexx::reloader {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kObject[] = R"({
  "metadata": {"name": "web", "annotations": {"example.com/build": "7"}, "labels": {}},
  "spec": {"tags": ["b", "a"]},
  "status": {"revision": 3, "message": "", "ready": false, "at": null,
             "conditions": [{"type": "Issuing", "reason": "x"}, {"type": "Ready", "reason": "Ok"}],
             "ports": [{"port": 80, "name": "web"}, {"port": 443, "on": true, "name": "tls"}],
             "data": {"b": [1, {"d": 1, "c": 2}], "a": "x"}}})";

/// The canonical text of the field of kObject; "none" when it is not there.
std::string FieldAtText(const std::string& text) {
  const auto field = ObjectField::Parse(text);
  if (!field) {
    return field.error().message;
  }
  const auto object = codec::JsonTree::Parse(kObject);
  const codec::JsonTree* value = object ? FieldValueOf(*field, *object) : nullptr;
  return value == nullptr ? "none" : CanonicalText(*value);
}

TEST(ObjectFieldTest, NamesMembersElementsAndAnnotations) {
  EXPECT_EQ(FieldAtText("status.revision"), "3");
  EXPECT_EQ(FieldAtText(".status.revision"), "3");
  EXPECT_EQ(FieldAtText("status.conditions[type=Ready].reason"), R"("Ok")");
  EXPECT_EQ(FieldAtText("metadata.annotations[example.com/build]"), R"("7")");
  EXPECT_EQ(FieldAtText("status[revision]"), "3");
  EXPECT_EQ(FieldAtText("spec.tags"), R"(["b","a"])") << "a list has an order";
  EXPECT_EQ(FieldAtText("status.ready"), "false");
  const auto field = ObjectField::Parse(".status.conditions[type=Ready].reason");
  ASSERT_TRUE(field);
  EXPECT_EQ(field->text, "status.conditions[type=Ready].reason");
  EXPECT_THAT(
      field->steps,
      ElementsAre(FieldStep{.member = "status"}, FieldStep{.member = "conditions"},
                  FieldStep{.key = "type", .value = "Ready"}, FieldStep{.member = "reason"}));
}

TEST(ObjectFieldTest, WhatSaysNothingIsNotThereYet) {
  for (const char* text :
       {"status.at", "status.message", "metadata.labels", "status.other", "status.revision.more",
        "status.conditions[type=Failed].reason", "spec.tags[a=b]", "status.revision[type=Ready]"}) {
    EXPECT_EQ(FieldAtText(text), "none") << text;
  }
}

TEST(ObjectFieldTest, TheOrderOfMembersDoesNotCount) {
  EXPECT_EQ(FieldAtText("status.data"), R"({"a":"x","b":[1,{"c":2,"d":1}]})");
}

TEST(ObjectFieldTest, AnElementIsNamedByAnyScalar) {
  EXPECT_EQ(FieldAtText("status.ports[port=443].name"), R"("tls")");
  EXPECT_EQ(FieldAtText("status.ports[on=true].name"), R"("tls")");
  EXPECT_EQ(FieldAtText("status.ports[on=false].name"), "none");
}

TEST(ObjectFieldTest, PathsOfOtherLanguagesAreRefused) {
  for (const char* text : {"status.conditions[0].reason", "status.conditions[*].reason",
                           "metadata.annotations['example.com/build']", "status[\"revision\"]",
                           "status.conditions[type='Ready'].reason", "status.conditions[type=*]",
                           "status.conditions[?(@.type==\"Ready\")].reason"}) {
    EXPECT_THAT(FieldAtText(text), HasSubstr("named by one of its members, not by its place"))
        << text;
  }
  EXPECT_TRUE(ObjectField::Parse("spec.rules[host=*.example.com]"));
}

TEST(ObjectFieldTest, WhatCannotBeReadIsRefused) {
  for (const char* text :
       {"", ".", "status.", "status..revision", "status[", "status[]", "status[=Ready]",
        "status[type=]", "status]", "[type=Ready]", "status.conditions[type=Ready]reason",
        "status revision", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u"}) {
    EXPECT_THAT(FieldAtText(text), HasSubstr("is not the names of members")) << text;
  }
  EXPECT_THAT(FieldAtText(std::string(400, 'a')), HasSubstr("is not the names of members"));
  for (const char* text : {"metadata", "metadata.resourceVersion", "metadata.managedFields",
                           "metadata.managedFields[manager=x]", "metadata[resourceVersion]",
                           "metadata[managedFields]", "metadata.managedFields.time"}) {
    EXPECT_THAT(FieldAtText(text), HasSubstr("changes with each write")) << text;
  }
}

}  // namespace
}  // namespace kubexx::reloader
