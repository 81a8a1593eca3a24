#include "kubexx/reloader/model/restored_mark.h"

#include <array>
#include <cstddef>

namespace kubexx::reloader {

std::string RestoredMark::ToString() const {
  return uid + " " + good.ToString() + " " + bad.ToString() + " " + at.ToString();
}

std::optional<RestoredMark> RestoredMark::Parse(std::string_view text) {
  constexpr std::size_t kFewest = 4;
  std::array<std::string_view, kFewest + 1> words;
  std::size_t count = 0;
  for (bool is_last = false; !is_last; ++count) {
    if (count == words.size()) {
      return std::nullopt;
    }
    const std::size_t space = text.find(' ');
    is_last = space == std::string_view::npos;
    words[count] = text.substr(0, space);
    text.remove_prefix(is_last ? text.size() : space + 1);
  }
  const auto good = Digest::Parse(words[1]);
  const auto bad = Digest::Parse(words[2]);
  const auto at = apimachinery::Time::Parse(words[3]);
  if (count < kFewest || words[0].empty() || !good || !bad || !at) {
    return std::nullopt;
  }
  RestoredMark mark{.uid = std::string(words[0]), .good = *good, .bad = *bad, .at = *at};
  if (count > kFewest) {
    const auto settled = apimachinery::Time::Parse(words[kFewest]);
    if (!settled) {
      return std::nullopt;
    }
    mark.settled = *settled;
  }
  return mark;
}

void RestoredMark::WriteTo(std::map<std::string, std::string>& annotations) const {
  const std::string mark = ToString();
  annotations[kRestoredAnnotation] = mark;
  if (settled) {
    annotations[kRestoredFromAnnotation] = mark + " " + settled->ToString();
  } else {
    annotations.erase(kRestoredFromAnnotation);
  }
}

std::optional<RestoredMark> RestoredMark::In(
    const std::map<std::string, std::string>& annotations) {
  const auto text = annotations.find(kRestoredAnnotation);
  auto mark = text == annotations.end() ? std::nullopt : Parse(text->second);
  const auto from = annotations.find(kRestoredFromAnnotation);
  if (!mark || mark->settled || from == annotations.end()) {
    return mark;
  }
  auto settled = Parse(from->second);
  if (settled && settled->ToString() == mark->ToString()) {
    mark->settled = settled->settled;
  }
  return mark;
}

}  // namespace kubexx::reloader
