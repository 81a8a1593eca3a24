#include "kubexx/apiserver/object/stored_object.h"

#include <gmock/gmock.h>

#include <stop_token>
#include <string>

#include "kubexx/apiserver/object/resource_type.h"

namespace kubexx::apiserver {
namespace {

ResourceType Custom() {
  ResourceType type;
  type.group = "e.x";
  type.version = "v1";
  type.kind = "Widget";
  return type;
}

// kube-apiserver stores the members of custom objects by their names, and a member may itself have
// something of that name.
TEST(JsonOfStoredTest, TheMetadataAreThoseOfTheObjectWhereverTheyStand) {
  const auto json = JsonOfStored(
      Custom(),
      R"({"apiVersion":"e.x/v1","data":{"metadata":{"a":"b"}},"kind":"Widget","metadata":{"name":"w"},"n":1})",
      7, {});
  ASSERT_TRUE(json) << json.error().ToString();
  EXPECT_EQ(
      *json,
      R"({"kind":"Widget","apiVersion":"e.x/v1","metadata":{"resourceVersion":"7","name":"w"},"data":{"metadata":{"a":"b"}},"n":1})");
}

TEST(JsonOfStoredTest, NothingThatStandsBeforeTheMetadataIsLost) {
  const auto json = JsonOfStored(
      Custom(), R"({"a":1,"apiVersion":"e.x/v1","kind":"Widget","metadata":{"name":"w"}})", 7, {});
  ASSERT_TRUE(json) << json.error().ToString();
  EXPECT_EQ(
      *json,
      R"({"kind":"Widget","apiVersion":"e.x/v1","metadata":{"resourceVersion":"7","name":"w"},"a":1})");
}

TEST(JsonOfStoredTest, WhatThisServerStoresIsTakenAsItIs) {
  const auto json = JsonOfStored(
      Custom(), R"({"kind":"Widget","apiVersion":"e.x/v2","metadata":{"name":"w"},"a":1})", 7, {});
  ASSERT_TRUE(json) << json.error().ToString();
  EXPECT_EQ(
      *json,
      R"({"kind":"Widget","apiVersion":"e.x/v1","metadata":{"resourceVersion":"7","name":"w"},"a":1})");
}

}  // namespace
}  // namespace kubexx::apiserver
