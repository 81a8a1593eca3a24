/// @file
/// The environment variables by which a workload is rolled.
#ifndef KUBEXX_RELOADER_MODEL_ENV_VAR_H_
#define KUBEXX_RELOADER_MODEL_ENV_VAR_H_

#include <string>
#include <string_view>

#include "kubexx/reloader/model/source.h"

namespace kubexx::reloader {

/// What every variable of the env-vars strategy begins with.
inline constexpr std::string_view kEnvVarPrefix = "STAKATER_";

/// The name of a source's variable: "STAKATER_" + NAME + "_CONFIGMAP". NAME is upper case; each run
/// of bytes outside [A-Z0-9] is one '_', at the beginning none. Different sources can share a name
/// ("a-b", "a.b"). As stakater/Reloader.
std::string EnvVarName(SourceType type, std::string_view source_name);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_ENV_VAR_H_
