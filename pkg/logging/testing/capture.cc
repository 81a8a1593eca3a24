#include "kubexx/logging/testing/capture.h"

#include <algorithm>
#include <utility>

#include "kubexx/base/mutex.h"
#include "kubexx/logging/internal/sink.h"

namespace kubexx::logging::testing {

struct Capture::Impl {
  base::Mutex mu;
  std::vector<std::string> lines KX_GUARDED_BY(mu);
  Options options_before;
  internal::Output output_before;
};

Capture::Capture(const Options& options) : impl_(std::make_unique<Impl>()) {
  impl_->options_before = internal::CurrentOptions();
  impl_->output_before =
      internal::ReplaceOutputForTest([impl = impl_.get()](std::string_view line) {
        base::MutexLock lock(impl->mu);
        impl->lines.emplace_back(line.substr(0, line.size() - 1));
      });
  Init(options);
}

Capture::~Capture() {
  Init(impl_->options_before);
  internal::ReplaceOutputForTest(std::move(impl_->output_before));
}

std::vector<std::string> Capture::lines() const {
  base::MutexLock lock(impl_->mu);
  return impl_->lines;
}

std::size_t Capture::Count(std::string_view text) const {
  base::MutexLock lock(impl_->mu);
  return static_cast<std::size_t>(std::ranges::count_if(
      impl_->lines, [&](const std::string& line) { return line.find(text) != std::string::npos; }));
}

void Capture::Clear() {
  base::MutexLock lock(impl_->mu);
  impl_->lines.clear();
}

}  // namespace kubexx::logging::testing
