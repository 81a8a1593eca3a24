#include "kubexx/base/process/descriptor_limit.h"

#include <sys/resource.h>

#include <cerrno>

namespace kubexx::base {

std::error_code RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return {errno, std::generic_category()};
  }
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
      return {errno, std::generic_category()};
    }
  }
  return {};
}

}  // namespace kubexx::base
