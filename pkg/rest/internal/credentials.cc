#include "kubexx/rest/internal/credentials.h"

#include <openssl/evp.h>

#include <chrono>
#include <vector>

#include "kubexx/rest/internal/file.h"
#include "kubexx/rest/internal/url.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::chrono::seconds kReadTokenAgainAfter(50);

std::string Base64(const std::string& text) {
  std::vector<unsigned char> out(4 * ((text.size() + 2) / 3) + 1);
  const int length =
      EVP_EncodeBlock(out.data(), reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size()));
  return {reinterpret_cast<const char*>(out.data()), static_cast<std::size_t>(length)};
}

Result<std::string> Bearer(std::string token, const std::string& origin) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto begin = token.find_first_not_of(kSpace);
  if (begin == std::string::npos) {
    return Fail(Reason::kInvalidConfig, origin + ": is empty");
  }
  token = token.substr(begin, token.find_last_not_of(kSpace) + 1 - begin);
  if (!CheckHeader("Authorization", token)) {
    return Fail(Reason::kInvalidConfig, origin + ": has control characters");
  }
  return "Bearer " + token;
}

}  // namespace

Result<std::unique_ptr<Credentials>> Credentials::New(const Config& config, base::Clock& clock) {
  const bool has_token = !config.bearer_token.empty() || !config.bearer_token_file.empty();
  const bool has_basic = !config.username.empty() || !config.password.empty();
  if (has_token && has_basic) {
    return Fail(Reason::kInvalidConfig,
                "a token and a username or password are set; only one can be used");
  }
  std::string fixed;
  if (has_basic) {
    if (config.username.find(':') != std::string::npos) {
      return Fail(Reason::kInvalidConfig, "username must not contain \":\"");
    }
    fixed = "Basic " + Base64(config.username + ":" + config.password);
  } else if (!config.bearer_token.empty()) {
    KX_ASSIGN_OR_RETURN(fixed, Bearer(config.bearer_token, "token"));
  }
  std::unique_ptr<Credentials> credentials(new Credentials(
      std::move(fixed), has_basic ? std::string() : config.bearer_token_file, clock));
  if (!credentials->token_file_.empty()) {
    base::MutexLock lock(credentials->mu_);
    if (auto read = credentials->ReadLocked(); !read && credentials->value_.empty()) {
      return Fail(std::move(read).error());
    }
  }
  return credentials;
}

Result<void> Credentials::ReadLocked() {
  read_at_ = clock_.Now();
  KX_ASSIGN_OR_RETURN(std::string token, ReadFile(token_file_, "tokenFile"));
  KX_ASSIGN_OR_RETURN(value_, Bearer(std::move(token), "tokenFile " + token_file_));
  return {};
}

std::string Credentials::Authorization() {
  base::MutexLock lock(mu_);
  if (!token_file_.empty() && clock_.Now() - read_at_ >= kReadTokenAgainAfter) {
    (void)ReadLocked();  // on failure the last token stays
  }
  return value_;
}

}  // namespace kubexx::rest::internal
