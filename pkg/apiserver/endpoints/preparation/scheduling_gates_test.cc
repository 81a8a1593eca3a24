// Pods that are not to be scheduled yet.
#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

constexpr const char* kGatedPod = "/api/v1/namespaces/default/pods/p";

class SchedulingGatesTest : public testing::ApiFixture {
 protected:
  codec::JsonTree Make(const std::string& gates) {
    const http::Response made =
        Do("POST", "/api/v1/namespaces/default/pods",
           R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"i"}],)"
           R"("schedulingGates":)" +
               gates + "}}");
    EXPECT_EQ(made.status, 201) << made.body;
    return Json(made);
  }
  http::Response Bind() {
    return Do("POST", std::string(kGatedPod) + "/binding",
              R"({"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}})");
  }
};

TEST_F(SchedulingGatesTest, APodThatHasSomeIsNotBound) {
  const codec::JsonTree pod = Make(R"([{"name":"e.example/wait"}])");
  EXPECT_EQ(At(pod, {"status", "conditions", "0", "type"}), "PodScheduled");
  EXPECT_EQ(At(pod, {"status", "conditions", "0", "status"}), "False");
  EXPECT_EQ(At(pod, {"status", "conditions", "0", "reason"}), "SchedulingGated");
  EXPECT_EQ(At(pod, {"status", "conditions", "0", "message"}),
            "Scheduling is blocked due to non-empty scheduling gates");
  const http::Response refused = Bind();
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(Message(refused),
            "Operation cannot be fulfilled on pods/binding \"p\": pod p has non-empty "
            ".spec.schedulingGates");
  EXPECT_EQ(Do("PATCH", kGatedPod, R"({"spec":{"schedulingGates":null}})", kMergePatch).status,
            200);
  EXPECT_EQ(Bind().status, 201);
  EXPECT_EQ(At(Json(Do("GET", kGatedPod)), {"status", "conditions", "0", "status"}), "True");
}

TEST_F(SchedulingGatesTest, APodWithoutAnyWaitsForNothing) {
  EXPECT_EQ(Make("[]").At({"status", "conditions"}), nullptr);
  EXPECT_EQ(Bind().status, 201);
}

}  // namespace
}  // namespace kubexx::apiserver
