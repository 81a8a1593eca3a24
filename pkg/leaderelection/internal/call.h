/// @file
/// Calls a user's callback.
#ifndef KUBEXX_LEADERELECTION_INTERNAL_CALL_H_
#define KUBEXX_LEADERELECTION_INTERNAL_CALL_H_

#include <string>
#include <string_view>

#include "kubexx/base/function_ref.h"

namespace kubexx::leaderelection::internal {

/// Runs `callback`. Logs an exception with the callback's `name` and returns its text, or "" if
/// there is none.
std::string CallUser(std::string_view name, base::FunctionRef<void()> callback);

}  // namespace kubexx::leaderelection::internal

#endif  // KUBEXX_LEADERELECTION_INTERNAL_CALL_H_
