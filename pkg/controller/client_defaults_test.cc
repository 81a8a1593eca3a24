#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/testing/fake_clock.h"
#include "kubexx/codec/codec.h"
#include "kubexx/controller/client.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::controller {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Reason;
using kubernetes::ApplyObject;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::Recorder;
using ::testing::HasSubstr;
using ::testing::Not;

ConfigMap StoredMap() {
  ConfigMap map;
  map.metadata.namespace_ = "ns";
  map.metadata.name = "a";
  map.metadata.resource_version = "10";
  return map;
}

class ClientDefaultsTest : public ::testing::Test {
 protected:
  /// Returns the query of the last request.
  std::string query() const {
    const std::string target = recorder_.last().target;
    const auto mark = target.find('?');
    return mark == std::string::npos ? std::string() : target.substr(mark + 1);
  }

  Recorder recorder_{[](FakeConnection& connection, const FakeRequest&) {
    connection.Respond(200, "application/json", codec::EncodeJson(StoredMap()));
  }};
  base::testing::FakeClock clock_;
  std::shared_ptr<ConsistencyStore> writes_ = std::make_shared<ConsistencyStore>(clock_);
  const Client client_{
      {.rest = recorder_.client(),
       .caches = std::make_shared<informers::SharedInformerFactory>(recorder_.client()),
       .writes = writes_}};
};

TEST_F(ClientDefaultsTest, AFieldManagerIsThatOfAllWrites) {
  const Client client = client_.WithFieldManager("m").WithFieldValidation("Strict");
  const std::string defaults = "fieldManager=m&fieldValidation=Strict";
  ASSERT_TRUE(client.Create(StoredMap()));
  EXPECT_EQ(query(), defaults);
  ASSERT_TRUE(client.Update(StoredMap()));
  EXPECT_EQ(query(), defaults);
  ASSERT_TRUE(client.Patch<ConfigMap>({"ns", "a"}, rest::PatchType::kMerge, "{}"));
  EXPECT_EQ(query(), defaults);
  ASSERT_TRUE(client.Apply(ApplyObject<ConfigMap>("a", "ns")));
  EXPECT_EQ(query(), defaults);
  ASSERT_TRUE(client.Resource<ConfigMap>("ns").Update(StoredMap()));
  EXPECT_EQ(query(), defaults) << "the client that it gives has them, too";
  ASSERT_TRUE(client.Delete<ConfigMap>({"ns", "a"}));
  EXPECT_EQ(query(), "") << "a delete has neither";
}

TEST_F(ClientDefaultsTest, TheOptionsOfAWriteComeFirst) {
  const Client client = client_.WithFieldManager("m").WithFieldValidation("Strict");
  ASSERT_TRUE(client.Update(StoredMap(), {.field_manager = "own", .field_validation = "Ignore"}));
  EXPECT_EQ(query(), "fieldManager=own&fieldValidation=Ignore");
  ASSERT_TRUE(client_.Update(StoredMap()));
  EXPECT_EQ(query(), "") << "the client that it was made from has none";
}

TEST_F(ClientDefaultsTest, ApplyNeedsAFieldManagerOfEither) {
  EXPECT_EQ(client_.Apply(ApplyObject<ConfigMap>("a", "ns")).error().reason, Reason::kBadRequest);
  EXPECT_TRUE(client_.Apply(ApplyObject<ConfigMap>("a", "ns"), {.field_manager = "m"}));
}

TEST_F(ClientDefaultsTest, ADryRunIsOneForAllWritesAndNoReconcileWaitsForIt) {
  const Client client = client_.WithDryRun();
  ASSERT_TRUE(client.Create(StoredMap()));
  EXPECT_EQ(query(), "dryRun=All");
  ASSERT_TRUE(client.Update(StoredMap(), {.dry_run = false}));
  EXPECT_EQ(query(), "dryRun=All");
  ASSERT_TRUE(client.Delete<ConfigMap>({"ns", "a"}));
  EXPECT_THAT(recorder_.last().body, HasSubstr(R"("dryRun":["All"])"));
  ASSERT_TRUE(client.DeleteCollection<ConfigMap>("ns", {}));
  EXPECT_THAT(recorder_.last().body, HasSubstr(R"("dryRun":["All"])"));
  ASSERT_TRUE(client_.Update(StoredMap(), {.dry_run = true}));
  const auto cached_at = [](std::string_view) { return std::string("1"); };
  EXPECT_FALSE(writes_->CheckRead("v1/configmaps", "ns", cached_at))
      << "a read would wait for what nobody has stored";
  ASSERT_TRUE(client_.Update(StoredMap()));
  EXPECT_THAT(recorder_.last().target, Not(HasSubstr("dryRun")));
  EXPECT_TRUE(writes_->CheckRead("v1/configmaps", "ns", cached_at));
}

}  // namespace
}  // namespace kubexx::controller
