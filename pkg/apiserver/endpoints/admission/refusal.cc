#include "kubexx/apiserver/endpoints/admission/refusal.h"

#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/object/status_json.h"

namespace kubexx::apiserver {

apimachinery::Error NotAdmitted(const Call& call, const codec::JsonTree& object,
                                const std::string& why) {
  const std::string name = MetaString(object, "name");
  return apimachinery::Fail(
      Forbidden(*call.type, name.empty() ? MetaString(object, "generateName") : name, why));
}

}  // namespace kubexx::apiserver
