/// @file
/// Whether an object is what its schema says.
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
/// of kube-apiserver. With `old`, the object before a change, what has not changed is not
/// complained of again (ratcheting). No more than a hundred causes each of the schema and of its
/// lists. That it takes too much work is wrong with the object, too; when the budget is stopped,
/// more may be.
void Validate(const Schema& schema, const codec::JsonTree& object, const codec::JsonTree* old,
              Budget& budget, std::vector<apimachinery::StatusCause>& causes);

/// The same of a value at `path`, without `old`, and without what the budget says.
void ValidateValue(const Schema& schema, const codec::JsonTree& value, const std::string& path,
                   Budget& budget, std::vector<apimachinery::StatusCause>& causes);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_VALIDATE_H_
