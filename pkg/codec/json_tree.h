/// @file
/// JsonTree: a JSON value as a tree, for objects whose type is not known when the program is
/// compiled.
#ifndef KUBEXX_CODEC_JSON_TREE_H_
#define KUBEXX_CODEC_JSON_TREE_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kubexx/apimachinery/status.h"

namespace kubexx::codec {

/// A JSON value that keeps the order of members and the text of numbers, so that a value that is
/// read and written again differs only in white space. It is made for objects with a few dozen
/// members: finding a member takes time linear in their number (see MemberIndex). A value type; not
/// thread-safe while it changes.
class JsonTree {
 public:
  enum class Type : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };
  struct Member;

  // NOLINTBEGIN(google-explicit-constructor): a JSON value is what it is made of.
  /// Makes null.
  JsonTree();
  JsonTree(std::nullptr_t);
  JsonTree(std::same_as<bool> auto value);
  JsonTree(std::string value);
  JsonTree(std::string_view value);
  JsonTree(const char* value);
  JsonTree(double value);
  /// Makes a number from any integer.
  template <std::integral I>
    requires(!std::same_as<I, bool> && !std::same_as<I, char>)
  JsonTree(I value);
  // NOLINTEND(google-explicit-constructor)

  /// Make an empty array and an empty object.
  static JsonTree Array();
  static JsonTree Object();
  /// Makes an object of `members`, in their order. If two have the same key, the last counts.
  static JsonTree Object(std::vector<Member> members);
  static JsonTree Array(std::vector<JsonTree> elements);

  /// Parses `text`. Returns kMalformed if it is not one JSON value, or nests deeper than 512
  /// levels. If several members have the same key, the last counts.
  static apimachinery::Result<JsonTree> Parse(std::string_view text);

  Type type() const { return static_cast<Type>(value_.index()); }
  bool IsNull() const { return type() == Type::kNull; }
  bool IsObject() const { return type() == Type::kObject; }
  bool IsArray() const { return type() == Type::kArray; }

  /// Return the value if it has that type; AsInt requires a number without a fraction that fits
  /// into 64 bits.
  std::optional<bool> AsBool() const;
  std::optional<std::int64_t> AsInt() const;
  std::optional<double> AsDouble() const;
  /// Returns the string, or null if the value is not a string. Valid until the value changes.
  const std::string* AsString() const { return std::get_if<std::string>(&value_); }

  /// Returns the members of an object; empty for other types.
  std::span<const Member> members() const;
  std::span<Member> members();
  /// Returns the elements of an array; empty for other types.
  std::span<const JsonTree> elements() const;
  std::span<JsonTree> elements();
  /// Returns the number of members or elements.
  std::size_t size() const;

  /// Returns the member `key`, or null if there is none or this is not an object. Valid until
  /// members are added or removed.
  const JsonTree* Find(std::string_view key) const;
  JsonTree* Find(std::string_view key);
  /// Returns the string at `key`; empty if there is no such member, or if it is not a string. Valid
  /// until the value changes.
  std::string_view TextAt(std::string_view key) const {
    const JsonTree* member = Find(key);
    const std::string* text = member == nullptr ? nullptr : member->AsString();
    return text == nullptr ? std::string_view() : std::string_view(*text);
  }
  /// Returns the member `key`; a new member is added at the end, as null. A value that is not an
  /// object becomes one.
  JsonTree& operator[](std::string_view key);
  /// Removes the member `key`. Returns whether there was one.
  bool Erase(std::string_view key);
  /// Adds an element at the end. A value that is not an array becomes one.
  JsonTree& Append(JsonTree element);

  /// Returns the value at `path`, or null if there is none. Each step is the key of a member or,
  /// for an array, an index in decimal.
  const JsonTree* At(std::span<const std::string_view> path) const;
  JsonTree* At(std::span<const std::string_view> path);
  const JsonTree* At(std::initializer_list<std::string_view> path) const {
    return At(std::span(path.begin(), path.size()));
  }

  void AppendJson(std::string& out) const;
  /// Returns JSON on one line, without white space, with strings as Go's encoding/json writes them.
  std::string ToJson() const;

  /// Compares the JSON values: the order of members does not count, and 1.0 equals 1.
  friend bool operator==(const JsonTree& a, const JsonTree& b);

 private:
  struct Number {
    std::string text{};
  };
  class Builder;

  std::variant<std::monostate, bool, Number, std::string, std::vector<JsonTree>,
               std::vector<Member>>
      value_;
};

/// One member of an object.
struct JsonTree::Member {
  std::string key{};
  JsonTree value{};
};

// These definitions stand here because Member is not complete in the class.
inline JsonTree::JsonTree() = default;
inline JsonTree::JsonTree(std::nullptr_t) {}
inline JsonTree::JsonTree(std::same_as<bool> auto value) : value_(value) {}
inline JsonTree::JsonTree(std::string value) : value_(std::move(value)) {}
inline JsonTree::JsonTree(std::string_view value) : value_(std::string(value)) {}
inline JsonTree::JsonTree(const char* value) : value_(std::string(value)) {}
template <std::integral I>
  requires(!std::same_as<I, bool> && !std::same_as<I, char>)
JsonTree::JsonTree(I value) : value_(Number{std::to_string(value)}) {}

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_JSON_TREE_H_
