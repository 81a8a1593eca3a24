// Hooks around the requests of one of several clients of an API server.
#include "kubexx/apiserver/server/testing/interceptor.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/request.h"
#include "kubexx/rest/response_stream.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/round_tripper.h"

namespace kubexx {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Secret;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using kubexx::testing::InterceptedRequest;
using kubexx::testing::RequestsFor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InterceptorTest : public ::testing::Test {
 protected:
  static ConfigMap Map(const std::string& name, const std::string& value) {
    ConfigMap map;
    map.metadata.namespace_ = "default";
    map.metadata.name = name;
    map.data["value"] = value;
    return map;
  }

  kubexx::testing::ApiServer server_;
  kubexx::testing::Interceptor interceptor_;
  std::shared_ptr<rest::RESTClient> client_ =
      *rest::RESTClient::New(interceptor_.Around({.host = server_.url(), .qps = -1}));
  kubernetes::ResourceClient<ConfigMap> maps_{client_, "default"};
  kubernetes::ResourceClient<ConfigMap> others_{
      *rest::RESTClient::New({.host = server_.url(), .qps = -1}), "default"};
};

TEST_F(InterceptorTest, AHookAnswersWhatItChoosesByVerbKindAndContent) {
  interceptor_.Before(RequestsFor<ConfigMap>("create"),
                      [](const InterceptedRequest& request) -> Result<void> {
                        KX_ASSIGN_OR_RETURN(const auto map, request.ObjectAs<ConfigMap>());
                        if (map.data.at("value") == "bad") {
                          return Fail(Reason::kForbidden, "the value is bad");
                        }
                        return {};
                      });
  EXPECT_TRUE(maps_.Create(Map("a", "good")));
  const auto refused = maps_.Create(Map("b", "bad"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::kForbidden);
  EXPECT_EQ(refused.error().code, 403);
  EXPECT_THAT(refused.error().message, HasSubstr("the value is bad"));
  EXPECT_EQ(others_.Get("b").error().reason, Reason::kNotFound) << "it has not been sent";
  EXPECT_TRUE(others_.Create(Map("b", "bad"))) << "another client";
  Secret secret;
  secret.metadata.name = "s";
  EXPECT_TRUE(kubernetes::ResourceClient<Secret>(client_, "default").Create(secret))
      << "another kind";
  EXPECT_EQ(interceptor_.Count(RequestsFor<ConfigMap>("create")), 2);
  EXPECT_EQ(interceptor_.Count({.verb = "create"}), 3);
}

TEST_F(InterceptorTest, AnAnswerCanBeLostAfterTheServerHasDoneTheWork) {
  std::atomic<int> code = 0;
  interceptor_.After(RequestsFor<ConfigMap>("create"),
                     [&code](const InterceptedRequest&, int answered) -> Result<void> {
                       code = answered;
                       return Fail(Reason::kTimeout, "nobody knows", 504);
                     });
  const auto made = maps_.Create(Map("a", "1"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, Reason::kTimeout);
  EXPECT_EQ(code, 201);
  EXPECT_TRUE(others_.Get("a")) << "it is there all the same";
  interceptor_.Clear();
  EXPECT_EQ(maps_.Create(Map("a", "1")).error().reason, Reason::kAlreadyExists);
}

TEST_F(InterceptorTest, AConnectionCanBreak) {
  interceptor_.After(RequestsFor<ConfigMap>("create"),
                     [](const InterceptedRequest&, int) -> Result<void> {
                       return Fail(Reason::kUnavailable, "the connection broke");
                     });
  interceptor_.Before(
      RequestsFor<ConfigMap>("delete"),
      [](const InterceptedRequest&) -> Result<void> { return Fail(Reason::kCancelled, "enough"); });
  const auto made = maps_.Create(Map("a", "1"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, Reason::kUnavailable);
  EXPECT_EQ(made.error().code, 0) << "no server has answered";
  EXPECT_TRUE(others_.Get("a")) << "it is there all the same";
  EXPECT_EQ(maps_.Delete("a").error().reason, Reason::kCancelled);
}

TEST_F(InterceptorTest, ABodyOfAnotherTypeIsMalformed) {
  Reason reason = Reason::kUnknown;
  interceptor_.Before(RequestsFor<ConfigMap>("create"),
                      [&reason](const InterceptedRequest& request) -> Result<void> {
                        EXPECT_EQ(request.type.kind, "ConfigMap");
                        reason = request.ObjectAs<Secret>().error().reason;
                        return {};
                      });
  EXPECT_TRUE(maps_.Create(Map("a", "1")));
  EXPECT_EQ(reason, Reason::kMalformed);
}

TEST_F(InterceptorTest, FailuresEndAfterTheirNumber) {
  ASSERT_TRUE(others_.Create(Map("a", "1")));
  interceptor_.FailRequests(RequestsFor<ConfigMap>("get"), {Reason::kInternalError, "broken"}, 2);
  EXPECT_FALSE(maps_.Get("a"));
  EXPECT_TRUE(others_.Get("a"));
  EXPECT_FALSE(maps_.Get("a"));
  EXPECT_TRUE(maps_.Get("a"));
}

TEST_F(InterceptorTest, AHookSeesSubresourcesParametersAndPatches) {
  ASSERT_TRUE(others_.Create(Map("a", "1")));
  base::Mutex mu;
  std::vector<std::string> seen;
  interceptor_.Before({}, [&](const InterceptedRequest& request) -> Result<void> {
    const base::MutexLock lock(mu);
    seen.push_back(request.parts.verb + " " + request.parts.resource + " " +
                   request.parts.namespace_ + "/" + request.parts.name + " by " +
                   request.Parameter("fieldManager") + ": " + std::string(request.body));
    return {};
  });
  ASSERT_TRUE(maps_.Patch("a", rest::PatchType::kMerge, R"({"data":{"value":"2"}})",
                          {.field_manager = "me & you"}));
  EXPECT_FALSE(maps_.Patch("a", rest::PatchType::kMerge, "{}", {.subresource = "status"}));
  const base::MutexLock lock(mu);
  EXPECT_THAT(seen, ElementsAre(R"(patch configmaps default/a by me & you: {"data":{"value":"2"}})",
                                "patch configmaps/status default/a by : {}"));
}

TEST_F(InterceptorTest, InformersGoThroughItToo) {
  ASSERT_TRUE(others_.Create(Map("a", "1")));
  interceptor_.FailRequests({.verb = "list", .resource = "configmaps"},
                            {Reason::kServiceUnavailable, "not yet", 503});
  interceptor_.FailRequests({.verb = "watch", .resource = "configmaps"},
                            {Reason::kServiceUnavailable, "not yet", 503});
  informers::SharedInformerFactory factory(client_, {});
  const auto informer = factory.InformerFor<ConfigMap>();
  informer->Start();
  ASSERT_TRUE(informer->WaitForSync(base::testing::PatienceEnd().token()));
  ASSERT_TRUE(others_.Create(Map("b", "1")));
  KX_AWAIT(informer->Contains({"default", "b"}));
  EXPECT_GE(interceptor_.Count({.verb = "watch", .resource = "configmaps"}), 2);
  factory.Shutdown();
}

// Where the network can say when something has come, no watch behind hooks needs a thread.
TEST_F(InterceptorTest, AWatchBehindItIsReadWithoutAThreadThatWaits) {
  ASSERT_TRUE(client_->CanOpenStreams());
  const auto open = [this] {
    return client_->Get()
        .Resource(api::core::v1::kConfigMapResource)
        .Namespace("default")
        .Options({.timeout = std::chrono::minutes(5)})
        .MaxRetries(0)
        .Watch()
        .OpenStream({});
  };
  interceptor_.After({.verb = "watch", .resource = "configmaps"},
                     [](const InterceptedRequest&, int) -> Result<void> {
                       return Fail(Reason::kExpired, "too old", 410);
                     });
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::kExpired);
  interceptor_.Clear();
  const auto stream = open();
  ASSERT_TRUE(stream) << stream.error().ToString();
  std::atomic<bool> told = false;
  (*stream)->Notify([&told] { told = true; });
  std::string body;
  ASSERT_TRUE(others_.Create(Map("a", "1")));
  KX_UNTIL(body.contains("\"name\":\"a\"")) {
    const auto found = (*stream)->TryRead([&body](std::string_view piece) -> Result<void> {
      body += piece;
      return {};
    });
    ASSERT_TRUE(found) << found.error().ToString();
    if (*found == rest::StreamRead::kNothing) {
      told = false;
      (*stream)->Arm();
      KX_AWAIT(told);
    }
  }
}

}  // namespace
}  // namespace kubexx
