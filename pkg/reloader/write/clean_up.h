/// @file
/// Takes away what operators have left on the workloads of a cluster.
#ifndef KUBEXX_RELOADER_WRITE_CLEAN_UP_H_
#define KUBEXX_RELOADER_WRITE_CLEAN_UP_H_

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloader/write/traces.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// Where to clean up, and how far.
struct CleanUpOptions {
  std::vector<std::string> namespaces{};  ///< empty: all
  std::string label_selector{};           ///< of the workloads; empty: all
  AnnotationKeys keys{};
  Removal removal{};
  bool dry_run = true;  ///< writes nothing
};

/// How many workloads there were.
struct CleanUpCounts {
  std::int64_t seen = 0;     ///< looked at
  std::int64_t traced = 0;   ///< those with traces
  std::int64_t cleaned = 0;  ///< from which something was taken away, or would be
  std::int64_t left = 0;     ///< on which something stays that was not asked for
  std::int64_t failed = 0;   ///< that could not be written, or lists that could not be had
  bool operator==(const CleanUpCounts&) const = default;
};

/// Is told of each workload with traces when it has been dealt with, and why it could not be
/// written; a success otherwise.
using CleanUpNews =
    base::FunctionRef<void(const Traces& traces, const apimachinery::Result<void>& written)>;
/// Is told of a list that could not be had: that counts as one failure, and the others go on.
using CleanUpFailure = base::FunctionRef<void(const apimachinery::Status& error)>;

/// Looks at the workloads of all kinds that the server has, one kind after the other, and takes
/// their traces away as `options` says. Goes on when something fails. Ends early, with kCancelled,
/// when `stop` is requested; what has been done stays done, and a second call goes on from there.
apimachinery::Result<CleanUpCounts> CleanUp(const std::shared_ptr<rest::RESTClient>& client,
                                            const CleanUpOptions& options, CleanUpNews on_workload,
                                            CleanUpFailure on_failure, const std::stop_token& stop);

/// What is done about a workload's traces, on one line: "Deployment shop/web: took away annotation
/// a; leaves variable V of container c".
std::string CleanUpLine(const Traces& traces, const CleanUpOptions& options);

/// The counts in sentences, and what to do next.
std::string CleanUpSummary(const CleanUpCounts& counts, const CleanUpOptions& options);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_WRITE_CLEAN_UP_H_
