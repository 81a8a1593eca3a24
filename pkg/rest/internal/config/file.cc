#include "kubexx/rest/internal/config/file.h"

#include "kubexx/apimachinery/read_file.h"

namespace kubexx::rest::internal {

apimachinery::Result<std::string> ReadConfigFile(const std::string& path, const std::string& what) {
  // A named pipe without a writer must not hang the program.
  auto bytes = apimachinery::ReadFile(path, {.waits_for_writers = false});
  if (!bytes) {
    return bytes.error().WithContext(what);
  }
  return bytes;
}

}  // namespace kubexx::rest::internal
