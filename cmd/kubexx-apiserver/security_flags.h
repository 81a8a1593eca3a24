/// @file
/// The flags of kube-apiserver that restrict what users may do and see, and that this server does
/// not honour.
#ifndef KUBEXX_CMD_KUBEXX_APISERVER_SECURITY_FLAGS_H_
#define KUBEXX_CMD_KUBEXX_APISERVER_SECURITY_FLAGS_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/flags/flags.h"

namespace kubexx::cmd {

/// Adds those flags. When one is given with a value that would need an effect, a sentence that says
/// what to do instead is added to `refused`, which must outlive `flags`.
void AddSecurityFlags(flags::FlagSet& flags, std::vector<std::string>* refused);

/// Returns kInvalidConfig when the name of an unknown flag suggests that it concerns security,
/// because it is misspelt or belongs to a later kube-apiserver. `unknown` is what
/// FlagSet::AllowUnknown gives.
apimachinery::Result<void> CheckUnknownFlags(const std::vector<std::string>& unknown);

/// Returns kInvalidConfig for an enabled admission plugin that would refuse requests and that this
/// server does not have.
apimachinery::Result<void> CheckPlugins(const std::vector<std::string>& enabled);

}  // namespace kubexx::cmd

#endif  // KUBEXX_CMD_KUBEXX_APISERVER_SECURITY_FLAGS_H_
