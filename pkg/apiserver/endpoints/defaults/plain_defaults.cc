#include "kubexx/apiserver/endpoints/defaults/plain_defaults.h"

#include "kubexx/apiserver/endpoints/defaults/set_default.h"

namespace kubexx::apiserver {

void SetPlainDefaults(std::span<const PlainDefault> defaults, codec::JsonTree& object) {
  for (const PlainDefault& one : defaults) {
    SetMissing(one.parent.empty() ? object : object[one.parent], one.member, one.json);
  }
}

}  // namespace kubexx::apiserver
