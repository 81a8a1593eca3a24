/// @file
/// InformerOptions.
#ifndef KUBEXX_CACHE_INFORMER_OPTIONS_H_
#define KUBEXX_CACHE_INFORMER_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/cache/object.h"
#include "kubexx/cache/watch_tuning.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {

/// Settings of one informer.
struct InformerOptions {
  /// For logs and metric labels; defaults to the resource's plural when a factory makes the
  /// informer.
  std::string name{};
  base::Clock& clock = base::Clock::Real();
  /// Records reflector_* and informer_* metrics there when set; must outlive the informer.
  metrics::Registry* registry = nullptr;
  /// Changes an object before it is stored, for example to drop or project fields; runs once per
  /// arriving object, before anything else sees it, on the reflector's thread. An error drops the
  /// object, is logged and counted.
  std::function<apimachinery::Result<void>(Object&)> transform{};
  /// For handlers that name no period of their own; see HandlerOptions. Zero means never.
  base::Duration resync_period{0};
  /// For handlers that name no buffer of their own: events that may wait for one before its
  /// Overflow applies.
  std::size_t handler_buffer = 1024;
  /// Get the initial state with a streaming WatchList; servers that cannot are asked with LIST.
  bool use_watch_list = true;
  /// Told of every failed list or watch, on the reflector's thread, in place of LogWatchError.
  std::function<void(const apimachinery::Status&)> on_error{};
  /// Of the reflector's jitter; 0 takes one from the system.
  std::uint64_t seed = 0;
  WatchTuning tuning{};
  /// Of the type, for the labels of informer_* metrics.
  std::string group{};
  std::string version{};
  std::string resource{};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INFORMER_OPTIONS_H_
