/// @file
/// Checks whether the schema of a CustomResourceDefinition is structural: which keywords it may
/// have, and where.
#ifndef KUBEXX_APISERVER_SCHEMA_STRUCTURAL_H_
#define KUBEXX_APISERVER_SCHEMA_STRUCTURAL_H_

#include <cstddef>
#include <string>

#include "kubexx/apiserver/schema/budget.h"
#include "kubexx/apiserver/schema/cause_list.h"
#include "kubexx/apiserver/schema/pattern.h"
#include "kubexx/apiserver/schema/shape.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

/// The limits for all schemas of one definition together.
struct DefinitionBudget {
  explicit DefinitionBudget(Budget& of_work) : work(of_work) {}

  Patterns patterns{};
  Budget& work;
  /// How many bytes defaults may add to other defaults. The limit for one default is that of an
  /// object.
  std::size_t default_bytes = 4 * kMaxDefaultBytes;
};

/// Appends the reasons why an openAPIV3Schema is not structural: fields without a type, unsupported
/// keywords, invalid patterns, defaults that do not fit, and so on, as in apiextensions-apiserver's
/// validation. `path` is that of the schema in its definition. When the budget is spent, the schema
/// may have more faults.
void CheckStructural(const codec::JsonTree& schema, const std::string& path,
                     DefinitionBudget& budget, CauseList& causes);

/// Whether the schema has validation rules (x-kubernetes-validations), which this server does not
/// evaluate.
bool HasRules(const codec::JsonTree& schema);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_STRUCTURAL_H_
