#include "kubexx/rest/warning_handler.h"

#include <cstddef>
#include <functional>
#include <unordered_set>

#include "kubexx/base/mutex.h"
#include "kubexx/logging/log.h"

namespace kubexx::rest {
namespace {

class Logger final : public WarningHandler {
 public:
  void Handle(const Warning& warning) override {
    if (warning.code == 299 && !warning.text.empty() && IsNew(warning.text)) {
      logging::Warning("The API server sent a warning", {{"text", warning.text}});
    }
  }

 private:
  static constexpr std::size_t kMaxRemembered = 1000;

  bool IsNew(const std::string& text) {
    base::MutexLock lock(mu_);
    if (seen_.size() >= kMaxRemembered) {
      seen_.clear();
    }
    return seen_.insert(std::hash<std::string>()(text)).second;
  }

  base::Mutex mu_;
  std::unordered_set<std::size_t> seen_ KX_GUARDED_BY(mu_);
};

class Ignore final : public WarningHandler {
 public:
  void Handle(const Warning&) override {}
};

}  // namespace

std::shared_ptr<WarningHandler> NewWarningLogger() { return std::make_shared<Logger>(); }

std::shared_ptr<WarningHandler> NoWarnings() { return std::make_shared<Ignore>(); }

}  // namespace kubexx::rest
