/// @file
/// TokenAccess: who has a token of the cluster, and the right, sees the page.
#ifndef KUBEXX_RELOADER_UI_TOKEN_ACCESS_H_
#define KUBEXX_RELOADER_UI_TOKEN_ACCESS_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/token_bucket.h"
#include "kubexx/http/message.h"
#include "kubexx/reloader/ui/page_access.h"
#include "kubexx/reloader/ui/visitors.h"

namespace kubexx::reloader {

/// The path of the non-resource URL that a user needs the verb `get` on.
inline constexpr char kPageUrl[] = "/kubexx-reloader/page";

/// Lets in who shows a bearer token that the review accepts, in the header Authorization of each
/// request, as a proxy that authenticates sends it, or once, to sign in: then a cookie stands for
/// the token until it is not accepted any more, has not been used for `idle`, or the user signs
/// out. The cookie is Secure, so a browser keeps it only over TLS or from its own machine; its name
/// has the port, because a browser sends a host's cookies to all its ports. Strangers cost little:
/// without a token nothing is asked, and tokens that turn out not to be good are reviewed at a
/// bounded rate. Those who are in share what there is by the names of their users. Thread-safe.
class TokenAccess final : public PageAccess {
 public:
  /// What the API server says of the token of a request.
  struct Review {
    std::string user{};                       ///< the name of its user, when it is accepted
    std::optional<http::Response> refusal{};  ///< 401, 403, or another one when nobody knows
  };
  /// How tokens are reviewed, and the limits.
  struct Options {
    /// Whether the user of the token may get kPageUrl: authfilter::AuthFilter::Review(). Gets a
    /// request with the header Authorization, and may wait until its deadline.
    std::function<Review(const http::Request&)> review{};
    /// Above it the user who has most sessions loses the one that has not been used for longest.
    std::size_t max_sessions = 256;
    base::Duration idle = std::chrono::hours(8);
    /// A session whose token has not been accepted for so long ends when it is refused: until then
    /// it may be the API server's trouble. And who was accepted in this time, and not refused
    /// since, is in while the API server cannot be asked.
    base::Duration patience = std::chrono::minutes(10);
    /// A token that was refused is not reviewed again before.
    base::Duration refused_for = std::chrono::seconds(10);
    /// An event stream is asked again for its token after that.
    base::Duration stream_age = std::chrono::minutes(2);
    /// How many tokens that are not known, and turn out not to be good, are reviewed.
    double attempts_per_second = 5;
    int attempts_at_once = 20;
    std::size_t max_refused = 1024;
    base::Clock& clock = base::Clock::Real();
  };
  explicit TokenAccess(Options options);

  std::optional<std::string> ClientOf(const http::Request& header) const override;
  /// 401 without a token that is accepted, 403 where the user lacks the right or another page has
  /// made the browser ask, 405, 429 for too many tokens that are not accepted, 500 when the API
  /// server cannot be asked. POST /session signs in, DELETE /session signs out, and GET /session
  /// tells whether the browser is in. The files of the way in are for everybody.
  std::optional<http::Response> Answer(const http::Request& request) override;
  std::optional<base::Duration> stream_age() const override { return options_.stream_age; }
  /// How many browsers are signed in.
  std::size_t sessions() const;

 private:
  /// What a request shows.
  struct Shown {
    apimachinery::Bytes token{};
    std::string session{};  ///< the key of the session that has the token; empty: the header has it
    /// A session shall begin, for which somebody has to accept the token now.
    bool is_sign_in = false;
  };
  /// A token that has been refused.
  struct Refused {
    base::TimePoint at{};
    http::Response answer{};
  };

  /// std::nullopt: the request shows none.
  std::optional<Shown> TokenOf(const http::Request& request);
  Review Check(const Shown& shown, const http::Request& request);
  /// The answer to a token that is not known to be good, and that is not to be reviewed now;
  /// std::nullopt: it is.
  std::optional<http::Response> RefuseAttempt(const std::string& token_key);
  std::optional<http::Response> OnRefused(const Shown& shown, const std::string& token_key,
                                          http::Response refusal);
  http::Response SignIn(const http::Request& request);
  http::Response SignOut(const http::Request& request);

  const Options options_;
  base::TokenBucket attempts_;
  Visitors visitors_;
  mutable base::Mutex mu_;
  /// By the keys of the tokens.
  std::map<std::string, Refused> refused_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_TOKEN_ACCESS_H_
