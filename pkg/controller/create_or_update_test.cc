#include "kubexx/controller/create_or_update.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/schema.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/base/mutex.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/rest/testing/fake_server.h"
#include "kubexx/rest/testing/recorder.h"

namespace kubexx::controller {
namespace {

using api::core::v1::ConfigMap;
using apimachinery::Reason;
using apimachinery::Result;
using rest::testing::FakeConnection;
using rest::testing::FakeRequest;
using rest::testing::Recorder;

/// The cache has one object of version 10, which has changed on the server since then.
class CreateOrPatchTest : public ::testing::Test {
 protected:
  ~CreateOrPatchTest() override { caches_->Shutdown(); }

  template <class F>
  Result<Operation> Patch(F mutate) {
    ConfigMap map;
    map.metadata.namespace_ = "ns";
    map.metadata.name = "a";
    return CreateOrPatch(client_, map, [&mutate](ConfigMap& object) -> Result<void> {
      mutate(object);
      return {};
    });
  }
  std::string patch() const {
    const base::MutexLock lock(mu_);
    return patch_;
  }

 private:
  static constexpr char kObject[] =
      R"({"kind":"ConfigMap","metadata":{"namespace":"ns","name":"a","resourceVersion":"10","finalizers":["x/a"]},)"
      R"("data":{"k":"v"}})";

  void Answer(FakeConnection& connection, const FakeRequest& request) {
    if (request.method == "PATCH") {
      {
        const base::MutexLock lock(mu_);
        patch_ = request.body;
      }
      const bool stale = request.body.find("resourceVersion") != std::string::npos;
      connection.Respond(stale ? 409 : 200, "application/json",
                         stale ? R"({"kind":"Status","reason":"Conflict","code":409})" : kObject);
    } else if (request.target.find("sendInitialEvents") != std::string::npos) {
      connection.Respond(422, "application/json",
                         R"({"kind":"Status","reason":"Invalid","code":422})");
    } else if (request.target.find("watch=true") != std::string::npos) {
      connection.RespondChunked(200, "application/json;stream=watch");
      connection.AwaitPeer();
    } else {
      connection.Respond(
          200, "application/json",
          R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"10"},"items":[)" +
              std::string(kObject) + "]}");
    }
  }

  mutable base::Mutex mu_;
  std::string patch_ KX_GUARDED_BY(mu_);
  Recorder recorder_{[this](FakeConnection& connection, const FakeRequest& request) {
    Answer(connection, request);
  }};
  std::shared_ptr<informers::SharedInformerFactory> caches_ =
      std::make_shared<informers::SharedInformerFactory>(recorder_.client());
  const Client client_{{.rest = recorder_.client(), .caches = caches_}};
};

TEST_F(CreateOrPatchTest, DoesNotUndoWhatSomebodyElseHasPutIntoAList) {
  const auto patched =
      Patch([](ConfigMap& map) { map.metadata.finalizers.emplace_back("x/ours"); });
  ASSERT_FALSE(patched);
  EXPECT_EQ(patched.error().reason, Reason::kConflict);
  EXPECT_EQ(patch(), R"({"metadata":{"finalizers":["x/a","x/ours"],"resourceVersion":"10"}})");
}

TEST_F(CreateOrPatchTest, NeverConflictsWhereNoListChanges) {
  const auto patched = Patch([](ConfigMap& map) { map.data["k"] = "w"; });
  ASSERT_TRUE(patched) << patched.error().ToString();
  EXPECT_EQ(*patched, Operation::kUpdated);
  EXPECT_EQ(patch(), R"({"data":{"k":"w"}})");
}

// The last key that the program has seen; somebody else may have added another since.
TEST_F(CreateOrPatchTest, RemovesTheKeysOfAMapAndNotTheMap) {
  const auto patched = Patch([](ConfigMap& map) { map.data.clear(); });
  ASSERT_TRUE(patched) << patched.error().ToString();
  EXPECT_EQ(patch(), R"({"data":{"k":null}})");
}

}  // namespace
}  // namespace kubexx::controller
