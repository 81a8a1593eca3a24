#include "etcd.h"

namespace kubexx::cmd {

using apimachinery::Result;

Result<void> BecomeProgramWithEtcd(char* const* /*argv*/) { return {}; }

Result<std::unique_ptr<apiserver::storage::Storage>> NewEtcdStorage(
    const apiserver::storage::etcd3::Etcd3Options& options) {
  return apiserver::storage::etcd3::NewEtcd3Storage(options);
}

}  // namespace kubexx::cmd
