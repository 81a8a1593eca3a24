#include "kubexx/rest/internal/credentials/exec_plugin.h"

#include <openssl/crypto.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "kubexx/rest/internal/credentials/subprocess.h"
#include "kubexx/rest/url.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;

// A server that refuses all credentials must not make us start programs all the time.
constexpr std::chrono::seconds kBetweenRefusals(5);

}  // namespace

bool ExecPlugin::FreshLocked() const {
  return cached_.value != nullptr && !refused_ &&
         (!cached_.value->expiration || clock_.Wall() < *cached_.value->expiration);
}

Result<ExecPlugin::Credential> ExecPlugin::Get(const std::stop_token& stop,
                                               base::TimePoint deadline) {
  {
    base::MutexLock lock(mu_);
    while (!FreshLocked() && running_) {
      const base::Wake wake = clock_.WaitUntil(mu_, changed_, stop, deadline);
      if (wake == base::Wake::kStopped) {
        return Fail(Reason::kCancelled, "stopped while waiting for the credential plugin");
      }
      if (wake == base::Wake::kTimeout && !FreshLocked()) {
        return Fail(Reason::kTimeout,
                    "the credential plugin took longer than the request's timeout");
      }
    }
    if (FreshLocked()) {
      return cached_;
    }
    running_ = true;
  }
  Result<ExecCredential> credential;
  try {
    credential = RunOnce(stop, deadline);
  } catch (...) {  // out of memory: other threads must not wait for this run for ever
    const base::MutexLock lock(mu_);
    running_ = false;
    changed_.notify_all();
    throw;
  }
  std::shared_ptr<const ExecCredential> old;
  base::MutexLock lock(mu_);
  running_ = false;
  changed_.notify_all();
  if (!credential) {
    return Fail(
        credential.error().WithContext("credential plugin \"" + config_.exec->command + "\""));
  }
  old =
      std::exchange(cached_.value, std::make_shared<const ExecCredential>(std::move(*credential)));
  ++cached_.generation;
  refused_ = false;
  return cached_;
}

bool ExecPlugin::Expire(std::uint64_t generation) {
  const base::TimePoint now = clock_.Now();
  base::MutexLock lock(mu_);
  if (generation != cached_.generation) {
    return true;
  }
  if (refused_) {
    return true;  // another request has already expired them, and the next run serves all requests
  }
  if (refused_at_.has_value() && now - *refused_at_ < kBetweenRefusals) {
    return false;
  }
  refused_at_ = now;
  refused_ = true;
  return true;
}

Result<bool> ExecPlugin::Interactive() const {
  const bool terminal = ::isatty(STDIN_FILENO) == 1;
  if (config_.exec->interactive == ExecInteractive::kAlways && !terminal) {
    return Fail(Reason::kInvalidConfig,
                "interactiveMode is Always but standard input is not a terminal");
  }
  return config_.exec->interactive != ExecInteractive::kNever && terminal;
}

Result<ExecCredential> ExecPlugin::RunOnce(const std::stop_token& stop,
                                           base::TimePoint deadline) const {
  const ExecConfig& exec = *config_.exec;
  KX_ASSIGN_OR_RETURN(const bool interactive, Interactive());
  KX_ASSIGN_OR_RETURN(std::string info, ExecInfo(config_, interactive));
  Subprocess program{.argv = {exec.command}, .env = exec.env, .inherit_stdin = interactive};
  program.argv.insert(program.argv.end(), exec.args.begin(), exec.args.end());
  program.env.emplace_back("KUBERNETES_EXEC_INFO", std::move(info));
  if (!interactive) {
    program.timeout = exec.timeout;
  }
  if (deadline != base::TimePoint::max()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::max(deadline - clock_.Now(), base::Duration::zero()));
    program.timeout = std::min(program.timeout.value_or(left), left);
  }
  auto exit = Run(program, stop);
  if (!exit) {
    metrics_.CountExec(1, "client_internal_error");
    return Fail(std::move(exit).error());
  }
  if (!exit->found) {
    metrics_.CountExec(1, "plugin_not_found_error");
    return Fail(Reason::kInvalidConfig,
                "there is no such program" +
                    (exec.install_hint.empty() ? std::string() : ": " + exec.install_hint));
  }
  metrics_.CountExec(exit->code, exit->code == 0 ? "no_error" : "plugin_execution_error");
  Result<ExecCredential> credential =
      exit->code == 0
          ? ParseExecCredential(exec.api_version, exit->output)
          : Fail(Reason::kUnauthorized, "it failed with exit code " + std::to_string(exit->code));
  OPENSSL_cleanse(exit->output.data(), exit->output.size());
  if (credential && !CheckHeader("Authorization", credential->token)) {
    return Fail(Reason::kUnauthorized, "its token has control characters");
  }
  if (credential) {
    metrics_.SetExecExpiration(credential->expiration);
  }
  return credential;
}

}  // namespace kubexx::rest::internal
