// A controller that watches and reads only the metadata of what it owns, with a server that sends
// nothing else.
#include <gmock/gmock.h>

#include <cstddef>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/event.h"
#include "kubexx/controller/manager.h"
#include "kubexx/controller/object_helpers.h"
#include "kubexx/controller/predicate.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Secret;
using api::meta::v1::PartialObjectMetadata;
using apimachinery::Result;
using controller::Action;
using controller::Context;
using controller::Request;

class MetadataTest : public ::testing::Test {
 protected:
  // Reconciles the ConfigMap that owns a Secret, and the one that a Secret's label names.
  void Start() {
    auto made = controller::ControllerBuilder<ConfigMap>(manager_)
                    .OwnsMetadata<Secret>()
                    .WatchesMetadata<Secret>([](const PartialObjectMetadata& secret) {
                      const auto label = secret.metadata.labels.find("of");
                      return label == secret.metadata.labels.end()
                                 ? std::vector<Request>()
                                 : std::vector<Request>{{.object = {"default", label->second}}};
                    })
                    .Complete([this](const Request& request, Context& context) {
                      return Reconcile(request, context);
                    });
    ASSERT_TRUE(made) << made.error().ToString();
    Run();
  }
  void Run() {
    runner_ = std::jthread([this](const std::stop_token& stop) {
      const auto ran = manager_.Run(stop);
      EXPECT_TRUE(ran) << ran.error().ToString();
    });
  }
  Result<Action> Reconcile(const Request& request, Context& context) {
    KX_ASSIGN_OR_RETURN(const auto secrets, context.client.ListMetadata<Secret>());
    if (!secrets.empty()) {
      const auto one = context.client.GetMetadata<Secret>(
          {secrets[0]->metadata.namespace_, secrets[0]->metadata.name});
      EXPECT_TRUE(one) << one.error().ToString();
    }
    const base::MutexLock lock(mu_);
    seen_[request.object.name] = secrets.size();
    return Action::Done();
  }
  std::size_t Seen(const std::string& name) const {
    const base::MutexLock lock(mu_);
    const auto found = seen_.find(name);
    return found == seen_.end() ? 0 : found->second;
  }

  kubexx::testing::ApiServer server_;
  std::shared_ptr<rest::RESTClient> client_ =
      *rest::RESTClient::New({.host = server_.url(), .qps = -1});
  controller::Manager manager_{client_};
  mutable base::Mutex mu_;
  std::map<std::string, std::size_t> seen_ KX_GUARDED_BY(mu_);
  std::jthread runner_;
};

TEST_F(MetadataTest, OwnersAndMappingsNeedNoMore) {
  const kubernetes::ResourceClient<ConfigMap> maps(client_, "default");
  const kubernetes::ResourceClient<Secret> secrets(client_, "default");
  ConfigMap owner;
  owner.metadata.name = "owner";
  const auto created = maps.Create(owner);
  ASSERT_TRUE(created) << created.error().ToString();
  Start();
  Secret owned;
  owned.metadata.name = "owned";
  owned.metadata.namespace_ = "default";
  owned.string_data["password"] = "not to be cached";
  ASSERT_TRUE(controller::SetControllerReference(*created, owned));
  ASSERT_TRUE(secrets.Create(owned));
  KX_AWAIT(Seen("owner") == 1);
  Secret mapped;
  mapped.metadata.name = "mapped";
  mapped.metadata.labels["of"] = "other";
  ASSERT_TRUE(secrets.Create(mapped));
  KX_AWAIT(Seen("other") == 2);
  EXPECT_EQ(manager_.caches()->FindInformer<Secret>(), nullptr) << "no cache of whole objects";
  const auto cached =
      manager_.caches()->MetadataInformerFor<Secret>()->GetRaw({"default", "owned"});
  ASSERT_TRUE(cached) << cached.error().ToString();
  EXPECT_EQ(cached->bytes.find("not to be cached"), std::string::npos);
  EXPECT_EQ(cached->bytes.find("bm90IHRvIGJl"), std::string::npos) << "in base64";
}

TEST_F(MetadataTest, AControllerNeedsNoMoreOfItsOwnType) {
  const kubernetes::ResourceClient<Secret> secrets(client_, "default");
  const auto reconcile = [this](const Request& request, Context& context) -> Result<Action> {
    const auto secret = context.client.GetMetadata<Secret>(request.object);
    const base::MutexLock lock(mu_);
    seen_[request.object.name] = secret ? (*secret)->metadata.labels.size() : 0;
    return Action::Done();
  };
  auto made = controller::ControllerBuilder<Secret>(manager_)
                  .ForMetadata([](const controller::Event<PartialObjectMetadata>& event) {
                    return event.object().metadata.labels.contains("wanted");
                  })
                  .Complete(reconcile);
  ASSERT_TRUE(made) << made.error().ToString();
  const auto both = controller::ControllerBuilder<Secret>(manager_)
                        .Named("both")
                        .ForMetadata()
                        .WithPredicates(controller::predicates::GenerationChanged())
                        .Complete(reconcile);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().reason, apimachinery::Reason::kInvalidConfig);
  EXPECT_THAT(both.error().message, ::testing::HasSubstr("pass the predicates to ForMetadata"));
  Run();
  Secret secret;
  secret.metadata.name = "other";
  secret.metadata.labels = {{"unwanted", ""}};
  ASSERT_TRUE(secrets.Create(secret));
  secret.metadata.name = "one";
  secret.metadata.labels = {{"wanted", ""}, {"as-well", ""}};
  secret.string_data["password"] = "not to be cached";
  ASSERT_TRUE(secrets.Create(secret));
  KX_AWAIT(Seen("one") == 2);
  EXPECT_EQ(Seen("other"), 0U);
  EXPECT_EQ(manager_.caches()->FindInformer<Secret>(), nullptr) << "no cache of whole objects";
}

}  // namespace
}  // namespace kubexx
