/// @file
/// What an operator has only where its options ask for it.
#ifndef KUBEXX_RELOADER_OPERATOR_OPTIONAL_MEMBERS_H_
#define KUBEXX_RELOADER_OPERATOR_OPTIONAL_MEMBERS_H_

#include <functional>
#include <memory>

#include "kubexx/reloader/history/history_keeper.h"
#include "kubexx/reloader/in_place/in_place_reloads.h"
#include "kubexx/reloader/operator/operator.h"
#include "kubexx/reloader/watch/caches.h"
#include "kubexx/reloader/write/pause.h"
#include "kubexx/reloader/write/writer.h"

namespace kubexx::reloader {

/// Null where no pauses are read. `options`, `caches` and `writer` must outlive the result.
std::unique_ptr<Pauses> NewPausesFor(const Operator::Options& options, const Caches& caches,
                                     WorkloadWriter& writer);

/// Null where no history is kept. `caches` must outlive the result.
std::unique_ptr<HistoryKeeper> NewHistoryFor(const Operator::Options& options,
                                             const Caches& caches);

/// Null where nothing is reloaded in place. Has threads. `on_end`: see InPlaceReloads::Options.
std::unique_ptr<InPlaceReloads> NewInPlaceReloadsFor(const Operator::Options& options,
                                                     std::function<void(const WorkloadId&)> on_end);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_OPERATOR_OPTIONAL_MEMBERS_H_
