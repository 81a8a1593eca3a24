/// @file
/// ThrownText: the text of an exception.
#ifndef KUBEXX_BASE_THROWN_TEXT_H_
#define KUBEXX_BASE_THROWN_TEXT_H_

#include <exception>
#include <string>

namespace kubexx::base {

/// Returns the text of the exception that is being handled, for logs and errors. Call it in a catch
/// block: `catch (...) { Log(ThrownText()); }`. Thread-safe.
inline std::string ThrownText() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something other than a std::exception";
  }
}

}  // namespace kubexx::base

#endif  // KUBEXX_BASE_THROWN_TEXT_H_
