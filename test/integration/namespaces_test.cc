#include <gmock/gmock.h>

#include "cluster_fixture.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/rbac/v1/types.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/watch/until.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/kubernetes/rbac_v1.gen.h"

namespace kubexx::integration {
namespace {

// A factory over several namespaces, as a user who may read only some of them.
class NamespacesClusterTest : public ClusterTest {
 protected:
  // A client without credentials: the server takes it for system:anonymous.
  static std::shared_ptr<rest::RESTClient> AnonymousClient() {
    auto config = rest::LoadKubeconfig({.path = std::getenv("KUBEXX_TEST_KUBECONFIG")});
    EXPECT_TRUE(config.has_value());
    config->tls.cert_file.clear();
    config->tls.cert_data.clear();
    config->tls.key_file.clear();
    config->tls.key_data.clear();
    config->qps = -1;
    return rest::RESTClient::New(*config).value();
  }

  void LetAnonymousRead() const {
    const auto rbac = kubernetes::Clientset(client_).RbacV1();
    api::rbac::v1::Role role;
    role.metadata.name = "reader";
    role.metadata.namespace_ = namespace_;
    auto& rule = role.rules.emplace_back();
    rule.api_groups = {""};
    rule.resources = {"configmaps"};
    rule.verbs = {"get", "list", "watch"};
    const auto created = rbac.Roles(namespace_).Create(role);
    ASSERT_TRUE(created.has_value()) << created.error().ToString();
    api::rbac::v1::RoleBinding binding;
    binding.metadata = role.metadata;
    binding.role_ref.api_group = "rbac.authorization.k8s.io";
    binding.role_ref.kind = "Role";
    binding.role_ref.name = "reader";
    auto& subject = binding.subjects.emplace_back();
    subject.api_group = "rbac.authorization.k8s.io";
    subject.kind = "User";
    subject.name = "system:anonymous";
    const auto bound = rbac.RoleBindings(namespace_).Create(binding);
    ASSERT_TRUE(bound.has_value()) << bound.error().ToString();
  }
};

TEST_F(NamespacesClusterTest, AForbiddenAndAMissingNamespaceStopNoOther) {
  Create("one", "1");
  informers::SharedInformerFactory factory(
      client_, {.namespaces = {namespace_, "kube-system", "no-such-namespace"}});
  const auto all = factory.InformerFor<ConfigMap>();
  LetAnonymousRead();
  informers::SharedInformerFactory anonymous(AnonymousClient(),
                                             {.namespaces = {namespace_, "kube-system"}});
  const auto some = anonymous.InformerFor<ConfigMap>();
  factory.Start();
  anonymous.Start();
  ASSERT_TRUE(factory.WaitForCacheSync(base::testing::PatienceEnd().token()));
  ASSERT_TRUE(anonymous.WaitForCacheSync(base::testing::PatienceEnd().token()));
  // RBAC takes a moment to be known; until then the namespace is a refused one as well.
  ASSERT_TRUE(Await([&] { return some->Contains({namespace_, "one"}); }));
  // Its version is noted after its objects.
  EXPECT_TRUE(Await([&] { return !some->LastSyncResourceVersion(namespace_).empty(); }));
  EXPECT_TRUE(some->LastSyncResourceVersion("kube-system").empty());
  EXPECT_GT(all->CountByIndex(cache::kNamespaceIndex, "kube-system"), 0U);
  Update("one", "2");
  for (const auto& informer : {all, some}) {
    EXPECT_TRUE(
        Await([&] { return informer->Get({namespace_, "one"}).value()->data.at("value") == "2"; }));
    EXPECT_EQ(informer->CountByIndex(cache::kNamespaceIndex, "no-such-namespace"), 0U);
  }
}

TEST_F(NamespacesClusterTest, WaitsForAConditionOfARealObject) {
  Create("one", "1");
  const auto source = cache::NewFilteredListWatchFromClient(
      client_, api::ResourceOf<ConfigMap>(), namespace_,
      [](apimachinery::ListOptions& options) { options.field_selector = "metadata.name=one"; });
  const std::jthread writer([this] {
    for (int i = 2; i <= 5; ++i) {
      Update("one", std::to_string(i));
    }
  });
  const auto found = cache::WaitFor<ConfigMap>(
      source, {namespace_, "one"},
      [](const ConfigMap* object) { return object != nullptr && object->data.at("value") == "5"; },
      {}, {.timeout = std::chrono::minutes(1)});
  ASSERT_TRUE(found.has_value() && found->has_value()) << found.error().ToString();
}

}  // namespace
}  // namespace kubexx::integration
