/// @file
/// Checks of a version in a CustomResourceDefinition, other than of its schema and its
/// subresources.
#ifndef KUBEXX_APISERVER_SCHEMA_VERSION_FIELDS_H_
#define KUBEXX_APISERVER_SCHEMA_VERSION_FIELDS_H_

#include <string>

#include "kubexx/apiserver/schema/cause_list.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver::schema {

/// Appends what is wrong with the deprecationWarning of `version`, whose path is `path`.
void CheckDeprecation(const codec::JsonTree& version, const std::string& path, CauseList& causes);

/// Appends what is wrong with its selectableFields: there may be at most eight, and each must be a
/// string, boolean or integer of the schema.
void CheckSelectableFields(const codec::JsonTree& version, const std::string& path,
                           CauseList& causes);

/// Appends that the versions of a definition have selectable fields of which kube-apiserver does
/// not find the schema. It keeps what all versions have in common in one place, the fields and the
/// schemas each for themselves, so that of several versions either both must be the same in all or
/// neither may be.
void CheckSharedFields(const codec::JsonTree& versions, CauseList& causes);

}  // namespace kubexx::apiserver::schema

#endif  // KUBEXX_APISERVER_SCHEMA_VERSION_FIELDS_H_
