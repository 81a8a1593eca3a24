#include "kubexx/reloader/model/key_prints.h"

#include <gtest/gtest.h>

#include <string>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/bytes.h"

namespace kubexx::reloader {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Secret;

TEST(KeyPrints, CompareOnlyTheValuesOfTheKeysThatCount) {
  ConfigMap config_map;
  config_map.data = {{"a", "1"}, {"b", "1"}};
  const KeyPrints before = KeyPrintsOf(config_map);
  config_map.data["b"] = "2";
  const KeyPrints after = KeyPrintsOf(config_map);
  EXPECT_TRUE(AreSameUnder("a", before, after));
  EXPECT_FALSE(AreSameUnder("b", before, after));
  EXPECT_FALSE(AreSameUnder("a,b", before, after));
  config_map.data.erase("a");
  EXPECT_FALSE(AreSameUnder("a", after, KeyPrintsOf(config_map))) << "the key is gone";
  EXPECT_TRUE(AreSameUnder("c", before, after)) << "none of them has it";
}

TEST(KeyPrints, CoverBinaryDataAndSecrets) {
  ConfigMap config_map;
  config_map.data["a"] = "1";
  const KeyPrints text = KeyPrintsOf(config_map);
  config_map.data.clear();
  config_map.binary_data["a"] = apimachinery::Bytes(std::string("1"));
  EXPECT_TRUE(AreSameUnder("a", KeyPrintsOf(config_map), text)) << "pods see the same";
  Secret secret;
  secret.data["a"] = apimachinery::Bytes(std::string("2"));
  EXPECT_FALSE(AreSameUnder("a", KeyPrintsOf(secret), text));
  secret.data["a"] = apimachinery::Bytes(std::string("1"));
  EXPECT_TRUE(AreSameUnder("a", KeyPrintsOf(secret), text));
}

TEST(KeyPrints, AreUnknownOfASourceWithTooManyKeys) {
  ConfigMap config_map;
  for (std::size_t i = 0; i < KeyPrints::kMaxKeys; ++i) {
    config_map.data["key" + std::to_string(i)] = "1";
  }
  const KeyPrints full = KeyPrintsOf(config_map);
  EXPECT_TRUE(AreSameUnder("key7", full, full));
  config_map.data["more"] = "1";
  EXPECT_TRUE(KeyPrintsOf(config_map).packed.empty());
  EXPECT_FALSE(AreSameUnder("key7", KeyPrintsOf(config_map), full));
  EXPECT_FALSE(AreSameUnder("key7", KeyPrints(), KeyPrints())) << "what is not known differs";
}

TEST(KeyPrints, OfNoKeysAreKnown) {
  EXPECT_TRUE(AreSameUnder("a", KeyPrintsOf(ConfigMap()), KeyPrintsOf(ConfigMap())));
}

}  // namespace
}  // namespace kubexx::reloader
