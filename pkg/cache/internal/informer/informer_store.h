/// @file
/// InformerStore: the ReflectorStore of an informer. It transforms the arriving objects and queues
/// them.
#ifndef KUBEXX_CACHE_INTERNAL_INFORMER_INFORMER_STORE_H_
#define KUBEXX_CACHE_INTERNAL_INFORMER_INFORMER_STORE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/base/clock.h"
#include "kubexx/base/report_limit.h"
#include "kubexx/cache/internal/informer/delta_queue.h"
#include "kubexx/cache/internal/packed/packed_store.h"
#include "kubexx/cache/reflector_store.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::cache {

/// Changes an object before anything else uses it.
using Transform = std::function<apimachinery::Result<void>(Object&)>;

/// Runs the transform, packs full states while they arrive, and passes deltas to the queue in
/// order. For an object that a full state brings unchanged it uses the store's entry instead of
/// packing it again. Refers to the store and the queue.
class InformerStore final : public ReflectorStore {
 public:
  /// Settings of an InformerStore.
  struct Options {
    std::string name{};
    Transform transform{};
    metrics::Counter dropped{};
    base::Clock& clock = base::Clock::Real();
    /// When set, the source has only the objects of this namespace.
    std::optional<std::string> namespace_{};
  };

  InformerStore(Options options, PackedStore& store, DeltaQueue& queue)
      : options_(std::move(options)), store_(store), queue_(queue) {}

  apimachinery::Result<void> Add(Object&& object) override { return Upsert(std::move(object)); }
  apimachinery::Result<void> Update(Object&& object) override { return Upsert(std::move(object)); }
  apimachinery::Result<void> Delete(Object&& object) override;
  apimachinery::Result<void> Unreadable(const apimachinery::Status& why) override;
  void Flush() override { queue_.Flush(); }
  bool HasRoom(const std::function<void()>& wake) override { return queue_.HasRoom(this, wake); }
  std::unique_ptr<Replacement> BeginReplace() override;
  void Bookmark(std::string_view resource_version) override;
  apimachinery::Result<void> Resync() override { return queue_.Push(ResyncDelta{}); }
  /// Replaces the objects of a namespace; see SharedInformerBase::ReplaceNamespace. May be called
  /// while a full state arrives.
  apimachinery::Result<void> ReplacePart(std::string namespace_, std::vector<Object>&& objects,
                                         std::shared_ptr<std::atomic<bool>> applied);

 private:
  class TableReplacement;

  apimachinery::Result<void> Upsert(Object&& object);
  /// Logs that an object is too large, and returns the reason with the object.
  apimachinery::Status TooLarge(const Object& object, const apimachinery::Status& why) const;
  /// Returns false when the transform refused the object. The refusal is counted, and is logged
  /// with a limit.
  bool RunTransform(Object& object);

  const Options options_;
  PackedStore& store_;
  DeltaQueue& queue_;
  mutable base::ReportLimit too_large_lines_{options_.clock};
  base::ReportLimit refused_lines_{options_.clock};
};

}  // namespace kubexx::cache

#endif  // KUBEXX_CACHE_INTERNAL_INFORMER_INFORMER_STORE_H_
