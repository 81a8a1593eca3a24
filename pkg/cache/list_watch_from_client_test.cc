#include "kubexx/cache/list_watch_from_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"
#include "kubexx/rest/testing/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/http_threads.h"

namespace kubexx::cache {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using codec::WatchEventType;
using rest::testing::FakeConnection;
using rest::testing::FakeServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A server that answers every request with one response and records the requests.
class OneAnswer {
 public:
  OneAnswer(int code, std::string type, std::string body)
      : server_([this, code, type, body](FakeConnection& connection) {
          while (auto request = connection.ReadRequest()) {
            {
              base::MutexLock lock(mu_);
              targets_.push_back(request->target);
              accepts_.push_back(request->headers["accept"]);
            }
            connection.Respond(code, type, body);
          }
        }) {}
  std::shared_ptr<rest::RESTClient> Client() { return rest::testing::NewClient(server_.Url()); }
  std::shared_ptr<ListerWatcher> Source(ListWatchOptions options = {}) {
    return NewListWatchFromClient(Client(), rest::testing::kConfigMaps, "ns", std::move(options));
  }
  std::string target() const {
    base::MutexLock lock(mu_);
    return targets_.empty() ? "" : targets_.back();
  }
  std::string accept() const {
    base::MutexLock lock(mu_);
    return accepts_.empty() ? "" : accepts_.back();
  }
  std::size_t requests() const {
    base::MutexLock lock(mu_);
    return targets_.size();
  }

 private:
  mutable base::Mutex mu_;
  std::vector<std::string> targets_ KX_GUARDED_BY(mu_);
  std::vector<std::string> accepts_ KX_GUARDED_BY(mu_);
  FakeServer server_;
};

struct SeenItems {
  std::vector<std::string> names{};
  bool more = false;  // the `more` of the last event
  Result<void> operator()(Object&& object) {
    if (object.unreadable) {
      names.push_back(object.unreadable->message);
      return {};
    }
    names.push_back(object.key.ToString() + "@" + object.resource_version);
    return {};
  }
  Result<void> operator()(WatchEvent&& event) {
    if (event.object.unreadable) {
      names.push_back(event.object.unreadable->message);
      return {};
    }
    names.push_back(std::to_string(static_cast<int>(event.type)) + " " +
                    event.object.key.ToString() + "@" + event.object.resource_version +
                    (event.initial_events_end ? " end" : ""));
    more = event.more;
    return {};
  }
};

std::string Item(const std::string& name, const std::string& version) {
  return R"({"metadata":{"namespace":"ns","name":")" + name + R"(","resourceVersion":")" + version +
         "\"}}";
}

class ListWatchFromClientTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { rest::testing::StartHttpThreads(); }
};

TEST_F(ListWatchFromClientTest, ListsObjectsOneByOne) {
  OneAnswer server(200, "application/json",
                   R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9",)"
                   R"("continue":"more"},"items":[)" +
                       Item("a", "1") + "," + Item("b", "2") + "]}");
  SeenItems seen;
  const auto meta =
      server.Source({.label_selector = "app=web", .field_selector = "metadata.name=a"})
          ->List({.resource_version = "0", .limit = 500}, seen, {});
  ASSERT_TRUE(meta.has_value()) << meta.error().ToString();
  EXPECT_EQ(meta->resource_version, "9");
  EXPECT_EQ(meta->continue_, "more");
  EXPECT_THAT(seen.names, ElementsAre("ns/a@1", "ns/b@2"));
  EXPECT_THAT(server.target(), HasSubstr("/api/v1/namespaces/ns/configmaps?"));
  EXPECT_THAT(server.target(), HasSubstr("labelSelector=app%3Dweb"));
  EXPECT_THAT(server.target(), HasSubstr("fieldSelector=metadata.name%3Da"));
  EXPECT_THAT(server.target(), HasSubstr("limit=500"));
  EXPECT_THAT(server.accept(), ::testing::StartsWith("application/vnd.kubernetes.protobuf"));
  EXPECT_THAT(server.accept(), HasSubstr("application/json"));
}

TEST_F(ListWatchFromClientTest, AnIncompleteListIsAnError) {
  OneAnswer server(
      200, "application/json",
      R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[)" + Item("a", "1"));
  SeenItems seen;
  const auto meta = server.Source()->List({}, seen, {});
  ASSERT_FALSE(meta.has_value());
  EXPECT_EQ(meta.error().reason, Reason::kMalformed);
}

// Such answers come from proxies, and would otherwise empty a cache.
TEST_F(ListWatchFromClientTest, AnAnswerThatIsNoListOfTheTypeIsAnError) {
  for (const std::string body :
       {"{}", R"({"error":"backend overloaded"})",
        R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden"})",
        R"({"kind":"SecretList","apiVersion":"v1","items":[]})"}) {
    OneAnswer server(200, "application/json", body);
    SeenItems seen;
    const auto meta = server.Source()->List({}, seen, {});
    ASSERT_FALSE(meta.has_value()) << body;
    EXPECT_EQ(meta.error().reason, Reason::kMalformed);
  }
  std::string secrets;
  codec::WriteEnvelope("v1", "SecretList", "", secrets);
  OneAnswer server(200, "application/vnd.kubernetes.protobuf", secrets);
  SeenItems seen;
  EXPECT_FALSE(server.Source()->List({}, seen, {}).has_value());
}

TEST_F(ListWatchFromClientTest, AnItemThatCannotBeReadIsSaidToBeSoAndTheRestGoesOn) {
  OneAnswer server(200, "application/json",
                   R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[)" +
                       Item("a", "1") +
                       R"(,{"metadata":{"namespace":"ns"}},{"metadata":[]},null,5,"x",[],)" +
                       Item("b", "2") + "]}");
  SeenItems seen;
  const auto meta = server.Source()->List({}, seen, {});
  ASSERT_TRUE(meta.has_value()) << meta.error().ToString();
  EXPECT_THAT(seen.names,
              ElementsAre("ns/a@1", HasSubstr("items[1]: metadata.name"), HasSubstr("items[2]: "),
                          HasSubstr("items[3]: "), HasSubstr("items[4]: "), HasSubstr("items[5]: "),
                          HasSubstr("items[6]: "), "ns/b@2"));
}

TEST_F(ListWatchFromClientTest, AnEventThatCannotBeReadIsSaidToBeSoAndTheRestGoesOn) {
  OneAnswer server(200, "application/json;stream=watch",
                   R"({"type":"ADDED","object":)" + Item("a", "1") + "}\n" +
                       R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"2"}}})"
                       "\n"
                       R"({"type":"PAINTED","object":{}})"
                       "\n"
                       R"({"type":"ADDED","object":7})"
                       "\n"
                       R"({"type":"MODIFIED","object":)" +
                       Item("a", "3") + "}\n");
  SeenItems seen;
  const auto result = server.Source()->Watch({}, seen, {});
  ASSERT_TRUE(result.has_value()) << result.error().ToString();
  EXPECT_THAT(seen.names,
              ElementsAre("0 ns/a@1", HasSubstr("metadata.name"), HasSubstr("unknown event type"),
                          HasSubstr("expected an object"), "1 ns/a@3"));
  EXPECT_FALSE(seen.more);
}

TEST_F(ListWatchFromClientTest, AnObjectThatNestsDeeplyHasItsName) {
  const std::string deep = R"({"spec":)" + std::string(600, '[') + std::string(600, ']') +
                           R"(,"metadata":{"namespace":"ns","name":"deep","resourceVersion":"3"}})";
  OneAnswer lists(
      200, "application/json",
      R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[)" + deep + "]}");
  SeenItems listed;
  EXPECT_TRUE(lists.Source()->List({}, listed, {}));
  EXPECT_THAT(listed.names, ElementsAre("ns/deep@3"));
  OneAnswer watches(200, "application/json;stream=watch",
                    R"({"type":"MODIFIED","object":)" + deep + "}\n");
  SeenItems watched;
  EXPECT_TRUE(watches.Source()->Watch({}, watched, {}));
  EXPECT_THAT(watched.names, ElementsAre("1 ns/deep@3"));
}

TEST_F(ListWatchFromClientTest, WatchesEventsAndBookmarks) {
  const std::string bookmark =
      R"({"kind":"ConfigMap","metadata":{"resourceVersion":"7","annotations":)"
      R"({"k8s.io/initial-events-end": "true"}}})";
  OneAnswer server(200, "application/json;stream=watch",
                   R"({"type":"ADDED","object":)" + Item("a", "1") + "}\n" +
                       R"({"type":"BOOKMARK","object":)" + bookmark + "}\n" +
                       R"({"type":"MODIFIED","object":)" + Item("a", "8") + "}\n" +
                       R"({"type":"DELETED","object":)" + Item("a", "9") + "}\n" +
                       R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"12"}}})");
  SeenItems seen;
  apimachinery::ListOptions options{.resource_version = "5", .allow_watch_bookmarks = true};
  options.timeout = std::chrono::seconds(300);
  const auto result = server.Source()->Watch(options, seen, {});
  ASSERT_TRUE(result.has_value()) << result.error().ToString();
  EXPECT_THAT(seen.names, ElementsAre("0 ns/a@1", "3 @7 end", "1 ns/a@8", "2 ns/a@9", "3 @12"));
  EXPECT_FALSE(seen.more);
  EXPECT_THAT(server.target(), HasSubstr("watch=true"));
  EXPECT_THAT(server.target(), HasSubstr("timeoutSeconds=300"));
  EXPECT_THAT(server.target(), HasSubstr("allowWatchBookmarks=true"));
}

TEST_F(ListWatchFromClientTest, AnErrorEventIsItsStatus) {
  OneAnswer server(200, "application/json;stream=watch",
                   R"({"type":"ADDED","object":)" + Item("a", "1") + "}\n" +
                       R"({"type":"MODIFIED","object":)" + Item("a", "2") + "}\n" +
                       R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1",)"
                       R"("status":"Failure","reason":"Expired","code":410,"message":"too old"}})");
  SeenItems seen;
  const auto result = server.Source()->Watch({}, seen, {});
  EXPECT_THAT(seen.names, ElementsAre("0 ns/a@1", "1 ns/a@2"));
  EXPECT_FALSE(seen.more);
  ASSERT_FALSE(result.has_value());
  EXPECT_TRUE(apimachinery::IsExpired(result.error()));
}

TEST_F(ListWatchFromClientTest, RefusalsAreNotRetriedHere) {
  OneAnswer server(429, "application/json",
                   R"({"kind":"Status","reason":"TooManyRequests","code":429,)"
                   R"("details":{"retryAfterSeconds":1}})");
  SeenItems seen;
  const auto source = server.Source();
  EXPECT_EQ(source->Watch({}, seen, {}).error().reason, Reason::kTooManyRequests);
  EXPECT_EQ(source->List({}, seen, {}).error().reason, Reason::kTooManyRequests);
  EXPECT_EQ(server.requests(), 2U);
}

TEST_F(ListWatchFromClientTest, AnErrorOfTheSinkEndsTheStreamAndIsReturned) {
  OneAnswer server(200, "application/json;stream=watch",
                   R"({"type":"ADDED","object":)" + Item("a", "1") + "}");
  const auto refuse = [](WatchEvent&&) -> Result<void> {
    return apimachinery::Fail(Reason::kConflict, "store");
  };
  EXPECT_EQ(server.Source()->Watch({}, refuse, {}).error().reason, Reason::kConflict);
}

TEST_F(ListWatchFromClientTest, ASilentWatchIsGivenUp) {
  FakeServer server([](FakeConnection& connection) {
    if (connection.ReadRequest()) {
      connection.RespondChunked(200, "application/json;stream=watch");
      connection.AwaitPeer();
    }
  });
  const auto source =
      NewListWatchFromClient(rest::testing::NewClient(server.Url()), rest::testing::kConfigMaps, "",
                             {.watch_idle_margin = std::chrono::seconds(0)});
  apimachinery::ListOptions options;
  options.timeout = std::chrono::seconds(1);
  SeenItems seen;
  EXPECT_EQ(source->Watch(options, seen, {}).error().reason, Reason::kUnavailable);
}

// A list may be very large, and the Config's timeout is meant for requests of usual size.
TEST_F(ListWatchFromClientTest, ThePartsOfAListHaveATimeOfTheirOwn) {
  base::testing::FakeClock clock;
  FakeServer server([](FakeConnection& connection) {
    if (connection.ReadRequest()) {
      connection.RespondChunked(200, "application/json");
      connection.WriteChunk(
          R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[)" +
          Item("a", "1") + ",");
      connection.AwaitPeer();
    }
  });
  const auto source = NewListWatchFromClient(
      rest::testing::ClientFor(
          {.host = server.Url(), .timeout = std::chrono::seconds(30), .qps = -1},
          {.clock = clock, .connect_timeout = std::chrono::seconds(0)}),
      rest::testing::kConfigMaps, "",
      {.list_idle_timeout = std::chrono::hours(1), .list_timeout = std::chrono::seconds(600)});
  std::atomic<bool> began = false;
  std::atomic<bool> over = false;
  Result<codec::ListMeta> result;
  std::jthread caller([&] {
    result = source->List({},
                          [&began](Object&&) -> Result<void> {
                            began = true;
                            return {};
                          },
                          {});
    over = true;
  });
  KX_AWAIT(began || over);
  const base::TimePoint begin = clock.Now();
  KX_UNTIL(over || clock.Now() - begin >= std::chrono::hours(1)) {
    if (clock.Sleepers() > 0) {
      clock.Advance(std::chrono::seconds(10));
    }
  }
  caller.join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().reason, Reason::kTimeout) << result.error().ToString();
  EXPECT_THAT(result.error().message, HasSubstr("did not end within 600 s"));
}

TEST(EndsInitialEventsTest, FindsTheAnnotationInBothEncodings) {
  api::core::v1::ConfigMap bookmark;
  bookmark.metadata.resource_version = "7";
  EXPECT_FALSE(EndsInitialEvents(codec::EncodeProtobuf(bookmark)));
  EXPECT_FALSE(EndsInitialEvents(codec::EncodeJson(bookmark)));
  bookmark.metadata.annotations["k8s.io/initial-events-end"] = "false";
  EXPECT_FALSE(EndsInitialEvents(codec::EncodeProtobuf(bookmark)));
  EXPECT_FALSE(EndsInitialEvents(codec::EncodeJson(bookmark)));
  bookmark.metadata.annotations["k8s.io/initial-events-end"] = "true";
  EXPECT_TRUE(EndsInitialEvents(codec::EncodeProtobuf(bookmark)));
  EXPECT_TRUE(EndsInitialEvents(codec::EncodeJson(bookmark)));
  EXPECT_FALSE(EndsInitialEvents("k8s.io/initial-events-end"));
}

TEST_F(ListWatchFromClientTest, AModifierHasTheLastWordOnOptions) {
  OneAnswer server(200, "application/json",
                   R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[]})");
  const auto source = NewFilteredListWatchFromClient(
      server.Client(), rest::testing::kConfigMaps, "ns",
      [](apimachinery::ListOptions& options) { options.field_selector += ",metadata.name=one"; },
      {.field_selector = "type=Opaque"});
  SeenItems seen;
  ASSERT_TRUE(source->List({.limit = 5}, seen, {}).has_value());
  EXPECT_THAT(server.target(), HasSubstr("fieldSelector=type%3DOpaque%2Cmetadata.name%3Done"));
  EXPECT_THAT(server.target(), HasSubstr("limit=5"));
}

}  // namespace
}  // namespace kubexx::cache
