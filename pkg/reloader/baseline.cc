#include "kubexx/reloader/baseline.h"

#include <algorithm>

namespace kubexx::reloader {
namespace {

constexpr std::string_view kVersion = "v1";
constexpr std::string_view kAbsent = "-";
constexpr std::size_t kDigestSize = 40;

/// Takes what stands before the next `separator` off `text`, and the separator.
std::string_view Take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

std::optional<SourceType> TypeOf(std::string_view lower) {
  const auto type = std::ranges::find_if(
      kSourceTypes, [&](SourceType each) { return NamesOf(each).lower == lower; });
  return type == kSourceTypes.end() ? std::nullopt : std::optional(*type);
}

}  // namespace

std::optional<Baseline> Baseline::Parse(std::string_view text, std::string_view namespace_) {
  Baseline baseline;
  if (text.size() > kMaxBytes || Take(text, ' ') != kVersion) {
    return std::nullopt;
  }
  baseline.uid = Take(text, ' ');
  if (baseline.uid.empty()) {
    return std::nullopt;
  }
  while (!text.empty()) {
    std::string_view entry = Take(text, ' ');
    const auto type = TypeOf(Take(entry, '/'));
    const std::string_view name = Take(entry, '=');
    const auto digest = entry == kAbsent ? std::optional(kNoSource) : Digest::Parse(entry);
    if (!type || name.empty() || !digest) {
      return std::nullopt;
    }
    baseline.digests[{*type, {std::string(namespace_), std::string(name)}}] = *digest;
  }
  return baseline;
}

std::string Baseline::ToString() const {
  std::string text(kVersion);
  text.append(" ").append(uid);
  for (const auto& [source, digest] : digests) {
    text.append(" ").append(NamesOf(source.type).lower).append("/").append(source.key.name);
    text.append("=").append(digest == kNoSource ? std::string(kAbsent) : digest.ToString());
  }
  return text;
}

std::size_t Baseline::SizeOf(const SourceId& source) {
  return 3 + NamesOf(source.type).lower.size() + source.key.name.size() + kDigestSize;
}

}  // namespace kubexx::reloader
