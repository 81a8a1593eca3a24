#include "kubexx/reloader/plan/baseline.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloadpolicy/key_list.h"

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

bool IsKeyList(std::string_view text) {
  return !AnyItem(text, [](std::string_view key) { return !reloadpolicy::IsDataKey(key); });
}

std::optional<SourceType> TypeOf(std::string_view lower) {
  const auto type = std::ranges::find_if(
      kSourceTypes, [&](SourceType each) { return NamesOf(each).lower == lower; });
  return type == kSourceTypes.end() ? std::nullopt : std::optional(*type);
}

}  // namespace

const Digest& UnknownData() {
  static const Digest unknown = DigestOf("data that are not known");
  return unknown;
}

std::optional<Baseline> Baseline::Parse(std::string_view text, std::string_view namespace_) {
  Baseline baseline;
  if (text.size() > kMaxBytes || Take(text, ' ') != kVersion) {
    return std::nullopt;
  }
  std::string_view owner = Take(text, ' ');
  const bool has_edition = owner.find('/') != std::string_view::npos;
  baseline.uid = Take(owner, '/');
  const auto edition = std::from_chars(owner.data(), owner.data() + owner.size(), baseline.edition);
  if (baseline.uid.empty() ||
      has_edition != (edition.ec == std::errc{} && edition.ptr == owner.data() + owner.size())) {
    return std::nullopt;
  }
  while (!text.empty()) {
    std::string_view entry = Take(text, ' ');
    const auto type = TypeOf(Take(entry, '/'));
    const std::string_view name = Take(entry, '=');
    const bool has_keys = entry.find(':') != std::string_view::npos;
    const std::string_view digits = Take(entry, ':');
    const auto digest = digits == kAbsent ? std::optional(kNoSource) : Digest::Parse(digits);
    if (!type || name.empty() || !digest || (has_keys && !IsKeyList(entry))) {
      return std::nullopt;
    }
    baseline.Set({*type, {std::string(namespace_), std::string(name)}}, *digest,
                 std::string(entry));
  }
  return baseline;
}

std::string Baseline::ToString() const {
  std::string text(kVersion);
  text.append(" ").append(uid);
  if (edition != 0) {
    text.append("/").append(std::to_string(edition));
  }
  for (const auto& [source, digest] : digests) {
    text.append(" ").append(NamesOf(source.type).lower).append("/").append(source.key.name);
    text.append("=").append(digest == kNoSource ? std::string(kAbsent) : digest.ToString());
    if (const std::string& over = KeysOf(source); !over.empty()) {
      text.append(":").append(over);
    }
  }
  return text;
}

std::size_t Baseline::SizeOf(const SourceId& source, const std::string& over) {
  return 3 + NamesOf(source.type).lower.size() + source.key.name.size() + kDigestSize +
         (over.empty() ? 0 : 1 + over.size());
}

void Baseline::Set(const SourceId& source, const Digest& digest, const std::string& over) {
  digests[source] = digest;
  if (over.empty()) {
    keys.erase(source);
  } else {
    keys[source] = over;
  }
}

const std::string& Baseline::KeysOf(const SourceId& source) const {
  static const std::string all;
  const auto found = keys.find(source);
  return found == keys.end() ? all : found->second;
}

}  // namespace kubexx::reloader
