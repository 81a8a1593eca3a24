#include "kubexx/apiserver/endpoints/admission/runtime_class_admission.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRuntimes = "/apis/node.k8s.io/v1/runtimeclasses";

class RuntimeClassTest : public testing::ApiFixture {
 protected:
  void MakeRuntime(const std::string& name, const std::string& rest = {}) {
    const http::Response made = Do(
        "POST", kRuntimes, R"({"metadata":{"name":")" + name + R"("},"handler":"h")" + rest + "}");
    EXPECT_EQ(made.status, 201) << made.body;
  }
  http::Response MakePod(const std::string& spec) {
    return Do(
        "POST", testing::kPods,
        R"({"metadata":{"generateName":"p-"},"spec":{"containers":[{"name":"c","image":"i"}],)" +
            spec + "}}");
  }
  /// Why the pod is refused, or what the server has made of the member of its spec.
  std::string Made(const std::string& spec, const char* member) {
    const http::Response made = MakePod(spec);
    return made.status == 201 ? At(Json(made), {"spec", member})
                              : std::to_string(made.status) + " " + Message(made);
  }
};

TEST_F(RuntimeClassTest, AnUnknownOneIsRefused) {
  EXPECT_THAT(Made(R"("runtimeClassName":"none")", "overhead"),
              ::testing::AllOf(HasSubstr("403 "), HasSubstr("is forbidden: pod rejected: "
                                                            "RuntimeClass \"none\" not found")));
}

TEST_F(RuntimeClassTest, ThePodHasTheOverheadOfItsClass) {
  MakeRuntime("heavy", R"(,"overhead":{"podFixed":{"cpu":"250m","memory":"1Gi"}})");
  MakeRuntime("plain");
  EXPECT_EQ(Made(R"("runtimeClassName":"heavy")", "overhead"), R"({"cpu":"250m","memory":"1Gi"})");
  EXPECT_EQ(
      Made(R"("runtimeClassName":"heavy","overhead":{"cpu":"0.25","memory":"1024Mi"})", "overhead"),
      R"({"cpu":"250m","memory":"1Gi"})")
      << "the same amounts";
  EXPECT_EQ(Made(R"("runtimeClassName":"plain")", "overhead"), "");
  EXPECT_THAT(Made(R"("runtimeClassName":"heavy","overhead":{"cpu":"1"})", "overhead"),
              HasSubstr("Pod's Overhead doesn't match RuntimeClass's defined Overhead"));
  for (const char* const without :
       {R"("overhead":{"cpu":"1"})", R"("runtimeClassName":"plain","overhead":{"cpu":"1"})"}) {
    EXPECT_THAT(Made(without, "overhead"),
                HasSubstr("Pod Overhead set without corresponding RuntimeClass defined Overhead"));
  }
}

TEST_F(RuntimeClassTest, ThePodIsScheduledAsItsClass) {
  MakeRuntime("there", R"(,"scheduling":{"nodeSelector":{"runtime":"there"},"tolerations":)"
                       R"([{"key":"there","operator":"Exists"}]})");
  EXPECT_EQ(Made(R"("runtimeClassName":"there")", "nodeSelector"), R"({"runtime":"there"})");
  EXPECT_EQ(Made(R"("runtimeClassName":"there","nodeSelector":{"a":"b"})", "nodeSelector"),
            R"({"a":"b","runtime":"there"})");
  EXPECT_THAT(Made(R"("runtimeClassName":"there","nodeSelector":{"runtime":"x"})", "nodeSelector"),
              HasSubstr("conflict: runtimeClass.scheduling.nodeSelector[runtime] = there; "
                        "pod.spec.nodeSelector[runtime] = x"));
  EXPECT_THAT(Made(R"("runtimeClassName":"there")", "tolerations"),
              HasSubstr(R"({"key":"there","operator":"Exists"}])"));
  EXPECT_EQ(
      Made(R"("runtimeClassName":"there","tolerations":[{"operator":"Exists"}])", "tolerations"),
      R"([{"operator":"Exists"}])")
      << "which is all of them";
  EXPECT_THAT(
      Made(R"("runtimeClassName":"there","tolerations":[{"key":"there","operator":"Exists",)"
           R"("effect":"NoSchedule"}])",
           "tolerations"),
      ::testing::Not(HasSubstr("NoSchedule")));
}

}  // namespace
}  // namespace kubexx::apiserver
