/// @file
/// Finds what is wrong with the keys and values of labels, as messages for their author.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_LABEL_PROBLEMS_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_LABEL_PROBLEMS_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// All reasons why `text` is not a valid label key. Each names the part that is wrong: the prefix
/// before the slash or the name after it. Empty exactly when IsValidLabelKey is true.
std::vector<std::string> LabelKeyProblems(std::string_view text);

/// The same for a label value; see IsValidLabelValue.
std::vector<std::string> LabelValueProblems(std::string_view text);

/// Adds the problems of a key; `field` is its path.
void CheckLabelKey(std::string_view key, const std::string& field, FieldCauses& causes);
/// Adds the problems of a value; `field` is its path.
void CheckLabelValue(std::string_view value, const std::string& field, FieldCauses& causes);
/// Adds the problems of all keys and values of `labels`, which may be null; `field` is their path.
void CheckLabelMap(const codec::JsonTree* labels, const std::string& field, FieldCauses& causes);
/// Adds the problems of the keys of `annotations`, and a cause when the annotations are too large.
/// `annotations` may be null; `field` is their path. Keys may have capital letters everywhere.
void CheckAnnotationMap(const codec::JsonTree* annotations, const std::string& field,
                        FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_LABEL_PROBLEMS_H_
