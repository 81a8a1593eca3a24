#include "kubexx/reloader/kinds/source_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>

namespace kubexx::reloader {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kCertificates[] =
    "[{group: cert-manager.io, version: v1, kind: Certificate, resource: certificates, fields: "
    "[status.revision]}]";

std::string SourceErrorFor(const std::string& yaml) {
  const auto kinds = ParseSourceKinds(
      yaml, {{"apps", "v1", "Deployment", "deployments", true}, {"", "v1", "Secret", "secrets"}});
  return kinds ? "no error" : kinds.error().message;
}

std::string SourceErrorWith(const std::string& members) {
  return SourceErrorFor("[{group: a.example.com, version: v1, " + members + "}]");
}

SourceKind KindWith(const std::string& kind, std::initializer_list<const char*> fields) {
  SourceKind result{.group = "a.example.com", .version = "v1", .kind = kind, .resource = "foos"};
  for (const char* field : fields) {
    result.fields.push_back(ObjectField::Parse(field).value());
  }
  return result;
}

TEST(ParseSourceKindsTest, AKindHasFields) {
  const auto kinds = ParseSourceKinds(kCertificates, {});
  ASSERT_TRUE(kinds) << kinds.error().message;
  ASSERT_THAT(*kinds, SizeIs(1));
  EXPECT_EQ(kinds->front().Resource().ApiVersion(), "cert-manager.io/v1");
  EXPECT_EQ(kinds->front().fields.front().text, "status.revision");
  EXPECT_THAT(ParseSourceKinds(" \n", {}).value(), IsEmpty());
}

TEST(ParseSourceKindsTest, WhatIsWrongIsNamedWithItsPlace) {
  const std::string foo = "kind: Foo, resource: foos";
  EXPECT_EQ(SourceErrorFor("{}"), "must be a list of 0 to 50 kinds");
  EXPECT_EQ(SourceErrorWith(foo),
            "[0].fields: must name the fields whose changes count, such as [status.revision]");
  EXPECT_THAT(SourceErrorWith(foo + ", fields: []"), HasSubstr("[0].fields: "));
  EXPECT_THAT(SourceErrorWith(foo + ", fields: [status.a, status..b]"),
              HasSubstr("[0].fields[1]: \"status..b\" is not the names of members"));
  EXPECT_THAT(SourceErrorWith(foo + ", fields: [status.a, .status.a]"),
              HasSubstr("[0].fields[1]: \".status.a\" is in the list twice"));
  EXPECT_THAT(SourceErrorWith(foo + ", fields: [status.a, \"status[a]\"]"),
              HasSubstr("[0].fields[1]: \"status[a]\" is in the list twice"));
  EXPECT_THAT(SourceErrorWith(foo + ", fields: [metadata.resourceVersion]"),
              HasSubstr("changes with each write"));
  EXPECT_THAT(SourceErrorWith(foo + ", fields: [status.a], podTemplate: spec.template"),
              HasSubstr("podTemplate"));
}

TEST(ParseSourceKindsTest, KindsOfTheApiServerAndOfTheOperatorAreRefused) {
  EXPECT_EQ(
      SourceErrorFor("[{group: \"\", version: v1, kind: Foo, resource: secrets, fields: [data]}]"),
      "[0].group: \"\" is no API group of custom resources, such as cert-manager.io");
  EXPECT_THAT(
      SourceErrorFor("[{group: apps, version: v1, kind: A, resource: a, fields: [spec.a]}]"),
      HasSubstr("is no API group of custom resources"));
  EXPECT_THAT(SourceErrorWith("kind: secret, resource: foos, fields: [data]"),
              HasSubstr("[0].kind: \"secret\" is what the operator calls a kind of its own"));
  EXPECT_THAT(SourceErrorWith("kind: Foo, resource: deployments, fields: [data]"),
              HasSubstr("[0].resource: \"deployments\" is what the operator calls"));
  EXPECT_THAT(
      SourceErrorFor("[{group: a.example.com, version: v1, kind: Foo, resource: foos, fields: "
                     "[spec.a]}, {group: b.example.com, version: v1, kind: FOO, resource: bars, "
                     "fields: [spec.a]}]"),
      HasSubstr("[1].kind: \"FOO\" is what another one of the list is called"));
}

TEST(SourceKindTest, TheMarkTellsFieldsAndResourcesApart) {
  const SourceKind one = KindWith("Foo", {"status.a", "status.b"});
  EXPECT_THAT(one.Mark(), SizeIs(8));
  EXPECT_EQ(one.Mark(), KindWith("Foo", {"status.b", ".status.a"}).Mark());
  EXPECT_NE(one.Mark(), KindWith("Foo", {"status.a"}).Mark());
  SourceKind other = one;
  other.version = "v2";
  EXPECT_EQ(one.Mark(), other.Mark()) << "the same objects in another version";
  other.group = "b.example.com";
  EXPECT_NE(one.Mark(), other.Mark());
}

TEST(SourceKindTest, AKindKeepsItsPlaceAndTheNewDescriptionCounts) {
  AddSourceKinds({KindWith("PlacedOne", {"status.a"}), KindWith("PlacedTwo", {"status.a"})});
  const auto& before = SourceKinds();
  const auto place = [](const std::string& lower) {
    const auto& kinds = SourceKinds();
    const auto found = std::ranges::find(kinds, lower, &KnownSourceKind::lower);
    return found == kinds.end() ? -1 : found - kinds.begin();
  };
  const auto one = place("placedone");
  const auto two = place("placedtwo");
  EXPECT_EQ(two, one + 1);
  AddSourceKinds({KindWith("PlacedOne", {"status.b"})}, Precedence::kKnown);
  EXPECT_EQ(SourceKinds().at(static_cast<std::size_t>(one)).described.fields[0].text, "status.a");
  AddSourceKinds({KindWith("PlacedOne", {"status.b"})});
  EXPECT_EQ(SourceKinds().at(static_cast<std::size_t>(one)).described.fields[0].text, "status.b");
  EXPECT_EQ(place("placedone"), one);
  EXPECT_EQ(SourceKinds().at(static_cast<std::size_t>(one)).upper, "PLACEDONE");
  EXPECT_EQ(SourceResources().at(static_cast<std::size_t>(one)).kind, "PlacedOne");
  EXPECT_EQ(before.at(static_cast<std::size_t>(one)).described.fields[0].text, "status.a")
      << "what was returned stays as it was";
}

}  // namespace
}  // namespace kubexx::reloader
