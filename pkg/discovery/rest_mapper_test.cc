#include "kubexx/discovery/rest_mapper.h"

#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/base/testing/temporary_folder.h"
#include "kubexx/codec/codec.h"
#include "kubexx/discovery/testing/documents.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::discovery {
namespace {

using apimachinery::Reason;
using base::testing::TemporaryFolder;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::Recorder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A server that has widgets once `widgets` is set.
class RestMapperTest : public ::testing::Test {
 protected:
  RestMapperTest()
      : server_([this](FakeConnection& connection, const FakeRequest& request) {
          if (broken_) {
            connection.Respond(401, "text/plain", "not now");
            return;
          }
          connection.Respond(
              200, "application/json",
              codec::EncodeJson(request.target == "/api" ? testing::Groups(testing::CoreGroup())
                                : widgets_
                                    ? testing::Groups(testing::AppsGroup(), testing::WidgetGroup())
                                    : testing::Groups(testing::AppsGroup())));
        }) {}

  std::shared_ptr<CachedDiscovery> NewDiscovery(const std::string& file = "") {
    return std::make_shared<CachedDiscovery>(
        DiscoveryClient(server_.client()), CachedDiscovery::Options{.clock = clock_, .file = file});
  }
  std::shared_ptr<RestMapper> NewMapper() {
    return std::make_shared<RestMapper>(
        NewDiscovery(),
        RestMapper::Options{.clock = clock_, .reloads_per_second = 0.1, .burst = 1});
  }
  std::string ResourceFor(RestMapper& mapper, const std::string& name) {
    const auto mapping = mapper.ResourceFor(name);
    return mapping ? mapping->resource.ToString() : std::string(ToString(mapping.error().reason));
  }

  base::testing::FakeClock clock_;
  std::atomic<bool> widgets_ = false;
  std::atomic<bool> broken_ = false;
  Recorder server_;
};

TEST_F(RestMapperTest, FindsKinds) {
  const auto mapper = NewMapper();
  const auto deployment =
      mapper->MappingFor({.group = "apps", .version = "", .kind = "Deployment"});
  ASSERT_TRUE(deployment) << deployment.error().ToString();
  EXPECT_EQ(deployment->resource.ToString(), "deployments.v1.apps");
  EXPECT_EQ(deployment->kind.ApiVersion(), "apps/v1");
  EXPECT_TRUE(deployment->namespaced);
  EXPECT_THAT(deployment->subresources, ElementsAre("scale"));
  const auto beta = mapper->MappingFor(
      apimachinery::GroupVersionKind{.group = "apps", .version = "v1beta1", .kind = "Deployment"});
  ASSERT_TRUE(beta);
  EXPECT_EQ(beta->resource.version, "v1beta1");
  const auto node =
      mapper->MappingFor(apimachinery::GroupVersionKind{.version = "v1", .kind = "Node"});
  ASSERT_TRUE(node);
  EXPECT_FALSE(node->namespaced);
  const auto pods =
      mapper->MappingFor(apimachinery::GroupVersionResource{.version = "v1", .resource = "pods"});
  ASSERT_TRUE(pods);
  EXPECT_EQ(pods->kind.kind, "Pod");
  EXPECT_THAT(pods->categories, ElementsAre("all"));
  EXPECT_THAT(server_.targets(), ElementsAre("/api", "/apis"));
}

TEST_F(RestMapperTest, FindsWhatPeopleType) {
  widgets_ = true;
  const auto mapper = NewMapper();
  EXPECT_EQ(ResourceFor(*mapper, "deployments"), "deployments.v1.apps");
  EXPECT_EQ(ResourceFor(*mapper, "Deployment"), "deployments.v1.apps");
  EXPECT_EQ(ResourceFor(*mapper, "deploy"), "deployments.v1.apps");
  EXPECT_EQ(ResourceFor(*mapper, "deploy.apps"), "deployments.v1.apps");
  EXPECT_EQ(ResourceFor(*mapper, "deployments.v1beta1.apps"), "deployments.v1beta1.apps");
  EXPECT_EQ(ResourceFor(*mapper, "po"), "pods.v1.");
  EXPECT_EQ(ResourceFor(*mapper, "pods.v1."), "pods.v1.");
  EXPECT_EQ(ResourceFor(*mapper, "wd"), "widgets.v1.example.com");
  EXPECT_EQ(ResourceFor(*mapper, "widgets.example.com"), "widgets.v1.example.com");
  EXPECT_EQ(ResourceFor(*mapper, "widgets.v1.example.com"), "widgets.v1.example.com");
  EXPECT_EQ(ResourceFor(*mapper, "gone"), "NotFound");
  const auto widget = mapper->ResourceFor("widget");
  ASSERT_TRUE(widget);
  EXPECT_EQ(widget->kind.ApiVersion(), "example.com/v1");
  const auto all = mapper->All();
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 6U);
}

TEST_F(RestMapperTest, ReloadsOnAMissButNotTooOften) {
  const auto mapper = NewMapper();
  EXPECT_EQ(ResourceFor(*mapper, "widgets"), "NotFound");
  EXPECT_EQ(server_.targets().size(), 4U);
  widgets_ = true;
  const auto early = mapper->ResourceFor("widgets");
  ASSERT_FALSE(early);
  EXPECT_THAT(early.error().message, HasSubstr("too early"));
  EXPECT_EQ(server_.targets().size(), 4U);
  clock_.Advance(std::chrono::seconds(10));
  EXPECT_EQ(ResourceFor(*mapper, "widgets"), "widgets.v1.example.com");
  EXPECT_EQ(ResourceFor(*mapper, "wd"), "widgets.v1.example.com");
  EXPECT_EQ(server_.targets().size(), 6U);
}

TEST_F(RestMapperTest, ErrorsAreNotKept) {
  const auto mapper = NewMapper();
  broken_ = true;
  const auto failed = mapper->ResourceFor("pods");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().reason, Reason::kUnauthorized);
  broken_ = false;
  EXPECT_EQ(ResourceFor(*mapper, "pods"), "pods.v1.");
}

TEST_F(RestMapperTest, ThreadsShareOneRequest) {
  const auto mapper = NewMapper();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([this, &mapper] { EXPECT_EQ(ResourceFor(*mapper, "po"), "pods.v1."); });
    }
  }
  EXPECT_THAT(server_.targets(), ElementsAre("/api", "/apis"));
}

TEST_F(RestMapperTest, StopEndsAWait) {
  std::stop_source stop;
  stop.request_stop();
  const auto mapping = NewMapper()->ResourceFor("pods", stop.get_token());
  ASSERT_FALSE(mapping);
  EXPECT_EQ(mapping.error().reason, Reason::kCancelled);
}

TEST_F(RestMapperTest, AFileServesTheNextProcess) {
  const TemporaryFolder dir;
  const std::string file = dir.path() + "/discovery";
  const auto first = NewDiscovery(file)->Groups();
  ASSERT_TRUE(first) << first.error().ToString();
  EXPECT_EQ(server_.targets().size(), 2U);

  const auto discovery = NewDiscovery(file);
  const auto second = discovery->Groups();
  ASSERT_TRUE(second);
  EXPECT_EQ(**second, **first);
  EXPECT_EQ(server_.targets().size(), 2U);
  ASSERT_TRUE(discovery->Refresh(*second));
  EXPECT_EQ(server_.targets().size(), 4U);

  clock_.Advance(std::chrono::hours(7));
  ASSERT_TRUE(NewDiscovery(file)->Groups());
  EXPECT_EQ(server_.targets().size(), 6U);

  std::ofstream(file, std::ios::trunc) << "12345 nonsense";
  ASSERT_TRUE(NewDiscovery(file)->Groups());
  EXPECT_EQ(server_.targets().size(), 8U);
  EXPECT_TRUE(NewDiscovery(dir.path() + "/no/such/folder")->Groups());
}

/// Throws when it is first asked for the time.
class ThrowingClock final : public base::Clock {
 public:
  base::TimePoint Now() const override { return base::Clock::Real().Now(); }
  base::WallTime Wall() const override {
    if (!thrown_.exchange(true)) {
      throw std::bad_alloc();
    }
    return base::Clock::Real().Wall();
  }
  base::Wake WaitUntil(base::Mutex&, base::CondVar&, const std::stop_token&,
                       base::TimePoint) override {
    return base::Wake::kStopped;
  }

 private:
  mutable std::atomic<bool> thrown_ = false;
};

TEST_F(RestMapperTest, NobodyWaitsForARequestThatHasThrown) {
  const TemporaryFolder dir;
  ThrowingClock clock;
  CachedDiscovery discovery(DiscoveryClient(server_.client()),
                            {.clock = clock, .file = dir.Write("discovery", "12345 {}")});
  EXPECT_THROW((void)discovery.Groups(), std::bad_alloc);
  const auto groups = discovery.Groups();
  EXPECT_TRUE(groups) << groups.error().ToString();
}

TEST_F(RestMapperTest, RefreshTakesWhatAnotherThreadFetched) {
  const auto discovery = NewDiscovery();
  const auto first = discovery->Groups();
  ASSERT_TRUE(first);
  const auto second = discovery->Refresh(*first);
  ASSERT_TRUE(second);
  EXPECT_NE(*second, *first);
  const auto third = discovery->Refresh(*first);
  ASSERT_TRUE(third);
  EXPECT_EQ(*third, *second);
  EXPECT_EQ(server_.targets().size(), 4U);
}

}  // namespace
}  // namespace kubexx::discovery
