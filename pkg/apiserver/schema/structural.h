/// @file
/// Whether the schema of a definition is structural: what may stand in it, and where.
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

/// What the schemas of one definition may cost together.
struct DefinitionBudget {
  explicit DefinitionBudget(Budget& of_work) : work(of_work) {}

  Patterns patterns{};
  Budget& work;
  /// What defaults may be given by defaults; those of one default are those of an object.
  std::size_t default_bytes = 4 * kMaxDefaultBytes;
};

/// Appends what keeps an openAPIV3Schema, which is at `path` in its definition, from being
/// structural: fields without a type, keywords that are not supported, patterns that are no
/// expressions, defaults that do not fit, and so on, as apiextensions-apiserver's validation. When
/// the budget's work ends, more may be wrong with it.
void CheckStructural(const codec::JsonTree& schema, const std::string& path,
                     DefinitionBudget& budget, CauseList& causes);

/// Whether there are rules in it that this server does not evaluate (x-kubernetes-validations).
bool HasRules(const codec::JsonTree& schema);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_STRUCTURAL_H_
