#include "kubexx/crdgen/names.h"

#include <gmock/gmock.h>

#include <map>
#include <string>

namespace kubexx::crdgen {
namespace {

TEST(NamesTest, MembersAreNamedAsThoseOfBuiltInTypes) {
  EXPECT_EQ(MemberName("replicas"), "replicas");
  EXPECT_EQ(MemberName("availableReplicas"), "available_replicas");
  EXPECT_EQ(MemberName("podIP"), "pod_ip");
  EXPECT_EQ(MemberName("podIPs"), "pod_ips");
  EXPECT_EQ(MemberName("clusterIPsAllowed"), "cluster_ips_allowed");
  EXPECT_EQ(MemberName("hostIPC"), "host_ipc");
  EXPECT_EQ(MemberName("URLPath"), "url_path");
  EXPECT_EQ(MemberName("x-kubernetes-map-type"), "x_kubernetes_map_type");
  EXPECT_EQ(MemberName("max-surge"), "max_surge");
}

TEST(NamesTest, MembersHaveTheJsonNameThatLeadsBackToThem) {
  for (const auto& [member, json] : std::map<std::string, std::string>{{"replicas", "replicas"},
                                                                       {"pod_ip", "podIp"},
                                                                       {"max_surge_2", ""},
                                                                       {"default_", "default"},
                                                                       {"errno_", "errno"},
                                                                       {"ipv4_cidr", "ipv4Cidr"},
                                                                       {"podIP", ""},
                                                                       {"_a", ""},
                                                                       {"a__b", ""},
                                                                       {"a_", ""},
                                                                       {"x_y_z", ""},
                                                                       {"field_2xx", ""},
                                                                       {"", ""}}) {
    EXPECT_EQ(JsonName(member), json) << member;
  }
}

TEST(NamesTest, WhatIsNoIdentifierBecomesOne) {
  EXPECT_EQ(MemberName("default"), "default_");
  EXPECT_EQ(MemberName("linux"), "linux_");
  EXPECT_EQ(MemberName("2xx"), "field_2xx");
  EXPECT_EQ(MemberName("$ref"), "ref");
  EXPECT_EQ(MemberName("größe"), "gr_e");
  EXPECT_EQ(MemberName(""), "field_");
  EXPECT_EQ(MemberName("--"), "field_");
  EXPECT_EQ(Identifier("example.com"), "example_com");
  EXPECT_EQ(Identifier("3scale.net"), "group_3scale_net");
  EXPECT_EQ(Identifier("v1alpha1"), "v1alpha1");
  EXPECT_EQ(Identifier("export"), "export_");
}

TEST(NamesTest, MacrosOfTheStandardHeadersAreLeftAlone) {
  for (const std::string macro : {"errno", "stdin", "stdout", "stderr", "unix", "sched_priority"}) {
    EXPECT_EQ(MemberName(macro), macro + "_");
  }
  // What stands without a parenthesis behind it is no macro with parameters.
  EXPECT_EQ(MemberName("major"), "major");
  EXPECT_EQ(MemberName("assert"), "assert");
  EXPECT_FALSE(IsTypeName("EOF"));
  EXPECT_FALSE(IsTypeName("NULL"));
  EXPECT_TRUE(IsTypeName("EIP"));
}

TEST(NamesTest, NamespacesAreIdentifiers) {
  EXPECT_TRUE(IsNamespace("web"));
  EXPECT_TRUE(IsNamespace("my_web::v1::kubexx"));
  for (const char* const wrong : {"", "::web", "web::", "a:b", "a:::b", "a::::b", "a-b", "a b",
                                  "1a", "web::class", "std", "web::errno", "a{}", "a;b", "größe"}) {
    EXPECT_FALSE(IsNamespace(wrong)) << wrong;
  }
}

TEST(NamesTest, ANameIsTakenOnce) {
  NameSet names;
  EXPECT_EQ(names.Add("Pool", {}, {{"k", "Schema"}}), "Pool");
  EXPECT_EQ(names.Add("kPoolSchema"), "kPoolSchema2");
  EXPECT_EQ(names.Add("Pool"), "Pool2");
  EXPECT_EQ(names.Add("Pool", "_"), "Pool_3");
  EXPECT_EQ(names.Add("kWebSchema"), "kWebSchema");
  EXPECT_EQ(names.Add("Web", {}, {{"k", "Schema"}}), "Web2");
  EXPECT_TRUE(names.names().contains("kWeb2Schema"));
}

TEST(NamesTest, TypesAreInCamelCase) {
  EXPECT_EQ(CamelCase("maxSurge"), "MaxSurge");
  EXPECT_EQ(CamelCase("max-surge"), "MaxSurge");
  EXPECT_EQ(CamelCase("10%"), "10");
  EXPECT_EQ(CamelCase(""), "");
  EXPECT_TRUE(IsTypeName("Website2"));
  EXPECT_FALSE(IsTypeName("website"));
  EXPECT_FALSE(IsTypeName("Web site"));
  EXPECT_FALSE(IsTypeName("Web{};"));
  EXPECT_FALSE(IsTypeName(""));
}

TEST(NamesTest, LiteralsHoldWhatTheyAreMadeOf) {
  EXPECT_EQ(Quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(Quoted("a\n1"), R"("a\0121")");
  EXPECT_EQ(Quoted("größe"), "\"größe\"");
  EXPECT_EQ(Quoted("a\u202eb"), R"("a\342\200\256b")");
  EXPECT_EQ(Quoted("a\u2066"), R"("a\342\201\246")");
  EXPECT_EQ(Quoted("\u2029\u202f\u2065\u206a"), "\"\u2029\u202f\u2065\u206a\"");
  EXPECT_EQ(WithoutTurns("a\u202a\u202eb\u2066c\u2069d\u20ac"), "abcd\u20ac");
}

}  // namespace
}  // namespace kubexx::crdgen
