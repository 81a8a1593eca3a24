/// @file
/// Recognizes names of annotations that somebody has mistyped.
#ifndef KUBEXX_RELOADER_MODEL_ANNOTATION_TYPOS_H_
#define KUBEXX_RELOADER_MODEL_ANNOTATION_TYPOS_H_

#include <string>
#include <string_view>

namespace kubexx::reloader {

/// The annotation of a workload that was probably meant by `key`, which begins with
/// reloadpolicy::kAnnotationPrefix and differs from it in one or two letters. Empty when `key` is
/// an annotation of the operator's, or like none of those that people set: another version may know
/// it. Pure.
std::string_view MeantAnnotation(std::string_view key);

}  // namespace kubexx::reloader

#endif  // KUBEXX_RELOADER_MODEL_ANNOTATION_TYPOS_H_
