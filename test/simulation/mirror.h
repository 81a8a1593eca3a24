/// @file
/// A program that uses the library's informers in a simulation.
#ifndef KUBEXX_TEST_SIMULATION_MIRROR_H_
#define KUBEXX_TEST_SIMULATION_MIRROR_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "copier.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/base/mutex.h"
#include "kubexx/cache/handler_registration.h"
#include "kubexx/rest/rest_client.h"
#include "oracle/random.h"

namespace kubexx::cache {
class SharedInformerBase;
}

namespace kubexx::simulation {

/// Follows ConfigMaps, Secrets and Deployments, and keeps a map of each by what its handlers are
/// told: in the end the informers' stores and these maps must have what the server has. A Copier
/// works on the ConfigMaps. Its watches last for `watches_last` to twice as long. Its threads are
/// of whoever constructs it. Thread-safe.
class Mirror {
 public:
  Mirror(const std::shared_ptr<rest::RESTClient>& client, oracle::Random random,
         std::chrono::seconds watches_last);
  ~Mirror();
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  /// In a sentence, an object that is not the same here as in the server's `storage`.
  std::optional<std::string> Difference(apiserver::storage::Storage& storage);

 private:
  using Versions = std::map<apimachinery::ObjectKey, std::string>;
  struct Kind {
    std::string prefix{};  ///< of the storage's keys
    std::shared_ptr<cache::SharedInformerBase> informer{};
    Versions told{};
  };

  template <class T>
  void Add(const std::shared_ptr<rest::RESTClient>& client, std::size_t index, std::string prefix);
  void Tell(std::size_t index, const apimachinery::ObjectKey& key, const std::string* version);
  std::string Told(std::size_t index, const apimachinery::ObjectKey& key);
  static Versions VersionsIn(const cache::SharedInformerBase& informer);

  const std::shared_ptr<base::Executor> executor_ = std::make_shared<base::Executor>();
  const std::chrono::seconds watches_last_;
  base::Mutex mu_;
  std::vector<Kind> kinds_ KX_GUARDED_BY(mu_);
  Copier copier_;
  std::vector<cache::HandlerRegistration> handlers_{};
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_MIRROR_H_
