/// @file
/// Plays kubelets, and programs that read their files anew when they are asked to.
#ifndef KUBEXX_TEST_SIMULATION_KUBELET_H_
#define KUBEXX_TEST_SIMULATION_KUBELET_H_

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/reloader/in_place/pod_access.h"
#include "kubexx/rest/rest_client.h"
#include "oracle/oracle.h"
#include "oracle/random.h"

namespace kubexx::simulation {

/// Where the files of a source are, given as the oracle names sources, in pods that mount it.
std::string DirectoryOf(const std::string& source);

/// Plays, for operators with reloads in place, what is behind the API server: two pods of each
/// workload that the oracle knows, the kubelet that writes the present data of their sources into
/// files some time after it was asked to, or a minute or two after a change, and the program that
/// reads these files when the action is carried out. Some calls fail, and some actions. It tells
/// the oracle what all pods of a workload have read. Thread-safe.
class Kubelet {
 public:
  /// `oracle` must outlive it.
  Kubelet(oracle::Oracle& oracle, oracle::Random random) : oracle_(oracle), random_(random) {}
  Kubelet(const Kubelet&) = delete;
  Kubelet& operator=(const Kubelet&) = delete;

  /// The pods as an operator reaches them that reads sources through `client`. Must not be used
  /// after the kubelet.
  std::unique_ptr<reloader::PodAccess> AccessFor(std::shared_ptr<rest::RESTClient> client);

 private:
  class Access;
  struct Pod {
    std::string workload{};  ///< "deployments/ns/name"
    std::string pods{};      ///< begins the names of the pods of its template
    api::core::v1::Pod object{};
    std::map<std::string, std::string> files{};  ///< data in files, by source
    std::map<std::string, std::string> has{};    ///< that the program has read
    base::TimePoint next_sync{};
  };

  apimachinery::Result<std::vector<api::core::v1::Pod>> PodsOf(const std::string& workload,
                                                               const std::string& uid);
  apimachinery::Result<api::core::v1::Pod> Get(const std::string& pod);
  apimachinery::Result<void> WantFiles(const std::string& pod);
  apimachinery::Result<reloader::CommandEnd> Look(const std::string& pod,
                                                  const std::vector<std::string>& command);
  apimachinery::Result<void> RunAction(const std::string& pod);
  /// Lets some milliseconds pass; an error: the call fails.
  apimachinery::Result<void> Begin(const std::stop_token& stop);

  /// The pod, which is one of the present template of its workload, or nothing.
  apimachinery::Result<Pod*> FindLocked(const std::string& pod) KX_REQUIRES(mu_);
  void SyncLocked(Pod& pod) KX_REQUIRES(mu_);

  oracle::Oracle& oracle_;
  base::Mutex mu_;
  oracle::Random random_ KX_GUARDED_BY(mu_);
  std::map<std::string, Pod> pods_ KX_GUARDED_BY(mu_);  ///< by "ns/name"
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_KUBELET_H_
