#include "kubexx/crdgen/header_type.h"

#include <map>
#include <string>

namespace kubexx::crdgen {
namespace {

using apimachinery::Result;

/// std::optional<std::optional<std::map<std::string, T>>> has four levels.
constexpr int kMaxTypeDepth = 8;

Result<HeaderType> TypeAt(HeaderCursor& cursor, int depth) {
  if (depth > kMaxTypeDepth) {
    return cursor.Error("the type nests too deeply");
  }
  HeaderType type{.line = cursor.line()};
  if (cursor.IsAt("::")) {
    KX_RETURN_IF_ERROR(cursor.Move());
  }
  do {
    if (const std::string_view advice = AdviceForWord(cursor.token().text); !advice.empty()) {
      return cursor.Error(cursor.Shown() + " is not supported in a type: " + std::string(advice));
    }
    KX_ASSIGN_OR_RETURN(const std::string part, cursor.ExpectWord("a type"));
    type.name += (type.name.empty() ? "" : "::") + part;
    if (!cursor.IsAt("::")) {
      break;
    }
    KX_RETURN_IF_ERROR(cursor.Move());
  } while (true);
  if (cursor.IsAt("<")) {
    do {
      KX_RETURN_IF_ERROR(cursor.Move());
      KX_ASSIGN_OR_RETURN(type.arguments.emplace_back(), TypeAt(cursor, depth + 1));
    } while (cursor.IsAt(","));
    KX_RETURN_IF_ERROR(cursor.Expect(">", "the arguments of the type"));
  }
  if (cursor.IsAt("*") || cursor.IsAt("&")) {
    return cursor.Error("pointers and references are not supported: write std::optional<" +
                        type.name + ">, or kubexx::apimachinery::Box<" + type.name +
                        "> for a struct");
  }
  return type;
}

}  // namespace

std::string_view AdviceForWord(std::string_view word) {
  static const std::map<std::string_view, std::string_view> kAdvice = {
      {"static", "put the constant outside of the struct, as inline constexpr"},
      {"constexpr", "put the constant outside of the struct, as inline constexpr"},
      {"const", "a member that is read from JSON cannot be const"},
      {"mutable", "leave it out"},
      {"volatile", "leave it out"},
      {"virtual", "a struct of data has no functions; write a free function"},
      {"explicit", "a struct of data has no constructors; give its members initialisers"},
      {"template", "write out the type"},
      {"struct", "put the struct before this one, and not into it"},
      {"class", "write a struct before this one"},
      {"union", "write a struct with a std::optional for each of the members"},
      {"enum",
       "write 'using Name = std::string;' before the struct, with "
       "+kubebuilder:validation:Enum=... above it"},
      {"using", "put it outside of the struct"},
      {"typedef", "write 'using Name = type;' outside of the struct"},
      {"public", "all members of a struct are public anyway"},
      {"private", "a struct of data has no private members"},
      {"protected", "a struct of data has no protected members"},
      {"unsigned",
       "the API has no unsigned numbers: write std::int32_t or std::int64_t, with "
       "+kubebuilder:validation:Minimum=0"},
      {"int", "write std::int32_t or std::int64_t"},
      {"long", "write std::int64_t"},
      {"short", "write std::int32_t"},
      {"signed", "write std::int32_t or std::int64_t"},
      {"char", "write std::string"},
      {"float", "write double"},
      {"auto", "write out the type"}};
  const auto advice = kAdvice.find(word);
  return advice == kAdvice.end() ? std::string_view() : advice->second;
}

Result<HeaderType> ReadHeaderType(HeaderCursor& cursor) { return TypeAt(cursor, 0); }

}  // namespace kubexx::crdgen
