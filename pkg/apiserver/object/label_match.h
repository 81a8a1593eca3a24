/// @file
/// Label selectors that are JSON objects.
#ifndef KUBEXX_APISERVER_OBJECT_LABEL_MATCH_H_
#define KUBEXX_APISERVER_OBJECT_LABEL_MATCH_H_

#include <optional>
#include <vector>

#include "kubexx/apimachinery/labels.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether a meta/v1 LabelSelector (matchLabels, matchExpressions) selects the labels. An empty
/// selector selects everything, and one with an invalid expression selects nothing.
bool MatchesSelector(const codec::JsonTree& selector, const apimachinery::LabelMap& labels);

/// The requirements of such a selector, all of which have to match. For callers that compare many
/// sets of labels with it. Returns std::nullopt for a selector with an invalid expression, which
/// selects nothing.
std::optional<std::vector<apimachinery::LabelRequirement>> RequirementsOf(
    const codec::JsonTree& selector);

/// Whether all expressions of the selector are valid.
bool IsSelector(const codec::JsonTree& selector);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_LABEL_MATCH_H_
