#include "kubexx/apiserver/endpoints/checks/restore.h"

namespace kubexx::apiserver {

using codec::JsonTree;

void Restore(JsonTree& object, const JsonTree& current, std::string_view path) {
  const std::size_t dot = path.find('.');
  const std::string_view member = path.substr(0, dot);
  const JsonTree* const former = current.Find(member);
  if (dot == std::string_view::npos) {
    if (former == nullptr) {
      object.Erase(member);
    } else {
      object[member] = *former;
    }
    return;
  }
  if (former == nullptr && object.Find(member) == nullptr) {
    return;
  }
  JsonTree& within = object[member];
  Restore(within, former == nullptr ? JsonTree::Object() : *former, path.substr(dot + 1));
  if (former == nullptr && within.size() == 0) {
    object.Erase(member);
  }
}

}  // namespace kubexx::apiserver
