#include "kubexx/apiserver/endpoints/preparation/set_default.h"

#include <utility>

namespace kubexx::apiserver {

void SetDefault(codec::JsonTree& object, std::string_view member, codec::JsonTree value) {
  codec::JsonTree& slot = object[member];
  if (slot.IsNull() || (slot.AsString() != nullptr && slot.AsString()->empty())) {
    slot = std::move(value);
  }
}

}  // namespace kubexx::apiserver
