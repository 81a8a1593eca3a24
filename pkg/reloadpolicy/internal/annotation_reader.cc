#include "kubexx/reloadpolicy/internal/annotation_reader.h"

#include <utility>

namespace kubexx::reloadpolicy::internal {
namespace {

/// The annotations that are settings, as one text that no other ones have; empty: there are none.
std::string TextOf(const std::map<std::string, std::string>& annotations) {
  std::string text;
  for (auto each = annotations.lower_bound(std::string(kAnnotationPrefix));
       each != annotations.end() && each->first.starts_with(kAnnotationPrefix); ++each) {
    if (IsSetting(each->first)) {
      text += each->first + '=' + std::to_string(each->second.size()) + ':' + each->second;
    }
  }
  return text;
}

}  // namespace

std::shared_ptr<const AnnotationSettings> AnnotationReader::Read(
    const std::map<std::string, std::string>& annotations) {
  static const auto kNone = std::make_shared<const AnnotationSettings>();
  std::string text = TextOf(annotations);
  if (text.empty()) {
    return kNone;
  }
  {
    const base::MutexLock lock(mu_);
    if (const auto found = known_.find(text); found != known_.end()) {
      return found->second;
    }
  }
  const auto read = std::make_shared<AnnotationSettings>();
  read->settings = SettingsFromAnnotations(annotations, read->problems, &read->brakes);
  if (text.size() > kMostBytes) {
    return read;
  }
  const base::MutexLock lock(mu_);
  if (known_.size() >= kMostTexts || bytes_ + text.size() > kMostBytes) {
    known_.clear();
    bytes_ = 0;
  }
  const std::size_t bytes = text.size();
  bytes_ += known_.emplace(std::move(text), read).second ? bytes : 0;
  return read;
}

std::size_t AnnotationReader::size() const {
  const base::MutexLock lock(mu_);
  return known_.size();
}

}  // namespace kubexx::reloadpolicy::internal
