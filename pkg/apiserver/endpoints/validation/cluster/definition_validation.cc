#include "kubexx/apiserver/endpoints/validation/cluster/definition_validation.h"

#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/endpoints/registry/custom_types.h"
#include "kubexx/apiserver/endpoints/validation/cluster/webhook_configuration.h"
#include "kubexx/apiserver/object/metadata.h"
#include "kubexx/apiserver/schema/definition.h"

namespace kubexx::apiserver {

using apimachinery::StatusCause;
using codec::JsonTree;

void CheckWrittenDefinition(const JsonTree* old, const JsonTree& object, schema::Budget& budget,
                            FieldCauses& causes) {
  std::vector<StatusCause> found;
  schema::CheckDefinition(object, budget, found);
  schema::CheckApproval(old, object, found);
  causes.AddAll(std::exchange(found, {}));
  if (old == nullptr && OverlapsBuiltin(object)) {
    causes.Forbidden("spec.names.plural", "the server keeps objects of its own there");
  }
  if (StringAt(object, {"spec", "conversion", "strategy"}) == "Webhook") {
    const JsonTree* const client = object.At({"spec", "conversion", "webhook", "clientConfig"});
    CheckClientConfig(client == nullptr ? JsonTree::Object() : *client,
                      "spec.conversion.webhook.clientConfig", causes);
  }
  if (old != nullptr) {
    schema::CheckDefinitionChange(*old, object, found);
  }
  causes.AddAll(std::move(found));
}

}  // namespace kubexx::apiserver
