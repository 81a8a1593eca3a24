// What kube-apiserver sets where a client has said nothing.
#include <gtest/gtest.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"

namespace kubexx::apiserver {
namespace {

class DefaultsTest : public testing::ApiFixture {
 protected:
  /// The object as it is made in the namespace default.
  codec::JsonTree Made(const std::string& resource, const std::string& body) {
    const std::size_t slash = resource.rfind('/');
    const http::Response made = Do(
        "POST",
        resource.substr(0, slash) + "/namespaces/default" + resource.substr(slash) + "?dryRun=All",
        body);
    EXPECT_EQ(made.status, 201) << made.body;
    return Json(made);
  }
  codec::JsonTree Job(const std::string& spec) {
    return Made("/apis/batch/v1/jobs", R"({"metadata":{"name":"j"},"spec":{)" + spec +
                                           R"("template":{"spec":{"restartPolicy":"Never",
                       "containers":[{"name":"c","image":"i"}]}}}})");
  }
};

TEST_F(DefaultsTest, AJobThatSaysNothingRunsOnePodOnce) {
  const codec::JsonTree job = Job("");
  EXPECT_EQ(At(job, {"spec", "completions"}), "1");
  EXPECT_EQ(At(job, {"spec", "parallelism"}), "1");
  EXPECT_EQ(At(job, {"spec", "backoffLimit"}), "6");
  EXPECT_EQ(At(job, {"spec", "podReplacementPolicy"}), "TerminatingOrFailed");
}

TEST_F(DefaultsTest, AJobOfWorkersIsDoneWhenTheySaySo) {
  const codec::JsonTree job = Job(R"("parallelism":4,)");
  EXPECT_EQ(At(job, {"spec", "parallelism"}), "4");
  EXPECT_EQ(At(job, {"spec", "completions"}), "");
  EXPECT_EQ(At(Job(R"("completions":3,)"), {"spec", "parallelism"}), "1");
}

TEST_F(DefaultsTest, TemplatesOfPodsHaveThoseOfPods) {
  const codec::JsonTree made =
      Made("/api/v1/podtemplates",
           R"({"metadata":{"name":"t"},"template":{"spec":{"containers":[{"name":"c",
              "image":"i"}]}}})");
  EXPECT_EQ(At(made, {"template", "spec", "restartPolicy"}), "Always");
  EXPECT_EQ(At(made, {"template", "spec", "containers", "0", "imagePullPolicy"}), "Always");
  EXPECT_EQ(At(made, {"template", "spec", "containers", "0", "terminationMessagePolicy"}), "File");
}

}  // namespace
}  // namespace kubexx::apiserver
