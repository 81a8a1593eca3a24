/// @file
/// The flags of kube-apiserver that decide who may do what and what others may see, and that this
/// server does not honour.
#ifndef KUBEXX_CMD_KUBEXX_APISERVER_SECURITY_FLAGS_H_
#define KUBEXX_CMD_KUBEXX_APISERVER_SECURITY_FLAGS_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/flags/flags.h"

namespace kubexx::cmd {

/// Adds those flags. For each that is given with a value that would have to have an effect a
/// sentence is added to `refused`, which says what to do instead and must outlive `flags`.
void AddSecurityFlags(flags::FlagSet& flags, std::vector<std::string>* refused);

/// kInvalidConfig when one of the flags that nobody knows, which are as FlagSet::AllowUnknown gives
/// them, may be about security, by its name: a misspelt one, or one of a later kube-apiserver.
apimachinery::Result<void> CheckUnknownFlags(const std::vector<std::string>& unknown);

/// kInvalidConfig for an admission plugin that is asked for to refuse something, and is not there.
apimachinery::Result<void> CheckPlugins(const std::vector<std::string>& enabled);

}  // namespace kubexx::cmd

#endif  // KUBEXX_CMD_KUBEXX_APISERVER_SECURITY_FLAGS_H_
