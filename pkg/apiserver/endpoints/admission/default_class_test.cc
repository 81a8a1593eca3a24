#include "kubexx/apiserver/endpoints/admission/default_class.h"

#include <gmock/gmock.h>

#include <string>

#include "kubexx/apiserver/endpoints/testing/api_fixture.h"
#include "kubexx/base/testing/fake_clock.h"

namespace kubexx::apiserver {
namespace {

constexpr const char* kClaimsOfClasses = "/api/v1/namespaces/default/persistentvolumeclaims";
constexpr const char* kStorageClasses = "/apis/storage.k8s.io/v1/storageclasses";
constexpr const char* kRoutes = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
constexpr const char* kRouteClasses = "/apis/networking.k8s.io/v1/ingressclasses";

class DefaultClassTest : public testing::ApiFixture {
 protected:
  DefaultClassTest() : ApiFixture({.clock = *Clock()}) {}
  /// The base needs it before there are members.
  static base::testing::FakeClock* Clock() {
    static base::testing::FakeClock clock;
    return &clock;
  }
  static std::string Marked(const std::string& mark, const std::string& value = "true") {
    return R"("annotations":{")" + mark + R"(":")" + value + "\"}";
  }
  void MakeClass(const std::string& path, const std::string& name, const std::string& meta) {
    const std::string rest = path == kStorageClasses ? R"("provisioner":"example.com/p")"
                                                     : R"("spec":{"controller":"example.com/c"})";
    const http::Response made =
        Do("POST", path, R"({"metadata":{"name":")" + name + "\"," + meta + "}," + rest + "}");
    EXPECT_EQ(made.status, 201) << made.body;
  }
  std::string ClaimWith(const std::string& spec = {}, const std::string& meta = {}) {
    const http::Response made = Do("POST", kClaimsOfClasses,
                                   R"({"metadata":{"generateName":"c-")" + meta +
                                       R"(},"spec":{"accessModes":["ReadWriteOnce"],)"
                                       R"("resources":{"requests":{"storage":"1Gi"}})" +
                                       spec + "}}");
    EXPECT_EQ(made.status, 201) << made.body;
    const codec::JsonTree tree = Json(made);
    return tree.At({"spec", "storageClassName"}) == nullptr
               ? "none"
               : "\"" + At(tree, {"spec", "storageClassName"}) + "\"";
  }
  std::string RouteWith(const std::string& spec = {}, const std::string& meta = {}) {
    const http::Response made =
        Do("POST", kRoutes,
           R"({"metadata":{"generateName":"i-")" + meta +
               R"(},"spec":{"defaultBackend":{"service":{"name":"s","port":)"
               R"({"number":80}}})" +
               spec + "}}");
    EXPECT_EQ(made.status, 201) << made.body;
    return At(Json(made), {"spec", "ingressClassName"});
  }
};

TEST_F(DefaultClassTest, AClaimGetsTheNewestDefault) {
  constexpr const char* kMark = "storageclass.kubernetes.io/is-default-class";
  MakeClass(kStorageClasses, "other", Marked(kMark, "false"));
  EXPECT_EQ(ClaimWith(), "none");
  MakeClass(kStorageClasses, "m", Marked("storageclass.beta.kubernetes.io/is-default-class"));
  EXPECT_EQ(ClaimWith(), "\"m\"");
  Clock()->Advance(std::chrono::seconds(1));
  MakeClass(kStorageClasses, "z", Marked(kMark));
  MakeClass(kStorageClasses, "y", Marked(kMark));
  EXPECT_EQ(ClaimWith(), "\"y\"") << "the first of those of the same second";
  Clock()->Advance(std::chrono::seconds(1));
  MakeClass(kStorageClasses, "zz", Marked(kMark));
  EXPECT_EQ(ClaimWith(), "\"zz\"");
}

TEST_F(DefaultClassTest, AClaimThatSaysItsClassKeepsIt) {
  MakeClass(kStorageClasses, "m", Marked("storageclass.kubernetes.io/is-default-class"));
  EXPECT_EQ(ClaimWith(R"(,"storageClassName":"")"), "\"\"") << "it wants none";
  EXPECT_EQ(ClaimWith(R"(,"storageClassName":"a")"), "\"a\"");
  EXPECT_EQ(ClaimWith("", R"(,"annotations":{"volume.beta.kubernetes.io/storage-class":"b"})"),
            "none");
}

TEST_F(DefaultClassTest, AnIngressGetsTheDefault) {
  EXPECT_EQ(RouteWith(), "");
  MakeClass(kRouteClasses, "other", Marked("ingressclass.kubernetes.io/is-default-class", "yes"));
  EXPECT_EQ(RouteWith(), "");
  MakeClass(kRouteClasses, "m", Marked("ingressclass.kubernetes.io/is-default-class"));
  EXPECT_EQ(RouteWith(), "m");
  EXPECT_EQ(RouteWith(R"(,"ingressClassName":"a")"), "a");
  EXPECT_EQ(RouteWith("", R"(,"annotations":{"kubernetes.io/ingress.class":"b"})"), "");
}

}  // namespace
}  // namespace kubexx::apiserver
