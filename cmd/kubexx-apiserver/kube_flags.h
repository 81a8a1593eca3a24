/// @file
/// The flags of kube-apiserver, so that programs that start a kube-apiserver (envtest, the tests of
/// other projects) can start this server instead.
#ifndef KUBEXX_CMD_KUBEXX_APISERVER_KUBE_FLAGS_H_
#define KUBEXX_CMD_KUBEXX_APISERVER_KUBE_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/flags/flags.h"
#include "settings.h"

namespace kubexx::cmd {

/// The values of the flags that kubexx-apiserver has under other names, or not at all.
struct KubeFlags {
  std::string bind_address = "0.0.0.0";
  std::int64_t secure_port = 6443;
  std::int64_t insecure_port = 0;
  std::string cert_dir{};
  bool allow_privileged = true;
  std::vector<std::string> admission_control{};
  std::vector<std::string> refused{};  ///< see AddSecurityFlags
  bool no_effect = false;              ///< the target of switches that have no effect here
  std::vector<std::string> unknown{};  ///< unknown flags, as they were given
};

/// Adds kube-apiserver's flags, also those that have no effect here, and accepts unknown ones. Both
/// targets must outlive `flags`. TakeKubeFlags then decides whether the server may ignore what was
/// given.
void AddKubeFlags(flags::FlagSet& flags, KubeFlags& kube, Settings& settings);

/// Turns the given flags into settings. The certificate is apiserver.crt in --cert-dir and its key
/// is apiserver.key there; both are created when they do not exist. Returns kInvalidConfig for a
/// flag that this server does not honour and without which it would allow more than the caller
/// intends, and when the files cannot be written.
apimachinery::Result<void> TakeKubeFlags(const KubeFlags& kube, Settings& settings);

}  // namespace kubexx::cmd

#endif  // KUBEXX_CMD_KUBEXX_APISERVER_KUBE_FLAGS_H_
