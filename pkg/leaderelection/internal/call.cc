#include "kubexx/leaderelection/internal/call.h"

#include <exception>

#include "kubexx/logging/log.h"

namespace kubexx::leaderelection::internal {

std::string CallUser(std::string_view name, base::FunctionRef<void()> callback) {
  std::string what;
  try {
    callback();
    return what;
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
    what = "not a std::exception";
  }
  logging::Error("A callback of leader election threw", {{"callback", name}, {"error", what}});
  return what.empty() ? "an exception without a message" : what;
}

}  // namespace kubexx::leaderelection::internal
