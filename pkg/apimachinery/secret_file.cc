#include "kubexx/apimachinery/secret_file.h"

#include <utility>

#include "kubexx/apimachinery/read_file.h"

namespace kubexx::apimachinery {

Result<Bytes> ReadSecretFile(const std::string& path) {
  KX_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  return Bytes(std::move(bytes));
}

}  // namespace kubexx::apimachinery
