#include "kubexx/apiserver/cacher/shared_text.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace kubexx::apiserver {
namespace {

/// Inside a JSON string, the last quote would follow a backslash.
constexpr std::string_view kFields = R"("fieldsV1":{)";
/// Sharing a shorter text costs more than it saves.
constexpr std::size_t kMinBytes = 64;

/// Returns the end of the object that begins at `begin`.
std::size_t EndOfObject(std::string_view json, std::size_t begin) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = begin; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return json.size();
}

}  // namespace

TextPool::Ref TextPool::Of(std::string_view text) {
  base::MutexLock lock(mu_);
  if (const auto found = texts_.find(text); found != texts_.end()) {
    return *found;
  }
  if (texts_.size() >= sweep_at_) {
    std::erase_if(texts_, [](const Ref& one) { return one.use_count() == 1; });
    sweep_at_ = std::max<std::size_t>(256, 2 * texts_.size());
  }
  return *texts_.insert(std::make_shared<const std::string>(text)).first;
}

std::size_t TextPool::size() const {
  base::MutexLock lock(mu_);
  return texts_.size();
}

SharedText::SharedText(std::string json) : rest_(std::move(json)), size_(rest_.size()) {}

SharedText::SharedText(std::string_view json, TextPool& pool) : size_(json.size()) {
  std::size_t copied = 0;
  std::size_t at =
      json.size() > std::numeric_limits<std::uint32_t>::max() ? json.npos : json.find(kFields);
  while (at != std::string_view::npos) {
    const std::size_t begin = at + kFields.size() - 1;
    const std::size_t end = EndOfObject(json, begin);
    if (end - begin >= kMinBytes) {
      rest_.append(json.substr(copied, begin - copied));
      pieces_.push_back(
          {static_cast<std::uint32_t>(rest_.size()), pool.Of(json.substr(begin, end - begin))});
      copied = end;
    }
    at = json.find(kFields, end);
  }
  rest_.append(json.substr(copied));
  rest_.shrink_to_fit();
  pieces_.shrink_to_fit();
}

std::string SharedText::ToString() const {
  if (pieces_.empty()) {
    return rest_;
  }
  std::string text;
  text.reserve(size_);
  std::size_t copied = 0;
  for (const Piece& piece : pieces_) {
    text.append(rest_, copied, piece.at - copied).append(*piece.text);
    copied = piece.at;
  }
  text.append(rest_, copied);
  return text;
}

}  // namespace kubexx::apiserver
