// What users test their controllers with: faults of the API server, and waits that end.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apiserver/server/testing/api_server.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/typed_event.h"
#include "kubexx/controller/testing/await.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Namespace;
using api::core::v1::Secret;
using apimachinery::Reason;
using kubexx::testing::AwaitGone;
using kubexx::testing::AwaitObject;
using kubexx::testing::Eventually;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class TestSupportTest : public ::testing::Test {
 protected:
  ConfigMap Create(const std::string& name, const std::string& value) const {
    ConfigMap map;
    map.metadata.name = name;
    map.data["value"] = value;
    const auto created = maps_.Create(map);
    EXPECT_TRUE(created) << created.error().ToString();
    return created ? *created : map;
  }

  kubexx::testing::ApiServer server_;
  std::shared_ptr<rest::RESTClient> client_ =
      *rest::RESTClient::New({.host = server_.url(), .qps = -1});
  kubernetes::ResourceClient<ConfigMap> maps_{client_, "default"};
};

TEST_F(TestSupportTest, FaultsAreForTheRequestsTheyNameAndEnd) {
  const ConfigMap map = Create("a", "1");
  server_.FailRequests({.verb = "update", .resource = "configmaps", .name = "b"},
                       {Reason::kConflict, "of another"});
  server_.FailRequests({.verb = "update", .resource = "configmaps", .namespace_ = "default"},
                       {Reason::kConflict, "somebody was faster"}, 2);
  EXPECT_TRUE(maps_.Get("a"));
  for (int i = 0; i < 2; ++i) {
    const auto refused = maps_.Update(map);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Reason::kConflict);
    EXPECT_EQ(refused.error().code, 409);
    EXPECT_EQ(refused.error().message, "somebody was faster");
  }
  EXPECT_TRUE(maps_.Update(map));
  EXPECT_EQ(server_.FailuresLeft(), 1);
  EXPECT_EQ(server_.Count({.verb = "update"}), 3);
  EXPECT_EQ(server_.Count({.verb = "update", .name = "b"}), 0);
  EXPECT_EQ(server_.Count({.resource = "configmaps"}), 5);
}

TEST_F(TestSupportTest, AFaultOfASubresourceSparesTheResource) {
  server_.FailRequests({.resource = "configmaps/status"}, {Reason::kForbidden, "no"});
  server_.FailRequests({.resource = "configmaps"}, {Reason::kForbidden, "never"}, 0);
  Create("a", "1");
  EXPECT_EQ(server_.FailuresLeft(), 1);
}

TEST_F(TestSupportTest, ServersOfTheSameProcessAreApart) {
  const kubexx::testing::ApiServer other;
  server_.FailRequests({}, {Reason::kForbidden, "no"});
  const auto client = *rest::RESTClient::New({.host = other.url(), .qps = -1});
  EXPECT_TRUE(kubernetes::ResourceClient<ConfigMap>(client, "default").List());
  EXPECT_FALSE(maps_.List());
}

TEST_F(TestSupportTest, FaultsComeBeforeTheHookOfTheOptions) {
  std::atomic<int> passed = 0;
  apiserver::ApiServerOptions options{.plain_http = true};
  options.around = [&passed](const http::Request& request, const http::Handler& next) {
    ++passed;
    http::Response response = next(request);
    response.headers.emplace_back("Warning", "299 - \"from around\"");
    return response;
  };
  kubexx::testing::ApiServer server(std::move(options));
  const auto client = *rest::RESTClient::New({.host = server.url(), .qps = -1});
  const kubernetes::ResourceClient<ConfigMap> maps(client, "default");
  const int before = passed;
  server.FailRequests({.verb = "list"}, {Reason::kForbidden, "no"});
  EXPECT_FALSE(maps.List());
  EXPECT_EQ(passed, before);
  EXPECT_TRUE(maps.List());
  EXPECT_EQ(passed, before + 1);
}

TEST_F(TestSupportTest, ABrokenWatchEndsAndItsClientComesAgain) {
  informers::SharedInformerFactory factory(client_, {});
  const auto informer = factory.InformerFor<ConfigMap>();
  informer->Start();
  ASSERT_TRUE(informer->WaitForSync(base::testing::PatienceEnd().token()));
  const auto broken = Eventually("a watch to break", [this] {
    EXPECT_EQ(server_.BreakWatches({.resource = "secrets"}), 0);
    return server_.BreakWatches({.resource = "configmaps"}) == 1;
  });
  ASSERT_TRUE(broken) << broken.error().ToString();
  Create("after", "1");
  const auto seen = Eventually("the informer to see what was made meanwhile",
                               [&] { return informer->GetRaw({"default", "after"}).has_value(); });
  EXPECT_TRUE(seen) << seen.error().ToString();
  EXPECT_GE(server_.Count({.verb = "watch"}), 2);
}

TEST_F(TestSupportTest, AnObjectIsReturnedAsItIsWhenTheWaitEnds) {
  Create("a", "1");
  const auto there = AwaitObject<ConfigMap>(client_, {"default", "a"}, "a value",
                                            [](const ConfigMap& map) { return !map.data.empty(); });
  ASSERT_TRUE(there) << there.error().ToString();
  EXPECT_EQ(there->data.at("value"), "1");
  ASSERT_TRUE(maps_.Delete("a"));
  const auto gone = AwaitGone<ConfigMap>(client_, {"default", "a"});
  EXPECT_TRUE(gone) << gone.error().ToString();
}

/// The error of `wait`, which waits in vain: for longer and longer, until the server has told of
/// the object, or until the error has these words, however slow the machine is.
template <class F>
std::string ErrorInVain(F wait, const std::string& words = {}) {
  std::string message;
  for (base::Duration patience = milliseconds(50); patience < std::chrono::minutes(2);
       patience *= 2) {
    const auto result = wait(patience);
    message = result ? std::string() : result.error().message;
    if (words.empty() ? !message.contains("has not told yet") : message.contains(words)) {
      break;
    }
  }
  return message;
}

TEST_F(TestSupportTest, AWaitInVainSaysWhatItSawInstead) {
  Create("a", "first");
  const auto never = [](const auto&) { return false; };
  EXPECT_THAT(ErrorInVain([&](base::Duration patience) {
                return AwaitObject<ConfigMap>(client_, {"default", "a"}, "a second value", never,
                                              patience);
              }),
              AllOf(HasSubstr(" for a second value: ConfigMap default/a was last"),
                    HasSubstr(R"("value":"first")"), Not(HasSubstr("managedFields"))));
  EXPECT_THAT(ErrorInVain([&](base::Duration patience) {
                return AwaitGone<ConfigMap>(client_, {"default", "a"}, patience);
              }),
              HasSubstr("for it to be gone: ConfigMap default/a was last"));
  EXPECT_THAT(ErrorInVain([&](base::Duration patience) {
                return AwaitObject<ConfigMap>(client_, {"default", "b"}, "it", never, patience);
              }),
              HasSubstr("there is no ConfigMap default/b"));
  const auto words = Eventually("pigs to fly", [] { return false; }, milliseconds(20));
  ASSERT_FALSE(words);
  EXPECT_EQ(words.error().message, "waited 20 ms for pigs to fly");
}

TEST_F(TestSupportTest, PatienceHasAnEndUnlessItIsWithout) {
  Create("a", "1");
  for (const base::Duration none : {base::Duration::zero(), base::Duration(-1)}) {
    const auto map = AwaitObject<ConfigMap>(
        client_, {"default", "a"}, "more", [](const ConfigMap&) { return false; }, none);
    ASSERT_FALSE(map);
    EXPECT_EQ(map.error().reason, Reason::kTimeout);
    EXPECT_THAT(map.error().message,
                HasSubstr("waited 0 s for more: ConfigMap default/a was last {"));
    const auto gone = AwaitGone<ConfigMap>(client_, {"default", "a"}, none);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().reason, Reason::kTimeout);
    EXPECT_THAT(gone.error().message, HasSubstr("to be gone: ConfigMap default/a was last"));
    EXPECT_FALSE(Eventually("nothing", [] { return false; }, none));
  }
  int looks = 0;
  const auto held = Eventually("a third look", [&] { return ++looks == 3; }, base::Duration::max());
  EXPECT_TRUE(held) << held.error().ToString();
  const auto there = AwaitObject<ConfigMap>(
      client_, {"default", "a"}, "it", [](const ConfigMap&) { return true; },
      base::Duration::max());
  EXPECT_TRUE(there) << there.error().ToString();
}

TEST_F(TestSupportTest, WithoutPatienceTheStateOfTheMomentCounts) {
  Create("a", "1");
  for (const base::Duration none : {base::Duration::zero(), base::Duration(-1)}) {
    int looks = 0;
    const auto there = AwaitObject<ConfigMap>(
        client_, {"default", "a"}, "it",
        [&looks](const ConfigMap& map) {
          ++looks;
          return map.data.at("value") == "1";
        },
        none);
    ASSERT_TRUE(there) << there.error().ToString();
    EXPECT_EQ(there->metadata.name, "a");
    EXPECT_EQ(looks, 1);
    const auto gone = AwaitGone<ConfigMap>(client_, {"default", "b"}, none);
    EXPECT_TRUE(gone) << gone.error().ToString();
    const auto missing = AwaitObject<ConfigMap>(
        client_, {"default", "b"}, "it", [](const ConfigMap&) { return true; }, none);
    EXPECT_EQ(missing.error().message, "waited 0 s for it: there is no ConfigMap default/b");
  }
}

TEST_F(TestSupportTest, AWaitOfWhichNothingIsKnownSaysSo) {
  const auto wait = kubexx::testing::internal::Explained(
      {Reason::kTimeout, "late"},
      {api::ResourceOf<ConfigMap>(), {"default", "a"}, "it", milliseconds(5)}, std::nullopt);
  EXPECT_THAT(
      apimachinery::Result<void>(wait).error().message,
      HasSubstr("waited 5 ms for it: the server has not told yet whether ConfigMap default/a"));
}

TEST_F(TestSupportTest, AWaitThatTheServerRefusesSaysWhy) {
  server_.FailRequests({.resource = "configmaps"}, {Reason::kForbidden, "no such luck"}, 1000);
  const auto refused = [&](base::Duration patience) {
    return AwaitObject<ConfigMap>(
        client_, {"default", "a"}, "it", [](const ConfigMap&) { return true; }, patience);
  };
  EXPECT_THAT(ErrorInVain(refused, "no such luck"), HasSubstr("no such luck"));
}

TEST_F(TestSupportTest, ANamespaceThatATypeDoesNotHaveDoesNotMatter) {
  const auto there = AwaitObject<Namespace>(client_, {"any", "default"}, "it",
                                            [](const Namespace&) { return true; });
  EXPECT_TRUE(there) << there.error().ToString();
  EXPECT_FALSE(AwaitGone<Namespace>(client_, {"any", "default"}, milliseconds(500)));
}

TEST_F(TestSupportTest, AWatchThatIsCountedCanBeBroken) {
  std::atomic<const kubexx::testing::ApiServer*> counting = nullptr;
  std::atomic<int> counted_before = 0;
  apiserver::ApiServerOptions options{.plain_http = true};
  options.around = [&](const http::Request& request, const http::Handler& next) {
    const auto* const server = counting.load();
    if (server != nullptr && request.query.find("watch=") != std::string::npos) {
      // It is no watch yet that could be broken.
      counted_before += server->Count({.verb = "watch", .resource = "configmaps"});
      counting = nullptr;
    }
    return next(request);
  };
  kubexx::testing::ApiServer server(std::move(options));
  counting = &server;
  const auto client = *rest::RESTClient::New({.host = server.url(), .qps = -1});
  informers::SharedInformerFactory factory(client, {});
  const auto informer = factory.InformerFor<ConfigMap>();
  informer->Start();
  const auto counted = Eventually("a watch", [&] { return server.Count({.verb = "watch"}) == 1; });
  ASSERT_TRUE(counted) << counted.error().ToString();
  EXPECT_EQ(counting.load(), nullptr);
  EXPECT_EQ(counted_before, 0);
  EXPECT_EQ(server.BreakWatches({.resource = "configmaps"}), 1);
}

TEST_F(TestSupportTest, AWaitInVainForASecretDoesNotTellIt) {
  Secret secret;
  secret.metadata.name = "a";
  secret.data["password"] = apimachinery::Bytes(std::string("hunter2"));
  const kubernetes::ResourceClient<Secret> secrets(client_, "default");
  ASSERT_TRUE(secrets.Create(secret));
  const std::string message = ErrorInVain([&](base::Duration patience) {
    return AwaitObject<Secret>(
        client_, {"default", "a"}, "another password", [](const Secret&) { return false; },
        patience);
  });
  EXPECT_THAT(message, AllOf(HasSubstr("another password: Secret default/a is there"),
                             Not(HasSubstr("aHVudGVyMg")), Not(HasSubstr("hunter2"))));
}

TEST_F(TestSupportTest, AWaitThatIsRefusedSaysForWhat) {
  server_.FailRequests({.resource = "configmaps"}, {Reason::kForbidden, "not you"}, 1000);
  const auto wait = AwaitObject<ConfigMap>(
      client_, {"default", "a"}, "it", [](const ConfigMap&) { return true; }, milliseconds(50));
  ASSERT_FALSE(wait);
  EXPECT_THAT(
      wait.error().message,
      HasSubstr("for it: the server has not told yet whether ConfigMap default/a is there"));
}

}  // namespace
}  // namespace kubexx
