#include "kubexx/controller/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/controller/builder.h"
#include "kubexx/controller/consistency_store.h"
#include "kubexx/controller/manager.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::controller {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Reason;
using apimachinery::Result;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using ::testing::HasSubstr;
using ::testing::Not;

/// A server with one ConfigMap, ns/settings, whose data has `color`. Its watches are quiet, and it
/// keeps the objects that are created.
class OneConfigMap {
 public:
  explicit OneConfigMap(std::string color) : color_(std::move(color)) {}

  std::string Url() const { return server_.Url(); }
  std::shared_ptr<rest::RESTClient> NewClient() const { return rest::testing::NewClient(Url()); }
  /// Waits until an object was posted to a path that contains `path`, and returns its body.
  std::string AwaitPost(const std::string& path,
                        const base::testing::Where& where = base::testing::Where::current()) {
    return AwaitRequest(path, where).body;
  }
  /// Does the same, but returns the whole path with the query.
  std::string AwaitPostedPath(const std::string& path,
                              const base::testing::Where& where = base::testing::Where::current()) {
    return AwaitRequest(path, where).target;
  }
  std::size_t posts() {
    const base::MutexLock lock(mu_);
    return posts_.size();
  }

 private:
  rest::testing::FakeRequest AwaitRequest(const std::string& path,
                                          const base::testing::Where& where) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience("a POST to " + path, where);
    for (;;) {
      for (const rest::testing::FakeRequest& post : posts_) {
        if (post.target.find(path) != std::string::npos) {
          return post;
        }
      }
      patience.Wait(changed_, mu_, posts_.size());
    }
  }
  void Serve(FakeConnection& connection) {
    while (auto request = connection.ReadRequest()) {
      if (request->method == "POST") {
        {
          const base::MutexLock lock(mu_);
          posts_.push_back(*request);
          changed_.notify_all();
        }
        const std::string kind = request->target.contains("/events") ? "Event" : "ConfigMap";
        connection.Respond(
            201, "application/json",
            R"({"kind":")" + kind +
                R"(","metadata":{"namespace":"ns","name":"new","resourceVersion":"50"}})");
      } else if (request->target.find("sendInitialEvents") != std::string::npos) {
        connection.Respond(422, "application/json",
                           R"({"kind":"Status","reason":"Invalid","code":422})");
      } else if (request->target.find("watch=true") != std::string::npos) {
        connection.RespondChunked(200, "application/json");
        connection.AwaitPeer();
        return;
      } else {
        const std::string kind = request->target.contains("/secrets") ? "Secret" : "ConfigMap";
        connection.Respond(
            200, "application/json",
            R"({"kind":")" + kind +
                R"(List","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"namespace":"ns",)"
                R"("name":"settings","uid":"u","resourceVersion":"3"},"data":{"color":")" +
                color_ + R"("}}]})");
      }
    }
  }

  const std::string color_;
  base::Mutex mu_;
  base::CondVar changed_;
  std::vector<rest::testing::FakeRequest> posts_ KX_GUARDED_BY(mu_);
  FakeServer server_{[this](FakeConnection& connection) { Serve(connection); }};
};

/// A manager with a server whose ConfigMap is green, and with another cluster, "west", in which it
/// is red.
class ClusterTest : public ::testing::Test {
 protected:
  ~ClusterTest() override {
    if (thread_.joinable()) {
      thread_.request_stop();
      thread_.join();
    }
  }
  void Run() {
    thread_ = std::jthread([this](const std::stop_token& stop) { ran_ = manager_.Run(stop); });
  }
  void Note(std::string line) {
    const base::MutexLock lock(mu_);
    noted_.push_back(std::move(line));
    changed_.notify_all();
  }
  std::vector<std::string> AwaitNotes(
      std::size_t count, const base::testing::Where& where = base::testing::Where::current()) {
    const base::MutexLock lock(mu_);
    base::testing::Patience patience("notes of reconciles", where);
    while (noted_.size() < count) {
      patience.Wait(changed_, mu_, noted_);
    }
    return noted_;
  }
  static std::string ColorOf(const Result<cache::Ref<ConfigMap>>& got) {
    return got ? (*got)->data.at("color") : got.error().ToString();
  }

  OneConfigMap home_{"green"};
  OneConfigMap west_server_{"red"};
  Manager manager_{home_.NewClient(), {.http = {{.address = "127.0.0.1:0"}}}};
  std::shared_ptr<Cluster> west_ = manager_.AddCluster("west", west_server_.NewClient()).value();
  std::optional<Result<void>> ran_;

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  std::vector<std::string> noted_ KX_GUARDED_BY(mu_);
  std::jthread thread_;
};

TEST_F(ClusterTest, AControllerWatchesAndReadsAnotherCluster) {
  ASSERT_TRUE(
      ControllerBuilder<api::core::v1::Secret>(manager_)
          .Named("copier")
          .WatchesIn<ConfigMap>(*west_,
                                [](const ConfigMap& map) {
                                  return map.data.at("color") == "red"
                                             ? std::vector<Request>{{.object = {"ns", "it"}}}
                                             : std::vector<Request>();
                                })
          .Complete([this](const Request& request, Context& context) -> Result<Action> {
            const apimachinery::ObjectKey key{"ns", "settings"};
            if (request.object.name == "it") {
              Note(ColorOf(context.client.In(*west_).Get<ConfigMap>(key)));
              Note(ColorOf(context.client.Get<ConfigMap>(key)));
              Note(ColorOf(context.client.In(*west_).In(*manager_.cluster()).Get<ConfigMap>(key)));
            }
            return Action::Done();
          }));
  Run();
  const auto notes = AwaitNotes(3);
  EXPECT_THAT(notes, ::testing::ElementsAre("red", "green", "green"));
}

TEST_F(ClusterTest, AControllerWorksInAnotherCluster) {
  auto made =
      ControllerBuilder<ConfigMap>(manager_, *west_)
          .Complete([this](const Request& request, Context& context) -> Result<Action> {
            const auto got = context.client.Get<ConfigMap>(request.object);
            Note(context.controller + " " + ColorOf(got));
            if (got) {
              context.recorder.Record(
                  {.regarding = {.kind = "ConfigMap", .namespace_ = "ns", .name = "settings"},
                   .reason = "Seen",
                   .note = "seen in the west"});
            }
            return Action::Done();
          });
  ASSERT_TRUE(made);
  Run();
  EXPECT_EQ(AwaitNotes(1).front(), "configmap-west red");
  EXPECT_THAT(west_server_.AwaitPost("/events"), HasSubstr("seen in the west"));
  EXPECT_EQ(home_.posts(), 0U);
  const auto metrics =
      rest::testing::NewClient("http://127.0.0.1:" + std::to_string(manager_.http_port()))
          ->Get()
          .AbsPath("/metrics")
          .MaxRetries(0)
          .Do();
  EXPECT_THAT(metrics.value().body, HasSubstr("\"west/configmaps\""))
      << "its informers are told from those of the manager's own cluster";
}

TEST_F(ClusterTest, AWriteHoldsTheNextReconcileUntilThatClustersCacheHasIt) {
  base::testing::FakeClock clock;
  const auto writes = std::make_shared<ConsistencyStore>(clock);
  Client::Parts parts = manager_.ClientParts();
  parts.writes = writes;
  parts.owner = {.object = {"ns", "owner"}};
  const Client client = Client(parts);
  ASSERT_TRUE(client.Get<ConfigMap>({"ns", "settings"}));
  ASSERT_TRUE(client.In(*west_).Get<ConfigMap>({"ns", "settings"}));
  ConfigMap map;
  map.metadata.namespace_ = "ns";
  map.metadata.name = "new";
  ASSERT_TRUE(client.In(*west_).Create(map));
  const auto stale = writes->Check(parts.owner);
  ASSERT_TRUE(stale);
  EXPECT_EQ(stale->resource, "west/v1/configmaps");
  EXPECT_EQ(stale->written, "50");
  EXPECT_EQ(stale->cached, "9");
}

TEST_F(ClusterTest, AnUncachedWriteConcernsOnlyTheCachesOfItsCluster) {
  Client::Parts parts = manager_.ClientParts();
  parts.writes = std::make_shared<ConsistencyStore>();
  const Client client = Client(parts);
  ConfigMap map;
  map.metadata.namespace_ = "ns";
  map.metadata.name = "new";
  ASSERT_TRUE(client.In(*west_).Create(map));
  EXPECT_EQ(ColorOf(client.Get<ConfigMap>({"ns", "settings"})), "green");
  const auto behind = client.In(*west_).Get<ConfigMap>({"ns", "settings"});
  ASSERT_FALSE(behind) << "the list, of version 9, is older than the write, of version 50";
  EXPECT_THAT(behind.error().message, HasSubstr("read west/v1/configmaps from the cache"));
}

TEST_F(ClusterTest, AControllerTakesNoClusterOfAnotherManager) {
  Manager other(home_.NewClient(), {});
  const auto east = other.AddCluster("east", west_server_.NewClient()).value();
  const auto reconcile = [](const Request&, Context&) -> Result<Action> { return Action::Done(); };
  const auto lives = ControllerBuilder<ConfigMap>(manager_, *east).Complete(reconcile);
  ASSERT_FALSE(lives);
  EXPECT_EQ(lives.error().reason, Reason::kInvalidConfig);
  EXPECT_THAT(lives.error().message, HasSubstr("cluster \"east\" is another manager's"));
  const auto watches =
      ControllerBuilder<ConfigMap>(manager_)
          .WatchesIn<ConfigMap>(*other.cluster(),
                                [](const ConfigMap&) { return std::vector<Request>(); })
          .Complete(reconcile);
  ASSERT_FALSE(watches);
  EXPECT_EQ(watches.error().reason, Reason::kInvalidConfig);
  EXPECT_TRUE(ControllerBuilder<ConfigMap>(manager_).Complete(reconcile))
      << "the name has not been taken";
}

TEST_F(ClusterTest, ADryRunIsOneInEveryCluster) {
  ConfigMap map;
  map.metadata.namespace_ = "ns";
  map.metadata.name = "new";
  ASSERT_TRUE(manager_.NewClient().WithDryRun().In(*west_).Create(map));
  EXPECT_THAT(west_server_.AwaitPostedPath("/configmaps"), HasSubstr("dryRun=All"));

  Manager dry(home_.NewClient(), {.write_defaults = kubernetes::WriteDefaults{.dry_run = true}});
  OneConfigMap east_server("blue");
  const auto east = dry.AddCluster("east", east_server.NewClient()).value();
  ASSERT_TRUE(dry.NewClient().In(*east).Create(map));
  EXPECT_THAT(east_server.AwaitPostedPath("/configmaps"), HasSubstr("dryRun=All"));

  OneConfigMap real_server("red");
  const auto real = dry.AddCluster("real", real_server.NewClient(),
                                   {.write_defaults = kubernetes::WriteDefaults()})
                        .value();
  ASSERT_TRUE(dry.NewClient().In(*east).In(*real).Create(map));
  EXPECT_THAT(real_server.AwaitPostedPath("/configmaps"), Not(HasSubstr("dryRun")))
      << "it has defaults of its own";
}

TEST_F(ClusterTest, NamesAreThereAndUnique) {
  EXPECT_EQ(manager_.AddCluster("", home_.NewClient()).error().reason, Reason::kInvalidConfig);
  EXPECT_EQ(manager_.AddCluster("apps/v1", home_.NewClient()).error().reason,
            Reason::kInvalidConfig);
  for (const char* name : {"we\"st", "w'est", "west east", "we\nst", "w\\est", "w\u00e9st"}) {
    const auto odd = manager_.AddCluster(name, home_.NewClient());
    ASSERT_FALSE(odd) << name;
    EXPECT_EQ(odd.error().reason, Reason::kInvalidConfig) << name;
  }
  EXPECT_TRUE(manager_.AddCluster("kind-a.b_c@d:1", home_.NewClient()));
  const auto nobody = manager_.AddCluster("east", std::shared_ptr<rest::RESTClient>());
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().message, "cluster east: it has no client");
  const auto twice = manager_.AddCluster("west", home_.NewClient());
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().reason, Reason::kAlreadyExists);
  EXPECT_THAT(twice.error().message, HasSubstr("west"));
  EXPECT_EQ(manager_.cluster()->name(), "");
  EXPECT_EQ(west_->name(), "west");
}

TEST_F(ClusterTest, OneIsAddedBeforeRunOrNotAtAll) {
  ASSERT_TRUE(manager_.Add("work", Stage::kOther, [this](const std::stop_token&) -> Result<void> {
    Note("runs");
    return {};
  }));
  Run();
  (void)AwaitNotes(1);
  const auto late = manager_.AddCluster("east", home_.NewClient());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().reason, Reason::kInvalidConfig);
  EXPECT_THAT(late.error().message, HasSubstr("before Run"));
}

TEST_F(ClusterTest, AConfigThatIsWrongIsNamed) {
  const auto bad = manager_.AddCluster("east", rest::Config{.host = "nonsense://"});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("cluster east"));
}

TEST(ClusterOfNobodyTest, TheManagerNamesTheClusterThatDoesNotAnswer) {
  OneConfigMap home("green");
  Manager manager(home.NewClient(), {.cache_sync_timeout = std::chrono::milliseconds(300)});
  const std::string nobody = "http://127.0.0.1:" + std::to_string(rest::testing::UnusedPort());
  const auto west = manager.AddCluster("west", rest::testing::NewClient(nobody)).value();
  (void)manager.InformerFor<ConfigMap>();
  (void)west->InformerFor<ConfigMap>();
  const auto ran = manager.Run({});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().reason, Reason::kTimeout);
  EXPECT_THAT(ran.error().message, HasSubstr("west"));
  EXPECT_THAT(ran.error().message, HasSubstr(nobody));
  EXPECT_THAT(ran.error().message, Not(HasSubstr(home.Url())));
}

}  // namespace
}  // namespace kubexx::controller
