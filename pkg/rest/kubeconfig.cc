#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "kubexx/base/text/join.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/internal/config/file.h"
#include "kubexx/rest/internal/config/kubeconfig_file.h"

namespace kubexx::rest {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using internal::Kubeconfig;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read at start-up
  return value == nullptr ? std::string() : value;
}

std::vector<std::string> SplitPathList(const std::string& list) {
  std::vector<std::string> paths;
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) {
      paths.push_back(list.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return paths;
}

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The files to merge, and whether each of them has to exist.
struct Sources {
  std::vector<std::string> paths{};
  bool required = false;
};

Sources FindSources(const KubeconfigOptions& options) {
  if (!options.path.empty()) {
    return {.paths = {options.path}, .required = true};
  }
  if (auto paths = SplitPathList(Environment("KUBECONFIG")); !paths.empty()) {
    return {.paths = std::move(paths)};
  }
  const std::string home = Environment("HOME");
  return {.paths = home.empty() ? std::vector<std::string>{}
                                : std::vector<std::string>{home + "/.kube/config"}};
}

bool AnyExists(const Sources& sources) {
  return sources.required || std::ranges::any_of(sources.paths, Exists);
}

std::string NotFoundText(const Sources& sources) {
  const std::string tried = base::Join(sources.paths, ", ");
  return "no kubeconfig found; tried " +
         (tried.empty() ? "$KUBECONFIG and $HOME, which are not set" : tried);
}

/// Whether the options name something that only a kubeconfig has, or the address of a server.
bool NamesCluster(const KubeconfigOptions& options) {
  return !options.server.empty() || !options.context.empty() || !options.cluster.empty() ||
         !options.user.empty();
}

}  // namespace

Result<Config> LoadKubeconfig(const KubeconfigOptions& options) {
  const Sources sources = FindSources(options);
  if (!AnyExists(sources) && options.server.empty()) {
    return Fail(Reason::kInvalidConfig, NotFoundText(sources));
  }
  Kubeconfig merged;
  for (const std::string& path : sources.paths) {
    if (!sources.required && !Exists(path)) {
      continue;  // as in kubectl, a list may name files that do not exist
    }
    KX_ASSIGN_OR_RETURN(Kubeconfig file, internal::ReadKubeconfigFile(path));
    internal::MergeKubeconfig(merged, std::move(file));
  }
  return internal::Resolve(merged, options);
}

Result<Config> LoadConfig(const KubeconfigOptions& options) {
  const Sources sources = FindSources(options);
  if (NamesCluster(options) || AnyExists(sources)) {
    // The pod's cluster must not silently replace the cluster that was named.
    return LoadKubeconfig(options);
  }
  auto config = InClusterConfig();
  return config ? std::move(config) : Fail(config.error().WithContext(NotFoundText(sources)));
}

Result<Config> InClusterConfig() {
  constexpr auto kMount = "/var/run/secrets/kubernetes.io/serviceaccount";
  return internal::InClusterConfigFrom(Environment("KUBERNETES_SERVICE_HOST"),
                                       Environment("KUBERNETES_SERVICE_PORT"), kMount);
}

}  // namespace kubexx::rest
