#include "kubexx/crdgen/header_comment.h"

#include <algorithm>

#include "kubexx/base/ascii.h"

namespace kubexx::crdgen {
namespace {

using apimachinery::Result;

std::string_view WithoutFront(std::string_view text, std::string_view characters) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(characters)));
  return text;
}

/// How a note of unfinished work begins, for controller-gen too. hack/lint looks for the word.
constexpr std::string_view kUnfinished =
    "TO"
    "DO";

bool IsBlockComment(const HeaderToken& comment) { return comment.text.starts_with("/*"); }

/// The marker that a comment of a line is, or "".
std::string_view MarkerOf(const HeaderToken& comment) {
  const std::string_view text = WithoutFront(WithoutFront(comment.text, "/!"), " \t");
  return text.starts_with('+') ? text : std::string_view();
}

/// A marker in a comment between /* and */ would be overlooked.
Result<void> CheckBlock(const HeaderToken& comment, std::string_view path) {
  std::size_t line = comment.line;
  for (std::string_view rest = comment.text; !rest.empty(); ++line) {
    const std::string_view text = WithoutFront(rest.substr(0, rest.find('\n')), "/* \t");
    if (text.size() > 1 && text[0] == '+' && base::IsLetter(text[1])) {
      return HeaderError(path, line, "a marker has a comment with // or /// of its own");
    }
    rest.remove_prefix(std::min(rest.size(), rest.substr(0, rest.find('\n')).size() + 1));
  }
  return {};
}

/// What tools want to know, and no reader of the definition.
bool IsForTools(std::string_view line) {
  return line.starts_with("NOLINT") || line.starts_with("clang-format ");
}

/// The lines of a description as Go's ast.CommentGroup.Text and controller-gen put them together.
class DescriptionText {
 public:
  void Add(std::string_view line) {
    while (line.ends_with(' ') || line.ends_with('\t')) {
      line.remove_suffix(1);
    }
    if (line.starts_with("```") || line.starts_with("~~~")) {
      is_code_ = !is_code_;
    }
    has_ended_ = has_ended_ || (!is_code_ && line.starts_with("---"));
    if (has_ended_ || IsForTools(line) || (!is_code_ && line.starts_with(kUnfinished))) {
      return;
    }
    if (line.empty()) {
      ++blank_;
      return;
    }
    if (!text_.empty()) {
      text_ += blank_ > 0 ? "\n\n" : "\n";
    }
    blank_ = 0;
    text_ += line;
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
  int blank_ = 0;  ///< lines without text since the last one with text
  bool is_code_ = false;
  bool has_ended_ = false;
};

/// Adds the lines of a comment between /* and */, without the stars around them.
void AddBlock(std::string_view comment, DescriptionText& text) {
  comment.remove_prefix(2);
  comment.remove_suffix(2);
  if (comment.starts_with('!')) {
    comment.remove_prefix(1);
  }
  comment = WithoutFront(comment, "*");
  while (comment.ends_with('*')) {
    comment.remove_suffix(1);
  }
  while (!comment.empty()) {
    const std::string_view whole = comment.substr(0, comment.find('\n'));
    comment.remove_prefix(std::min(comment.size(), whole.size() + 1));
    std::string_view line = WithoutFront(whole, " \t");
    if (line.starts_with('*')) {
      line.remove_prefix(1);
      if (line.starts_with(' ')) {
        line.remove_prefix(1);
      }
    }
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    text.Add(line);
  }
}

/// Of the comments that end in the line above `line`, with no line between them.
std::string DescriptionOf(std::span<const HeaderToken> comments, std::size_t line) {
  std::size_t first = comments.size();
  while (first > 0 && comments[first - 1].end_line + 1 == line) {
    --first;
    line = comments[first].line;
  }
  DescriptionText text;
  for (const HeaderToken& comment : comments.subspan(first)) {
    if (IsBlockComment(comment)) {
      AddBlock(comment.text, text);
    } else if (MarkerOf(comment).empty()) {
      std::string_view shown = WithoutFront(comment.text, "/");
      if (comment.text.starts_with("//!")) {
        shown.remove_prefix(1);
      }
      if (shown.starts_with(' ')) {
        shown.remove_prefix(1);
      }
      text.Add(shown);
    }
  }
  return text.Take();
}

}  // namespace

Result<HeaderComment> ReadComments(std::span<const HeaderToken> comments, std::size_t line,
                                   MarkerPlaces place, std::string_view path) {
  HeaderComment out{.description = DescriptionOf(comments, line)};
  for (const HeaderToken& comment : comments) {
    if (IsBlockComment(comment)) {
      KX_RETURN_IF_ERROR(CheckBlock(comment, path));
      continue;
    }
    const std::string_view text = MarkerOf(comment);
    if (text.empty()) {
      continue;
    }
    KX_ASSIGN_OR_RETURN(Marker marker, ReadMarker(text, place, path, comment.line));
    const auto is_the_same = [&marker](const Marker& other) {
      return other.rule == marker.rule && other.is_for_items == marker.is_for_items;
    };
    if (!marker.rule->may_repeat && std::ranges::any_of(out.markers, is_the_same)) {
      return HeaderError(path, comment.line, marker.Shown() + " is there twice");
    }
    out.markers.push_back(std::move(marker));
  }
  return out;
}

Result<void> ExpectNoMarkers(std::span<const HeaderToken> comments, std::string_view path) {
  for (const HeaderToken& comment : comments) {
    if (IsBlockComment(comment)) {
      KX_RETURN_IF_ERROR(CheckBlock(comment, path));
    } else if (const std::string_view marker = MarkerOf(comment); !marker.empty()) {
      return HeaderError(path, comment.line,
                         std::string(marker.substr(0, marker.find('='))) +
                             " stands above nothing that it could be about");
    }
  }
  return {};
}

Result<void> CheckCommentBehind(const HeaderToken& comment, std::string_view path) {
  if (IsBlockComment(comment)) {
    KX_RETURN_IF_ERROR(CheckBlock(comment, path));
  } else if (!MarkerOf(comment).empty()) {
    return HeaderError(path, comment.line, "a marker belongs above what it is about");
  }
  const std::string_view start = comment.text.substr(0, 4);
  if (start == "///<" || start == "//!<" || start == "/**<" || start == "/*!<") {
    return HeaderError(path, comment.line,
                       "a description belongs above the member: write /// in the line before");
  }
  return {};
}

}  // namespace kubexx::crdgen
