/// @file
/// ReadConfigFile: reads configuration files.
#ifndef KUBEXX_REST_INTERNAL_CONFIG_FILE_H_
#define KUBEXX_REST_INTERNAL_CONFIG_FILE_H_

#include <string>

#include "kubexx/apimachinery/status.h"

namespace kubexx::rest::internal {

/// Returns the bytes of a file of at most 16 MiB. kInvalidConfig "<what>: cannot read <path>:
/// <reason>" when it cannot be read.
apimachinery::Result<std::string> ReadConfigFile(const std::string& path, const std::string& what);

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_CONFIG_FILE_H_
