/// @file
/// The environment variables with which the operator rolls workloads.
#ifndef KUBEXX_RELOADER_MODEL_ENV_VAR_H_
#define KUBEXX_RELOADER_MODEL_ENV_VAR_H_

#include <string>
#include <string_view>

#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

/// The prefix of every variable of the env-vars strategy.
inline constexpr std::string_view kEnvVarPrefix = "STAKATER_";

/// The name of a source's variable, such as "STAKATER_" + NAME + "_CONFIGMAP". NAME is the source's
/// name in upper case, in which '_' replaces each run of bytes outside [A-Z0-9]; such a run at the
/// beginning is dropped. Different sources can share a name ("a-b", "a.b"). The rules are
/// stakater/Reloader's. Of a source of another namespace (see SourceId) "__" replaces the '/',
/// which no name of a source of the own namespace makes.
std::string EnvVarName(SourceType type, std::string_view source_name);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_ENV_VAR_H_
