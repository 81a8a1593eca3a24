/// @file
/// An etcd of a test's own.
#ifndef KUBEXX_TEST_INTEGRATION_ETCD_PROCESS_H_
#define KUBEXX_TEST_INTEGRATION_ETCD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "kubexx/base/testing/temporary_folder.h"

namespace kubexx::integration {

/// The etcd that hack/cluster built (KUBEXX_CACHE), as a child process with a folder and ports of
/// its own. Killed and removed in the end.
class EtcdProcess {
 public:
  /// `flags` are added to those that a test needs anyway; `scheme` is http or https. Does not wait
  /// until it serves. A failure of the test when it cannot be started.
  explicit EtcdProcess(std::string scheme = "http", std::vector<std::string> flags = {});
  ~EtcdProcess();
  EtcdProcess(const EtcdProcess&) = delete;
  EtcdProcess& operator=(const EtcdProcess&) = delete;

  std::string endpoint() const { return scheme_ + "://127.0.0.1:" + std::to_string(port_); }
  const std::string& folder() const { return folder_.path(); }

  /// SIGKILL, and its end.
  void Kill();
  /// Again, with the data that it has.
  void Start();

 private:
  const std::string scheme_;
  const std::vector<std::string> flags_;
  const base::testing::TemporaryFolder folder_;
  int port_ = 0;
  int peer_port_ = 0;
  pid_t process_ = -1;
};

}  // namespace kubexx::integration

#endif  // KUBEXX_TEST_INTEGRATION_ETCD_PROCESS_H_
