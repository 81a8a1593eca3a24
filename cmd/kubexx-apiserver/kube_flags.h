/// @file
/// The flags of kube-apiserver, for who starts that: envtest, the tests of other projects.
#ifndef KUBEXX_CMD_KUBEXX_APISERVER_KUBE_FLAGS_H_
#define KUBEXX_CMD_KUBEXX_APISERVER_KUBE_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/flags/flags.h"
#include "settings.h"

namespace kubexx::cmd {

/// Those that are said otherwise here.
struct KubeFlags {
  std::string bind_address = "0.0.0.0";
  std::int64_t secure_port = 6443;
  std::int64_t insecure_port = 0;
  std::string cert_dir{};
  bool allow_privileged = true;
  std::vector<std::string> admission_control{};
  std::vector<std::string> refused{};  ///< see AddSecurityFlags
  bool no_effect = false;              ///< the target of switches that change nothing here
  std::vector<std::string> unknown{};  ///< as they were given
};

/// Adds kube-apiserver's flags, also those that have no effect here, and takes unknown ones. Both
/// targets must outlive `flags`. Whether the server may do without what was given is said by
/// TakeKubeFlags.
void AddKubeFlags(flags::FlagSet& flags, KubeFlags& kube, Settings& settings);

/// Turns what was given into settings. The certificate is apiserver.crt in --cert-dir, with its key
/// in apiserver.key, which are made when they are not there. kInvalidConfig for flags without
/// which the server would allow more than is meant, and that it does not honour, and when files
/// cannot be written.
apimachinery::Result<void> TakeKubeFlags(const KubeFlags& kube, Settings& settings);

}  // namespace kubexx::cmd

#endif  // KUBEXX_CMD_KUBEXX_APISERVER_KUBE_FLAGS_H_
