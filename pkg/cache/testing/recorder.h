/// @file
/// Handlers for tests of informers.
#ifndef KUBEXX_CACHE_TESTING_RECORDER_H_
#define KUBEXX_CACHE_TESTING_RECORDER_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "kubexx/apimachinery/object_key.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/testing/await.h"
#include "kubexx/cache/informer_event.h"
#include "kubexx/cache/shared_informer_base.h"

namespace kubexx::cache::testing {

/// A handler that builds the expected content of the store from events alone, and checks that the
/// events fit together. Thread-safe; the Await methods block until a condition is true.
class Recorder {
 public:
  using Content = std::map<apimachinery::ObjectKey, std::string>;

  SharedInformerBase::RawHandler Handler() {
    return [this](const RawEvent& event) { Handle(event); };
  }
  void AwaitContent(const Content& expected,
                    const base::testing::Where& where = base::testing::Where::current()) const {
    base::MutexLock lock(mu_);
    base::testing::Patience patience("the content " + base::testing::Shown(expected), where);
    while (content_ != expected) {
      patience.Wait(changed_, mu_, content_);
    }
  }
  void AwaitEvents(std::size_t n,
                   const base::testing::Where& where = base::testing::Where::current()) const {
    base::MutexLock lock(mu_);
    base::testing::Patience patience(base::testing::Shown(n) + " events", where);
    while (log_.size() < n) {
      patience.Wait(changed_, mu_, log_);
    }
  }
  std::vector<std::string> log() const {
    base::MutexLock lock(mu_);
    return log_;
  }

 private:
  void Handle(const RawEvent& event) {
    const std::string key = event.key().ToString();
    base::MutexLock lock(mu_);
    switch (event.type) {
      case RawEvent::Type::kAdd:
        EXPECT_FALSE(content_.contains(event.key())) << "added twice: " << key;
        content_[event.key()] = event.object().bytes;
        log_.push_back((event.is_in_initial_list ? "initial " : "add ") + key);
        break;
      case RawEvent::Type::kUpdate:
        EXPECT_EQ(content_[event.key()], event.old_object().bytes) << "wrong old state: " << key;
        content_[event.key()] = event.object().bytes;
        log_.push_back("update " + key);
        break;
      case RawEvent::Type::kDelete:
        EXPECT_EQ(content_.erase(event.key()), 1U) << "deleted twice: " << key;
        log_.push_back((event.final_state_unknown ? "lost " : "delete ") + key);
        break;
    }
    changed_.notify_all();
  }

  mutable base::Mutex mu_;
  mutable base::CondVar changed_;
  Content content_ KX_GUARDED_BY(mu_);
  std::vector<std::string> log_ KX_GUARDED_BY(mu_);
};

/// Blocks all callers of Wait until Open is called.
class Gate {
 public:
  void Open() {
    base::MutexLock lock(mu_);
    open_ = true;
    changed_.notify_all();
  }
  void Wait(const base::testing::Where& where = base::testing::Where::current()) {
    base::MutexLock lock(mu_);
    base::testing::Patience patience("a gate to be opened", where);
    while (!open_) {
      patience.Wait(changed_, mu_);
    }
  }

 private:
  base::Mutex mu_;
  base::CondVar changed_;
  bool open_ KX_GUARDED_BY(mu_) = false;
};

}  // namespace kubexx::cache::testing

#endif  // KUBEXX_CACHE_TESTING_RECORDER_H_
