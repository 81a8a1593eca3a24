#include "kubexx/crdgen/header_cursor.h"

#include <algorithm>

namespace kubexx::crdgen {

using apimachinery::Result;

const HeaderToken& HeaderCursor::Following() const {
  std::size_t i = std::min(next_, tokens_.size() - 1);
  while (tokens_[i].type == Type::kComment) {
    ++i;
  }
  return tokens_[i];
}

std::string HeaderCursor::Shown() const {
  return IsAt(Type::kEnd) ? "the end" : "'" + std::string(token_.text) + "'";
}

apimachinery::Error HeaderCursor::Error(std::string_view message) const {
  return HeaderError(path_, token_.line, message);
}

Result<void> HeaderCursor::Move() {
  if (IsAt(Type::kEnd) && next_ > 0) {
    return {};
  }
  for (; tokens_[next_].type == Type::kComment; ++next_) {
    if (next_ > 0 && tokens_[next_].line == token_.end_line && comments_.empty()) {
      KX_RETURN_IF_ERROR(CheckCommentBehind(tokens_[next_], path_));
    } else {
      comments_.push_back(tokens_[next_]);
    }
  }
  token_ = tokens_[next_++];
  return {};
}

Result<void> HeaderCursor::Expect(std::string_view symbol, std::string_view after) {
  if (!IsAt(symbol)) {
    return Error("there should be '" + std::string(symbol) + "' after " + std::string(after) +
                 ", and not " + Shown());
  }
  return Move();
}

Result<std::string> HeaderCursor::ExpectWord(std::string_view what) {
  if (!IsAt(Type::kWord)) {
    return Error("there should be " + std::string(what) + ", and not " + Shown());
  }
  std::string word(token_.text);
  KX_RETURN_IF_ERROR(Move());
  return word;
}

Result<std::vector<std::string>> HeaderCursor::SkipToSemicolon(bool is_member) {
  const std::size_t line = token_.line;
  std::vector<std::string> skipped;
  int depth = 0;
  int angles = 0;
  while (depth > 0 || !IsAt(";")) {
    if (IsAt(Type::kEnd) || IsAt(Type::kDirective) || (depth == 0 && IsAt("}"))) {
      return HeaderError(path_, line, "there is no ';' at the end");
    }
    if (is_member && depth == 0 && angles <= 0 && IsAt(",")) {
      return Error("only one member may be declared at a time: write a declaration for each");
    }
    depth += IsAt("{") || IsAt("(") ? 1 : IsAt("}") || IsAt(")") ? -1 : 0;
    angles += IsAt("<") ? 1 : IsAt(">") ? -1 : 0;
    skipped.emplace_back(token_.text);
    KX_RETURN_IF_ERROR(DropComments());
    KX_RETURN_IF_ERROR(Move());
  }
  KX_RETURN_IF_ERROR(DropComments());
  KX_RETURN_IF_ERROR(Move());
  return skipped;
}

Result<HeaderComment> HeaderCursor::TakeComments(MarkerPlaces place) {
  auto comment = ReadComments(comments_, token_.line, place, path_);
  comments_.clear();
  return comment;
}

Result<void> HeaderCursor::DropComments() {
  KX_RETURN_IF_ERROR(ExpectNoMarkers(comments_, path_));
  comments_.clear();
  return {};
}

}  // namespace kubexx::crdgen
