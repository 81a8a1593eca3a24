#include "kubexx/apiserver/server/testing/api_server.h"

#include <cstdlib>
#include <iostream>
#include <utility>

#include "kubexx/apiserver/storage/memory.h"

namespace kubexx::testing {
namespace {

/// A test cannot go on without its server.
void Check(const apimachinery::Result<void>& result) {
  if (!result) {
    std::cerr << "kubexx::testing::ApiServer: " << result.error().ToString() << "\n";
    std::abort();
  }
}

}  // namespace

ApiServer::ApiServer(apiserver::ApiServerOptions options) {
  auto storage = apiserver::storage::NewMemoryStorage({});
  if (!storage) {
    Check(apimachinery::Fail(storage.error()));
  }
  server_ = std::make_unique<apiserver::ApiServer>(std::move(*storage), std::move(options));
  Check(server_->Start());
}

}  // namespace kubexx::testing
