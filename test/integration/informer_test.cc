#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "cluster_fixture.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::integration {
namespace {

using cache::Ref;

// What a handler knows from its events alone.
class Known {
 public:
  cache::EventHandler<ConfigMap> Handler() {
    return {
        .on_add = [this](const Ref<ConfigMap>& object, bool) { Set(*object); },
        .on_update = [this](const Ref<ConfigMap>&, const Ref<ConfigMap>& object) { Set(*object); },
        .on_delete =
            [this](const Ref<ConfigMap>& object, bool) {
              const std::lock_guard lock(mu_);
              values_.erase(object->metadata.name);
            }};
  }
  std::map<std::string, std::string> values() const {
    const std::lock_guard lock(mu_);
    return values_;
  }

 private:
  void Set(const ConfigMap& object) {
    const std::lock_guard lock(mu_);
    const auto value = object.data.find("value");
    values_[object.metadata.name] = value == object.data.end() ? "" : value->second;
  }

  mutable std::mutex mu_;
  std::map<std::string, std::string> values_;
};

class InformerClusterTest : public ClusterTest {
 protected:
  void SetUp() override {
    ClusterTest::SetUp();
    if (client_) {
      factory_ = std::make_unique<informers::SharedInformerFactory>(
          client_, informers::FactoryOptions{.namespace_ = namespace_, .registry = &registry_});
      informer_ = factory_->InformerFor<ConfigMap>();
      subscription_ = informer_->AddEventHandler("known", known_.Handler());
    }
  }
  void TearDown() override {
    subscription_.Reset();
    informer_.reset();
    factory_.reset();
    ClusterTest::TearDown();
  }

  std::map<std::string, std::string> Stored() const {
    std::map<std::string, std::string> out;
    const auto listed = factory_->ListerFor<ConfigMap>().List(namespace_);
    EXPECT_TRUE(listed.has_value()) << listed.error().ToString();
    for (const auto& object : listed.value_or(std::vector<cache::Ref<ConfigMap>>())) {
      const auto value = object->data.find("value");
      out[object->metadata.name] = value == object->data.end() ? "" : value->second;
    }
    return out;
  }

  double ReflectorCounter(const std::string& name) {
    return registry_.Counter(name, "", {{"name", "configmaps"}}).Value();
  }

  metrics::Registry registry_;
  Known known_;
  std::unique_ptr<informers::SharedInformerFactory> factory_;
  std::shared_ptr<cache::SharedInformer<ConfigMap>> informer_;
  base::Subscription subscription_;
};

TEST_F(InformerClusterTest, SeesAddUpdateAndDelete) {
  Create("one", "1");
  factory_->Start();
  ASSERT_TRUE(factory_->WaitForCacheSync(base::testing::PatienceEnd().token()));
  EXPECT_EQ(Stored().at("one"), "1");
  Create("two", "1");
  Update("one", "2");
  EXPECT_TRUE(Await([this] { return known_.values() == Listed(); }));
  ASSERT_TRUE(ConfigMaps().Delete("two").has_value());
  EXPECT_TRUE(Await([this] { return known_.values() == Listed(); }));
  EXPECT_EQ(Stored(), Listed());
  EXPECT_EQ(informer_->Get({namespace_, "one"}).value()->data.at("value"), "2");
  EXPECT_TRUE(informer_->HandlerHasSynced("known"));
}

TEST_F(InformerClusterTest, OneFactoryHasOneInformerAType) {
  EXPECT_EQ(factory_->InformerFor<ConfigMap>(), informer_);
  factory_->Start();
  ASSERT_TRUE(factory_->WaitForCacheSync(base::testing::PatienceEnd().token()));
  EXPECT_EQ(ReflectorCounter("reflector_lists_total"), 1);
}

TEST_F(InformerClusterTest, AKilledApiServerLosesNoChange) {
  if (!CanRestartApiServer()) {
    FAIL() << "KUBEXX_CLUSTER is not set; run these tests with: hack/test --integration";
  }
  factory_->Start();
  ASSERT_TRUE(factory_->WaitForCacheSync(base::testing::PatienceEnd().token()));
  std::atomic<int> written = 0;
  std::atomic<int> refused = 0;
  std::jthread writer([this, &written, &refused](const std::stop_token& stop) {
    // Creates, changes and deletes, each tried again until the server has taken it.
    for (int i = 0; !stop.stop_requested(); ++i) {
      const std::string name = "object-" + std::to_string(i % 20);
      const ConfigMap object = MakeConfigMap(name, std::to_string(i));
      bool done = false;
      while (!done && !stop.stop_requested()) {
        using apimachinery::Reason;
        if (i % 7 == 6) {
          const auto result = ConfigMaps().Delete(name);
          done = result || result.error().reason == Reason::kNotFound;
        } else {
          auto result = ConfigMaps().Update(object);
          if (!result && result.error().reason == Reason::kNotFound) {
            result = ConfigMaps().Create(object);
          }
          done = result.has_value();
        }
        if (!done) {
          ++refused;
          (void)base::Clock::Real().SleepFor(std::chrono::milliseconds(50), stop);
        }
      }
      ++written;
      (void)base::Clock::Real().SleepFor(std::chrono::milliseconds(5), stop);
    }
  });
  for (int round = 0; round < 2; ++round) {
    const int before = written;
    ASSERT_TRUE(Await([&written, before] { return written > before + 50; }));
    KillApiServer();
    ASSERT_TRUE(Await([&refused, round] { return refused > 3 * (round + 1); }));
    StartApiServer();
    const int after = written;
    ASSERT_TRUE(Await([&written, after] { return written > after + 50; }));
  }
  writer.request_stop();
  writer.join();
  const auto expected = Listed();
  EXPECT_TRUE(Await([this, &expected] { return known_.values() == expected; }))
      << "the handler missed a change";
  EXPECT_EQ(Stored(), expected);
  EXPECT_GE(ReflectorCounter("reflector_watches_total"), 3);
  RecordProperty("written", written);
  RecordProperty("relists", static_cast<int>(ReflectorCounter("reflector_relists_total")));
}

}  // namespace
}  // namespace kubexx::integration
