/// @file
/// WarningHandler: handles the warnings that an API server sends with its responses.
#ifndef KUBEXX_REST_WARNING_HANDLER_H_
#define KUBEXX_REST_WARNING_HANDLER_H_

#include <memory>
#include <string>

namespace kubexx::rest {

/// One entry of a Warning header, for example about a deprecated version or an unknown field.
struct Warning {
  int code = 0;  ///< 299 from Kubernetes
  std::string agent{};
  std::string text{};
  bool operator==(const Warning&) const = default;
};

/// Gets every warning of every response, including watches, on the thread that made the request.
/// Implementations are thread-safe.
class WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void Handle(const Warning& warning) = 0;
};

/// The default handler. Logs each text of a warning with code 299 once. Its memory is bounded; when
/// a server sends more than 1,000 texts, some are logged again.
std::shared_ptr<WarningHandler> NewWarningLogger();

/// A handler that ignores warnings.
std::shared_ptr<WarningHandler> NoWarnings();

}  // namespace kubexx::rest

#endif  // KUBEXX_REST_WARNING_HANDLER_H_
