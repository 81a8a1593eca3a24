#include "kubexx/certwatcher/cert_watcher.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/read_file.h"
#include "kubexx/base/directory_watch.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/thrown_text.h"
#include "kubexx/logging/log.h"
#include "kubexx/metrics/registry.h"

namespace kubexx::certwatcher {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using http::KeyPair;

/// Certificates and keys are a few KiB.
constexpr std::size_t kMaxFileBytes = 1 << 20;

Result<std::string> ReadPem(const std::string& path) {
  KX_ASSIGN_OR_RETURN(std::string bytes,
                      apimachinery::ReadFile(path, {.max_bytes = kMaxFileBytes}));
  if (bytes.empty()) {
    return Fail(Reason::kInvalidConfig, path + ": is empty");
  }
  return bytes;
}

std::vector<std::string> DirectoriesOf(const CertWatcher::Options& options) {
  std::vector<std::string> directories;
  for (const std::string& file : {options.certificate_file, options.key_file}) {
    const std::string directory = std::filesystem::path(file).parent_path().string();
    directories.push_back(directory.empty() ? "." : directory);
  }
  if (directories[0] == directories[1]) {
    directories.pop_back();
  }
  return directories;
}

/// The last good pair; providers share it.
class Slot {
 public:
  std::shared_ptr<const KeyPair> Get() const {
    base::MutexLock lock(mu_);
    return pair_;
  }
  void Set(std::shared_ptr<const KeyPair> pair) {
    base::MutexLock lock(mu_);
    pair_.swap(pair);
  }

 private:
  mutable base::Mutex mu_;
  std::shared_ptr<const KeyPair> pair_ KX_GUARDED_BY(mu_);
};

}  // namespace

class CertWatcher::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)) {
    if (options_.registry != nullptr) {
      reads_ = options_.registry->Counter("certwatcher_read_certificate_total",
                                          "Reads of certificate and key.");
      errors_ = options_.registry->Counter("certwatcher_read_certificate_errors_total",
                                           "Reads of certificate and key that failed.");
    }
  }

  /// Reads the files; true when there is a new pair.
  Result<bool> Read() {
    reads_.Increment();
    auto pair = TryRead();
    if (!pair) {
      errors_.Increment();
      return Fail(std::move(pair).error());
    }
    const auto last = slot_->Get();
    if (last != nullptr && *last == *pair) {
      return false;
    }
    slot_->Set(std::make_shared<const KeyPair>(std::move(*pair)));
    return true;
  }

  void Start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
    watch_ = std::make_unique<base::DirectoryWatch>(DirectoriesOf(options_), [this] {
      base::MutexLock lock(mu_);
      changed_ = true;
      wake_.notify_all();
    });
    for (const std::string& directory : watch_->unwatched()) {
      logging::Warning(
          "Cannot watch a directory for changes; the certificate is read at intervals only",
          {{"directory", directory}});
    }
    // What changed before the watch was there.
    base::MutexLock lock(mu_);
    changed_ = true;
    wake_.notify_all();
  }

  const std::shared_ptr<Slot>& slot() const { return slot_; }

  base::Subscription OnChange(Callback callback) {
    base::MutexLock lock(mu_);
    const std::uint64_t id = ++last_id_;
    callbacks_.emplace(id, std::make_shared<const Callback>(std::move(callback)));
    return base::Subscription([this, id] { Unregister(id); });
  }

 private:
  Result<KeyPair> TryRead() const {
    KX_ASSIGN_OR_RETURN(std::string certificate, ReadPem(options_.certificate_file));
    KX_ASSIGN_OR_RETURN(std::string key, ReadPem(options_.key_file));
    KeyPair pair{.certificate = std::move(certificate), .key = apimachinery::Bytes(std::move(key))};
    if (auto checked = http::CheckKeyPair(pair); !checked) {
      return Fail(
          checked.error().WithContext(options_.certificate_file + ", " + options_.key_file));
    }
    return pair;
  }

  void Run(const std::stop_token& stop) {
    std::string last_error;
    while (AwaitNextRead(stop)) {
      const auto read = Read();
      if (!read) {
        if (read.error().message != last_error) {
          logging::Error("Cannot read the certificate; the last one stays in use",
                         {{"error", read.error()}});
        }
        last_error = read.error().message;
        continue;
      }
      last_error.clear();
      if (*read) {
        logging::Info("The certificate has changed", {{"file", options_.certificate_file}});
        Notify(*slot_->Get());
      }
    }
  }

  bool AwaitNextRead(const std::stop_token& stop) {
    const base::TimePoint deadline = options_.clock.Now() + options_.interval;
    base::MutexLock lock(mu_);
    while (!changed_) {
      const base::Wake wake = options_.clock.WaitUntil(mu_, wake_, stop, deadline);
      if (wake == base::Wake::kStopped) {
        return false;
      }
      if (wake == base::Wake::kTimeout) {
        break;
      }
    }
    changed_ = false;
    return !stop.stop_requested();
  }

  void Notify(const KeyPair& pair) {
    std::map<std::uint64_t, std::shared_ptr<const Callback>> callbacks;
    {
      base::MutexLock lock(mu_);
      callbacks = callbacks_;
    }
    for (const auto& [id, callback] : callbacks) {
      {
        base::MutexLock lock(mu_);
        if (!callbacks_.contains(id)) {
          continue;
        }
        running_ = id;
      }
      try {
        (*callback)(pair);
      } catch (...) {
        logging::Error("A callback for a new certificate threw", {{"error", base::ThrownText()}});
      }
      base::MutexLock lock(mu_);
      running_ = 0;
      idle_.notify_all();
    }
  }

  void Unregister(std::uint64_t id) {
    base::MutexLock lock(mu_);
    callbacks_.erase(id);
    while (running_ == id) {
      idle_.wait(mu_);
    }
  }

  const Options options_;
  metrics::Counter reads_;
  metrics::Counter errors_;
  const std::shared_ptr<Slot> slot_ = std::make_shared<Slot>();
  base::Mutex mu_;
  base::CondVar wake_;
  base::CondVar idle_;
  bool changed_ KX_GUARDED_BY(mu_) = false;
  std::uint64_t last_id_ KX_GUARDED_BY(mu_) = 0;
  std::uint64_t running_ KX_GUARDED_BY(mu_) = 0;  // the callback that is being called, 0: none
  std::map<std::uint64_t, std::shared_ptr<const Callback>> callbacks_ KX_GUARDED_BY(mu_);
  std::jthread thread_;
  std::unique_ptr<base::DirectoryWatch> watch_;
};

CertWatcher::CertWatcher(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CertWatcher::~CertWatcher() = default;

Result<std::unique_ptr<CertWatcher>> CertWatcher::New(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  KX_RETURN_IF_ERROR(impl->Read());
  impl->Start();
  return std::unique_ptr<CertWatcher>(new CertWatcher(std::move(impl)));
}

std::shared_ptr<const KeyPair> CertWatcher::Current() const { return impl_->slot()->Get(); }

http::CertificateProvider CertWatcher::Provider() const {
  return [slot = impl_->slot()] { return slot->Get(); };
}

base::Subscription CertWatcher::OnChange(Callback callback) {
  return impl_->OnChange(std::move(callback));
}

}  // namespace kubexx::certwatcher
