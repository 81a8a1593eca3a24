/// @file
/// The settings that workloads' annotations specify, read once for many questions.
#ifndef KUBEXX_RELOADPOLICY_INTERNAL_ANNOTATION_READER_H_
#define KUBEXX_RELOADPOLICY_INTERNAL_ANNOTATION_READER_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "kubexx/base/mutex.h"
#include "kubexx/reloadpolicy/policy.h"

namespace kubexx::reloadpolicy::internal {

/// Reads annotations and keeps what they specify, by their text: each event and each plan of a
/// workload asks several times, and maintenance windows take long to read. Thread-safe.
class AnnotationReader {
 public:
  /// The most texts, and the most bytes in all texts together, that are kept. When there is no more
  /// room, all are forgotten.
  static constexpr std::size_t kMostTexts = 4096;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;

  /// Does the same as SettingsFromAnnotations. Never returns null.
  std::shared_ptr<const AnnotationSettings> Read(
      const std::map<std::string, std::string>& annotations);
  /// The number of texts that are kept.
  std::size_t size() const;

 private:
  mutable base::Mutex mu_;
  std::map<std::string, std::shared_ptr<const AnnotationSettings>> known_ KX_GUARDED_BY(mu_);
  std::size_t bytes_ KX_GUARDED_BY(mu_) = 0;
};

}  // namespace kubexx::reloadpolicy::internal

#endif  // KUBEXX_RELOADPOLICY_INTERNAL_ANNOTATION_READER_H_
