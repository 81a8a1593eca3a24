#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/controller/internal/function_runnable.h"
#include "kubexx/controller/manager.h"

namespace kubexx::controller {

using apimachinery::Result;

Result<std::unique_ptr<Manager>> Manager::New(rest::Config config, ManagerOptions options) {
  if (config.qps == 0 && config.burst == 0) {
    config.qps = -1;
  }
  std::unique_ptr<metrics::Registry> own;
  if (options.registry == nullptr) {
    own = std::make_unique<metrics::Registry>();
  }
  metrics::Registry* const registry = own ? own.get() : options.registry;
  const rest::RESTClient::Options client_options{.clock = options.clock, .registry = registry};
  std::shared_ptr<rest::RESTClient> events;
  if (config.qps >= 0) {  // However many Events there are, no other request waits for them.
    KX_ASSIGN_OR_RETURN(events, rest::RESTClient::New(config, client_options));
  }
  KX_ASSIGN_OR_RETURN(auto client, rest::RESTClient::New(std::move(config), client_options));
  return std::unique_ptr<Manager>(
      new Manager(std::move(client), std::move(options), std::move(own), std::move(events)));
}

Result<void> Manager::Add(std::string name, Stage stage,
                          std::function<Result<void>(std::stop_token)> run) {
  return Add(std::make_shared<internal::FunctionRunnable>(std::move(name), stage, std::move(run)));
}

}  // namespace kubexx::controller
