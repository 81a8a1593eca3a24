/// @file
/// Functions that choose which connection the server closes when all of them together hold too much
/// memory.
#ifndef KUBEXX_HTTP_INTERNAL_SHARES_H_
#define KUBEXX_HTTP_INTERNAL_SHARES_H_

#include <cstddef>
#include <memory>

#include "kubexx/http/internal/session.h"
#include "kubexx/http/server.h"

namespace kubexx::http::internal {

/// Among the sessions that hold at least half of the average of unfinished bodies, returns the one
/// whose body has been unfinished for longest; null when there are none. Closing a session that
/// holds less would free little.
std::shared_ptr<Session> OldestBody(const Sessions& sessions);
/// Like OldestBody, for unfinished headers.
std::shared_ptr<Session> OldestHeader(const Sessions& sessions);

/// Smaller answers do not count, because the number of connections bounds them.
constexpr std::ptrdiff_t kMuchToTake = 64 << 10;

/// Closes sessions until `held`, the sum of the answers that clients have not received yet, is
/// within the limit of `options`. Among the sessions other than `writer` that hold at least half of
/// the average, it closes the one whose client has received nothing for longest, and so on.
void EndStalledAnswers(const Sessions& sessions, const Session& writer,
                       const Server::Options& options, const std::size_t& held);

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_SHARES_H_
