/// @file
/// Reads the flags with label selectors.
#ifndef KUBEXX_RELOADER_OPERATOR_SELECTOR_H_
#define KUBEXX_RELOADER_OPERATOR_SELECTOR_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::reloader {

/// Combines the elements of --resource-label-selector or --namespace-selector to a label selector
/// as the API takes it. "k:v" means k=v; "k:*" and "k=*" mean that the label k exists; any other
/// element is copied, so that a selector may be spread over elements: "tier in (a", "b)". Returns
/// an empty text when there are no elements. An element with commas, which came in quotes, counts
/// as several. Fails with kInvalidConfig when the result is not a label selector. The rules are
/// stakater/Reloader's.
apimachinery::Result<std::string> LabelSelectorOf(const std::vector<std::string>& elements);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_SELECTOR_H_
