/// @file
/// What is wrong with the keys and values of labels, in words for who wrote them.
#ifndef KUBEXX_APISERVER_ENDPOINTS_CHECKS_LABEL_PROBLEMS_H_
#define KUBEXX_APISERVER_ENDPOINTS_CHECKS_LABEL_PROBLEMS_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apiserver/endpoints/checks/field_causes.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Everything that keeps `text` from being a label's key, each with the part that it is about: the
/// prefix before a slash or the name after it. Empty exactly for what IsValidLabelKey takes.
std::vector<std::string> LabelKeyProblems(std::string_view text);

/// The same of a label's value; see IsValidLabelValue.
std::vector<std::string> LabelValueProblems(std::string_view text);

/// Adds the problems of a key that stands at `field`.
void CheckLabelKey(std::string_view key, const std::string& field, FieldCauses& causes);
/// Adds the problems of a value that stands at `field`.
void CheckLabelValue(std::string_view value, const std::string& field, FieldCauses& causes);
/// Adds the problems of all keys and values of `labels`, which stand at `field` and may be null.
void CheckLabelMap(const codec::JsonTree* labels, const std::string& field, FieldCauses& causes);
/// Adds the problems of the keys of `annotations`, which stand at `field` and may be null, and that
/// they are too long. Letters of their keys may be capital everywhere.
void CheckAnnotationMap(const codec::JsonTree* annotations, const std::string& field,
                        FieldCauses& causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_ENDPOINTS_CHECKS_LABEL_PROBLEMS_H_
