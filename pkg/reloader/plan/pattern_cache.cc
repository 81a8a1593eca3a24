#include "kubexx/reloader/plan/pattern_cache.h"

#include <re2/re2.h>

#include <map>
#include <string>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/reloader/model/annotations.h"

namespace kubexx::reloader {
namespace {

using apimachinery::Malformed;
using apimachinery::Result;

std::shared_ptr<const RE2> Compile(std::string_view item) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);  // an item that needs more to match is refused as malformed
  return std::make_shared<const RE2>("^" + std::string(item) + "$", options);
}

}  // namespace

class PatternCache::Impl {
 public:
  explicit Impl(std::size_t capacity) : capacity_(capacity) {}

  std::shared_ptr<const RE2> Get(std::string_view item) {
    {
      const base::MutexLock lock(mu_);
      if (const auto found = patterns_.find(item); found != patterns_.end()) {
        return found->second;
      }
    }
    auto pattern = Compile(item);
    const base::MutexLock lock(mu_);
    if (patterns_.size() >= capacity_) {
      patterns_.clear();  // rare, and cheaper than keeping an order of use on every match
    }
    patterns_.emplace(item, pattern);
    return pattern;
  }

  std::size_t size() const {
    const base::MutexLock lock(mu_);
    return patterns_.size();
  }

 private:
  const std::size_t capacity_;
  mutable base::Mutex mu_;
  std::map<std::string, std::shared_ptr<const RE2>, std::less<>> patterns_ KX_GUARDED_BY(mu_);
};

PatternCache::PatternCache(std::size_t capacity) : impl_(std::make_unique<Impl>(capacity)) {}
PatternCache::~PatternCache() = default;

Result<bool> PatternCache::Matches(std::string_view item, std::string_view name) {
  if (IsPlainItem(item)) {  // the usual case; needs no expression
    return item == name;
  }
  if (item.size() > kMaxItemBytes) {
    return apimachinery::Fail(
        Malformed("item", "longer than " + std::to_string(kMaxItemBytes) + " bytes"));
  }
  const auto pattern = impl_->Get(item);
  if (!pattern->ok()) {
    return apimachinery::Fail(Malformed(std::string(item), pattern->error()));
  }
  return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *pattern);
}

std::size_t PatternCache::size() const { return impl_->size(); }

}  // namespace kubexx::reloader
