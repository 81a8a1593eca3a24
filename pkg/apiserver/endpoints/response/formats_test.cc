// Objects as tables and as their metadata, over the API.
#include "kubexx/apiserver/endpoints/response/formats.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/codec/codec.h"
#include "kubexx/codec/envelope.h"

namespace kubexx::apiserver {
namespace {

using api::meta::v1::PartialObjectMetadata;
using api::meta::v1::PartialObjectMetadataList;
using codec::JsonTree;
using ::testing::HasSubstr;

constexpr const char* kDefaultMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kSelfAccessReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

class FormatsTest : public testing::ApiFixture {
 protected:
  void Accept(const std::string& what) { headers_ = {{"Accept", what}}; }
  void AcceptView(const std::string& type, const std::string& as, const std::string& version) {
    Accept(type + ";as=" + as + ";g=meta.k8s.io;v=" + version);
  }
  void MakeMap(const std::string& name) {
    const auto headers = std::exchange(headers_, {});
    const http::Response made =
        Do("POST", kDefaultMaps, R"({"metadata":{"name":")" + name + R"("},"data":{"k":"v"}})");
    EXPECT_EQ(made.status, 201) << made.body;
    headers_ = headers;
  }
  /// The message of a protobuf body, whose envelope has to be of the kind.
  template <class T>
  T Message(std::string_view body, const std::string& api_version, const std::string& kind) {
    const auto envelope = codec::ReadEnvelope(body);
    EXPECT_TRUE(envelope) << body;
    if (!envelope) {
      return {};
    }
    EXPECT_EQ(envelope->api_version, api_version);
    EXPECT_EQ(envelope->kind, kind);
    auto message = codec::DecodeProtobuf<T>(envelope->raw);
    EXPECT_TRUE(message);
    return message ? std::move(*message) : T();
  }
  /// Watches from now on, makes two maps, and gives the events.
  std::vector<std::string> WatchTwoMaps(const std::string& query = "") {
    const http::Response watch = Do("GET", std::string(kDefaultMaps) + "?watch=1" + query);
    EXPECT_NE(watch.stream, nullptr) << watch.body;
    MakeMap("a");
    MakeMap("b");
    std::vector<http::BodyStream::Chunk> chunks;
    // What is written is in the watch as soon as a fresh list has it.
    const auto headers = std::exchange(headers_, {});
    const std::string version = At(Json(Do("GET", kDefaultMaps)), {"metadata", "resourceVersion"});
    Do("GET",
       std::string(kDefaultMaps) + "?resourceVersionMatch=NotOlderThan&resourceVersion=" + version);
    headers_ = headers;
    watch.stream->Take(chunks);
    watch.stream->Closed();
    std::vector<std::string> events;
    for (const http::BodyStream::Chunk& chunk : chunks) {
      events.push_back(*chunk);
    }
    return events;
  }
};

TEST_F(FormatsTest, TablesComeInTwoVersions) {
  MakeMap("a");
  for (const std::string version : {"v1", "v1beta1"}) {
    AcceptView("application/json", "Table", version);
    const JsonTree table = Json(Do("GET", std::string(kDefaultMaps) + "/a"));
    EXPECT_EQ(At(table, {"kind"}), "Table");
    EXPECT_EQ(At(table, {"apiVersion"}), "meta.k8s.io/" + version);
    EXPECT_EQ(At(table, {"rows", "0", "object", "apiVersion"}), "meta.k8s.io/" + version);
  }
}

TEST_F(FormatsTest, RowsHaveOfTheObjectWhatWasAskedFor) {
  MakeMap("a");
  AcceptView("application/json", "Table", "v1");
  const std::string map = std::string(kDefaultMaps) + "/a";
  const JsonTree whole = Json(Do("GET", map + "?includeObject=Object"));
  EXPECT_EQ(At(whole, {"rows", "0", "object", "kind"}), "ConfigMap");
  EXPECT_EQ(At(whole, {"rows", "0", "object", "data", "k"}), "v");
  const JsonTree none = Json(Do("GET", map + "?includeObject=None"));
  EXPECT_EQ(At(none, {"rows", "0", "object"}), "null");
  const http::Response wrong = Do("GET", map + "?includeObject=wrong");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("must be 'Metadata', 'Object', 'None', or empty"));
}

TEST_F(FormatsTest, OnlyTheFirstEventOfAWatchTellsTheColumns) {
  AcceptView("application/json", "Table", "v1");
  const std::vector<std::string> events =
      WatchTwoMaps("&resourceVersion=" + std::to_string(*storage_->CurrentRevision({})));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_THAT(events[0], HasSubstr(R"("columnDefinitions":[{"name":"Name")"));
  EXPECT_THAT(events[1], HasSubstr(R"("columnDefinitions":null,"rows":[{"cells":["b")"));
}

TEST_F(FormatsTest, OnlyTheFirstOfTheInitialEventsTellsTheColumns) {
  MakeMap("x");
  MakeMap("y");
  AcceptView("application/json", "Table", "v1beta1");
  const std::vector<std::string> events = WatchTwoMaps();
  ASSERT_EQ(events.size(), 4U);
  EXPECT_THAT(events[0], HasSubstr(R"("columnDefinitions":[{"name":"Name")"));
  for (std::size_t i = 1; i < events.size(); ++i) {
    EXPECT_THAT(events[i], HasSubstr(R"("columnDefinitions":null)"));
  }
}

TEST_F(FormatsTest, AListThatIsStreamedEndsWithARowOfItsMark) {
  MakeMap("x");
  AcceptView("application/json", "Table", "v1");
  const std::vector<std::string> events = WatchTwoMaps(
      "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  ASSERT_EQ(events.size(), 4U);
  EXPECT_THAT(events[0], HasSubstr(R"("columnDefinitions":[{"name":"Name")"));
  const auto mark = JsonTree::Parse(events[1]);
  ASSERT_TRUE(mark) << events[1];
  EXPECT_EQ(At(*mark, {"type"}), "BOOKMARK");
  EXPECT_EQ(At(*mark, {"object", "kind"}), "Table");
  EXPECT_EQ(At(*mark, {"object", "columnDefinitions"}), "null");
  EXPECT_EQ(mark->At({"object", "rows"})->size(), 1U);
  EXPECT_EQ(At(*mark, {"object", "rows", "0", "object", "metadata", "annotations",
                       "k8s.io/initial-events-end"}),
            "true");
  EXPECT_THAT(events[2], HasSubstr(R"("cells":["a")"));
}

TEST_F(FormatsTest, TablesComePageByPage) {
  for (const char* const name : {"a", "b", "c"}) {
    MakeMap(name);
  }
  AcceptView("application/json", "Table", "v1beta1");
  const JsonTree first = Json(Do("GET", std::string(kDefaultMaps) + "?limit=2"));
  EXPECT_EQ(At(first, {"apiVersion"}), "meta.k8s.io/v1beta1");
  ASSERT_EQ(first.At({"rows"})->size(), 2U);
  EXPECT_EQ(At(first, {"rows", "1", "cells", "0"}), "b");
  EXPECT_EQ(At(first, {"metadata", "remainingItemCount"}), "1");
  const std::string version = At(first, {"metadata", "resourceVersion"});
  EXPECT_NE(version, "");
  const std::string token = At(first, {"metadata", "continue"});
  ASSERT_NE(token, "");
  const JsonTree rest = Json(Do("GET", std::string(kDefaultMaps) + "?continue=" + token));
  ASSERT_EQ(rest.At({"rows"})->size(), 1U);
  EXPECT_EQ(At(rest, {"rows", "0", "cells", "0"}), "c");
  EXPECT_EQ(At(rest, {"columnDefinitions"}), At(first, {"columnDefinitions"}));
  EXPECT_EQ(At(rest, {"metadata", "resourceVersion"}), version);
}

TEST_F(FormatsTest, ObjectsOfTheClusterHaveTables) {
  const http::Response made = Do("POST", "/api/v1/nodes", R"({"metadata":{"name":"n"}})");
  ASSERT_EQ(made.status, 201) << made.body;
  AcceptView("application/json", "Table", "v1beta1");
  const JsonTree table = Json(Do("GET", "/api/v1/nodes"));
  EXPECT_EQ(At(table, {"columnDefinitions", "0", "name"}), "Name");
  EXPECT_EQ(At(table, {"rows", "0", "cells", "0"}), "n");
  EXPECT_EQ(table.At({"rows", "0", "cells"})->size(), table.At({"columnDefinitions"})->size());
  EXPECT_NE(At(table, {"metadata", "resourceVersion"}), "");
}

TEST_F(FormatsTest, ReviewsHaveNoTables) {
  const std::string review =
      R"({"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1",
          "spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}})";
  AcceptView("application/json", "Table", "v1");
  const http::Response refused = Do("POST", kSelfAccessReviews, review);
  EXPECT_EQ(refused.status, 406);
  EXPECT_EQ(At(Json(refused), {"reason"}), "NotAcceptable");
  Accept("application/json;as=Table;g=meta.k8s.io;v=v1,application/json");
  EXPECT_EQ(Do("POST", kSelfAccessReviews, review).status, 201);
  AcceptView("application/json", "PartialObjectMetadata", "v1");
  const http::Response metadata = Do("POST", kSelfAccessReviews, review);
  EXPECT_EQ(metadata.status, 201);
  EXPECT_EQ(At(Json(metadata), {"kind"}), "PartialObjectMetadata");
}

TEST_F(FormatsTest, MetadataComesInProtobuf) {
  MakeMap("a");
  for (const std::string version : {"v1", "v1beta1"}) {
    AcceptView("application/vnd.kubernetes.protobuf", "PartialObjectMetadata", version);
    const http::Response got = Do("GET", std::string(kDefaultMaps) + "/a");
    EXPECT_EQ(got.content_type, "application/vnd.kubernetes.protobuf");
    const auto partial =
        Message<PartialObjectMetadata>(got.body, "meta.k8s.io/" + version, "PartialObjectMetadata");
    EXPECT_EQ(partial.metadata.name, "a");
    EXPECT_FALSE(partial.metadata.uid.empty());
  }
}

TEST_F(FormatsTest, ListsOfMetadataComeInProtobuf) {
  MakeMap("a");
  AcceptView("application/vnd.kubernetes.protobuf", "PartialObjectMetadataList", "v1");
  const auto list = Message<PartialObjectMetadataList>(
      Do("GET", kDefaultMaps).body, "meta.k8s.io/v1", "PartialObjectMetadataList");
  EXPECT_FALSE(list.metadata.resource_version.empty());
  std::vector<std::string> names;
  for (const PartialObjectMetadata& item : list.items) {
    names.push_back(item.metadata.name);
  }
  EXPECT_THAT(names, ::testing::Contains("a"));
}

TEST_F(FormatsTest, TheBetaListHasItsItemsInTheFirstField) {
  MakeMap("a");
  AcceptView("application/vnd.kubernetes.protobuf", "PartialObjectMetadataList", "v1beta1");
  const http::Response list = Do("GET", kDefaultMaps);
  const auto envelope = codec::ReadEnvelope(list.body);
  ASSERT_TRUE(envelope) << list.body;
  EXPECT_EQ(envelope->api_version, "meta.k8s.io/v1beta1");
  EXPECT_EQ(envelope->raw.substr(0, 1), "\x0a");
  EXPECT_THAT(std::string(envelope->raw), HasSubstr("\x0a\x01\x61"));
}

TEST_F(FormatsTest, WatchesOfMetadataComeInProtobuf) {
  AcceptView("application/vnd.kubernetes.protobuf", "PartialObjectMetadata", "v1");
  const std::vector<std::string> events =
      WatchTwoMaps("&resourceVersion=" + std::to_string(*storage_->CurrentRevision({})));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_THAT(events[0], HasSubstr("ADDED"));
  const std::size_t begin = events[0].find("k8s");
  ASSERT_NE(begin, std::string::npos);
  const auto partial = Message<PartialObjectMetadata>(std::string_view(events[0]).substr(begin),
                                                      "meta.k8s.io/v1", "PartialObjectMetadata");
  EXPECT_EQ(partial.metadata.name, "a");
}

TEST_F(FormatsTest, AListIsNoObjectAndAnObjectNoList) {
  MakeMap("a");
  AcceptView("application/json", "PartialObjectMetadata", "v1");
  EXPECT_EQ(Do("GET", kDefaultMaps).status, 406);
  AcceptView("application/json", "PartialObjectMetadataList", "v1");
  EXPECT_EQ(Do("GET", std::string(kDefaultMaps) + "/a").status, 406);
}

}  // namespace
}  // namespace kubexx::apiserver
