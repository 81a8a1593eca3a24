#include "kubexx/api/owner_reference.h"

#include <optional>

#include "gtest/gtest.h"
#include "kubexx/api/apps/v1/resources.gen.h"
#include "kubexx/api/core/v1/resources.gen.h"

namespace kubexx::api {
namespace {

TEST(OwnerReferenceTo, NamesTheOwnerAndNothingElse) {
  const meta::v1::OwnerReference of_group =
      OwnerReferenceTo(apps::v1::kReplicaSetResource, "web-1", "uid-1");
  EXPECT_EQ(of_group, (meta::v1::OwnerReference{.kind = "ReplicaSet",
                                                .name = "web-1",
                                                .uid = "uid-1",
                                                .api_version = "apps/v1",
                                                .controller = std::nullopt,
                                                .block_owner_deletion = std::nullopt}));
  EXPECT_EQ(OwnerReferenceTo(core::v1::kNodeResource, "n1", "uid-2").api_version, "v1");
}

}  // namespace
}  // namespace kubexx::api
