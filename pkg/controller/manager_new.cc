#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "kubexx/controller/internal/function_runnable.h"
#include "kubexx/controller/internal/manager_parts.h"
#include "kubexx/controller/manager.h"

namespace kubexx::controller {

using apimachinery::Result;

Result<std::unique_ptr<Manager>> Manager::New(rest::Config config, ManagerOptions options) {
  std::unique_ptr<metrics::Registry> own;
  if (options.registry == nullptr) {
    own = std::make_unique<metrics::Registry>();
  }
  metrics::Registry* const registry = own ? own.get() : options.registry;
  KX_ASSIGN_OR_RETURN(
      internal::ManagerClients clients,
      internal::NewClients(std::move(config), options.clock, *registry, options.tracer));
  return std::unique_ptr<Manager>(new Manager(std::move(clients.all), std::move(options),
                                              std::move(own), std::move(clients.events)));
}

Result<void> Manager::Add(std::string name, Stage stage,
                          std::function<Result<void>(std::stop_token)> run) {
  return Add(std::make_shared<internal::FunctionRunnable>(std::move(name), stage, std::move(run)));
}

Result<void> Manager::Add(std::string name, Stage stage,
                          std::function<Result<void>(std::stop_token)> begin,
                          std::function<void()> end) {
  return Add(std::make_shared<internal::FunctionRunnable>(std::move(name), stage, std::move(begin),
                                                          std::move(end)));
}

}  // namespace kubexx::controller
