#include "kubexx/reloader/ui/token_access.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kubexx/base/ascii.h"
#include "kubexx/reloader/ui/browser_request.h"
#include "kubexx/reloader/ui/page_files.h"

namespace kubexx::reloader {
namespace {

constexpr std::string_view kSessionPath = "/session";
/// A browser takes a cookie with this prefix only with Secure, for this host and for all paths.
constexpr std::string_view kSessionCookie = "__Host-kubexx-reloader-ui";
/// What a browser needs to show the way in. None of it tells anything of the cluster.
constexpr std::array<std::string_view, 3> kPublicPaths{"/icon.svg", "/sign-in.js", "/style.css"};

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
      attempts_(options_.attempts_per_second, options_.attempts_at_once, options_.clock),
      visitors_({.max_sessions = options_.max_sessions,
                 .idle = options_.idle,
                 .patience = options_.patience,
                 .clock = options_.clock}) {}

std::optional<std::string> TokenAccess::ClientOf(const http::Request& header) const {
  // As TokenOf: a token in a header counts before the cookie.
  std::optional<std::string> user;
  if (const std::string_view token = ShownToken(header); !token.empty()) {
    user = visitors_.UserOf(Visitors::KeyOf(token));
  } else if (const auto cookie = CookieOf(header, CookieNameFor(header))) {
    user = visitors_.UserOf(Visitors::KeyOf(*cookie));
  }
  return user ? std::optional("user " + *user) : std::nullopt;
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
    return ElsewhereAnswer(request);
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
  if (auto refusal = Check(*shown, request).refusal) {
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
  std::string session = Visitors::KeyOf(*cookie);
  auto token = visitors_.TokenOfSession(session);
  return token ? std::optional(Shown{.token = *std::move(token), .session = std::move(session)})
               : std::nullopt;
}

std::optional<http::Response> TokenAccess::RefuseAttempt(const std::string& token_key) {
  {
    const base::TimePoint now = options_.clock.Now();
    const base::MutexLock lock(mu_);
    std::erase_if(refused_,
                  [&](const auto& each) { return now - each.second.at > options_.refused_for; });
    if (const auto found = refused_.find(token_key); found != refused_.end()) {
      return found->second.answer;
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

TokenAccess::Review TokenAccess::Check(const Shown& shown, const http::Request& request) {
  const std::string token_key = Visitors::KeyOf(shown.token.view());
  const bool is_attempt = shown.session.empty() && !visitors_.UserOf(token_key);
  if (is_attempt) {
    if (auto refusal = RefuseAttempt(token_key)) {
      return {.refusal = std::move(refusal)};
    }
  }
  Review review =
      options_.review({.path = kPageUrl,
                       .headers = {{"Authorization", "Bearer " + std::string(shown.token.view())}},
                       .stop = request.stop,
                       .deadline = request.deadline});
  if (review.refusal) {
    review.refusal = OnRefused(shown, token_key, *std::move(review.refusal));
    return review;
  }
  if (is_attempt) {
    // It is not one of those that the limit is for: many may come at once, behind one proxy.
    attempts_.Cancel();
  }
  visitors_.OnAccepted(shown.session, token_key, review.user);
  return review;
}

std::optional<http::Response> TokenAccess::OnRefused(const Shown& shown,
                                                     const std::string& token_key,
                                                     http::Response refusal) {
  const bool is_known = refusal.status == 401 || refusal.status == 403;
  if (!is_known && !shown.is_sign_in &&
      visitors_.MayStay(shown.session.empty() ? token_key : shown.session)) {
    return std::nullopt;
  }
  http::Response answer = Explained(std::move(refusal));
  if (is_known) {
    visitors_.OnRefused(token_key);
  }
  if (is_known && shown.session.empty()) {
    const base::MutexLock lock(mu_);
    if (refused_.size() < options_.max_refused) {
      refused_[token_key] = {.at = options_.clock.Now(), .answer = answer};
    }
  }
  return answer;
}

http::Response TokenAccess::SignIn(const http::Request& request) {
  const std::string_view token = ShownToken(request);
  if (token.empty()) {
    return {.status = 400,
            .body = "A token is needed, in the header Authorization: Bearer TOKEN.\n"};
  }
  Shown shown{.token = apimachinery::Bytes(std::string(token)), .is_sign_in = true};
  Review review = Check(shown, request);
  if (review.refusal) {
    return *std::move(review.refusal);
  }
  const auto secret = NewSecret();
  if (!secret) {
    return {.status = 500, .body = secret.error().message + "\n"};
  }
  if (const auto before = CookieOf(request, CookieNameFor(request))) {
    visitors_.End(Visitors::KeyOf(*before));
  }
  visitors_.Begin(Visitors::KeyOf(*secret), std::move(shown.token), std::move(review.user));
  return {.status = 204, .headers = {{"Set-Cookie", SetCookie(request, *secret, "")}}};
}

http::Response TokenAccess::SignOut(const http::Request& request) {
  if (const auto cookie = CookieOf(request, CookieNameFor(request))) {
    visitors_.End(Visitors::KeyOf(*cookie));
  }
  return {.status = 204, .headers = {{"Set-Cookie", SetCookie(request, "", "; Max-Age=0")}}};
}

std::size_t TokenAccess::sessions() const { return visitors_.sessions(); }

}  // namespace kubexx::reloader
