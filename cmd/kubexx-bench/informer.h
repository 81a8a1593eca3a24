/// @file
/// The informer that `sync` and `watch` measure: connecting, filling it, looking at what it holds.
#ifndef KUBEXX_CMD_KUBEXX_BENCH_INFORMER_H_
#define KUBEXX_CMD_KUBEXX_BENCH_INFORMER_H_

#include <chrono>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "commands.h"
#include "cost.h"
#include "kubexx/api/core/v1/resources.gen.h"
#include "kubexx/api/core/v1/types.gen.h"
#include "kubexx/informers/shared_informer_factory.h"

namespace kubexx::bench {

/// Name of the handlers.
inline constexpr const char* kHandler = "bench";

/// A client without rate limit, for the kubeconfig of `options`.
apimachinery::Result<std::shared_ptr<rest::RESTClient>> Connect(const Options& options);
informers::FactoryOptions FactoryOptionsOf(const Options& options);

/// Name of the index that --index adds: by the last three characters of an object's name.
inline constexpr std::string_view kIndex = "suffix";
cache::IndexTerms SuffixTerms(const cache::Object& object);

/// Waits until the store and the handler `name` have everything.
inline void AwaitSync(informers::SharedInformerFactory& factory,
                      const cache::SharedInformerBase& informer, std::string_view name) {
  factory.WaitForCacheSync({});
  while (!name.empty() && !informer.HandlerHasSynced(name)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Calls `run.template operator()<T>()` with the type that --resource names.
template <class F>
apimachinery::Result<void> WithResource(const Options& options, F run) {
  namespace v1 = api::core::v1;
  if (options.resource == "configmaps") {
    return run.template operator()<v1::ConfigMap>();
  }
  if (options.resource == "secrets") {
    return run.template operator()<v1::Secret>();
  }
  return run.template operator()<v1::Pod>();
}

}  // namespace kubexx::bench

#endif  // KUBEXX_CMD_KUBEXX_BENCH_INFORMER_H_
