/// @file
/// The interface through which the operator looks at pods and acts in them.
#ifndef KUBEXX_RELOADER_IN_PLACE_POD_ACCESS_H_
#define KUBEXX_RELOADER_IN_PLACE_POD_ACCESS_H_

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/apimachinery/object_key.h"
#include "kubexx/apimachinery/status.h"
#include "kubexx/reloader/in_place/mount_check.h"
#include "kubexx/reloader/in_place/reload_action.h"
#include "kubexx/reloader/model/source.h"
#include "kubexx/reloader/model/workload.h"

namespace kubexx::rest {
class RESTClient;
}

namespace kubexx::reloader {

/// What a command in a container has left.
struct CommandEnd {
  int code = 0;
  std::string output{};  ///< of its standard output, at most kMaxOutputBytes
};

/// Looks at pods and acts in them. Each call returns within a time of its own, at most about half a
/// minute, whatever the pod does; its error is kTimeout then. Other errors are the API server's.
/// Implementations are thread-safe.
class PodAccess {
 public:
  static constexpr std::size_t kMaxOutputBytes = std::size_t{256} * 1024;

  virtual ~PodAccess() = default;
  /// The pods of the workload with this UID that run or are to run: neither finished nor on their
  /// way out. Only pods of the workload itself count, and no others that its selector matches. An
  /// error of which apimachinery::IsObjectNotFound is true: the workload is gone.
  virtual apimachinery::Result<std::vector<api::core::v1::Pod>> PodsOf(
      const WorkloadId& workload, const std::string& uid, const std::stop_token& stop) = 0;
  /// One pod.
  virtual apimachinery::Result<api::core::v1::Pod> Get(const apimachinery::ObjectKey& pod,
                                                       const std::stop_token& stop) = 0;
  /// Sets kFilesWantedAt on the pod, so that its kubelet looks for new data at once. Fails with
  /// kConflict when the pod of that name has another UID.
  virtual apimachinery::Result<void> WantFiles(const apimachinery::ObjectKey& pod,
                                               const std::string& uid, const std::string& at,
                                               const std::stop_token& stop) = 0;
  /// Runs a command that only looks.
  virtual apimachinery::Result<CommandEnd> Look(const apimachinery::ObjectKey& pod,
                                                const std::string& container,
                                                const std::vector<std::string>& command,
                                                const std::stop_token& stop) = 0;
  /// Carries the action out. Fails when the command has another exit code than 0, or the request
  /// another answer than 2xx: with kBadRequest when the program itself says by this that it does
  /// not take the data, by the exit codes 1 to 125 of a command or the statuses 400, 409, 412, 422
  /// and 500.
  virtual apimachinery::Result<void> RunAction(const apimachinery::ObjectKey& pod,
                                               const std::string& container,
                                               const ReloadAction& action,
                                               const std::stop_token& stop) = 0;
  /// The hashes of the present data of a ConfigMap or Secret; std::nullopt when it does not exist.
  virtual apimachinery::Result<std::optional<KeyHashes>> HashesOf(const SourceId& source,
                                                                  const std::stop_token& stop) = 0;
};

/// The pods behind an API server. Runs commands over WebSockets, and sends requests through the
/// server's proxy of pods. Reads sources by a list with their name, for which the operator has the
/// right anyway.
std::unique_ptr<PodAccess> NewPodAccess(std::shared_ptr<rest::RESTClient> client);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_IN_PLACE_POD_ACCESS_H_
