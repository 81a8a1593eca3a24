/// @file
/// Writes the causes of a Status as text.
#ifndef KUBEXX_APISERVER_OBJECT_CAUSE_LIST_H_
#define KUBEXX_APISERVER_OBJECT_CAUSE_LIST_H_

#include <span>
#include <string>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apiserver {

/// The causes in one line, each with its field; several are in brackets.
std::string ListOf(std::span<const apimachinery::StatusCause> causes);

}  // namespace kubexx::apiserver

#endif  // KUBEXX_APISERVER_OBJECT_CAUSE_LIST_H_
