#include "kubexx/rest/testing/client.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace kubexx::rest::testing {

std::shared_ptr<RESTClient> ClientFor(Config config, RESTClient::Options options) {
  if (config.qps == 0) {
    config.qps = -1;
  }
  auto client = RESTClient::New(std::move(config), options);
  if (!client) {
    std::fprintf(stderr, "no client: %s\n", client.error().ToString().c_str());
    std::abort();
  }
  return std::move(*client);
}

RESTClient::Options WithoutDeadlines(base::Clock& clock) {
  constexpr std::chrono::seconds kNone(0);
  return {.clock = clock,
          .connect_timeout = kNone,
          .response_timeout = kNone,
          .idle_timeout = kNone,
          .body_timeout = kNone};
}

std::shared_ptr<RESTClient> NewClient(const std::string& url, RESTClient::Options options) {
  return ClientFor(Config{.host = url}, options);
}

}  // namespace kubexx::rest::testing
