/// @file
/// What becomes of the warnings that an API server sends beside its responses.
#ifndef KUBEXX_REST_WARNING_HANDLER_H_
#define KUBEXX_REST_WARNING_HANDLER_H_

#include <memory>
#include <string>

namespace kubexx::rest {

/// One entry of a Warning header: a deprecated version, an unknown field, a bad practice.
struct Warning {
  int code = 0;  ///< 299 from Kubernetes
  std::string agent{};
  std::string text{};
  bool operator==(const Warning&) const = default;
};

/// Gets every warning of every response, watches included, on the thread that made the request.
/// Implementations are thread-safe.
class WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void Handle(const Warning& warning) = 0;
};

/// Logs warnings of code 299 that have a text, each text once: the default. What it remembers is
/// bounded; a server with more than 1,000 texts has some of them logged again.
std::shared_ptr<WarningHandler> NewWarningLogger();

/// Ignores warnings.
std::shared_ptr<WarningHandler> NoWarnings();

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_WARNING_HANDLER_H_
