/// @file
/// FieldError: the error of a decoder, with the path of the field, which is built while the
/// recursion unwinds.
#ifndef KUBEXX_CODEC_INTERNAL_FIELD_ERROR_H_
#define KUBEXX_CODEC_INTERNAL_FIELD_ERROR_H_

#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::codec::internal {

/// Collects the reason of an error and, innermost first, the path of its field. Costs nothing until
/// something fails. Set and the At methods return false, so that a decoder can write `return
/// error.Set("...")`.
class FieldError {
 public:
  bool Set(std::string_view what) {
    what_ = what;
    return false;
  }
  bool AtField(std::string_view name);
  bool AtIndex(std::size_t index);
  bool AtKey(std::string_view key);

  /// Returns kMalformed with the path, such as "spec.containers[0].ports[1].containerPort".
  apimachinery::Status ToStatus() const;

 private:
  std::string what_{};
  std::vector<std::string> segments_{};
};

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_FIELD_ERROR_H_
