// A client as a program has it: a write, a list, a watch and an event of it. For the tests of
// proxies, which the kubeconfig names.
//
//   through_proxy NAMESPACE
//
// Reads KUBEXX_TEST_KUBECONFIG. Prints "ok", or the error.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/stop_timer.h"
#include "kubexx/informers/shared_informer_factory.h"
#include "kubexx/kubernetes/clientset.gen.h"
#include "kubexx/kubernetes/core_v1.gen.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace {

using namespace kubexx;  // NOLINT(google-build-using-namespace): the wiring speaks of every package
using api::core::v1::ConfigMap;

// Each part has a minute.
constexpr std::chrono::minutes kPatience(1);

// What the watch has brought.
class Seen {
 public:
  void Tell() {
    const base::MutexLock lock(mu_);
    done_ = true;
    changed_.notify_all();
  }
  bool Await() {
    base::Clock& clock = base::Clock::Real();
    const base::TimePoint deadline = clock.Now() + kPatience;
    const base::MutexLock lock(mu_);
    while (!done_ && clock.WaitUntil(mu_, changed_, {}, deadline) == base::Wake::kNotified) {
    }
    return done_;
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  bool done_ KX_GUARDED_BY(mu_) = false;
};

apimachinery::Result<void> Talk(const char* kubeconfig, const std::string& namespace_) {
  KX_ASSIGN_OR_RETURN(rest::Config config, rest::LoadKubeconfig({.path = kubeconfig}));
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<rest::RESTClient> client,
                      rest::RESTClient::New(std::move(config)));
  const auto config_maps = kubernetes::Clientset(client).CoreV1().ConfigMaps(namespace_);
  ConfigMap map;
  map.metadata.name = "proxied-" + std::to_string(::getpid());
  map.metadata.namespace_ = namespace_;
  map.data["value"] = "1";
  KX_ASSIGN_OR_RETURN(const ConfigMap created, config_maps.Create(map));

  Seen seen;
  informers::SharedInformerFactory factory(client, {.namespace_ = namespace_});
  const cache::HandlerRegistration handler = factory.InformerFor<ConfigMap>()->AddEventHandler(
      "seen", {.on_update = [&seen, name = created.metadata.name](
                                const cache::Ref<ConfigMap>&, const cache::Ref<ConfigMap>& now) {
        if (now->metadata.name == name && now->data.at("value") == "2") {
          seen.Tell();
        }
      }});
  factory.Start();
  const base::StopTimer too_long(base::Clock::Real(), {}, kPatience);
  if (!factory.WaitForCacheSync(too_long.token())) {
    return apimachinery::Fail(apimachinery::Reason::kTimeout, "the first list has not come");
  }
  // Large enough for several records of TLS.
  const std::string large(100'000, 'x');
  KX_ASSIGN_OR_RETURN(const ConfigMap patched,
                      config_maps.Patch(created.metadata.name, rest::PatchType::kMerge,
                                        R"({"data":{"value":"2","large":")" + large + R"("}})"));
  if (patched.data.at("large") != large) {
    return apimachinery::Fail(apimachinery::Reason::kInternalError, "the data have changed");
  }
  if (!seen.Await()) {
    return apimachinery::Fail(apimachinery::Reason::kTimeout, "the watch has brought nothing");
  }
  return config_maps.Delete(created.metadata.name);
}

}  // namespace

int main(int argc, char** argv) {
  const char* kubeconfig = std::getenv("KUBEXX_TEST_KUBECONFIG");
  if (argc != 2 || kubeconfig == nullptr) {
    std::fprintf(stderr, "usage: KUBEXX_TEST_KUBECONFIG=FILE through_proxy NAMESPACE\n");
    return 2;
  }
  if (const auto done = Talk(kubeconfig, argv[1]); !done) {
    std::fprintf(stderr, "through_proxy: %s\n", done.error().ToString().c_str());
    return 1;
  }
  std::puts("ok");
  return 0;
}
