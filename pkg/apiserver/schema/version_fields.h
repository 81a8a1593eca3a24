/// @file
/// Fields of a definition's version that are neither its schema nor its subresources.
#ifndef KUBEXX_APISERVER_SCHEMA_VERSION_FIELDS_H_
#define KUBEXX_APISERVER_SCHEMA_VERSION_FIELDS_H_

#include <string>

#include "kubexx/apiserver/schema/cause_list.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

/// Appends what is wrong with the deprecationWarning of `version`, which is at `path`.
void CheckDeprecation(const codec::JsonTree& version, const std::string& path, CauseList& causes);

/// The same of its selectableFields: at most eight strings, booleans or integers of the schema.
void CheckSelectableFields(const codec::JsonTree& version, const std::string& path,
                           CauseList& causes);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_VERSION_FIELDS_H_
