/// @file
/// Label selectors that are objects.
#ifndef KUBEXX_APISERVER_OBJECT_LABEL_MATCH_H_
#define KUBEXX_APISERVER_OBJECT_LABEL_MATCH_H_

#include "kubexx/apimachinery/labels.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::apiserver {

/// Whether a meta/v1 LabelSelector (matchLabels, matchExpressions) selects the labels. One that is
/// empty selects all, one with an expression that is none selects nothing.
bool MatchesSelector(const codec::JsonTree& selector, const apimachinery::LabelMap& labels);

/// Whether all of its expressions are some.
bool IsSelector(const codec::JsonTree& selector);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_LABEL_MATCH_H_
