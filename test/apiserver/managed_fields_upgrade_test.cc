// The upgrade from updates to server-side apply, with a server that tracks who owns which field.
#include "kubexx/kubernetes/managed_fields_upgrade.h"

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <string>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/kubernetes/apply.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Reason;
using kubernetes::ApplyObject;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr const char* kNewManager = "shop-controller";

class UpgradeTest : public ::testing::Test {
 protected:
  void Create() {
    ConfigMap map;
    map.metadata.name = "a";
    map.data = {{"kept", "1"}, {"obsolete", "1"}};
    const auto created = maps_.Create(map, {.field_manager = "shop"});
    ASSERT_TRUE(created) << created.error().ToString();
  }
  ConfigMap ApplyKept() {
    ApplyObject<ConfigMap> wanted("a", "default");
    wanted.Put(&ConfigMap::data, "kept", "1");
    const auto applied = maps_.Apply(wanted, {.field_manager = kNewManager});
    EXPECT_TRUE(applied) << applied.error().ToString();
    return applied ? *applied : ConfigMap();
  }

  const kubernetes::ManagedFieldsUpgrade upgrade_{.update_managers = {"shop"},
                                                  .apply_manager = kNewManager};
  kubexx::testing::ApiServer server_;
  kubernetes::ResourceClient<ConfigMap> maps_{
      *rest::RESTClient::New({.host = server_.url(), .qps = -1}), "default"};
};

TEST_F(UpgradeTest, AFieldThatIsNoLongerAppliedGoes) {
  Create();
  EXPECT_THAT(ApplyKept().data, ElementsAre(Pair("kept", "1"), Pair("obsolete", "1")))
      << "the former manager owns it";
  const auto patch = kubernetes::UpgradeManagedFieldsPatch(maps_.Get("a")->metadata, upgrade_);
  ASSERT_TRUE(patch) << patch.error().ToString();
  ASSERT_TRUE(*patch);
  const auto patched = maps_.Patch("a", rest::PatchType::kJson, **patch);
  ASSERT_TRUE(patched) << patched.error().ToString();
  EXPECT_EQ(kubernetes::UpgradeManagedFieldsPatch(patched->metadata, upgrade_).value(),
            std::nullopt);
  EXPECT_THAT(ApplyKept().data, ElementsAre(Pair("kept", "1")));
}

TEST_F(UpgradeTest, APatchOfAnOlderStateIsAConflict) {
  Create();
  const auto patch = kubernetes::UpgradeManagedFieldsPatch(maps_.Get("a")->metadata, upgrade_);
  ASSERT_TRUE(maps_.Patch("a", rest::PatchType::kMerge, R"({"data":{"kept":"2"}})"));
  EXPECT_EQ(maps_.Patch("a", rest::PatchType::kJson, **patch).error().reason, Reason::kConflict);
}

}  // namespace
}  // namespace kubexx
