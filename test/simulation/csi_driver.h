/// @file
/// Plays the Secrets Store CSI driver.
#ifndef KUBEXX_TEST_SIMULATION_CSI_DRIVER_H_
#define KUBEXX_TEST_SIMULATION_CSI_DRIVER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kubexx/apiserver/storage/storage.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/rest_client.h"
#include "oracle/oracle.h"
#include "oracle/random.h"

namespace kubexx::simulation {

/// Tells, for each pod that mounts a SecretProviderClass, which version of its object the pod has:
/// the present one when the pod begins, and after a rotation the new one, for one pod after the
/// other. It makes SecretProviderClassPodStatuses for two pods of each workload that the oracle
/// knows, takes away those of pods that are gone, and makes them again where they have got lost.
/// Thread-safe.
class CsiDriver {
 public:
  /// `oracle` must outlive it.
  CsiDriver(std::shared_ptr<rest::RESTClient> client, oracle::Oracle& oracle,
            oracle::Random random);

  /// What the classes of a namespace name has another version from now on.
  void Rotate(const std::string& space);

 private:
  enum class Found : std::uint8_t { kNothing, kWork, kNoAnswer };
  /// What a look goes by: while it stays the same, another look finds the same.
  struct Basis {
    apiserver::storage::Revision revision = 0;
    std::uint64_t rotations = 0;
    bool operator==(const Basis&) const = default;
  };

  void Run(const std::stop_token& stop);
  Basis Present();
  /// Looks at all namespaces.
  Found Look(const std::stop_token& stop);
  Found LookAt(const std::string& space, const std::vector<oracle::Oracle::Mount>& mounts,
               const std::stop_token& stop);
  /// Creates it, or with `is_there` changes it.
  void Tell(const std::string& path, const std::string& pod, const std::string& provider_class,
            bool is_there, const std::stop_token& stop);
  std::string VersionIn(const std::string& space);

  const std::shared_ptr<rest::RESTClient> client_;
  oracle::Oracle& oracle_;
  oracle::Random random_;
  base::Mutex mu_;
  std::map<std::string, std::uint64_t> versions_ KX_GUARDED_BY(mu_);  ///< by namespace
  std::uint64_t rotations_ KX_GUARDED_BY(mu_) = 0;
  std::set<std::string> spaces_{};  ///< that have had mounts
  std::jthread thread_;             // last: ends first
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_CSI_DRIVER_H_
