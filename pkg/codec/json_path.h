/// @file
/// JsonPath: templates like those of kubectl's `-o jsonpath`.
#ifndef KUBEXX_CODEC_JSON_PATH_H_
#define KUBEXX_CODEC_JSON_PATH_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubexx/apimachinery/status.h"
#include "kubexx/codec/json_tree.h"

namespace kubexx::codec {

/// Settings of a JsonPath's evaluation.
struct JsonPathOptions {
  /// Whether a path to a missing field yields no values, as in kubectl. Otherwise the missing field
  /// is an error, which names it.
  bool allow_missing_keys = true;
  /// How many values the evaluation may visit or yield, intermediate ones included, before it
  /// fails. A value counts once for each step of a path that visits it. This limit and the next one
  /// are needed because paths such as "{..}{..}" and "{[:,:,:]}" can yield many times the size of
  /// the object.
  std::size_t max_values = 10'000'000;
  /// How many bytes Print may write before it fails.
  std::size_t max_bytes = std::size_t{64} << 20;
};

/// A template with paths in braces, such as `{.items[*].metadata.name}` or
/// `{range .items[*]}{.metadata.name}{"\n"}{end}`. A value type, cheap to copy; thread-safe.
///
///     KX_ASSIGN_OR_RETURN(const auto path, codec::JsonPath::Parse("{.spec.containers[*].image}"));
///     KX_ASSIGN_OR_RETURN(const auto tree, codec::JsonTree::Parse(codec::EncodeJson(pod)));
///     KX_ASSIGN_OR_RETURN(const std::string images, path.Print(tree));
///
/// Braces may contain:
///
///  - `.name` or `['name']`: a member; a dot in a name has a backslash before it.
///  - `[2]`, `[-1]` or `[0:4:2]`: an element or a slice.
///  - `[0,2]` or `['a','b']`: a union.
///  - `*` or `[*]`: all members or elements; `..`: the value and all values in it.
///  - `[?(@.name=="x")]`: the elements that match, with `==`, `!=`, `<`, `<=`, `>` or `>=`. Without
///    an operator the field has to exist.
///  - `@`, `$`, `'text'` or `1.5`: the current value, the same, a text, or a number. As in
///  client-go,
///    `$` is the whole object only outside of a range and a filter: within these it is the current
///    value, too, so that nothing there leads to the whole object.
///  - `range` … `end`: repeats the part between them for each value.
///
/// Semantics: client-go util/jsonpath, with these differences: numbers are compared by their
/// values, whether they are integers or not, and Parse reports a range without an end, an unknown
/// operator and an unknown word.
class JsonPath {
 public:
  /// Parses a template. Returns kBadRequest, with the reason and the place, if `text` is not a
  /// template, has more than 64 KiB, or nests deeper than 16 levels.
  static apimachinery::Result<JsonPath> Parse(std::string_view text);
  /// Also accepts a single path without braces or without the first dot, as kubectl does for
  /// --sort-by and custom columns: "metadata.name", ".metadata.name", "{metadata.name}".
  static apimachinery::Result<JsonPath> ParseRelaxed(std::string_view text);

  JsonPath(const JsonPath&);
  JsonPath(JsonPath&&) noexcept;
  JsonPath& operator=(const JsonPath&);
  JsonPath& operator=(JsonPath&&) noexcept;
  ~JsonPath();

  /// Returns the values of all parts of the template in their order. The pointers refer to values
  /// in `root`, and for texts of the template to values in this object. Returns kBadRequest if a
  /// value is not of the type that the path needs, a field is missing (see JsonPathOptions), or
  /// there are more than max_values values.
  apimachinery::Result<std::vector<const JsonTree*>> Find(
      const JsonTree& root, const JsonPathOptions& options = {}) const;
  /// Returns the template's text with the values in it, as kubectl prints it: with spaces between
  /// the values of one path, with strings as they are, and with objects and arrays as JSON with
  /// sorted keys. Errors are those of Find, and kBadRequest beyond max_bytes.
  apimachinery::Result<std::string> Print(const JsonTree& root,
                                          const JsonPathOptions& options = {}) const;

 private:
  struct Template;
  explicit JsonPath(std::shared_ptr<const Template> parsed);

  std::shared_ptr<const Template> template_;
};

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_JSON_PATH_H_
