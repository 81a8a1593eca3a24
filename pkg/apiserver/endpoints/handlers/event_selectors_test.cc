// Tests field selectors of events.k8s.io/v1, whose fields have names of their own.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kNewEvents = "/apis/events.k8s.io/v1/namespaces/default/events";

class EventSelectorsTest : public testing::ApiFixture {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(Make("a", "Pod", "p", "Started", "Normal", "example.com/kubelet"));
    ASSERT_NO_FATAL_FAILURE(Make("b", "Pod", "q", "Failed", "Warning", "example.com/kubelet"));
    ASSERT_NO_FATAL_FAILURE(Make("c", "Job", "p", "Started", "Normal", "example.com/jobs"));
  }
  void Make(const std::string& name, const std::string& kind, const std::string& regarding,
            const std::string& reason, const std::string& type, const std::string& controller) {
    const http::Response made =
        Do("POST", kNewEvents,
           R"({"metadata":{"name":")" + name + R"("},"eventTime":"2026-01-02T03:04:05.000000Z",)" +
               R"("action":"Run","reportingInstance":"i","regarding":{"kind":")" + kind +
               R"(","name":")" + regarding + R"(","namespace":"default"},"reason":")" + reason +
               R"(","type":")" + type + R"(","reportingController":")" + controller + R"("})");
    ASSERT_EQ(made.status, 201) << made.body;
  }
  /// Returns the names of the Events in a list.
  std::string Listed(const std::string& selector, const std::string& more) {
    return NamesListed(kNewEvents + ("?fieldSelector=" + selector) + more);
  }
  /// Returns the types and names of the events that a watch from `version` brings at once.
  std::vector<std::string> Events(const std::string& selector, const std::string& version) {
    std::vector<std::string> events;
    for (const auto& chunk : Watched(std::string(kNewEvents) + "?watch=true&resourceVersion=" +
                                     version + "&fieldSelector=" + selector)) {
      const JsonTree event = *JsonTree::Parse(*chunk);
      events.push_back(At(event, {"type"}) + " " + At(event, {"object", "metadata", "name"}));
    }
    return events;
  }
};

TEST_F(EventSelectorsTest, AListHasThoseThatMatch) {
  // From the storage, and from the cache.
  for (const char* const more : {"", "&resourceVersion=0"}) {
    EXPECT_EQ(Listed("regarding.name%3Dp", more), "a c ");
    EXPECT_EQ(Listed("regarding.name%3Dp,regarding.kind%3DPod", more), "a ");
    EXPECT_EQ(Listed("regarding.namespace!%3Ddefault", more), "");
    EXPECT_EQ(Listed("reason%3DFailed", more), "b ");
    EXPECT_EQ(Listed("type!%3DWarning", more), "a c ");
    EXPECT_EQ(Listed("reportingController%3Dexample.com/jobs", more), "c ");
    EXPECT_EQ(Listed("metadata.name%3Db,type%3DNormal", more), "");
  }
}

TEST_F(EventSelectorsTest, AWatchHasThoseThatMatch) {
  const std::string version = At(Json(Do("GET", kNewEvents)), {"metadata", "resourceVersion"});
  ASSERT_NO_FATAL_FAILURE(Make("d", "Pod", "p", "Killing", "Normal", "example.com/kubelet"));
  ASSERT_NO_FATAL_FAILURE(Make("e", "Pod", "r", "Started", "Warning", "example.com/jobs"));
  ASSERT_EQ(Do("DELETE", std::string(kNewEvents) + "/a").status, 200);
  EXPECT_THAT(Events("regarding.name%3Dp", version), ElementsAre("ADDED d", "DELETED a"));
  EXPECT_THAT(Events("reason%3DStarted", version), ElementsAre("ADDED e", "DELETED a"));
  EXPECT_THAT(Events("type%3DWarning", version), ElementsAre("ADDED e"));
  EXPECT_THAT(Events("reportingController%3Dexample.com/kubelet", version),
              ElementsAre("ADDED d", "DELETED a"));
}

TEST_F(EventSelectorsTest, TheNamesOfTheOtherGroupAreNone) {
  for (const char* const field :
       {"involvedObject.name", "reportingComponent", "source", "regarding.names"}) {
    const http::Response refused =
        Do("GET", std::string(kNewEvents) + "?fieldSelector=" + field + "%3Dp");
    EXPECT_EQ(refused.status, 400) << field;
    EXPECT_THAT(Message(refused), HasSubstr("field label not supported")) << field;
  }
  EXPECT_EQ(Do("GET", "/api/v1/namespaces/default/events?fieldSelector=regarding.name%3Dp").status,
            400);
}

}  // namespace
}  // namespace kubexx::apiserver
