// Server-side apply, managers of fields and field validation, through the API without HTTP.
#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "kubexx/apiserver/endpoints/handlers/api.h"
#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/apiserver/storage/memory.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {
namespace {

using codec::JsonTree;
using ::testing::HasSubstr;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kMap = "/api/v1/namespaces/default/configmaps/a";
constexpr const char* kDeployment = "/apis/apps/v1/namespaces/default/deployments/web";

class ApplyTest : public ::testing::Test {
 protected:
  explicit ApplyTest(bool managed_fields = true)
      : storage_(*storage::NewMemoryStorage({})),
        api_(*storage_, {.clock = clock_, .managed_fields = managed_fields}) {
    EXPECT_TRUE(api_.Bootstrap({}));
  }

  http::Response Do(std::string method, const std::string& target, std::string body = {},
                    std::string content_type = "application/json",
                    std::string agent = "tester/1.0 (linux)") {
    return testing::Ask(api_, std::move(method), target, std::move(body), std::move(content_type),
                        {{"User-Agent", std::move(agent)}});
  }
  http::Response Apply(const std::string& path, const std::string& manager, std::string config,
                       const std::string& more = {}) {
    return Do("PATCH", path + "?fieldManager=" + manager + more, std::move(config),
              "application/apply-patch+yaml");
  }
  static std::string MapWith(const std::string& data) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":)" + data + "}";
  }
  static JsonTree Json(const http::Response& response) {
    auto tree = JsonTree::Parse(response.body);
    EXPECT_TRUE(tree) << response.body;
    return tree ? std::move(*tree) : JsonTree();
  }
  static std::string At(const JsonTree& tree, std::initializer_list<std::string_view> path) {
    const JsonTree* const found = tree.At(path);
    return found == nullptr ? "" : found->ToJson();
  }
  /// "manager Operation [subresource] fields" of each entry.
  std::string ManagersOf(const std::string& path) {
    const JsonTree object = Json(Do("GET", path));
    const JsonTree* const entries = object.At({"metadata", "managedFields"});
    std::string text;
    for (const JsonTree& entry :
         entries == nullptr ? std::span<const JsonTree>() : entries->elements()) {
      EXPECT_EQ(entry.TextAt("fieldsType"), "FieldsV1");
      text += (text.empty() ? "" : "\n") + std::string(entry.TextAt("manager")) + " " +
              std::string(entry.TextAt("operation")) + " " +
              std::string(entry.TextAt("subresource")) + At(entry, {"fieldsV1"});
    }
    return text;
  }
  static std::string WarningsOf(const http::Response& response) {
    std::string text;
    for (const auto& [name, value] : response.headers) {
      text += name == "Warning" ? value + "\n" : "";
    }
    return text;
  }

  base::testing::FakeClock clock_;
  std::unique_ptr<storage::MemoryStorage> storage_;
  Api api_;
};

class UnmanagedTest : public ApplyTest {
 protected:
  UnmanagedTest() : ApplyTest(false) {}
};

TEST_F(ApplyTest, CreatesChangesAndTakesAway) {
  const http::Response created = Apply(kMap, "me", MapWith(R"({"k":"1","l":"2"})"));
  EXPECT_EQ(created.status, 201) << created.body;
  EXPECT_EQ(At(Json(created), {"data"}), R"({"k":"1","l":"2"})");
  const http::Response changed = Apply(kMap, "me", MapWith(R"({"k":"3"})"));
  EXPECT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(At(Json(changed), {"data"}), R"({"k":"3"})");
  EXPECT_EQ(ManagersOf(kMap), R"(me Apply {"f:data":{"f:k":{}}})");
}

TEST_F(ApplyTest, YamlIsRead) {
  const http::Response created =
      Apply(kMap, "me", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n");
  EXPECT_EQ(created.status, 201) << created.body;
  EXPECT_EQ(At(Json(created), {"data"}), R"({"k":"v"})");
  EXPECT_EQ(Apply(kMap, "me", "a: [").status, 400);
}

TEST_F(ApplyTest, WithoutAChangeNothingIsWritten) {
  const JsonTree first = Json(Apply(kMap, "me", MapWith(R"({"k":"1"})")));
  clock_.Advance(std::chrono::hours(1));
  const JsonTree second = Json(Apply(kMap, "me", MapWith(R"({"k":"1"})")));
  EXPECT_EQ(first, second);
}

TEST_F(ApplyTest, ConflictsNameFieldsAndManagers) {
  Apply(kMap, "me", MapWith(R"({"k":"1","l":"1"})"));
  const http::Response one = Apply(kMap, "you", MapWith(R"({"k":"2"})"));
  EXPECT_EQ(one.status, 409);
  const JsonTree status = Json(one);
  EXPECT_EQ(At(status, {"reason"}), R"("Conflict")");
  EXPECT_EQ(At(status, {"message"}),
            R"("Apply failed with 1 conflict: conflict with \"me\": .data.k")");
  EXPECT_EQ(
      At(status, {"details", "causes"}),
      R"([{"reason":"FieldManagerConflict","message":"conflict with \"me\"","field":".data.k"}])");
  Do("PATCH", kMap, R"({"data":{"m":"1"}})", "application/merge-patch+json");
  EXPECT_EQ(At(Json(Apply(kMap, "you", MapWith(R"({"k":"2","l":"2","m":"2"})"))), {"message"}),
            R"("Apply failed with 3 conflicts: conflicts with \"me\":\n- .data.k\n- .data.l\n)"
            R"(conflicts with \"tester\" using v1:\n- .data.m")");
  const http::Response forced = Apply(kMap, "you", MapWith(R"({"k":"2"})"), "&force=true");
  EXPECT_EQ(forced.status, 200) << forced.body;
  EXPECT_EQ(ManagersOf(kMap), R"(me Apply {"f:data":{"f:l":{}}})"
                              "\n"
                              R"(you Apply {"f:data":{"f:k":{}}})"
                              "\n"
                              R"(tester Update {"f:data":{"f:m":{}}})");
}

TEST_F(ApplyTest, SharedFieldsStayUntilNobodyHasThem) {
  Apply(kMap, "me", MapWith(R"({"k":"1"})"));
  EXPECT_EQ(Apply(kMap, "you", MapWith(R"({"k":"1","l":"1"})")).status, 200);
  EXPECT_EQ(At(Json(Apply(kMap, "me", MapWith("{}"))), {"data"}), R"({"k":"1","l":"1"})");
  EXPECT_EQ(At(Json(Apply(kMap, "you", MapWith(R"({"l":"1"})"))), {"data"}), R"({"l":"1"})");
}

TEST_F(ApplyTest, WritesHaveManagersToo) {
  EXPECT_EQ(Do("POST", kMaps, MapWith(R"({"k":"1"})")).status, 201);
  EXPECT_EQ(ManagersOf(kMap), R"(tester Update {"f:data":{".":{},"f:k":{}}})");
  JsonTree object = Json(Do("GET", kMap));
  object["data"]["k"] = "2";
  object["metadata"].Erase("managedFields");  // As a client that does not know them.
  EXPECT_EQ(Do("PUT", std::string(kMap) + "?fieldManager=other", object.ToJson()).status, 200);
  EXPECT_EQ(ManagersOf(kMap), R"(other Update {"f:data":{"f:k":{}}})"
                              "\n"
                              R"(tester Update {"f:data":{}})");
}

TEST_F(ApplyTest, AWorkloadHasTheFieldsThatKubernetesGivesIt) {
  const std::string body = R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},
    "spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}}}})";
  ASSERT_EQ(Do("POST", "/apis/apps/v1/namespaces/default/deployments", body).status, 201);
  EXPECT_EQ(
      ManagersOf(kDeployment),
      R"(tester Update {"f:spec":{"f:progressDeadlineSeconds":{},"f:replicas":{},"f:revisionHistoryLimit":{},"f:selector":{},)"
      R"("f:strategy":{"f:rollingUpdate":{".":{},"f:maxSurge":{},"f:maxUnavailable":{}},"f:type":{}},)"
      R"("f:template":{"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":)"
      R"({".":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:resources":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},)"
      R"("f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{}}}}})");
  Do("PATCH", std::string(kDeployment) + "/scale?fieldManager=scaler", R"({"spec":{"replicas":3}})",
     "application/merge-patch+json");
  EXPECT_THAT(ManagersOf(kDeployment),
              HasSubstr(R"(scaler Update scale{"f:spec":{"f:replicas":{}}})"));
  Do("PATCH", std::string(kDeployment) + "/status?fieldManager=controller",
     R"({"status":{"replicas":3},"spec":{"paused":true}})", "application/merge-patch+json");
  EXPECT_THAT(ManagersOf(kDeployment),
              HasSubstr(R"(controller Update status{"f:status":{"f:replicas":{}}})"));
}

TEST_F(ApplyTest, SubresourcesAreAppliedTo) {
  ASSERT_EQ(
      Apply(
          kDeployment, "me",
          R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"selector":{"matchLabels":{"a":"b"}}}})")
          .status,
      400);
  ASSERT_EQ(
      Apply(
          kDeployment, "me",
          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})")
          .status,
      201);
  const http::Response status = Apply(
      std::string(kDeployment) + "/status", "controller",
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"status":{"replicas":1,"conditions":[{"type":"Available","status":"True"}]}})");
  EXPECT_EQ(status.status, 200) << status.body;
  EXPECT_EQ(At(Json(status), {"status", "replicas"}), "1");
  const http::Response scale = Apply(
      std::string(kDeployment) + "/scale", "scaler",
      R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web"},"spec":{"replicas":4}})");
  EXPECT_EQ(scale.status, 409) << scale.body;
  const http::Response forced = Apply(
      std::string(kDeployment) + "/scale", "scaler",
      R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web"},"spec":{"replicas":4}})",
      "&force=true");
  EXPECT_EQ(At(Json(forced), {"spec", "replicas"}), "4");
  const std::string managers = ManagersOf(kDeployment);
  EXPECT_THAT(
      managers,
      HasSubstr(
          R"(controller Apply status{"f:status":{"f:conditions":{"k:{\"type\":\"Available\"}":{".":{},"f:status":{},"f:type":{}}},"f:replicas":{}}})"));
  EXPECT_THAT(managers, HasSubstr(R"(scaler Apply scale{"f:spec":{"f:replicas":{}}})"));
  // The replicas were this one's before.
  EXPECT_THAT(managers, HasSubstr(R"(me Apply {"f:spec":{"f:selector":)"));
}

TEST_F(ApplyTest, ReplicasThatAreNobodysStaySo) {
  ASSERT_EQ(
      Apply(
          kDeployment, "me",
          R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})")
          .status,
      201);
  EXPECT_EQ(Do("PATCH", std::string(kDeployment) + "/scale", R"({"spec":{"replicas":3}})",
               "application/merge-patch+json")
                .status,
            200);
  EXPECT_THAT(ManagersOf(kDeployment), ::testing::StartsWith(R"(me Apply {"f:spec":)"));
  EXPECT_THAT(ManagersOf(kDeployment), ::testing::Not(HasSubstr("f:replicas")));
}

TEST_F(ApplyTest, DryRunsWriteNothing) {
  EXPECT_EQ(Apply(kMap, "me", MapWith(R"({"k":"1"})"), "&dryRun=All").status, 201);
  EXPECT_EQ(Do("GET", kMap).status, 404);
}

TEST_F(ApplyTest, BadRequestsAreRefused) {
  EXPECT_EQ(Do("PATCH", kMap, MapWith("{}"), "application/apply-patch+yaml").status, 422);
  EXPECT_EQ(Apply(kMap, std::string(129, 'x'), MapWith("{}")).status, 422);
  EXPECT_EQ(Apply(kMap, "me", R"({"apiVersion":"v1","kind":"Secret"})").status, 400);
  EXPECT_EQ(
      Apply(kMap, "me", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}})").status,
      400);
  EXPECT_EQ(
      Apply(kMap, "me", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"managedFields":[]}})")
          .status,
      400);
  EXPECT_EQ(
      Do("PATCH", std::string(kMap) + "?force=true", "{}", "application/merge-patch+json").status,
      422);
  const http::Response unknown = Apply(kMap, "me", MapWith(R"({},"dat":{})"));
  EXPECT_EQ(unknown.status, 500);
  EXPECT_EQ(
      At(Json(unknown), {"message"}),
      R"("failed to create typed patch object (/a; /v1, Kind=ConfigMap): .dat: field not declared in schema")");
}

TEST_F(ApplyTest, ManagersCanBeWrittenAndForgotten) {
  Apply(kMap, "me", MapWith(R"({"k":"1"})"));
  JsonTree object = Json(Do("GET", kMap));
  (*object["metadata"].Find("managedFields")).elements()[0]["manager"] = "renamed";
  Do("PUT", kMap, object.ToJson());
  EXPECT_EQ(ManagersOf(kMap), R"(renamed Apply {"f:data":{"f:k":{}}})");
  Do("PATCH", kMap, R"({"metadata":{"managedFields":[{}]}})", "application/merge-patch+json");
  EXPECT_EQ(ManagersOf(kMap), "");
  Apply(kMap, "me", MapWith(R"({"k":"1"})"), "&force=true");
  Do("PATCH", kMap, R"([{"op":"replace","path":"/metadata/managedFields","value":[]}])",
     "application/json-patch+json");
  EXPECT_EQ(ManagersOf(kMap), "");
  // From then on nobody knows whose they are; what was there is the object's before.
  Do("PATCH", kMap, R"({"data":{"l":"1"}})", "application/merge-patch+json");
  EXPECT_EQ(ManagersOf(kMap), "");
  EXPECT_EQ(Apply(kMap, "me", MapWith(R"({"k":"2"})")).status, 409);
  EXPECT_EQ(Apply(kMap, "me", MapWith(R"({"k":"2"})"), "&force=true").status, 200);
  EXPECT_EQ(ManagersOf(kMap), R"(me Apply {"f:data":{"f:k":{}}})"
                              "\n"
                              R"(before-first-apply Update {"f:data":{".":{},"f:l":{}}})");
}

TEST_F(UnmanagedTest, ObjectsHaveNoManagers) {
  EXPECT_EQ(Do("POST", kMaps, MapWith(R"({"k":"1"})")).status, 201);
  EXPECT_EQ(Apply(kMap, "me", MapWith(R"({"k":"2"})")).status, 200);
  EXPECT_EQ(ManagersOf(kMap), "");
  EXPECT_EQ(At(Json(Do("GET", kMap)), {"data"}), R"({"k":"2"})");
}

TEST_F(ApplyTest, FieldsAreValidatedAsAsked) {
  const std::string body =
      R"({"metadata":{"name":"a"},"dat":{},"data":{"k":"1"},"data":{"k":"2"}})";
  const http::Response strict = Do("POST", std::string(kMaps) + "?fieldValidation=Strict", body);
  EXPECT_EQ(strict.status, 400);
  EXPECT_EQ(
      At(Json(strict), {"message"}),
      R"("ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: )"
      R"(unknown field \"dat\", duplicate field \"data\"")");
  const http::Response warned = Do("POST", kMaps, body);
  EXPECT_EQ(warned.status, 201);
  EXPECT_EQ(WarningsOf(warned),
            "299 - \"unknown field \\\"dat\\\"\"\n"
            "299 - \"duplicate field \\\"data\\\"\"\n");
  const http::Response ignored = Do("PATCH", std::string(kMap) + "?fieldValidation=Ignore",
                                    R"({"dat":{}})", "application/merge-patch+json");
  EXPECT_EQ(ignored.status, 200);
  EXPECT_EQ(WarningsOf(ignored), "");
  const http::Response patched = Do("PATCH", std::string(kMap) + "?fieldValidation=Strict",
                                    R"({"dat":{}})", "application/merge-patch+json");
  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(patched.body, HasSubstr("unknown field"));
  EXPECT_EQ(Do("POST", std::string(kMaps) + "?fieldValidation=Maybe", body).status, 422);
}

}  // namespace
}  // namespace kubexx::apiserver
