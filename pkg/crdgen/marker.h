/// @file
/// Markers: the lines of comments that begin with "+", in the notation of controller-gen.
#ifndef KUBEXX_CRDGEN_MARKER_H_
#define KUBEXX_CRDGEN_MARKER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"
#include "kubexx/crdgen/marker_value.h"

namespace kubexx::crdgen {

/// What a marker may stand above. A rule has the sum of its places.
enum MarkerPlaces : std::uint8_t {
  kOnHeader = 1,  ///< the header: before the namespace
  kOnStruct = 2,
  kOnAlias = 4,  ///< using Name = ...;
  kOnMember = 8,
};

/// An argument of a marker.
struct MarkerArgument {
  std::string_view name{};  ///< "" for the only one of "+name=value"
  MarkerValue type = MarkerValue::kNone;
  bool is_required = true;
};

/// What is known of the markers of one name.
struct MarkerRule {
  std::string_view name{};
  std::uint8_t places = 0;
  bool may_repeat = false;
  std::span<const MarkerArgument> arguments{};
};

/// A marker with its arguments, as its rule wants them.
struct Marker {
  const MarkerRule* rule = nullptr;
  std::size_t line = 0;
  std::size_t size = 0;  ///< of its text
  /// Whether it is about the elements of a list: "+kubebuilder:validation:items:...".
  bool is_for_items = false;
  std::vector<std::pair<std::string_view, codec::JsonTree>> arguments{};

  std::string_view name() const { return rule->name; }
  /// As it is written, for errors, without its arguments: "+listType".
  std::string Shown() const;
  /// Returns the argument, or null if it is not given.
  const codec::JsonTree* Find(std::string_view argument) const;
  /// The text of an argument; "" if it is not given.
  std::string Text(std::string_view argument = {}) const;
  /// The texts of an argument of type kTexts.
  std::vector<std::string> Texts(std::string_view argument) const;
};

/// Reads a marker, of which `text` begins with "+". kInvalid for one that is unknown, that does not
/// belong to `place`, or whose arguments are wrong; the message says what would be right, and
/// begins with `path` and `line`.
apimachinery::Result<Marker> ReadMarker(std::string_view text, MarkerPlaces place,
                                        std::string_view path, std::size_t line);

/// Returns the first marker of that name, or null; none of those for the elements of a list.
const Marker* FindMarker(std::span<const Marker> markers, std::string_view name);

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_MARKER_H_
