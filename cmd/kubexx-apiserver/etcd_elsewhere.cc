#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "etcd.h"

namespace kubexx::cmd {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

Result<void> BecomeProgramWithEtcd(char* const* argv) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return Fail(Reason::kInvalidConfig,
                "--etcd-servers needs the program kubexx-apiserver-etcd beside this one, and "
                "/proc/self/exe, which tells where that is, cannot be read: " +
                    error.message());
  }
  const std::string program = self.parent_path() / "kubexx-apiserver-etcd";
  ::execv(program.c_str(), argv);
  return Fail(Reason::kInvalidConfig, "--etcd-servers needs the program " + program + ": " +
                                          std::generic_category().message(errno));
}

Result<std::unique_ptr<apiserver::storage::Storage>> NewEtcdStorage(
    const apiserver::storage::etcd3::Etcd3Options& /*options*/) {
  return Fail(Reason::kInternalError, "this program has no store in an etcd");
}

}  // namespace kubexx::cmd
