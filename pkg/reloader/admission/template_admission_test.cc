#include "kubexx/reloader/admission/template_admission.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>

namespace kubexx::reloader {
namespace {

using apimachinery::Result;
using codec::JsonTree;
using testing::HasSubstr;

constexpr char kAsked[] =
    R"({"metadata":{"name":"web"},"spec":{"template":{"spec":{"containers":[{"name":"app"}]}}}})";

/// Answers requests, and keeps the objects that it was asked about.
struct Admission {
  metrics::Registry registry{};
  JsonTree seen{};
  Result<JsonTree> answer{apimachinery::Fail(apimachinery::Reason::kTimeout, "slow")};
  bool throws = false;
  TemplateAdmission admission{[this](WorkloadKind, const JsonTree& object, const std::stop_token&) {
                                seen = object;
                                if (throws) {
                                  throw std::runtime_error("no memory");
                                }
                                return answer;
                              },
                              &registry};

  webhook::Response Ask(const webhook::AdmissionRequest& request) const {
    return admission.Answer({.request = request});
  }
  double Count(const char* result) {
    return registry.Counter("kubexx_reloader_admission_total", "", {{"result", result}}).Value();
  }
};

webhook::AdmissionRequest RequestFor(const std::string& object,
                                     const std::string& old_object = "") {
  webhook::AdmissionRequest request;
  request.resource = {.group = "apps", .version = "v1", .resource = "deployments"};
  request.operation = old_object.empty() ? "CREATE" : "UPDATE";
  request.namespace_ = "shop";
  request.object.raw = object;
  request.old_object.raw = old_object;
  return request;
}

JsonTree WithMark(JsonTree object) {
  object["metadata"]["annotations"]["mark"] = "1";
  return object;
}

TEST(TemplateAdmission, PatchesWhatIsCreated) {
  Admission admission;
  auto object = JsonTree::Parse(kAsked);
  ASSERT_TRUE(object);
  (*object)["metadata"]["namespace"] = "shop";
  admission.answer = WithMark(*object);
  const webhook::Response response = admission.Ask(RequestFor(kAsked));
  EXPECT_TRUE(response.allowed);
  EXPECT_EQ(response.patch,
            R"([{"op":"add","path":"/metadata/annotations","value":{"mark":"1"}}])");
  EXPECT_EQ(admission.seen.At({"metadata"})->TextAt("namespace"), "shop");
  EXPECT_EQ(admission.Count("stamped"), 1);
}

TEST(TemplateAdmission, PatchesAnUpdateOfTheTemplateAlone) {
  Admission admission;
  auto object = JsonTree::Parse(kAsked);
  ASSERT_TRUE(object);
  (*object)["metadata"]["namespace"] = "shop";
  admission.answer = WithMark(*object);
  const std::string scaled =
      R"({"metadata":{"name":"web"},"spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"app"}]}}}})";
  EXPECT_EQ(admission.Ask(RequestFor(kAsked, scaled)).patch, "");
  EXPECT_EQ(admission.Count("unchanged"), 1);
  const std::string other =
      R"({"metadata":{"name":"web"},"spec":{"template":{"spec":{"containers":[{"name":"app","image":"2"}]}}}})";
  EXPECT_THAT(admission.Ask(RequestFor(kAsked, other)).patch, HasSubstr("mark"));
}

TEST(TemplateAdmission, KnowsWhichObjectIsReplaced) {
  Admission admission;
  const std::string before =
      R"({"metadata":{"name":"web","uid":"u-1"},"spec":{"template":{"spec":{}}}})";
  // As `kubectl replace` sends it.
  admission.Ask(RequestFor(kAsked, before));
  EXPECT_EQ(admission.seen.At({"metadata"})->TextAt("uid"), "u-1");
  auto object = JsonTree::Parse(kAsked);
  ASSERT_TRUE(object);
  (*object)["metadata"]["namespace"] = "shop";
  (*object)["metadata"]["uid"] = "u-1";
  admission.answer = WithMark(*object);
  EXPECT_EQ(admission.Ask(RequestFor(kAsked, before)).patch,
            R"([{"op":"add","path":"/metadata/annotations","value":{"mark":"1"}}])")
      << "the API server sets the UID itself";
}

TEST(TemplateAdmission, AllowsWhateverHappens) {
  Admission admission;
  EXPECT_TRUE(admission.Ask(RequestFor(kAsked)).allowed) << "it fails";
  EXPECT_EQ(admission.Count("failed"), 1);
  admission.throws = true;
  const webhook::Response thrown = admission.Ask(RequestFor(kAsked));
  EXPECT_TRUE(thrown.allowed);
  EXPECT_EQ(thrown.patch, "");
  EXPECT_EQ(admission.Count("failed"), 2);
  for (const char* text : {"", "{", "7", "null", "[]"}) {
    const webhook::Response response = admission.Ask(RequestFor(text));
    EXPECT_TRUE(response.allowed) << text;
    EXPECT_EQ(response.patch, "") << text;
  }
  EXPECT_TRUE(admission.Ask(RequestFor(kAsked, "{")).allowed);
}

TEST(TemplateAdmission, LeavesOtherObjectsAlone) {
  Admission admission;
  webhook::AdmissionRequest pod = RequestFor(kAsked);
  pod.resource = {.group = "", .version = "v1", .resource = "pods"};
  webhook::AdmissionRequest scale = RequestFor(kAsked);
  scale.sub_resource = "scale";
  webhook::AdmissionRequest deletion = RequestFor(kAsked);
  deletion.operation = "DELETE";
  for (const auto& request : {pod, scale, deletion}) {
    const webhook::Response response = admission.Ask(request);
    EXPECT_TRUE(response.allowed);
    EXPECT_EQ(response.patch, "");
  }
  EXPECT_EQ(admission.Count("unchanged"), 3);
  EXPECT_TRUE(admission.seen.IsNull()) << "nobody was asked";
}

}  // namespace
}  // namespace kubexx::reloader
