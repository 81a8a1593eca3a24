// A custom resource whose types are the header test/crds/gadget.h: the API server takes the
// definition that kubexx-codegen made of it, and the typed client its structs.

#include <gmock/gmock.h>

#include <optional>
#include <string>

#include "cluster_fixture.h"
#include "crd_file.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/kubernetes/resource_client.h"
#include "test/crds/gadget_v1.gen.h"

namespace kubexx::integration {
namespace {

using crds::v1::Gadget;
using ::testing::HasSubstr;

class HeaderTypesTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    InstallCrd(client_, "test/crds/test.example.com_gadgets.yaml");
    if (HasFatalFailure()) {
      return;
    }
    ASSERT_TRUE(Await([this] { return Gadgets().List().has_value(); }));
  }

  kubernetes::ResourceClient<Gadget> Gadgets() const { return {client_, namespace_}; }

  static Gadget Valid() {
    Gadget gadget;
    gadget.metadata.name = "g";
    gadget.spec.tier = crds::v1::kTierGold;
    gadget.spec.ports.push_back({.number = 8080, .name = "http"});
    return gadget;
  }

  std::string RefusalOf(const Gadget& gadget) const {
    const auto created = Gadgets().Create(gadget);
    EXPECT_FALSE(created);
    EXPECT_EQ(created.error().reason, apimachinery::Reason::kInvalid);
    return created.error().message;
  }
};

TEST_F(HeaderTypesTest, ObjectsComeBackAsTheyWereSent) {
  Gadget gadget = Valid();
  gadget.spec.weight = 1.5;
  gadget.spec.surge = apimachinery::IntOrString(std::string("10%"));
  gadget.spec.memory = apimachinery::Quantity::FromCanonical("1Gi");
  gadget.spec.token = apimachinery::Bytes(std::string("\x00\x01", 2));
  gadget.spec.extra = apimachinery::JsonValue{.raw = R"({"a":[1,null]})"};
  gadget.spec.names = crds::v1::Names{"a", "b"};
  gadget.spec.bits = {{true}, {false}};
  gadget.spec.by_name["a"] = {.number = 1};
  gadget.spec.schedule = crds::v1::Schedule{.cron = "1 2 3 4 5"};
  gadget.spec.note.emplace();  // null
  gadget.spec.args.emplace().emplace();
  // What the server fills in.
  Gadget expected = gadget;
  expected.spec.labels = {{"color", "red"}, {"two words", "x"}};
  expected.spec.fallback = crds::v1::Schedule{.cron = "* * * * *"};
  expected.spec.pod_ips = {{"10.0.0.1"}};
  expected.spec.numbers = {{80, 443}};

  const auto created = Gadgets().Create(gadget, {.field_validation = "Strict"});
  ASSERT_TRUE(created) << created.error().ToString();
  EXPECT_EQ(created->spec, expected.spec);
  auto got = Gadgets().Get("g");
  ASSERT_TRUE(got) << got.error().ToString();
  EXPECT_EQ(got->spec, expected.spec);
  EXPECT_FALSE(got->status);

  got->status.emplace().replicas = 2;
  got->status->conditions.emplace().push_back(
      {.type = "Ready", .status = "True", .reason = "AsWanted", .message = "m"});
  got->status->conditions->back().last_transition_time = created->metadata.creation_timestamp;
  const auto updated = Gadgets().UpdateStatus(*got);
  ASSERT_TRUE(updated) << updated.error().ToString();
  EXPECT_EQ(updated->status, got->status);
}

TEST_F(HeaderTypesTest, TheServerRefusesWhatTheMarkersForbid) {
  Gadget gadget = Valid();
  gadget.spec.size = 101;
  EXPECT_THAT(RefusalOf(gadget), HasSubstr("spec.size"));
  gadget = Valid();
  gadget.spec.tier = "Lead";
  EXPECT_THAT(RefusalOf(gadget), HasSubstr("spec.tier"));
  gadget = Valid();
  gadget.spec.ports.push_back({.number = 8080});
  EXPECT_THAT(RefusalOf(gadget), HasSubstr("spec.ports[1]"));
  gadget = Valid();
  gadget.spec.surge = apimachinery::IntOrString(std::string("some"));
  EXPECT_THAT(RefusalOf(gadget), HasSubstr("spec.surge"));
}

TEST_F(HeaderTypesTest, TheServerObeysTheRulesOfTheHeader) {
  const auto created = Gadgets().Create(Valid());
  ASSERT_TRUE(created) << created.error().ToString();
  Gadget changed = *created;
  changed.spec.tier = "Silver";
  const auto updated = Gadgets().Update(changed);
  ASSERT_FALSE(updated);
  EXPECT_THAT(updated.error().message, HasSubstr("the tier is immutable"));
  Gadget both = Valid();
  both.spec.schedule = crds::v1::Schedule{.cron = "1 2 3 4 5"};
  both.spec.schedule->every.emplace();
  EXPECT_THAT(RefusalOf(both), HasSubstr("either cron or every"));
}

}  // namespace
}  // namespace kubexx::integration
