#include "kubexx/reloader/ui/token_access.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kubexx/base/ascii.h"
#include "kubexx/crypto/sha.h"
#include "kubexx/reloader/ui/browser_request.h"
#include "kubexx/reloader/ui/page_files.h"

namespace kubexx::reloader {
namespace {

constexpr std::string_view kSessionPath = "/session";
/// A browser takes a cookie with this prefix only with Secure, for this host and for all paths.
constexpr std::string_view kSessionCookie = "__Host-kubexx-reloader-ui";
/// What a browser needs to show the way in. None of it tells anything of the cluster.
constexpr std::array<std::string_view, 3> kPublicPaths{"/icon.svg", "/sign-in.js", "/style.css"};

/// The key for a secret, which is kept itself no longer than needed.
std::string KeyOf(std::string_view secret) {
  const crypto::Sha256Sum sum = crypto::Sha256(secret);
  return {reinterpret_cast<const char*>(sum.data()), sum.size()};
}

/// The name of the cookie at the port that the browser has asked.
std::string CookieNameFor(const http::Request& request) {
  std::string_view host = request.Header("Host");
  host.remove_prefix(host.starts_with('[') ? std::min(host.find(']'), host.size()) : 0);
  const std::size_t colon = host.find(':');
  const std::string_view port = colon == std::string_view::npos ? "" : host.substr(colon + 1);
  return std::string(kSessionCookie) +
         (port.empty() || !std::ranges::all_of(port, base::IsDigit) ? "" : "-" + std::string(port));
}

std::string_view ShownToken(const http::Request& request) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view authorization = request.Header("Authorization");
  if (base::ToLower(authorization.substr(0, kScheme.size())) != kScheme) {
    return {};
  }
  std::string_view token = authorization.substr(kScheme.size());
  token.remove_prefix(std::min(token.find_first_not_of(' '), token.size()));
  token.remove_suffix(token.size() - std::min(token.find_last_not_of(' ') + 1, token.size()));
  return token;
}

http::Response NotSignedIn(const http::Request& request) {
  if (request.path == "/") {
    const auto files = PageFiles();
    const auto file = std::ranges::find(files, "sign-in.html", &PageFile::path);
    return {.status = 401,
            .content_type = "text/html; charset=utf-8",
            .body = file == files.end() ? std::string() : std::string(file->bytes)};
  }
  return {.status = 401,
          .content_type = "application/json",
          .body = R"({"by":"token"})",
          .headers = {{"WWW-Authenticate", "Bearer"}}};
}

/// With what a person has to know.
http::Response Explained(http::Response refusal) {
  if (refusal.status == 401) {
    refusal.body = "The API server does not accept this token; it may have expired.\n";
    refusal.headers.clear();
  } else if (refusal.status == 403) {
    refusal.body.insert(0, std::string("The user of this token may not see the page, and needs the "
                                       "verb get on the non-resource URL ") +
                               kPageUrl + ". ");
  } else {
    refusal.body = "The API server could not be asked about the token. Try again.\n";
  }
  return refusal;
}

std::string SetCookie(const http::Request& request, std::string_view value, std::string_view more) {
  return CookieNameFor(request) + "=" + std::string(value) +
         "; HttpOnly; Secure; SameSite=Strict; Path=/" + std::string(more);
}

}  // namespace

TokenAccess::TokenAccess(Options options)
    : options_(std::move(options)),
      attempts_(options_.attempts_per_second, options_.attempts_at_once, options_.clock) {}

std::optional<std::string> TokenAccess::ClientOf(const http::Request& header) const {
  const base::MutexLock lock(mu_);
  if (const auto cookie = CookieOf(header, CookieNameFor(header))) {
    std::string key = KeyOf(*cookie);
    if (sessions_.contains(key)) {
      return key;
    }
  }
  std::string key = KeyOf(ShownToken(header));
  return accepted_.contains(key) ? std::optional(std::move(key)) : std::nullopt;
}

std::optional<http::Response> TokenAccess::Answer(const http::Request& request) {
  const bool is_session = request.path == kSessionPath;
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  if (!is_read && !(is_session && (request.method == "POST" || request.method == "DELETE"))) {
    return http::Response{
        .status = 405,
        .body = "This method is not answered here.\n",
        .headers = {{"Allow", is_session ? "GET, HEAD, POST, DELETE" : "GET, HEAD"}}};
  }
  // A link to the page may be anywhere; the cookie does not come with it.
  if (IsFromElsewhere(request, is_read)) {
    return ForbiddenAnswer("Pages of another origin may not ask this one.");
  }
  if (is_session && request.method == "POST") {
    return SignIn(request);
  }
  if (is_session && request.method == "DELETE") {
    return SignOut(request);
  }
  if (std::ranges::find(kPublicPaths, request.path) != kPublicPaths.end()) {
    return std::nullopt;
  }
  const auto shown = TokenOf(request);
  if (!shown) {
    return NotSignedIn(request);
  }
  if (auto refusal = Check(*shown, request)) {
    if (refusal->status != 401) {
      return refusal;
    }
    return NotSignedIn(request);
  }
  if (is_session) {
    return http::Response{
        .content_type = "application/json",
        .body = shown->session.empty() ? R"({"by":"header"})" : R"({"by":"token"})"};
  }
  return std::nullopt;
}

std::optional<TokenAccess::Shown> TokenAccess::TokenOf(const http::Request& request) {
  if (const std::string_view token = ShownToken(request); !token.empty()) {
    return Shown{.token = apimachinery::Bytes(std::string(token))};
  }
  const auto cookie = CookieOf(request, CookieNameFor(request));
  if (!cookie) {
    return std::nullopt;
  }
  const base::TimePoint now = options_.clock.Now();
  const base::MutexLock lock(mu_);
  ForgetOld(now);
  const auto found = sessions_.find(KeyOf(*cookie));
  if (found == sessions_.end()) {
    return std::nullopt;
  }
  found->second.last_used = now;
  return Shown{.token = found->second.token, .session = found->first};
}

std::optional<http::Response> TokenAccess::RefuseUnknown(const std::string& key) {
  const base::TimePoint now = options_.clock.Now();
  {
    const base::MutexLock lock(mu_);
    if (accepted_.contains(key)) {
      return std::nullopt;
    }
    std::erase_if(refused_,
                  [&](const auto& each) { return now - each.second > options_.refused_for; });
    if (refused_.contains(key)) {
      return Explained({.status = 401});
    }
  }
  if (attempts_.Reserve() > base::Duration::zero()) {
    attempts_.Cancel();
    return http::Response{.status = 429,
                          .body = "Too many tokens have been shown. Try again in a moment.\n",
                          .headers = {{"Retry-After", "1"}}};
  }
  return std::nullopt;
}

std::optional<http::Response> TokenAccess::Check(const Shown& shown, const http::Request& request) {
  const std::string key = KeyOf(shown.token.view());
  if (shown.session.empty()) {
    if (auto refusal = RefuseUnknown(key)) {
      return refusal;
    }
  }
  const http::Request asked{
      .path = kPageUrl,
      .headers = {{"Authorization", "Bearer " + std::string(shown.token.view())}},
      .stop = request.stop,
      .deadline = request.deadline};
  if (auto refusal = options_.review(asked)) {
    return OnRefused(shown, key, *std::move(refusal));
  }
  const base::TimePoint now = options_.clock.Now();
  const base::MutexLock lock(mu_);
  ForgetOld(now);
  if (!shown.session.empty()) {
    if (const auto session = sessions_.find(shown.session); session != sessions_.end()) {
      session->second.accepted = now;
    }
    return std::nullopt;
  }
  if (accepted_.size() >= options_.max_sessions && !accepted_.contains(key)) {
    accepted_.erase(
        std::ranges::min_element(accepted_, {}, [](const auto& each) { return each.second; }));
  }
  accepted_[key] = now;
  return std::nullopt;
}

std::optional<http::Response> TokenAccess::OnRefused(const Shown& shown, const std::string& key,
                                                     http::Response refusal) {
  const base::TimePoint now = options_.clock.Now();
  const bool is_known = refusal.status == 401 || refusal.status == 403;
  const base::MutexLock lock(mu_);
  const auto session = sessions_.find(shown.session);
  const auto accepted = accepted_.find(key);
  const std::optional<base::TimePoint> last =
      session != sessions_.end()    ? std::optional(session->second.accepted)
      : accepted != accepted_.end() ? std::optional(accepted->second)
                                    : std::nullopt;
  const bool was_in = last && now - *last <= options_.patience;
  if (!is_known && was_in) {
    return std::nullopt;
  }
  if (is_known && !was_in && session != sessions_.end()) {
    sessions_.erase(session);
  }
  if (is_known && shown.session.empty()) {
    if (accepted != accepted_.end()) {
      accepted_.erase(accepted);
    }
    if (refusal.status == 401 && refused_.size() < options_.max_refused) {
      refused_[key] = now;
    }
  }
  return Explained(std::move(refusal));
}

http::Response TokenAccess::SignIn(const http::Request& request) {
  const std::string_view token = ShownToken(request);
  if (token.empty()) {
    return {.status = 400,
            .body = "A token is needed, in the header Authorization: Bearer TOKEN.\n"};
  }
  Shown shown{.token = apimachinery::Bytes(std::string(token))};
  if (auto refusal = Check(shown, request)) {
    return *std::move(refusal);
  }
  const auto secret = NewSecret();
  if (!secret) {
    return {.status = 500, .body = secret.error().message + "\n"};
  }
  const base::TimePoint now = options_.clock.Now();
  const base::MutexLock lock(mu_);
  if (const auto before = CookieOf(request, CookieNameFor(request))) {
    sessions_.erase(KeyOf(*before));
  }
  if (sessions_.size() >= options_.max_sessions) {
    sessions_.erase(std::ranges::min_element(
        sessions_, {}, [](const auto& each) { return each.second.last_used; }));
  }
  sessions_[KeyOf(*secret)] = {.token = std::move(shown.token), .last_used = now, .accepted = now};
  return {.status = 204, .headers = {{"Set-Cookie", SetCookie(request, *secret, "")}}};
}

http::Response TokenAccess::SignOut(const http::Request& request) {
  if (const auto cookie = CookieOf(request, CookieNameFor(request))) {
    const base::MutexLock lock(mu_);
    sessions_.erase(KeyOf(*cookie));
  }
  return {.status = 204, .headers = {{"Set-Cookie", SetCookie(request, "", "; Max-Age=0")}}};
}

std::size_t TokenAccess::sessions() const {
  const base::MutexLock lock(mu_);
  return sessions_.size();
}

void TokenAccess::ForgetOld(base::TimePoint now) {
  std::erase_if(sessions_,
                [&](const auto& each) { return now - each.second.last_used > options_.idle; });
  std::erase_if(accepted_, [&](const auto& each) { return now - each.second > options_.idle; });
}

}  // namespace kubexx::reloader
