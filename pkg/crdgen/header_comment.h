/// @file
/// What the comments of a header say: descriptions and markers.
#ifndef KUBEXX_CRDGEN_HEADER_COMMENT_H_
#define KUBEXX_CRDGEN_HEADER_COMMENT_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/crdgen/header_lexer.h"
#include "kubexx/crdgen/marker.h"

namespace kubexx::crdgen {

/// The comments of a declaration.
struct HeaderComment {
  /// The comment that ends in the line above, without its markers. As in controller-gen, it leaves
  /// out notes of unfinished work and all that follows a line that begins with ---.
  std::string description{};
  /// Those of all comments since the last declaration, in their order.
  std::vector<Marker> markers{};
};

/// Reads the comments above a declaration that begins in `line`. Markers of one name that may not
/// repeat are an error, as are those of ReadMarker.
apimachinery::Result<HeaderComment> ReadComments(std::span<const HeaderToken> comments,
                                                 std::size_t line, MarkerPlaces place,
                                                 std::string_view path);

/// kInvalid if one of the comments has a marker, which would have no effect.
apimachinery::Result<void> ExpectNoMarkers(std::span<const HeaderToken> comments,
                                           std::string_view path);

/// kInvalid for a comment behind a declaration that has a marker, or a description.
apimachinery::Result<void> CheckCommentBehind(const HeaderToken& comment, std::string_view path);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_HEADER_COMMENT_H_
