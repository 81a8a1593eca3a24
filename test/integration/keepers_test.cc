// Custom resources that a program reads and writes back: nothing of what users and other programs
// have written gets lost.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>

#include "cluster_fixture.h"
#include "kubexx/api/registry.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/places/places.h"
#include "kubexx/codec/convert.h"
#include "kubexx/controller/client.h"
#include "kubexx/controller/finalizer.h"
#include "kubexx/dynamic/dynamic_client.h"
#include "kubexx/kubernetes/resource_client.h"
#include "kubexx/kubernetes/testing/keeper_v1.gen.h"

namespace kubexx::integration {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using controller::Finalization;
using dynamic::Unstructured;
using kubernetes::testing::Keeper;
using ::testing::ElementsAre;

constexpr std::string_view kKeeperFinalizer = "example.com/keep";

class KeepersTest : public ClusterTest {
 protected:
  /// Installs a definition that has one property more than the program knows.
  void SetUp() override {
    ClusterTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    std::ifstream file(base::testing::SourceTree() / "pkg/kubernetes/testing/keepers.yaml");
    std::string yaml{std::istreambuf_iterator<char>(file), {}};
    const std::string property = "allowed: {type: array, items: {type: string}}\n";
    yaml.insert(yaml.find(property), "newer: {type: string}\n                ");
    const auto json = codec::Convert(yaml, {.from = codec::FileFormat::kYaml}, api::Registry());
    ASSERT_TRUE(json) << json.error().ToString();
    const auto crd = Unstructured::Parse(*json);
    ASSERT_TRUE(crd) << crd.error().ToString();
    const auto created =
        Dynamic("apiextensions.k8s.io", "customresourcedefinitions", "").Create(*crd);
    ASSERT_TRUE(created || created.error().reason == Reason::kAlreadyExists)
        << created.error().ToString();
    KX_AWAIT(Keepers().List().has_value());
  }

  dynamic::DynamicResource Dynamic(const std::string& group, const std::string& resource,
                                   const std::string& in) const {
    return dynamic::DynamicClient(client_).Resource(
        {.group = group, .version = "v1", .resource = resource}, in);
  }
  dynamic::DynamicResource Untyped() const {
    return Dynamic("test.example.com", "keepers", namespace_);
  }
  kubernetes::ResourceClient<Keeper> Keepers() const { return {client_, namespace_}; }

  /// As a user applies it.
  Unstructured CreateKeeper(const std::string& name, const std::string& spec) const {
    const auto object = Unstructured::Parse(
        R"({"apiVersion":"test.example.com/v1","kind":"Keeper","metadata":{"name":")" + name +
        R"("},"spec":)" + spec + "}");
    EXPECT_TRUE(object) << object.error().ToString();
    auto created = Untyped().Create(*object);
    EXPECT_TRUE(created) << created.error().ToString();
    return created ? *std::move(created) : Unstructured();
  }
};

TEST_F(KeepersTest, AnObjectThatIsWrittenBackIsAsItWas) {
  int number = 0;
  for (const std::string spec :
       {R"({"must":[],"mustMap":{},"mustText":"","allowed":[],"limits":{},"flags":[],"rules":[]})",
        R"({"must":null,"mustMap":null,"mustText":null,"names":null,"byName":null,"text":null,)"
        R"("part":null,"any":null})",
        R"({"must":["m"],"mustMap":{"m":1},"mustText":"m","names":[],"byName":{},"text":"",)"
        R"("part":{},"any":{"a":[]},"say \"hi\"\\":"1","a\tb":"2","nul\u0000l":"3"})"}) {
    const std::string name = "k" + std::to_string(++number);
    const Unstructured before = CreateKeeper(name, spec);
    EXPECT_EQ(*before.Get({"spec"}), *codec::JsonTree::Parse(spec)) << "the server keeps it all";
    const auto read = Keepers().Get(name);
    ASSERT_TRUE(read) << read.error().ToString();
    const auto written = Keepers().Update(*read);
    ASSERT_TRUE(written) << written.error().ToString();
    const auto after = Untyped().Get(name);
    ASSERT_TRUE(after) << after.error().ToString();
    EXPECT_EQ(after->Get({"spec"})->ToJson(), before.Get({"spec"})->ToJson());
    EXPECT_EQ(after->ResourceVersion(), before.ResourceVersion()) << "there was nothing to change";
  }
}

TEST_F(KeepersTest, FinalizersComeAndGoAndNothingElseChanges) {
  const std::string spec =
      R"({"allowed":[],"must":[],"mustMap":{},"mustText":"m","newer":"than the program"})";
  CreateKeeper("k", spec);
  const controller::Client client(controller::Client::Parts{.rest = client_});
  int cleaned = 0;
  const auto finalize = [&](Keeper& keeper) {
    return controller::Finalize(client, keeper, kKeeperFinalizer, [&](const Keeper&) {
      ++cleaned;
      return Result<void>();
    });
  };
  auto keeper = *Keepers().Get("k");
  const Keeper stale = keeper;
  EXPECT_EQ(finalize(keeper), Finalization::kStays);
  EXPECT_THAT(keeper.metadata.finalizers, ElementsAre(kKeeperFinalizer));
  const auto stored = Untyped().Get("k");
  ASSERT_TRUE(stored) << stored.error().ToString();
  EXPECT_THAT(stored->Finalizers(), ElementsAre(kKeeperFinalizer));
  EXPECT_EQ(*stored->Get({"spec"}), *codec::JsonTree::Parse(spec));
  Keeper copy = stale;
  EXPECT_EQ(finalize(copy).error().reason, Reason::kConflict) << "it has another version";

  ASSERT_TRUE(Keepers().Delete("k"));
  keeper = *Keepers().Get("k");
  copy = keeper;
  EXPECT_EQ(finalize(keeper), Finalization::kGoes);
  EXPECT_EQ(Keepers().Get("k").error().reason, Reason::kNotFound);
  EXPECT_EQ(finalize(copy), Finalization::kGoes) << "as from a cache that has not seen its end";
  EXPECT_EQ(cleaned, 2);
}

}  // namespace
}  // namespace kubexx::integration
