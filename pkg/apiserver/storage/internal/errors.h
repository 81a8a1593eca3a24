/// @file
/// The refusals that all implementations word alike.
#ifndef KUBEXX_APISERVER_STORAGE_INTERNAL_ERRORS_H_
#define KUBEXX_APISERVER_STORAGE_INTERNAL_ERRORS_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/storage.h"

namespace kubexx::apiserver::storage::internal {

/// kNotFound: there is no such key.
apimachinery::Error NotFound(std::string_view key);
/// kAlreadyExists: Create of a key that is there.
apimachinery::Error AlreadyExists(std::string_view key);
/// kConflict: `key` is at `actual`, and the caller wanted `expected`.
apimachinery::Error Conflict(std::string_view key, Revision actual, Revision expected);
/// kCancelled: the caller's stop_token.
apimachinery::Error Cancelled(std::string_view what);
/// kExpired: `what`, which reads on as "of revision 7", was compacted. `oldest` 0: not known.
apimachinery::Error Expired(std::string_view what, Revision oldest);
/// kExpired: the store was at `asked`, and is at `current` now.
apimachinery::Error OtherHistory(std::string_view what, Revision asked, Revision current);
/// What IsTooLargeResourceVersion looks for. `current` 0: not known.
apimachinery::Error TooLarge(Revision asked, Revision current);
/// kBadRequest: a compaction in the future.
apimachinery::Error CannotCompact(Revision revision);

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_ERRORS_H_
