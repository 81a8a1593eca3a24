/// @file
/// Checks whether an object conforms to its schema.
#ifndef KUBEXX_APISERVER_SCHEMA_VALIDATE_H_
#define KUBEXX_APISERVER_SCHEMA_VALIDATE_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/schema/budget.h"
#include "kubexx/apiserver/schema/schema.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

/// Appends what is wrong with `object`, with the reasons, paths ("spec.ports[0].name") and wording
/// of kube-apiserver. With `old`, the object before a change, faults of unchanged parts are not
/// reported (ratcheting). Appends at most a hundred causes for the schema and a hundred for its
/// lists. When the budget is spent, it also appends that the check takes too much work. When the
/// budget was stopped, the object may have more faults.
void Validate(const Schema& schema, const codec::JsonTree& object, const codec::JsonTree* old,
              Budget& budget, std::vector<apimachinery::StatusCause>& causes);

/// The same for a value at `path`, without ratcheting, and without a cause for a spent budget.
void ValidateValue(const Schema& schema, const codec::JsonTree& value, const std::string& path,
                   Budget& budget, std::vector<apimachinery::StatusCause>& causes);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_VALIDATE_H_
