#include "kubexx/apimachinery/group_version.h"

namespace kubexx::apimachinery {

GroupVersionKind GroupVersionKind::FromApiVersionKind(std::string_view api_version,
                                                      std::string_view kind) {
  const auto slash = api_version.find('/');
  GroupVersionKind gvk;
  if (slash != std::string_view::npos) {
    gvk.group = api_version.substr(0, slash);
    api_version.remove_prefix(slash + 1);
  }
  gvk.version = api_version;
  gvk.kind = kind;
  return gvk;
}

}  // namespace kubexx::apimachinery
