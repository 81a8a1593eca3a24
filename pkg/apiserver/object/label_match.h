/// @file
/// Label selectors that are objects.
#ifndef KUBEXX_APISERVER_OBJECT_LABEL_MATCH_H_
#define KUBEXX_APISERVER_OBJECT_LABEL_MATCH_H_

#include <optional>
#include <vector>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether a meta/v1 LabelSelector (matchLabels, matchExpressions) selects the labels. One that is
/// empty selects all, one with an expression that is none selects nothing.
bool MatchesSelector(const codec::JsonTree& selector, const apimachinery::LabelMap& labels);

/// The requirements of such a selector, all of which have to match, to be compared with many
/// labels. Nothing for one that selects nothing because an expression is none.
std::optional<std::vector<apimachinery::LabelRequirement>> RequirementsOf(
    const codec::JsonTree& selector);

/// Whether all of its expressions are some.
bool IsSelector(const codec::JsonTree& selector);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_LABEL_MATCH_H_
