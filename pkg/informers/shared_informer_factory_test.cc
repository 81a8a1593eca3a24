#include "kubexx/informers/shared_informer_factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::informers {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Node;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using ::testing::Contains;
using ::testing::HasSubstr;

// Serves one object of each type, then a quiet watch.
class SharedInformerFactoryTest : public ::testing::Test {
 protected:
  void Serve(FakeConnection& connection) {
    while (auto request = connection.ReadRequest()) {
      {
        base::MutexLock lock(mu_);
        targets_.insert(request->target);
      }
      if (request->target.find("sendInitialEvents") != std::string::npos) {
        connection.Respond(422, "application/json",
                           R"({"kind":"Status","reason":"Invalid","code":422})");
      } else if (request->target.find("watch=true") != std::string::npos) {
        connection.RespondChunked(200, "application/json;stream=watch");
        connection.AwaitPeer();
        return;
      } else {
        connection.Respond(
            200, "application/json",
            R"({"metadata":{"resourceVersion":"9"},"items":[)"
            R"({"metadata":{"namespace":"ns","name":"one","resourceVersion":"3"}}]})");
      }
    }
  }
  std::set<std::string> targets() const {
    base::MutexLock lock(mu_);
    return targets_;
  }

  mutable base::Mutex mu_;
  std::set<std::string> targets_ KX_GUARDED_BY(mu_);
  FakeServer server_{[this](FakeConnection& connection) { Serve(connection); }};
};

TEST_F(SharedInformerFactoryTest, OneInformerATypeOverOneClient) {
  SharedInformerFactory factory(
      rest::testing::NewClient(server_.Url()),
      {.namespace_ = "ns", .tweak = [](const auto& resource, cache::ListWatchOptions& options) {
         if (resource.plural == "configmaps") {
           options.label_selector = "app=web";
         }
       }});
  const auto configmaps = factory.InformerFor<ConfigMap>();
  EXPECT_EQ(configmaps, factory.InformerFor<ConfigMap>());
  const auto nodes = factory.InformerFor<Node>();
  factory.Start();
  ASSERT_TRUE(factory.WaitForCacheSync({}));
  EXPECT_EQ(configmaps->Size(), 1U);
  EXPECT_EQ(factory.ListerFor<ConfigMap>().Get("ns", "one").value()->metadata.resource_version,
            "3");
  EXPECT_EQ(nodes->LastSyncResourceVersion(), "9");
  factory.Shutdown();
  EXPECT_THAT(targets(), Contains(::testing::AllOf(HasSubstr("/api/v1/namespaces/ns/configmaps?"),
                                                   HasSubstr("labelSelector=app%3Dweb"),
                                                   HasSubstr("limit=500"))));
  EXPECT_THAT(targets(), Contains(::testing::AllOf(HasSubstr("/api/v1/nodes?"),
                                                   ::testing::Not(HasSubstr("labelSelector")))));
}

TEST_F(SharedInformerFactoryTest, LaterInformersStartWithTheNextStart) {
  SharedInformerFactory factory(rest::testing::NewClient(server_.Url()));
  factory.Start();
  const auto nodes = factory.InformerFor<Node>();
  EXPECT_FALSE(nodes->HasSynced());
  factory.Start();
  EXPECT_TRUE(factory.WaitForCacheSync({}));
  EXPECT_TRUE(nodes->HasSynced());
}

TEST_F(SharedInformerFactoryTest, WaitingEndsWithItsToken) {
  SharedInformerFactory factory(rest::testing::NewClient(server_.Url()));
  factory.InformerFor<Node>();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(factory.WaitForCacheSync(stop.get_token()));
}

}  // namespace
}  // namespace kubexx::informers
