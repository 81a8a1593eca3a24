/// @file
/// What becomes of workloads in a cluster without nodes.
#ifndef KUBEXX_TEST_ORACLE_ROLLOUTS_H_
#define KUBEXX_TEST_ORACLE_ROLLOUTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kubexx/rest/rest_client.h"
#include "oracle/oracle.h"
#include "oracle/random.h"

namespace kubexx::oracle {

/// Stands for the controllers and kubelets of a cluster as far as an operator sees them: the status
/// of a Deployment tells some time after each change that all of its pods are new and ready. Most
/// rollouts take seconds, some minutes. Pods that have bad data, see IsBad, crash for some minutes
/// and run then. Its thread is of whoever constructs it.
class Rollouts {
 public:
  /// How pods of a template begin.
  enum class Pods : std::uint8_t {
    kAtOnce,
    kOneByOne,  ///< after each other, for longer, so that data change between two of them
  };
  /// `oracle` must outlive it.
  Rollouts(std::shared_ptr<rest::RESTClient> client, Oracle& oracle, Random random,
           Pods pods = Pods::kAtOnce);
  Rollouts(const Rollouts&) = delete;
  Rollouts& operator=(const Rollouts&) = delete;

 private:
  void Run(const std::stop_token& stop);
  /// Its pods are new, and run, or crash.
  void Finish(const Oracle::Unfinished& workload, bool runs, const std::stop_token& stop);

  const std::shared_ptr<rest::RESTClient> client_;
  Oracle& oracle_;
  Random random_;
  const Pods pods_;
  /// How many looks are left before the workload, of this generation, is ready.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> left_{};
  std::jthread thread_;  // last: ends first
};

}  // namespace kubexx::oracle

#endif  // KUBEXX_TEST_ORACLE_ROLLOUTS_H_
