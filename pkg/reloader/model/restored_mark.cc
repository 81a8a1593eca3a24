#include "kubexx/reloader/model/restored_mark.h"

#include <array>
#include <cstddef>

namespace kubexx::reloader {

std::string RestoredMark::ToString() const {
  return uid + " " + good.ToString() + " " + bad.ToString() + " " + at.ToString();
}

std::optional<RestoredMark> RestoredMark::Parse(std::string_view text) {
  std::array<std::string_view, 4> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t space = text.find(' ');
    if ((space == std::string_view::npos) != (i + 1 == words.size())) {
      return std::nullopt;
    }
    words[i] = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  const auto good = Digest::Parse(words[1]);
  const auto bad = Digest::Parse(words[2]);
  const auto at = apimachinery::Time::Parse(words[3]);
  if (words[0].empty() || !good || !bad || !at) {
    return std::nullopt;
  }
  return RestoredMark{.uid = std::string(words[0]), .good = *good, .bad = *bad, .at = *at};
}

}  // namespace kubexx::reloader
