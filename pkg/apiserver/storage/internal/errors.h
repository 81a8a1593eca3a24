/// @file
/// The errors that all implementations report in the same words.
#ifndef KUBEXX_APISERVER_STORAGE_INTERNAL_ERRORS_H_
#define KUBEXX_APISERVER_STORAGE_INTERNAL_ERRORS_H_

#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/apiserver/storage/storage.h"

namespace kubexx::apiserver::storage::internal {

/// kNotFound: the key does not exist.
apimachinery::Error NotFound(std::string_view key);
/// kAlreadyExists: Create was called for a key that exists.
apimachinery::Error AlreadyExists(std::string_view key);
/// kConflict: the mod_revision of `key` is `actual`, and the caller expected `expected`.
apimachinery::Error Conflict(std::string_view key, Revision actual, Revision expected);
/// kCancelled: somebody requested the caller's stop_token to stop.
apimachinery::Error Cancelled(std::string_view what);
/// kExpired: `what`, a phrase such as "of revision 7", was compacted. `oldest` is the oldest known
/// revision, 0 when it is unknown.
apimachinery::Error Expired(std::string_view what, Revision oldest);
/// kExpired: the store has given out revision `asked` before, but is only at `current` now, so that
/// its history is a different one.
apimachinery::Error OtherHistory(std::string_view what, Revision asked, Revision current);
/// The error for which IsTooLargeResourceVersion is true: revision `asked` lies in the future.
/// `current` is 0 when it is unknown.
apimachinery::Error TooLarge(Revision asked, Revision current);
/// kBadRequest: a compaction at a revision in the future.
apimachinery::Error CannotCompact(Revision revision);

}  // namespace kubexx::apiserver::storage::internal

#endif  // KUBEXX_APISERVER_STORAGE_INTERNAL_ERRORS_H_
