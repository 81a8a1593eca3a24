#include "kubexx/apiserver/endpoints/validation/pods/pod_resources.h"

#include <gtest/gtest.h>

#include <string>

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;

std::string Defaulted(const std::string& spec) {
  auto tree = JsonTree::Parse(spec);
  EXPECT_TRUE(tree) << spec;
  if (!tree) {
    return "";
  }
  DefaultResourcesOfPod(*tree);
  return tree->Find("resources")->ToJson();
}

std::string WithContainers(const std::string& resources, const std::string& containers,
                           const std::string& before = "") {
  return R"({"resources":)" + resources + R"(,"containers":[)" + containers +
         R"(],"initContainers":[)" + before + "]}";
}

std::string Asking(const std::string& requests, const std::string& rest = "") {
  return R"({"resources":{"requests":{)" + requests + "}}" + rest + "}";
}

TEST(PodResourcesTest, APodAsksForWhatItsContainersDo) {
  EXPECT_EQ(Defaulted(WithContainers(R"({"limits":{"cpu":"2","memory":"1Gi"}})",
                                     Asking(R"("cpu":"500m")") + "," + Asking(R"("cpu":"250m")"))),
            R"({"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"750m","memory":"1Gi"}})");
  EXPECT_EQ(Defaulted(WithContainers(R"({"limits":{"cpu":"2"},"requests":{"cpu":"1"}})",
                                     Asking(R"("cpu":"500m")"))),
            R"({"limits":{"cpu":"2"},"requests":{"cpu":"1"}})");
}

TEST(PodResourcesTest, OnlyWhoIsLimitedAsks) {
  EXPECT_EQ(Defaulted(WithContainers("{}", Asking(R"("cpu":"1")"))), "{}");
  EXPECT_EQ(Defaulted(WithContainers(R"({"requests":{"memory":"1"}})", Asking(R"("cpu":"1")"))),
            R"({"requests":{"memory":"1"}})");
}

TEST(PodResourcesTest, WhatRunsBeforeMayNeedMore) {
  const std::string limits = R"({"limits":{"cpu":"4"}})";
  const std::string main = Asking(R"("cpu":"1")");
  const std::string sidecar = Asking(R"("cpu":"1")", R"(,"restartPolicy":"Always")");
  const auto asked = [](const std::string& cpu) {
    return R"({"limits":{"cpu":"4"},"requests":{"cpu":")" + cpu + "\"}}";
  };
  EXPECT_EQ(Defaulted(WithContainers(limits, main, Asking(R"("cpu":"3")"))), asked("3"));
  EXPECT_EQ(Defaulted(WithContainers(limits, main, Asking(R"("cpu":"500m")"))), asked("1"));
  EXPECT_EQ(Defaulted(WithContainers(limits, main, sidecar)), asked("2"));
  EXPECT_EQ(Defaulted(WithContainers(limits, main, sidecar + "," + Asking(R"("cpu":"1500m")"))),
            asked("2500m"));
  EXPECT_EQ(Defaulted(WithContainers(limits, main, Asking(R"("cpu":"1500m")") + "," + sidecar)),
            asked("2"));
}

TEST(PodResourcesTest, HugePagesAreLimitedAsThoseOfContainers) {
  const std::string pages = R"({"resources":{"limits":{"hugepages-2Mi":"4Mi"}}})";
  EXPECT_EQ(Defaulted(WithContainers(R"({"limits":{"cpu":"1"}})", pages + "," + pages)),
            R"({"limits":{"cpu":"1","hugepages-2Mi":"8Mi"},)"
            R"("requests":{"cpu":"1","hugepages-2Mi":"8Mi"}})");
  EXPECT_EQ(Defaulted(WithContainers(R"({"requests":{"hugepages-2Mi":"4Mi"}})", pages)),
            R"({"requests":{"hugepages-2Mi":"4Mi"}})");
}

TEST(PodResourcesTest, ASumHasTheFormOfItsFirstPart) {
  const auto sum = [](const std::string& a, const std::string& b) {
    const auto tree = JsonTree::Parse(WithContainers(
        "{}", Asking(R"("memory":")" + a + "\"") + "," + Asking(R"("memory":")" + b + "\"")));
    return SumOfContainers(*tree, "requests").find("memory")->second.ToString();
  };
  EXPECT_EQ(sum("512Mi", "512Mi"), "1Gi");
  EXPECT_EQ(sum("1Gi", "1"), "1073741825");
  EXPECT_EQ(sum("500m", "1500m"), "2");
  EXPECT_EQ(sum("1e3", "1"), "1001");
  EXPECT_EQ(sum("1e3", "9e3"), "10e3");
  EXPECT_EQ(sum("0", "1Gi"), "1Gi");
  EXPECT_EQ(sum("8Ei", "8Ei"), sum("8Ei", "1"));  // There is no more.
}

TEST(PodResourcesTest, AThousandthIsTheLeast) {
  auto resources = JsonTree::Parse(
      R"({"limits":{"cpu":"100u","memory":"1Gi","a":"1n"},"requests":{"cpu":"1000500u"}})");
  ASSERT_TRUE(resources);
  RoundResources(*resources);
  EXPECT_EQ(resources->ToJson(),
            R"({"limits":{"cpu":"1m","memory":"1Gi","a":"1m"},"requests":{"cpu":"1001m"}})");
}

}  // namespace
}  // namespace kubexx::apiserver
