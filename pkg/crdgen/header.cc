#include "kubexx/crdgen/header.h"

#include <algorithm>
#include <span>
#include <utility>

#include "kubexx/crdgen/header_lexer.h"
#include "kubexx/crdgen/names.h"

namespace kubexx::crdgen {
namespace {

using apimachinery::Result;

/// std::optional<std::optional<std::map<std::string, T>>> has four levels.
constexpr int kMaxTypeDepth = 8;

constexpr std::string_view kAllowed =
    "a header of types may contain includes, one namespace, structs of data members, "
    "'using Name = type;' and constants";

/// Words that cannot begin a member, and what to do without them.
std::string_view AdviceForMember(std::string_view word) {
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

class HeaderReader {
 public:
  HeaderReader(std::span<const HeaderToken> tokens, std::string_view path) : tokens_(tokens) {
    header_.path = path;
  }

  Result<Header> Run() {
    KX_RETURN_IF_ERROR(Move());
    while (!IsAt(Type::kEnd)) {
      KX_RETURN_IF_ERROR(Declaration());
    }
    KX_RETURN_IF_ERROR(ExpectNoMarkers(comments_, header_.path));
    if (!open_.empty()) {
      return Error("the namespace does not end");
    }
    return std::move(header_);
  }

 private:
  using Type = HeaderToken::Type;

  apimachinery::Error Error(std::string_view message) const {
    return HeaderError(header_.path, token_.line, message);
  }
  std::string Shown() const {
    return IsAt(Type::kEnd) ? "the end" : "'" + std::string(token_.text) + "'";
  }
  bool IsAt(std::string_view text) const { return token_.Is(text); }
  bool IsAt(Type type) const { return token_.type == type; }
  /// Without its comments.
  const HeaderToken& Following() const {
    std::size_t i = std::min(next_, tokens_.size() - 1);
    while (tokens_[i].type == Type::kComment) {
      ++i;
    }
    return tokens_[i];
  }

  /// To the next token; the comments before it are in comments_.
  Result<void> Move() {
    if (IsAt(Type::kEnd) && next_ > 0) {
      return {};
    }
    for (; tokens_[next_].type == Type::kComment; ++next_) {
      if (next_ > 0 && tokens_[next_].line == token_.end_line && comments_.empty()) {
        KX_RETURN_IF_ERROR(CheckCommentBehind(tokens_[next_], header_.path));
      } else {
        comments_.push_back(tokens_[next_]);
      }
    }
    token_ = tokens_[next_++];
    return {};
  }
  /// The comments that came before the declaration which begins here.
  Result<HeaderComment> TakeComments(MarkerPlaces place) {
    auto comment = ReadComments(comments_, token_.line, place, header_.path);
    comments_.clear();
    return comment;
  }
  /// Those of the namespace are kept.
  Result<void> TakeHeaderComments() {
    KX_ASSIGN_OR_RETURN(HeaderComment comment, TakeComments(kOnHeader));
    for (Marker& marker : comment.markers) {
      if (FindMarker(header_.markers, marker.name()) != nullptr) {
        return HeaderError(header_.path, marker.line, marker.Shown() + " is there twice");
      }
      header_.markers.push_back(std::move(marker));
    }
    return {};
  }
  Result<void> DropComments() {
    KX_RETURN_IF_ERROR(ExpectNoMarkers(comments_, header_.path));
    comments_.clear();
    return {};
  }

  Result<void> Expect(std::string_view symbol, std::string_view after) {
    if (!IsAt(symbol)) {
      return Error("there should be '" + std::string(symbol) + "' after " + std::string(after) +
                   ", and not " + Shown());
    }
    return Move();
  }
  Result<std::string> ExpectWord(std::string_view what) {
    if (!IsAt(Type::kWord)) {
      return Error("there should be " + std::string(what) + ", and not " + Shown());
    }
    std::string word(token_.text);
    KX_RETURN_IF_ERROR(Move());
    return word;
  }
  /// Up to the ";" outside of all braces, and over it. Of members each needs a declaration of its
  /// own.
  Result<void> SkipToSemicolon(bool is_member = false) {
    const std::size_t line = token_.line;
    int depth = 0;
    int angles = 0;
    while (depth > 0 || !IsAt(";")) {
      if (IsAt(Type::kEnd) || IsAt(Type::kDirective) || (depth == 0 && IsAt("}"))) {
        return HeaderError(header_.path, line, "there is no ';' at the end");
      }
      if (is_member && depth == 0 && angles <= 0 && IsAt(",")) {
        return Error("only one member may be declared at a time: write a declaration for each");
      }
      depth += IsAt("{") || IsAt("(") ? 1 : IsAt("}") || IsAt(")") ? -1 : 0;
      angles += IsAt("<") ? 1 : IsAt(">") ? -1 : 0;
      KX_RETURN_IF_ERROR(DropComments());
      KX_RETURN_IF_ERROR(Move());
    }
    KX_RETURN_IF_ERROR(DropComments());
    return Move();
  }

  Result<void> Declaration() {
    if (IsAt(Type::kDirective)) {
      return Directive();
    }
    if (IsAt("namespace")) {
      return Namespace();
    }
    if (IsAt("}") && !open_.empty()) {
      KX_RETURN_IF_ERROR(DropComments());
      names_.resize(open_.back());
      open_.pop_back();
      return Move();
    }
    if (IsAt("struct")) {
      return Struct();
    }
    if (IsAt("using")) {
      return Using();
    }
    if (IsAt("constexpr") || (IsAt("inline") && Following().Is("constexpr"))) {
      return Constant();
    }
    if (IsAt("static_assert")) {
      return SkipToSemicolon();
    }
    if (IsAt(";")) {
      return Move();
    }
    if (IsAt("enum")) {
      return Error(
          "an enum is not supported: write 'using Name = std::string;' with "
          "+kubebuilder:validation:Enum=... above it, and a constant for each value");
    }
    return Error(Shown() + " is not supported here: " + std::string(kAllowed));
  }

  /// Guards and includes. What depends on the preprocessor might be another struct for the
  /// compiler.
  Result<void> Directive() {
    KX_RETURN_IF_ERROR(TakeHeaderComments());
    std::string_view line = token_.text.substr(1);
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
      return Error("#" + std::string(word) +
                   " is not supported: a header of types has an include guard and includes, and no "
                   "other directives");
    }
    return Move();
  }

  Result<void> Namespace() {
    KX_RETURN_IF_ERROR(TakeHeaderComments());
    KX_RETURN_IF_ERROR(Move());
    KX_ASSIGN_OR_RETURN(std::string name, ExpectWord("the name of the namespace"));
    if (IsAt("=")) {
      return SkipToSemicolon();
    }
    open_.push_back(names_.size());
    names_.push_back(std::move(name));
    while (IsAt("::")) {
      KX_RETURN_IF_ERROR(Move());
      KX_ASSIGN_OR_RETURN(names_.emplace_back(), ExpectWord("the name of the namespace"));
    }
    return Expect("{", "the name of the namespace");
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
    const std::size_t line = token_.line;
    if (Following().Is("namespace")) {
      KX_RETURN_IF_ERROR(TakeHeaderComments());
      return SkipToSemicolon();
    }
    KX_ASSIGN_OR_RETURN(HeaderComment comment, TakeComments(kOnAlias));
    KX_RETURN_IF_ERROR(Move());
    if (IsAt("::") || Following().Is("::")) {
      if (!comment.markers.empty()) {
        return HeaderError(header_.path, line, "markers belong above 'using Name = type;'");
      }
      return SkipToSemicolon();
    }
    KX_ASSIGN_OR_RETURN(std::string name, ExpectWord("a name"));
    KX_RETURN_IF_ERROR(CheckName(name, line));
    KX_RETURN_IF_ERROR(Expect("=", "the name"));
    KX_ASSIGN_OR_RETURN(HeaderType type, TypeHere(0));
    KX_RETURN_IF_ERROR(Expect(";", "the type"));
    header_.alias_index.emplace(name, header_.aliases.size());
    header_.aliases.push_back({.name = std::move(name),
                               .comment = std::move(comment),
                               .type = std::move(type),
                               .line = line});
    return {};
  }

  Result<void> Constant() {
    while (!IsAt("=") && !IsAt("{") && !IsAt("[") && !IsAt(";") && !IsAt(Type::kEnd)) {
      if (IsAt("(")) {
        return Error("a function is not supported here: " + std::string(kAllowed));
      }
      if (IsAt(Type::kWord) && !Following().Is("::")) {
        header_.constants.emplace(token_.text);
      }
      KX_RETURN_IF_ERROR(DropComments());
      KX_RETURN_IF_ERROR(Move());
    }
    return SkipToSemicolon();
  }

  Result<void> Struct() {
    HeaderStruct out{.line = token_.line};
    KX_ASSIGN_OR_RETURN(out.comment, TakeComments(kOnStruct));
    KX_RETURN_IF_ERROR(Move());
    if (IsAt("[")) {
      return Error("an attribute is not supported");
    }
    KX_ASSIGN_OR_RETURN(out.name, ExpectWord("the name of the struct"));
    if (IsAt(";")) {
      if (!out.comment.markers.empty()) {
        return HeaderError(header_.path, out.line,
                           "markers belong above the struct with its members");
      }
      return Move();
    }
    if (IsAt(":") || IsAt("final")) {
      return Error("a base is not supported: write its members into the struct");
    }
    KX_RETURN_IF_ERROR(CheckName(out.name, out.line));
    KX_RETURN_IF_ERROR(Expect("{", "the name of the struct"));
    while (!IsAt("}")) {
      KX_RETURN_IF_ERROR(Member(out));
    }
    KX_RETURN_IF_ERROR(DropComments());
    KX_RETURN_IF_ERROR(Move());
    KX_RETURN_IF_ERROR(Expect(";", "the struct"));
    header_.struct_index.emplace(out.name, header_.structs.size());
    header_.structs.push_back(std::move(out));
    return {};
  }

  Result<void> Member(HeaderStruct& structure) {
    if (IsAt("friend") || (IsAt("bool") && Following().Is("operator"))) {
      return Comparison();
    }
    if (const std::string_view advice = AdviceForMember(token_.text); !advice.empty()) {
      return Error(Shown() + " is not supported in a struct: " + std::string(advice));
    }
    if (IsAt("~") || (IsAt(structure.name) && Following().Is("("))) {
      return Error(
          "a struct of data has no constructors and no destructor; give its members "
          "initialisers");
    }
    if (!IsAt(Type::kWord) && !IsAt("::")) {
      return Error(Shown() +
                   " is not supported in a struct: there should be a data member, such as "
                   "'std::string name{};'");
    }
    HeaderMember member{.line = token_.line};
    KX_ASSIGN_OR_RETURN(member.comment, TakeComments(kOnMember));
    KX_ASSIGN_OR_RETURN(member.type, TypeHere(0));
    KX_ASSIGN_OR_RETURN(member.name, ExpectWord("the name of the member"));
    if (IsAt("(")) {
      return Error("a function is not supported in a struct: write a free function");
    }
    if (!IsAt(";") && !IsAt("=") && !IsAt("{")) {
      return Error("after the member " + member.name +
                   " there should be ';' or an initialiser, and not " + Shown());
    }
    KX_RETURN_IF_ERROR(SkipToSemicolon(true));
    structure.members.push_back(std::move(member));
    return {};
  }

  /// bool operator==(const T&) const = default;
  Result<void> Comparison() {
    KX_RETURN_IF_ERROR(DropComments());
    bool is_comparison = false;
    bool is_default = false;
    while (!IsAt(";") && !IsAt("{") && !IsAt(Type::kEnd)) {
      is_comparison = is_comparison || IsAt("operator");
      is_default = IsAt("default");
      KX_RETURN_IF_ERROR(Move());
    }
    if (!is_comparison || !is_default || !IsAt(";")) {
      return Error(
          "of all functions a struct may have only 'bool operator==(const T&) const = "
          "default;'");
    }
    return Move();
  }

  Result<HeaderType> TypeHere(int depth) {
    if (depth > kMaxTypeDepth) {
      return Error("the type nests too deeply");
    }
    HeaderType type{.line = token_.line};
    if (IsAt("::")) {
      KX_RETURN_IF_ERROR(Move());
    }
    do {
      if (const std::string_view advice = AdviceForMember(token_.text); !advice.empty()) {
        return Error(Shown() + " is not supported in a type: " + std::string(advice));
      }
      KX_ASSIGN_OR_RETURN(const std::string part, ExpectWord("a type"));
      type.name += (type.name.empty() ? "" : "::") + part;
      if (!IsAt("::")) {
        break;
      }
      KX_RETURN_IF_ERROR(Move());
    } while (true);
    if (IsAt("<")) {
      do {
        KX_RETURN_IF_ERROR(Move());
        KX_ASSIGN_OR_RETURN(type.arguments.emplace_back(), TypeHere(depth + 1));
      } while (IsAt(","));
      KX_RETURN_IF_ERROR(Expect(">", "the arguments of the type"));
    }
    if (IsAt("*") || IsAt("&")) {
      return Error("pointers and references are not supported: write std::optional<" + type.name +
                   ">, or kubexx::apimachinery::Box<" + type.name + "> for a struct");
    }
    return type;
  }

  const std::span<const HeaderToken> tokens_;
  std::size_t next_ = 0;
  HeaderToken token_;
  std::vector<HeaderToken> comments_;  ///< before token_
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
