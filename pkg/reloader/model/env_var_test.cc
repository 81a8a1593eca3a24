#include "kubexx/reloader/model/env_var.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kubexx::reloader {
namespace {

TEST(EnvVarName, KeepsLettersAndDigitsAndJoinsTheRest) {
  EXPECT_EQ(EnvVarName(SourceType::kConfigMap, "www.stakater.com"),
            "STAKATER_WWW_STAKATER_COM_CONFIGMAP");
  EXPECT_EQ(EnvVarName(SourceType::kSecret, "db"), "STAKATER_DB_SECRET");
  EXPECT_EQ(EnvVarName(SourceType::kConfigMap, "a--.b2"), "STAKATER_A_B2_CONFIGMAP");
  EXPECT_EQ(EnvVarName(SourceType::kConfigMap, "a_-_b"), "STAKATER_A_B_CONFIGMAP");
}

TEST(EnvVarName, DropsALeadingRunAndKeepsATrailingOne) {
  EXPECT_EQ(EnvVarName(SourceType::kConfigMap, "--a"), "STAKATER_A_CONFIGMAP");
  EXPECT_EQ(EnvVarName(SourceType::kConfigMap, "a."), "STAKATER_A__CONFIGMAP");
  EXPECT_EQ(EnvVarName(SourceType::kConfigMap, "..."), "STAKATER__CONFIGMAP");
}

TEST(EnvVarName, OfAnotherNamespaceIsNoneOfTheOwn) {
  EXPECT_EQ(EnvVarName(SourceType::kConfigMap, "shared/settings"),
            "STAKATER_SHARED__SETTINGS_CONFIGMAP");
  EXPECT_EQ(EnvVarName(SourceType::kConfigMap, "shared-settings"),
            "STAKATER_SHARED_SETTINGS_CONFIGMAP");
}

TEST(EnvVarName, IsAVariableNameForAnyBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 1000; ++round) {
    std::string name(random() % 64, '\0');
    std::ranges::generate(name, [&] { return static_cast<char>(random()); });
    const std::string variable = EnvVarName(SourceType::kSecret, name);
    EXPECT_TRUE(variable.starts_with(kEnvVarPrefix));
    EXPECT_TRUE(std::ranges::all_of(variable, [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    })) << variable;
  }
}

}  // namespace
}  // namespace kubexx::reloader
