/// @file
/// ReadSecretFile: reads files with tokens and private keys.
#ifndef KUBEXX_APIMACHINERY_SECRET_FILE_H_
#define KUBEXX_APIMACHINERY_SECRET_FILE_H_

#include <string>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/status.h"

namespace kubexx::apimachinery {

/// Returns the bytes of a file of at most 16 MiB, and leaves no other copy of them in memory.
/// kInvalidConfig "cannot read <path>: <reason>". Blocks, and waits for the writers of a pipe.
Result<Bytes> ReadSecretFile(const std::string& path);

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_SECRET_FILE_H_
