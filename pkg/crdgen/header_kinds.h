/// @file
/// The kinds that headers declare, with all that is written for them.
#ifndef KUBEXX_CRDGEN_HEADER_KINDS_H_
#define KUBEXX_CRDGEN_HEADER_KINDS_H_

#include <span>
#include <string>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/crdgen/model.h"

namespace kubexx::crdgen {

/// A header to read.
struct HeaderText {
  std::string path{};     ///< for errors
  std::string include{};  ///< its name in an #include of the code that is generated
  std::string text{};
};

/// A version of a kind.
struct HeaderVersion {
  std::string path{};
  std::string namespace_{};
  Version version{};
};

/// A kind with the versions that the headers have of it.
struct HeaderKind {
  std::string definition_file{};  ///< the name of the definition's file
  std::string definition{};       ///< the definition, as YAML
  std::vector<HeaderVersion> versions{};
  /// What the definition is likely not meant to do; each begins with the path and the line.
  std::vector<std::string> warnings{};
};

/// Reads headers, each of which declares one version of a kind; those of the same group and kind
/// become one definition. Kinds are in the order of their first header. The first error is
/// returned, and begins with the path and the line.
apimachinery::Result<std::vector<HeaderKind>> ReadKinds(std::span<const HeaderText> headers);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_HEADER_KINDS_H_
