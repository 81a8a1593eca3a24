#include "kubexx/controller/health.h"

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/logging/log.h"

namespace kubexx::controller {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

std::vector<std::string_view> Parameters(std::string_view query) {
  std::vector<std::string_view> parameters;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    parameters.push_back(query.substr(0, end));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return parameters;
}

Result<void> Run(const HealthCheck& check) {
  try {
    return check();
  } catch (const std::exception& error) {
    return Fail(Reason::kInternalError, std::string("the check threw: ") + error.what());
  } catch (...) {
    return Fail(Reason::kInternalError, "the check threw");
  }
}

}  // namespace

Result<void> HealthChecks::Add(const std::string& name, HealthCheck check) {
  const base::MutexLock lock(mu_);
  if (!checks_.emplace(name, std::move(check)).second) {
    return Fail(Reason::kAlreadyExists, "there is a health check named " + name + " already");
  }
  return {};
}

metrics::HttpResponse HealthChecks::Answer(const metrics::HttpRequest& request) const {
  const std::vector<std::string_view> parameters = Parameters(request.query);
  const bool verbose = std::ranges::any_of(parameters, [](std::string_view each) {
    return each == "verbose" || each == "verbose=true";
  });
  std::map<std::string, HealthCheck> checks;
  {
    const base::MutexLock lock(mu_);
    checks = checks_;
  }
  std::string lines;
  bool healthy = true;
  for (const auto& [name, check] : checks) {
    if (std::ranges::find(parameters, "exclude=" + name) != parameters.end()) {
      lines += "[+]" + name + " excluded: ok\n";
      continue;
    }
    const Result<void> result = Run(check);
    if (result) {
      lines += "[+]" + name + " ok\n";
    } else {
      // The reason is only in the log, because anybody may send probes.
      lines += "[-]" + name + " failed: see the log\n";
      logging::Warning("A health check failed", {{"check", name}, {"error", result.error()}});
      healthy = false;
    }
  }
  if (!healthy) {
    return {.status = 503, .body = lines + request.path + " check failed\n"};
  }
  return {.body = verbose ? lines + request.path + " check passed\n" : std::string("ok")};
}

}  // namespace kubexx::controller
