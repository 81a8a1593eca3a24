#include "informer.h"

#include <algorithm>

#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"

namespace kubexx::bench {

apimachinery::Result<std::shared_ptr<rest::RESTClient>> Connect(const Options& options) {
  KX_ASSIGN_OR_RETURN(rest::Config config,
                      rest::LoadConfig({.path = options.kubeconfig, .context = options.context}));
  config.qps = -1;
  config.user_agent = "kubexx-bench";
  return rest::RESTClient::New(std::move(config));
}

informers::FactoryOptions FactoryOptionsOf(const Options& options) {
  informers::FactoryOptions factory;
  if (options.encoding == "json") {
    factory.list_watch.accept = {codec::Encoding::kJson};
  }
  return factory;
}

cache::IndexTerms SuffixTerms(const cache::Object& object) {
  constexpr std::size_t kSuffix = 3;
  const std::string& name = object.key.name;
  const std::size_t begin = name.size() - std::min(name.size(), kSuffix);
  return {{std::string(kIndex), name.substr(begin)}};
}

}  // namespace kubexx::bench
