#include "kubexx/controller/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/controller/controller.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"

namespace kubexx::controller {
namespace {

using api::core::v1::ConfigMap;
using api::core::v1::Node;
using apimachinery::Reason;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using ::testing::HasSubstr;

/// A client that reads from caches. Its server answers every list with the same response, and its
/// watches are quiet.
class CachedReadTest : public ::testing::Test {
 protected:
  Client Make(int code, std::string body, informers::FactoryOptions options = {}) {
    return Client(MakeParts(code, std::move(body), std::move(options)));
  }
  Client::Parts MakeParts(int code, std::string body, informers::FactoryOptions options = {}) {
    code_ = code;
    body_ = std::move(body);
    server_ =
        std::make_unique<FakeServer>([this](FakeConnection& connection) { Serve(connection); });
    factory_ = std::make_shared<informers::SharedInformerFactory>(
        rest::testing::NewClient(server_->Url()), std::move(options));
    return {.caches = factory_, .first_read_timeout = first_read_timeout_};
  }
  ~CachedReadTest() override {
    if (factory_) {
      factory_->Shutdown();
    }
  }

  std::chrono::milliseconds first_read_timeout_ = std::chrono::minutes(5);
  std::string metadata_{};  ///< the answer to a list of metadata; empty: as to others

 private:
  void Serve(FakeConnection& connection) {
    while (auto request = connection.ReadRequest()) {
      if (request->target.find("sendInitialEvents") != std::string::npos) {
        connection.Respond(422, "application/json",
                           R"({"kind":"Status","reason":"Invalid","code":422})");
      } else if (request->target.find("watch=true") != std::string::npos || code_ == 0) {
        connection.RespondChunked(200, "application/json");
        connection.AwaitPeer();
        return;
      } else if (request->target.find("/open/") != std::string::npos) {
        connection.Respond(
            200, "application/json",
            R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[]})");
      } else if (!metadata_.empty() &&
                 request->headers["accept"].find("as=Partial") != std::string::npos) {
        connection.Respond(200, "application/json", metadata_);
      } else {
        connection.Respond(code_, "application/json", body_);
      }
    }
  }

  int code_ = 0;  ///< 0: no answer
  std::string body_{};
  std::unique_ptr<FakeServer> server_;
  std::shared_ptr<informers::SharedInformerFactory> factory_;
};

constexpr char kForbidden[] =
    R"({"kind":"Status","reason":"Forbidden","code":403,"message":"configmaps is forbidden"})";

TEST_F(CachedReadTest, OfATypeThatIsForbiddenFailsWithTheReason) {
  const Client client = Make(403, kForbidden);
  for (int i = 0; i < 3; ++i) {
    const auto got = client.Get<ConfigMap>({"ns", "a"}).error();
    EXPECT_EQ(got.reason, Reason::kForbidden);
    EXPECT_THAT(got.message, HasSubstr("v1/configmaps"));
    EXPECT_THAT(got.message, HasSubstr("configmaps is forbidden"));
    EXPECT_EQ(client.List<ConfigMap>().error().reason, Reason::kForbidden);
  }
}

TEST_F(CachedReadTest, OfATypeThatTheServerDoesNotHaveIsNotThatAnObjectIsNotThere) {
  const Client client =
      Make(404, R"({"kind":"Status","reason":"NotFound","code":404,"message":"no such resource"})");
  const auto got = client.Get<ConfigMap>({"ns", "a"}).error();
  EXPECT_EQ(got.reason, Reason::kUnavailable) << "a reconcile would take it for deleted";
  EXPECT_THAT(got.message, HasSubstr("no such resource"));
}

TEST_F(CachedReadTest, OfAServerThatDoesNotAnswerEnds) {
  first_read_timeout_ = std::chrono::milliseconds(20);
  const Client client = Make(0, "");
  for (int i = 0; i < 3; ++i) {
    const auto got = client.Get<ConfigMap>({"ns", "a"}).error();
    EXPECT_EQ(got.reason, Reason::kTimeout);
    EXPECT_THAT(got.message, HasSubstr("configmaps"));
  }
}

TEST_F(CachedReadTest, OfAnObjectThatCannotBeReadNamesIt) {
  const Client client =
      Make(200, R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[)"
                R"({"metadata":{"namespace":"ns","name":"bad","resourceVersion":"3"},"data":5}]})");
  for (const auto& got : {client.Get<ConfigMap>({"ns", "bad"}).error(),
                          client.List<ConfigMap>().error(), client.List<ConfigMap>("ns").error()}) {
    EXPECT_EQ(got.reason, Reason::kMalformed);
    EXPECT_THAT(got.message, HasSubstr("ns/bad"));
    EXPECT_THAT(got.message, HasSubstr("read v1/configmaps from the cache"));
  }
  EXPECT_EQ(client.Get<ConfigMap>({"ns", "other"}).error().reason, Reason::kNotFound);
}

TEST_F(CachedReadTest, OfANamespaceThatIsForbiddenSaysSoAndTheOthersCanBeRead) {
  const Client client = Make(403, kForbidden, {.namespaces = {"open", "closed"}});
  EXPECT_EQ(client.Get<ConfigMap>({"open", "a"}).error().reason, Reason::kNotFound);
  EXPECT_TRUE(client.List<ConfigMap>("open"));
  for (const auto& got :
       {client.Get<ConfigMap>({"closed", "a"}).error(), client.List<ConfigMap>("closed").error()}) {
    EXPECT_EQ(got.reason, Reason::kForbidden);
    EXPECT_THAT(got.message, HasSubstr("namespace closed"));
  }
  const auto all = client.List<ConfigMap>().error();
  EXPECT_EQ(all.reason, Reason::kForbidden) << "a part is not to be taken for all there is";
  EXPECT_THAT(all.message, HasSubstr("namespace closed"));
}

TEST_F(CachedReadTest, OfANamespaceThatIsNotWatchedSaysSo) {
  constexpr const char* kEmpty =
      R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[]})";
  for (const auto& caches : {informers::FactoryOptions{.namespace_ = "open"},
                             informers::FactoryOptions{.namespaces = {"open", "too"}}}) {
    const Client client = Make(200, kEmpty, caches);
    EXPECT_EQ(client.Get<ConfigMap>({"open", "a"}).error().reason, Reason::kNotFound);
    EXPECT_TRUE(client.List<ConfigMap>());
    const auto by_field = [](const std::string& namespace_) {
      return cache::Selection{
          .fields = apimachinery::FieldSelector::FromMap({{"metadata.namespace", namespace_}})};
    };
    EXPECT_TRUE(client.List<ConfigMap>(by_field("open")));
    ASSERT_FALSE(client.List<ConfigMap>(by_field("other")));
    ASSERT_FALSE(client.ListMetadata<ConfigMap>(by_field("other")));
    for (const auto& got :
         {client.Get<ConfigMap>({"other", "a"}).error(), client.List<ConfigMap>("other").error(),
          client.List<ConfigMap>(by_field("other")).error(),
          client.ListMetadata<ConfigMap>(by_field("other")).error()}) {
      EXPECT_EQ(got.reason, Reason::kBadRequest) << "may well exist";
      EXPECT_THAT(got.message, HasSubstr("does not watch namespace other"));
    }
  }
}

TEST_F(CachedReadTest, OfWhatHasNoNamespaceDoesNotHeedOne) {
  const Client client = Make(200,
                             R"({"kind":"NodeList","metadata":{"resourceVersion":"9"},"items":[)"
                             R"({"metadata":{"name":"n","resourceVersion":"3"}}]})",
                             {.namespaces = {"open"}});
  const auto got = client.Get<Node>({"elsewhere", "n"});
  EXPECT_TRUE(got) << got.error().ToString();
  const auto listed = client.List<Node>("elsewhere");
  ASSERT_TRUE(listed) << listed.error().ToString();
  EXPECT_EQ(listed->size(), 1U);
}

TEST_F(CachedReadTest, OfAClusterScopedTypeWhoseObjectsHaveNamespacesSaysSo) {
  const std::string list = R"({"kind":"NodeList","metadata":{"resourceVersion":"9"},"items":[)"
                           R"({"metadata":{"namespace":"ns","name":"n","resourceVersion":"3"}}]})";
  const Client client = Make(200, list);
  metadata_ = list;
  for (const auto& got :
       {client.Get<Node>({"ns", "n"}).error(), client.GetMetadata<Node>({"ns", "n"}).error()}) {
    EXPECT_EQ(got.reason, Reason::kBadRequest) << "a reconcile would take it for deleted";
    EXPECT_THAT(got.message, HasSubstr("read v1/nodes from the cache: ns/n is in a namespace"));
  }
  EXPECT_EQ(client.Get<Node>({"ns", "other"}).error().reason, Reason::kNotFound);
}

TEST_F(CachedReadTest, OfAStoppedCacheIsAnErrorAndStartsNoOther) {
  Client::Parts parts =
      MakeParts(200, R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[]})");
  const auto caches = parts.caches;
  const Client client(std::move(parts));
  EXPECT_EQ(client.Get<ConfigMap>({"ns", "a"}).error().reason, Reason::kNotFound);
  caches->Shutdown();
  for (const auto& got : {client.Get<ConfigMap>({"ns", "a"}).error(),
                          client.List<ConfigMap>().error(), client.List<Node>().error()}) {
    EXPECT_EQ(got.reason, Reason::kUnavailable) << "an object may have been created since";
    EXPECT_THAT(got.message, HasSubstr("have been stopped"));
  }
}

/// Returns a delay of zero, and counts how often it is asked.
class CountingLimiter final : public workqueue::RateLimiter {
 public:
  base::Duration When(const workqueue::Key&) override {
    ++asked_;
    return {};
  }
  void Forget(const workqueue::Key&) override {}
  int NumRequeues(const workqueue::Key&) const override { return asked_; }
  int asked() const { return asked_; }

 private:
  std::atomic<int> asked_ = 0;
};

TEST_F(CachedReadTest, IsNotOlderThanAWriteFromBeforeThereWasACache) {
  Client::Parts parts =
      MakeParts(200, R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[]})");
  base::testing::FakeClock clock;
  parts.writes = std::make_shared<ConsistencyStore>(clock);
  parts.read_early = std::make_shared<std::atomic<bool>>(false);
  const Client client(parts);
  ConfigMap written;
  written.metadata.namespace_ = "ns";
  written.metadata.resource_version = "10";
  ASSERT_TRUE(client.Noted<ConfigMap>(written));
  const auto got = client.Get<ConfigMap>({"ns", "a"}).error();
  EXPECT_EQ(got.reason, Reason::kUnavailable) << "a reconcile would take it for deleted";
  EXPECT_THAT(got.message, HasSubstr("version 10"));
  EXPECT_TRUE(*parts.read_early);
  EXPECT_FALSE(client.List<ConfigMap>());
  EXPECT_EQ(client.Get<ConfigMap>({"other", "a"}).error().reason, Reason::kNotFound);
  clock.Advance(ConsistencyStore::kGiveUp);
  EXPECT_EQ(client.Get<ConfigMap>({"ns", "a"}).error().reason, Reason::kNotFound);
}

TEST_F(CachedReadTest, AWriteIsWaitedForInTheCachesOfTheObjectsAndOfTheMetadata) {
  metadata_ = R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[]})";
  Client::Parts parts =
      MakeParts(200, R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"10"},"items":[]})");
  base::testing::FakeClock clock;
  parts.writes = std::make_shared<ConsistencyStore>(clock);
  parts.owner = {.object = {"ns", "owner"}};
  const Client client(parts);
  ASSERT_TRUE(client.List<ConfigMap>());
  ASSERT_TRUE(client.ListMetadata<ConfigMap>());
  ConfigMap written;
  written.metadata.namespace_ = "ns";
  written.metadata.resource_version = "10";
  ASSERT_TRUE(client.Noted<ConfigMap>(written));
  const auto stale = parts.writes->Check(parts.owner);
  ASSERT_TRUE(stale) << "the cache of the metadata has not got it";
  EXPECT_EQ(stale->cached, "9");
}

TEST_F(CachedReadTest, ThatComesTooEarlyIsTriedAgainSoonHoweverOftenItFailed) {
  first_read_timeout_ = std::chrono::milliseconds(1);
  const Client::Parts parts = MakeParts(0, "");
  base::testing::FakeClock clock;
  const auto limiter = std::make_shared<CountingLimiter>();
  std::atomic<int> reads = 0;
  std::atomic<bool> other_fault = false;
  Controller controller(
      {.name = "early", .rate_limiter = limiter, .clock = clock}, parts,
      [&](const Request& request, Context& context) -> apimachinery::Result<Action> {
        ++reads;
        if (other_fault) {
          return apimachinery::Fail(Reason::kConflict, "of another kind");
        }
        const auto got = context.client.Get<ConfigMap>(request.object);
        EXPECT_EQ(got.error().reason, Reason::kTimeout);
        return apimachinery::Fail(got.error().WithContext("my own words"));
      });
  std::jthread thread([&](const std::stop_token& stop) { (void)controller.Run(stop); });
  controller.Enqueue({.object = {"ns", "a"}});
  const auto advance_until = [&](const auto& done, const char* what) {
    KX_UNTIL(done()) {
      clock.Advance(std::chrono::milliseconds(100));
    }
    ASSERT_TRUE(done()) << "waited 60 s for " << what;
  };
  advance_until([&] { return reads >= 8; }, "the eighth read");
  EXPECT_EQ(limiter->asked(), 0) << "not a failure of the key";
  other_fault = true;
  advance_until([&] { return limiter->asked() >= 1; }, "a failure of the key");
}

TEST_F(CachedReadTest, ThatComeTooEarlyDoNotAllComeAgainAtOnce) {
  constexpr int kKeys = 300;
  first_read_timeout_ = std::chrono::milliseconds(1);
  const Client::Parts parts = MakeParts(0, "");
  base::testing::FakeClock clock;
  std::atomic<int> reads = 0;
  Controller controller(
      {.name = "early", .clock = clock}, parts,
      [&](const Request& request, Context& context) -> apimachinery::Result<Action> {
        const auto got = context.client.Get<ConfigMap>(request.object);
        ++reads;
        return apimachinery::Fail(got.error());
      });
  std::jthread thread([&](const std::stop_token& stop) { (void)controller.Run(stop); });
  const auto await_rest = [&](int at_least) {
    KX_AWAIT(reads >= at_least && controller.QueueLength() == 0 && controller.Busy().empty());
  };
  for (int i = 0; i < kKeys; ++i) {
    controller.Enqueue({.object = {"ns", std::to_string(i)}});
  }
  await_rest(kKeys);
  clock.AdvanceToSleeper(std::chrono::seconds(1));
  await_rest(kKeys + 100);
  EXPECT_LT(reads, 2 * kKeys);
}

}  // namespace
}  // namespace kubexx::controller
