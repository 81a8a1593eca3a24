/// @file
/// Reads the values in markers.
#ifndef KUBEXX_CRDGEN_MARKER_VALUE_H_
#define KUBEXX_CRDGEN_MARKER_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::crdgen {

/// What a marker takes as the value of an argument.
enum class MarkerValue : std::uint8_t {
  kNone,     ///< no value
  kBool,     ///< true or false
  kCount,    ///< an integer that is not negative
  kInteger,  ///< any integer
  kNumber,   ///< any number
  kText,     ///< text: in quotation marks, in backquotes, or bare up to a "," or ";" or "}"
  kTexts,    ///< several texts: a;b, or {a,b}
  kAny,      ///< any of the above, {a,b} for a list, or {a: 1, b: {c: 2}} for an object
  kList,     ///< a list of kAny
  kJson,     ///< JSON, up to the end
};

/// Reads values in the notation that controller-gen has for them, one after the other.
class MarkerReader {
 public:
  /// `text` must outlive this object.
  explicit MarkerReader(std::string_view text) : text_(text) {}

  /// Reads a value. kInvalid says what is wrong, without the place.
  apimachinery::Result<codec::JsonTree> Read(MarkerValue type);
  /// Reads a name of letters and digits, which may be empty.
  std::string_view ReadName();
  /// Reads `symbol` if it comes next, and tells whether it does.
  bool Accept(char symbol);
  /// Whether nothing follows.
  bool AtEnd();
  /// What has not been read.
  std::string_view rest() const { return text_.substr(at_); }

 private:
  /// Where a bare text ends.
  enum class Bare : std::uint8_t { kText, kKey };

  char Peek();
  apimachinery::Result<std::string> Text(Bare bare);
  apimachinery::Result<std::string> QuotedText(char quote);
  bool AppendEscape(std::string& out);
  std::string_view BareText(Bare bare);
  apimachinery::Result<codec::JsonTree> Scalar(MarkerValue type);
  apimachinery::Result<codec::JsonTree> Any(int depth);
  apimachinery::Result<codec::JsonTree> Braces(int depth);
  apimachinery::Result<codec::JsonTree> List(MarkerValue element);
  apimachinery::Result<codec::JsonTree> BracedList(int depth);
  /// Whether a key and a colon come next; reads nothing.
  bool IsAtKey();

  const std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace kubexx::crdgen

#endif  // KUBEXX_CRDGEN_MARKER_VALUE_H_
