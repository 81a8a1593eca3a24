#include "kubexx/rest/internal/credentials/credentials.h"

#include <openssl/crypto.h>

#include <chrono>

#include "kubexx/codec/base64.h"
#include "kubexx/rest/internal/config/file.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr std::chrono::seconds kReadTokenAgainAfter(50);
constexpr std::chrono::seconds kReadRefusedTokenAgainAfter(5);

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

Result<std::unique_ptr<Credentials>> Credentials::New(const Config& config, base::Clock& clock,
                                                      const RestMetrics& metrics) {
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
    fixed = "Basic " + codec::EncodeBase64(config.username + ":" + config.password);
  } else if (!config.bearer_token.empty()) {
    KX_ASSIGN_OR_RETURN(fixed, Bearer(config.bearer_token, "token"));
  }
  std::unique_ptr<Credentials> credentials(new Credentials(
      std::move(fixed), has_basic ? std::string() : config.bearer_token_file, clock));
  if (!credentials->token_file_.empty()) {
    auto read = credentials->ReadToken();
    if (!read && config.bearer_token.empty()) {
      return Fail(std::move(read).error());
    }
    credentials->Take(std::move(read));
  }
  const bool has_certificate = !config.tls.cert_data.empty() || !config.tls.cert_file.empty();
  if (config.exec.has_value() && !has_token && !has_basic && !has_certificate) {
    credentials->exec_ = std::make_unique<ExecPlugin>(config, clock, metrics);
  }
  return credentials;
}

Result<std::string> Credentials::ReadToken() const {
  KX_ASSIGN_OR_RETURN(std::string token, ReadConfigFile(token_file_, "tokenFile"));
  return Bearer(std::move(token), "tokenFile " + token_file_);
}

void Credentials::Take(Result<std::string> read) {
  base::MutexLock lock(mu_);
  read_at_ = clock_.Now();
  if (read && *read != value_) {
    OPENSSL_cleanse(value_.data(), value_.size());
    value_ = std::move(*read);
    ++generation_;
  }
}

Result<Credentials::Credential> Credentials::Get(const std::stop_token& stop,
                                                 base::TimePoint deadline) {
  if (exec_) {
    KX_ASSIGN_OR_RETURN(const ExecPlugin::Credential got, exec_->Get(stop, deadline));
    return Credential{
        .authorization = got.value->token.empty() ? std::string() : "Bearer " + got.value->token,
        .plugin = got.value,
        .generation = got.generation};
  }
  bool read = false;
  if (!token_file_.empty()) {
    base::MutexLock lock(mu_);
    if (clock_.Now() - read_at_ >= kReadTokenAgainAfter) {
      read_at_ = clock_.Now();  // other threads go on with the present token meanwhile
      read = true;
    }
  }
  if (read) {
    Take(ReadToken());
  }
  base::MutexLock lock(mu_);
  return Credential{.authorization = value_, .generation = generation_};
}

bool Credentials::Renew(std::uint64_t generation) {
  if (exec_) {
    return exec_->Expire(generation);
  }
  if (token_file_.empty()) {
    return false;
  }
  bool read = false;
  {
    base::MutexLock lock(mu_);
    if (generation == generation_ && clock_.Now() - read_at_ >= kReadRefusedTokenAgainAfter) {
      read_at_ = clock_.Now();
      read = true;
    }
  }
  if (read) {
    Take(ReadToken());
  }
  base::MutexLock lock(mu_);
  return generation != generation_;
}

}  // namespace kubexx::rest::internal
