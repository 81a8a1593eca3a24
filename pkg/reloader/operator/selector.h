/// @file
/// The label selector flags.
#ifndef KUBEXX_RELOADER_OPERATOR_SELECTOR_H_
#define KUBEXX_RELOADER_OPERATOR_SELECTOR_H_

#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::reloader {

/// The label selector that the elements of --resource-label-selector (or --namespace-selector)
/// stand for, as the API takes it. "k:v" means k=v, "k:*" and "k=*" mean that k exists, anything
/// else is part of a selector as it is: "tier in (a", "b)". Empty without elements. kInvalidConfig
/// when the whole is not a selector. As stakater/Reloader.
apimachinery::Result<std::string> LabelSelectorOf(const std::vector<std::string>& elements);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_SELECTOR_H_
