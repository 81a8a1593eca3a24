#include "kubexx/crdgen/header.h"

#include <algorithm>
#include <span>
#include <utility>

#include "kubexx/crdgen/header_cursor.h"
#include "kubexx/crdgen/header_lexer.h"
#include "kubexx/crdgen/header_type.h"
#include "kubexx/crdgen/names.h"

namespace kubexx::crdgen {
namespace {

using apimachinery::Result;

constexpr std::string_view kAllowed =
    "a header of types may contain includes, one namespace, structs of data members, "
    "'using Name = type;' and constants";

class HeaderReader {
 public:
  HeaderReader(std::span<const HeaderToken> tokens, std::string_view path) : cursor_(tokens, path) {
    header_.path = path;
  }

  Result<Header> Run() {
    KX_RETURN_IF_ERROR(cursor_.Move());
    while (!cursor_.IsAt(Type::kEnd)) {
      KX_RETURN_IF_ERROR(Declaration());
    }
    KX_RETURN_IF_ERROR(cursor_.DropComments());
    if (!open_.empty()) {
      return cursor_.Error("the namespace does not end");
    }
    return std::move(header_);
  }

 private:
  using Type = HeaderToken::Type;

  /// Those of the namespace are kept.
  Result<void> TakeHeaderComments() {
    KX_ASSIGN_OR_RETURN(HeaderComment comment, cursor_.TakeComments(kOnHeader));
    for (Marker& marker : comment.markers) {
      if (FindMarker(header_.markers, marker.name()) != nullptr) {
        return HeaderError(header_.path, marker.line, marker.Shown() + " is there twice");
      }
      header_.markers.push_back(std::move(marker));
    }
    return {};
  }
  Result<void> SkipToSemicolon() {
    KX_RETURN_IF_ERROR(cursor_.SkipToSemicolon());
    return {};
  }

  Result<void> Declaration() {
    if (cursor_.IsAt(Type::kDirective)) {
      return Directive();
    }
    if (cursor_.IsAt("namespace")) {
      return Namespace();
    }
    if (cursor_.IsAt("}") && !open_.empty()) {
      KX_RETURN_IF_ERROR(cursor_.DropComments());
      names_.resize(open_.back());
      open_.pop_back();
      return cursor_.Move();
    }
    if (cursor_.IsAt("struct")) {
      return Struct();
    }
    if (cursor_.IsAt("using")) {
      return Using();
    }
    if (cursor_.IsAt("constexpr") ||
        (cursor_.IsAt("inline") && cursor_.Following().Is("constexpr"))) {
      return Constant();
    }
    if (cursor_.IsAt("static_assert")) {
      return SkipToSemicolon();
    }
    if (cursor_.IsAt(";")) {
      return cursor_.Move();
    }
    if (cursor_.IsAt("enum")) {
      return cursor_.Error(
          "an enum is not supported: write 'using Name = std::string;' with "
          "+kubebuilder:validation:Enum=... above it, and a constant for each value");
    }
    return cursor_.Error(cursor_.Shown() + " is not supported here: " + std::string(kAllowed));
  }

  /// Guards and includes. What depends on the preprocessor might be another struct for the
  /// compiler.
  Result<void> Directive() {
    KX_RETURN_IF_ERROR(TakeHeaderComments());
    std::string_view line = cursor_.token().text.substr(1);
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
    const std::string_view word = line.substr(0, line.find_first_of(" \t\"<"));
    const std::size_t space = line.find_first_of(" \t");
    const std::string_view rest =
        space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
    if (word == "ifndef" && guard_.empty()) {
      guard_ = rest;
    } else if (word == "define" && !guard_.empty() && rest == guard_) {
      // The second line of the guard.
    } else if (word != "include" && word != "pragma" && word != "endif") {
      return cursor_.Error(
          "#" + std::string(word) +
          " is not supported: a header of types has an include guard and includes, and no "
          "other directives");
    }
    return cursor_.Move();
  }

  Result<void> Namespace() {
    KX_RETURN_IF_ERROR(TakeHeaderComments());
    KX_RETURN_IF_ERROR(cursor_.Move());
    KX_ASSIGN_OR_RETURN(std::string name, cursor_.ExpectWord("the name of the namespace"));
    if (cursor_.IsAt("=")) {
      return SkipToSemicolon();
    }
    open_.push_back(names_.size());
    names_.push_back(std::move(name));
    while (cursor_.IsAt("::")) {
      KX_RETURN_IF_ERROR(cursor_.Move());
      KX_ASSIGN_OR_RETURN(names_.emplace_back(), cursor_.ExpectWord("the name of the namespace"));
    }
    return cursor_.Expect("{", "the name of the namespace");
  }

  /// That a type is declared here, under this name.
  Result<void> CheckName(const std::string& name, std::size_t line) {
    std::string joined;
    for (const std::string& part : names_) {
      joined += (joined.empty() ? "" : "::") + part;
    }
    if (!IsNamespace(joined)) {
      return HeaderError(header_.path, line, "types must be in a namespace, which is not std");
    }
    if (header_.namespace_.empty()) {
      header_.namespace_ = joined;
    }
    if (header_.namespace_ != joined) {
      return HeaderError(header_.path, line,
                         "all types must be in one namespace, which is " + header_.namespace_);
    }
    if (!IsTypeName(name)) {
      return HeaderError(header_.path, line,
                         "'" + name +
                             "' is not a name for a type of the API, which begins with a "
                             "capital letter and has letters and digits only");
    }
    if (header_.struct_index.contains(name) || header_.alias_index.contains(name)) {
      return HeaderError(header_.path, line, name + " is there twice");
    }
    return {};
  }

  Result<void> Using() {
    const std::size_t line = cursor_.line();
    if (cursor_.Following().Is("namespace")) {
      KX_RETURN_IF_ERROR(TakeHeaderComments());
      return SkipToSemicolon();
    }
    KX_ASSIGN_OR_RETURN(HeaderComment comment, cursor_.TakeComments(kOnAlias));
    KX_RETURN_IF_ERROR(cursor_.Move());
    if (cursor_.IsAt("::") || cursor_.Following().Is("::")) {
      if (!comment.markers.empty()) {
        return HeaderError(header_.path, line, "markers belong above 'using Name = type;'");
      }
      return SkipToSemicolon();
    }
    KX_ASSIGN_OR_RETURN(std::string name, cursor_.ExpectWord("a name"));
    KX_RETURN_IF_ERROR(CheckName(name, line));
    KX_RETURN_IF_ERROR(cursor_.Expect("=", "the name"));
    KX_ASSIGN_OR_RETURN(HeaderType type, ReadHeaderType(cursor_));
    KX_RETURN_IF_ERROR(cursor_.Expect(";", "the type"));
    header_.alias_index.emplace(name, header_.aliases.size());
    header_.aliases.push_back({.name = std::move(name),
                               .comment = std::move(comment),
                               .type = std::move(type),
                               .line = line});
    return {};
  }

  Result<void> Constant() {
    while (!cursor_.IsAt("=") && !cursor_.IsAt("{") && !cursor_.IsAt("[") && !cursor_.IsAt(";") &&
           !cursor_.IsAt(Type::kEnd)) {
      if (cursor_.IsAt("(")) {
        return cursor_.Error("a function is not supported here: " + std::string(kAllowed));
      }
      if (cursor_.IsAt(Type::kWord) && !cursor_.Following().Is("::")) {
        header_.constants.emplace(cursor_.token().text);
      }
      KX_RETURN_IF_ERROR(cursor_.DropComments());
      KX_RETURN_IF_ERROR(cursor_.Move());
    }
    return SkipToSemicolon();
  }

  Result<void> Struct() {
    HeaderStruct out{.line = cursor_.line()};
    KX_ASSIGN_OR_RETURN(out.comment, cursor_.TakeComments(kOnStruct));
    KX_RETURN_IF_ERROR(cursor_.Move());
    if (cursor_.IsAt("[")) {
      return cursor_.Error("an attribute is not supported");
    }
    KX_ASSIGN_OR_RETURN(out.name, cursor_.ExpectWord("the name of the struct"));
    if (cursor_.IsAt(";")) {
      if (!out.comment.markers.empty()) {
        return HeaderError(header_.path, out.line,
                           "markers belong above the struct with its members");
      }
      return cursor_.Move();
    }
    if (cursor_.IsAt("final")) {
      KX_RETURN_IF_ERROR(cursor_.Move());
    }
    if (cursor_.IsAt(":")) {
      return cursor_.Error("a base is not supported: write its members into the struct");
    }
    KX_RETURN_IF_ERROR(CheckName(out.name, out.line));
    KX_RETURN_IF_ERROR(cursor_.Expect("{", "the name of the struct"));
    while (!cursor_.IsAt("}")) {
      KX_RETURN_IF_ERROR(Member(out));
    }
    KX_RETURN_IF_ERROR(cursor_.DropComments());
    KX_RETURN_IF_ERROR(cursor_.Move());
    KX_RETURN_IF_ERROR(cursor_.Expect(";", "the struct"));
    header_.struct_index.emplace(out.name, header_.structs.size());
    header_.structs.push_back(std::move(out));
    return {};
  }

  Result<void> Member(HeaderStruct& structure) {
    if (cursor_.IsAt("friend") || (cursor_.IsAt("bool") && cursor_.Following().Is("operator"))) {
      return Comparison();
    }
    if (const std::string_view advice = AdviceForWord(cursor_.token().text); !advice.empty()) {
      return cursor_.Error(cursor_.Shown() +
                           " is not supported in a struct: " + std::string(advice));
    }
    if (cursor_.IsAt("~") || (cursor_.IsAt(structure.name) && cursor_.Following().Is("("))) {
      return cursor_.Error(
          "a struct of data has no constructors and no destructor; give its members "
          "initialisers");
    }
    if (!cursor_.IsAt(Type::kWord) && !cursor_.IsAt("::")) {
      return cursor_.Error(cursor_.Shown() +
                           " is not supported in a struct: there should be a data member, such as "
                           "'std::string name{};'");
    }
    HeaderMember member{.line = cursor_.line()};
    KX_ASSIGN_OR_RETURN(member.comment, cursor_.TakeComments(kOnMember));
    KX_ASSIGN_OR_RETURN(member.type, ReadHeaderType(cursor_));
    KX_ASSIGN_OR_RETURN(member.name, cursor_.ExpectWord("the name of the member"));
    if (cursor_.IsAt("(")) {
      return cursor_.Error("a function is not supported in a struct: write a free function");
    }
    if (!cursor_.IsAt(";") && !cursor_.IsAt("=") && !cursor_.IsAt("{")) {
      return cursor_.Error("after the member " + member.name +
                           " there should be ';' or an initialiser, and not " + cursor_.Shown());
    }
    KX_ASSIGN_OR_RETURN(member.initialiser, cursor_.SkipToSemicolon(true));
    structure.members.push_back(std::move(member));
    return {};
  }

  /// bool operator==(const T&) const = default;
  Result<void> Comparison() {
    KX_RETURN_IF_ERROR(cursor_.DropComments());
    bool is_comparison = false;
    bool is_default = false;
    while (!cursor_.IsAt(";") && !cursor_.IsAt("{") && !cursor_.IsAt(Type::kEnd)) {
      is_comparison = is_comparison || cursor_.IsAt("operator");
      is_default = cursor_.IsAt("default");
      KX_RETURN_IF_ERROR(cursor_.Move());
    }
    if (!is_comparison || !is_default || !cursor_.IsAt(";")) {
      return cursor_.Error(
          "of all functions a struct may have only 'bool operator==(const T&) const = "
          "default;'");
    }
    return cursor_.Move();
  }

  HeaderCursor cursor_;
  std::string guard_;
  std::vector<std::string> names_;  ///< of the namespaces around
  std::vector<std::size_t> open_;   ///< for each brace of a namespace, how many names are outside
  Header header_;
};

}  // namespace

Result<Header> ReadHeader(std::string_view text, std::string_view path) {
  KX_ASSIGN_OR_RETURN(const std::vector<HeaderToken> tokens, ReadTokens(text, path));
  return HeaderReader(tokens, path).Run();
}

}  // namespace kubexx::crdgen
