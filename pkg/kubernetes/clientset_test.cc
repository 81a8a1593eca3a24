#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "gtest/gtest.h"
#include "kubexx/api/rbac/v1/types.gen.h"
#include "kubexx/kubernetes/apps_v1.gen.h"
#include "kubexx/kubernetes/clientset.gen.h"
#include "kubexx/kubernetes/core_v1.gen.h"
#include "kubexx/kubernetes/rbac_v1.gen.h"

namespace kubexx::kubernetes {
namespace {

template <class Group>
concept NodesTakeNamespace = requires(const Group& group) { group.Nodes(std::string()); };

TEST(ClientsetTest, GivesTypedClientsWithTheScopeOfTheirResource) {
  static_assert(std::is_same_v<decltype(std::declval<Clientset>().AppsV1().Deployments("ns")),
                               ClientWith<api::apps::v1::Deployment, ScaleMethods>>);
  static_assert(std::is_same_v<decltype(std::declval<Clientset>().AppsV1().DaemonSets("ns")),
                               ResourceClient<api::apps::v1::DaemonSet>>);
  static_assert(std::is_same_v<decltype(std::declval<Clientset>().CoreV1().Nodes()),
                               ResourceClient<api::core::v1::Node>>);
  static_assert(std::is_same_v<decltype(std::declval<Clientset>().RbacV1().ClusterRoles()),
                               ResourceClient<api::rbac::v1::ClusterRole>>);
  static_assert(!NodesTakeNamespace<CoreV1Client>);
}

TEST(ClientsetTest, AllClientsShareOneConnection) {
  auto rest = rest::RESTClient::New({.host = "https://127.0.0.1:1"});
  ASSERT_TRUE(rest) << rest.error().ToString();
  {
    const Clientset clients(*rest);
    EXPECT_EQ(clients.rest_client(), *rest);
    const auto before = rest->use_count();
    const auto maps = clients.CoreV1().ConfigMaps("default");
    EXPECT_EQ(rest->use_count(), before + 1);
  }
  EXPECT_EQ(rest->use_count(), 1);
}

}  // namespace
}  // namespace kubexx::kubernetes
