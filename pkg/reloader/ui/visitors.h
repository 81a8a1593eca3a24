/// @file
/// Visitors: who is in, and what is known of their tokens.
#ifndef KUBEXX_RELOADER_UI_VISITORS_H_
#define KUBEXX_RELOADER_UI_VISITORS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"

namespace kubexx::reloader {

/// Keeps what the last reviews have said of tokens that have been accepted once: of those that are
/// shown with each request, and of those of sessions, for which a cookie stands. A refusal counts
/// for everything that stands for the token, and until the token is accepted again. Of each kind
/// there is a limit; above it the user who has most loses the one that has not been used for
/// longest. Thread-safe.
class Visitors {
 public:
  /// See TokenAccess::Options.
  struct Options {
    std::size_t max_sessions = 256;  ///< and as many tokens without one
    base::Duration idle{};
    base::Duration patience{};
    base::Clock& clock = base::Clock::Real();
  };
  explicit Visitors(Options options) : options_(options) {}

  /// The key for a token, or for the value of a cookie, which are kept no longer than needed.
  static std::string KeyOf(std::string_view secret);

  /// The user whose token, or cookie, this is the key of; std::nullopt when it is not known, or has
  /// been refused.
  std::optional<std::string> UserOf(const std::string& key) const;
  /// The token of a session, which counts as used; std::nullopt when there is no such session.
  std::optional<apimachinery::Bytes> TokenOfSession(const std::string& session);
  /// Begins a session of a token that has just been accepted.
  void Begin(const std::string& session, apimachinery::Bytes token, std::string user);
  void End(const std::string& session);
  /// The token has been accepted: of this session or, when that is empty, of a request.
  void OnAccepted(const std::string& session, const std::string& token_key,
                  const std::string& user);
  /// The token has been refused. A session that has not been accepted for `patience` ends; others
  /// may be accepted again, because a refusal may be the API server's trouble.
  void OnRefused(const std::string& token_key);
  /// Whether the owner of the key is in while nobody knows about the token.
  bool MayStay(const std::string& key) const;
  /// How many sessions there are.
  std::size_t sessions() const;

 private:
  struct Visitor {
    apimachinery::Bytes token{};  ///< of a session
    std::string token_key{};
    std::string user{};
    base::TimePoint last_used{};
    base::TimePoint accepted{};
    bool is_refused = false;
  };
  using Table = std::map<std::string, Visitor>;

  const Visitor* Find(const std::string& key) const KX_REQUIRES(mu_);
  void Put(Table& table, const std::string& key, Visitor visitor) KX_REQUIRES(mu_);
  void ForgetIdle() KX_REQUIRES(mu_);

  const Options options_;
  mutable base::Mutex mu_;
  /// By the key of the cookie's value.
  Table sessions_ KX_GUARDED_BY(mu_);
  /// By the key of the token.
  Table tokens_ KX_GUARDED_BY(mu_);
};

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_UI_VISITORS_H_
