/// @file
/// InformerOptions: the settings of an informer.
#ifndef KUBEXX_CACHE_INFORMER_OPTIONS_H_
#define KUBEXX_CACHE_INFORMER_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/executor/executor.h"
#include "kubexx/cache/object.h"
#include "kubexx/cache/watch_tuning.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {

/// The settings of one informer.
struct InformerOptions {
  /// The name for logs and metric labels. When a factory makes the informer, the default is the
  /// resource's plural.
  std::string name{};
  base::Clock& clock = base::Clock::Real();
  /// When set, the informer records reflector_* and informer_* metrics here; must outlive the
  /// informer.
  metrics::Registry* registry = nullptr;
  /// Changes an object before it is stored, for example to drop fields. The informer calls it once
  /// per arriving object on the reflector's thread, before anything else uses the object. On an
  /// error the informer drops the object, and logs and counts the error.
  std::function<apimachinery::Result<void>(Object&)> transform{};
  /// The resync period of handlers without one of their own; see HandlerOptions. Zero means never.
  base::Duration resync_period{0};
  /// The buffer size of handlers without one of their own: how many events may wait before the
  /// handler's Overflow applies.
  std::size_t handler_buffer = 1024;
  /// Whether to get the initial state with a streaming WatchList. If a server does not support it,
  /// the informer uses LIST.
  bool use_watch_list = true;
  /// Called for every failed list or watch, on the reflector's thread, instead of LogWatchError.
  /// When it throws, the informer logs and counts that, and logs the error that it was called for.
  std::function<void(const apimachinery::Status&)> on_error{};
  /// The seed of the reflector's jitter; 0 takes one from the system.
  std::uint64_t seed = 0;
  WatchTuning tuning{};
  /// Runs the distribution and the handlers; the informer shares in owning it. Informers of one
  /// process share one, so that they need few threads together; factories see to that. Null: the
  /// informer makes one of its own.
  std::shared_ptr<base::Executor> executor{};
  /// The objects' group, version and resource, for the labels of informer_* metrics.
  std::string group{};
  std::string version{};
  std::string resource{};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INFORMER_OPTIONS_H_
