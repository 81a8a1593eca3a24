/// @file
/// ThrownText: the text of an exception, or of the error of a Result whose value was asked for.
#ifndef KUBEXX_APIMACHINERY_THROWN_TEXT_H_
#define KUBEXX_APIMACHINERY_THROWN_TEXT_H_

#include <string>

namespace kubexx::apimachinery {

/// Like base::ThrownText, for exceptions of users' functions: when one has called value() of a
/// Result that has failed, the text contains the error, which what() of that exception does not.
/// Call it in a catch block. Thread-safe.
std::string ThrownText();

}  // namespace kubexx::apimachinery

#endif  // KUBEXX_APIMACHINERY_THROWN_TEXT_H_
