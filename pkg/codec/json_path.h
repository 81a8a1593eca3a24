/// @file
/// JsonPath: templates as of kubectl's `-o jsonpath`.
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
  /// Whether a field that no object has gives nothing; otherwise it is an error that names the
  /// field. kubectl allows it.
  bool allow_missing_keys = true;
  /// How many values the evaluation may look at or give, on the way and in the end, and how many
  /// bytes it may write, before it fails: paths such as "{..}{..}" and "{[:,:,:]}" can give many
  /// times the size of the object. A value costs as many times as steps of a path look at it.
  std::size_t max_values = 10'000'000;
  std::size_t max_bytes = std::size_t{64} << 20;
};

/// A template with paths in braces, such as `{.items[*].metadata.name}` or
/// `{range .items[*]}{.metadata.name}{"\n"}{end}`. A value type, cheap to copy; thread-safe.
///
///     KX_ASSIGN_OR_RETURN(const auto path, codec::JsonPath::Parse("{.spec.containers[*].image}"));
///     KX_ASSIGN_OR_RETURN(const auto tree, codec::JsonTree::Parse(codec::EncodeJson(pod)));
///     KX_ASSIGN_OR_RETURN(const std::string images, path.Print(tree));
///
/// Between braces may stand:
///
///  - `.name` or `['name']`: a member; a dot in a name has a backslash before it.
///  - `[2]`, `[-1]` or `[0:4:2]`: an element, or a slice.
///  - `[0,2]` or `['a','b']`: a union.
///  - `*`, `[*]` or `..`: all members or elements; the value and all below it.
///  - `[?(@.name=="x")]`: those that match; `==`, `!=`, `<`, `<=`, `>`, `>=`, or existence, where
///    there is no operator.
///  - `@`, `$`, `'text'` or `1.5`: the current value, the whole object, a text, a number.
///  - `range` … `end`: repeats what is between them for each value.
///
/// Semantics: client-go util/jsonpath, with these differences: numbers are compared by their
/// values, whether they are integers or not; and a range without an end, an unknown operator and an
/// unknown word are found by Parse.
class JsonPath {
 public:
  /// Parses a template. kBadRequest, which says what is wrong and where, for what is none, for one
  /// of more than 64 KiB, and for one that nests deeper than 16 levels.
  static apimachinery::Result<JsonPath> Parse(std::string_view text);
  /// Also accepts a single path without braces or without the first dot, as kubectl does for
  /// --sort-by and custom columns: "metadata.name", ".metadata.name", "{metadata.name}".
  static apimachinery::Result<JsonPath> ParseRelaxed(std::string_view text);

  JsonPath(const JsonPath&);
  JsonPath(JsonPath&&) noexcept;
  JsonPath& operator=(const JsonPath&);
  JsonPath& operator=(JsonPath&&) noexcept;
  ~JsonPath();

  /// Returns the values of all parts of the template, in their order; those of `root` are views of
  /// it, and texts of the template are views of this object. kBadRequest when a value is not of the
  /// type that the path needs, a field is missing, or the values are more than max_values.
  apimachinery::Result<std::vector<const JsonTree*>> Find(
      const JsonTree& root, const JsonPathOptions& options = {}) const;
  /// Returns the template's text with the values in it, as kubectl prints it: the values of one
  /// path with spaces between them, strings as they are, objects and arrays as JSON with sorted
  /// keys. Errors are those of Find.
  apimachinery::Result<std::string> Print(const JsonTree& root,
                                          const JsonPathOptions& options = {}) const;

 private:
  struct Template;
  explicit JsonPath(std::shared_ptr<const Template> parsed);

  std::shared_ptr<const Template> template_;
};

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_JSON_PATH_H_
