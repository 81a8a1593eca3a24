/// @file
/// Which connection makes room when all together hold too much.
#ifndef KUBEXX_HTTP_INTERNAL_SHARES_H_
#define KUBEXX_HTTP_INTERNAL_SHARES_H_

#include <cstddef>
#include <memory>

#include "kubexx/http/internal/session.h"
#include "kubexx/http/server.h"

namespace kubexx::http::internal {

/// Of the sessions that hold half their share of unfinished bodies or more, the one that has been
/// at its own for longest; null when there are none. Those that hold less stay: closing them helps
/// nobody.
std::shared_ptr<Session> OldestBody(const Sessions& sessions);
/// The same of unfinished headers.
std::shared_ptr<Session> OldestHeader(const Sessions& sessions);

/// Smaller answers are bounded by the number of connections.
constexpr std::ptrdiff_t kMuchToTake = 64 << 10;

/// Closes sessions until `held`, which is what answers hold that their clients have not taken yet,
/// fits into the limit of `options`: of those other than `writer` that hold half their share of it
/// or more, the one whose client has taken nothing for longest, and so on.
void EndStalledAnswers(const Sessions& sessions, const Session& writer,
                       const Server::Options& options, const std::size_t& held);

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_SHARES_H_
