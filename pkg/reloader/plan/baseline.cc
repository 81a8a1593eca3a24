#include "kubexx/reloader/plan/baseline.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "kubexx/base/ascii.h"
#include "kubexx/reloader/model/annotations.h"
#include "kubexx/reloadpolicy/key_list.h"

namespace kubexx::reloader {
namespace {

/// The formats: one with versions of sources, and one without.
constexpr std::string_view kWithVersions = "v2";
constexpr std::string_view kWithoutVersions = "v1";
constexpr std::string_view kAbsent = "-";
/// Stands before the UID where Baseline::is_of_next.
constexpr char kOfNext = '>';
constexpr std::size_t kDigestSize = 40;

/// Removes the text up to the next `separator` from `text`, together with the separator, and
/// returns it.
std::string_view Take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

bool IsKeyList(std::string_view text) {
  return !AnyItem(text, [](std::string_view key) { return !reloadpolicy::IsDataKey(key); });
}

/// Whether `text` is only a number, which is then stored in `number`.
template <typename Number>
bool ReadNumber(std::string_view text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

constexpr std::size_t kMarkSize = 8;

/// Follows the mark of a source in Baseline::due.
constexpr std::string_view kDue = ".due";

bool IsMark(std::string_view text) {
  return text.size() == kMarkSize &&
         std::ranges::all_of(text, [](char c) { return base::IsHexDigit(c) && !base::IsUpper(c); });
}

bool IsKindInSmall(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, base::IsLowerAlphanumeric);
}

/// How the text names the type of a source: "configmap", "certificate.0a1b2c3d", or
/// "certificate.0a1b2c3d.due".
std::string TypeText(const Baseline& baseline, const SourceId& source) {
  std::string text(NamesOf(source.type).lower);
  if (const KnownSourceKind* kind = DescribedBy(source.type)) {
    const auto other = baseline.other_fields.find(source);
    text.append(".").append(other == baseline.other_fields.end() ? kind->mark : other->second);
    text.append(baseline.IsDue(source) ? kDue : "");
  }
  return text;
}

/// An entry without its "@VERSION", which the format without versions does not have.
std::string WithoutVersion(std::string entry) {
  const std::size_t at = entry.find('@', entry.find('='));
  if (at != std::string::npos) {
    entry.erase(at, std::min(entry.find(':', at), entry.size()) - at);
  }
  return entry;
}

}  // namespace

const Digest& UnknownData() {
  static const Digest unknown = DigestOf("data that are not known");
  return unknown;
}

std::optional<Baseline> Baseline::Parse(std::string_view text, std::string_view namespace_) {
  Baseline baseline;
  const std::string_view format = text.size() > kMaxBytes ? "" : Take(text, ' ');
  const bool has_versions = format == kWithVersions;
  if (!has_versions && format != kWithoutVersions) {
    return std::nullopt;
  }
  std::string_view owner = Take(text, ' ');
  const bool has_edition = owner.find('/') != std::string_view::npos;
  baseline.uid = Take(owner, '/');
  baseline.is_of_next = baseline.uid.starts_with(kOfNext);
  baseline.uid.erase(0, baseline.is_of_next ? 1 : 0);
  if (baseline.uid.empty() || has_edition != ReadNumber(owner, baseline.edition)) {
    return std::nullopt;
  }
  if (has_versions && !ReadNumber(Take(text, ' '), baseline.template_written.emplace().seconds)) {
    return std::nullopt;
  }
  while (!text.empty()) {
    const std::string_view whole = Take(text, ' ');
    std::string_view entry = whole;
    std::string_view type_text = Take(entry, '/');
    const std::string_view lower = Take(type_text, '.');
    const bool is_due = type_text.ends_with(kDue);
    type_text.remove_suffix(is_due ? kDue.size() : 0);
    const auto type = TypeCalled(&SourceTypeNames::lower, lower);
    const bool is_described = IsMark(type_text) && IsKindInSmall(lower);
    const std::string_view name = Take(entry, '=');
    const bool has_keys = entry.find(':') != std::string_view::npos;
    std::string_view data = Take(entry, ':');
    const bool is_versioned = data.find('@') != std::string_view::npos;
    const std::string_view digits = Take(data, '@');
    std::uint64_t version = 0;
    const auto digest = digits == kAbsent ? std::optional(kNoSource) : Digest::Parse(digits);
    if ((!type && !is_described) || (type && IsDescribed(*type) != !type_text.empty()) ||
        ((is_due || !type_text.empty()) && !is_described) || name.empty() || !digest ||
        (has_keys && !IsKeyList(entry)) ||
        (is_versioned && (!has_versions || !ReadNumber(data, version) || version == 0))) {
      return std::nullopt;
    }
    if (!type) {
      baseline.unread.emplace(whole);
      continue;
    }
    const SourceId source{*type, {std::string(namespace_), std::string(name)}};
    baseline.Set(source, *digest, std::string(entry), version);
    if (is_due) {
      baseline.due.insert(source);
    }
    if (const KnownSourceKind* kind = DescribedBy(*type);
        kind != nullptr && kind->mark != type_text) {
      baseline.other_fields[source] = type_text;
    }
  }
  return baseline;
}

std::string Baseline::ToString() const {
  std::string text(template_written ? kWithVersions : kWithoutVersions);
  text.append(" ").append(is_of_next ? 1 : 0, kOfNext).append(uid);
  if (edition != 0) {
    text.append("/").append(std::to_string(edition));
  }
  if (template_written) {
    text.append(" ").append(std::to_string(template_written->seconds));
  }
  for (const auto& [source, digest] : digests) {
    text.append(" ").append(TypeText(*this, source)).append("/").append(source.key.name);
    text.append("=").append(digest == kNoSource ? std::string(kAbsent) : digest.ToString());
    if (const std::uint64_t version = VersionOf(source); template_written && version != 0) {
      text.append("@").append(std::to_string(version));
    }
    if (const std::string& over = KeysOf(source); !over.empty()) {
      text.append(":").append(over);
    }
  }
  for (const std::string& entry : unread) {
    text.append(" ").append(template_written ? entry : WithoutVersion(entry));
  }
  return text;
}

std::size_t Baseline::SizeOf(const SourceId& source, const std::string& over, std::uint64_t version,
                             bool is_due) {
  return 3 + NamesOf(source.type).lower.size() + (IsDescribed(source.type) ? 1 + kMarkSize : 0) +
         source.key.name.size() + kDigestSize +
         (version == 0 ? 0 : 1 + std::to_string(version).size()) +
         (over.empty() ? 0 : 1 + over.size()) + (is_due ? kDue.size() : 0);
}

void Baseline::Set(const SourceId& source, const Digest& digest, const std::string& over,
                   std::uint64_t version) {
  digests[source] = digest;
  other_fields.erase(source);
  due.erase(source);
  if (over.empty()) {
    keys.erase(source);
  } else {
    keys[source] = over;
  }
  if (version == 0) {
    versions.erase(source);
  } else {
    versions[source] = version;
  }
}

void Baseline::SetAs(const Baseline& other, const SourceId& source) {
  Set(source, other.digests.at(source), other.KeysOf(source), other.VersionOf(source));
  if (const auto found = other.other_fields.find(source); found != other.other_fields.end()) {
    other_fields.insert(*found);
  }
  if (other.IsDue(source)) {
    due.insert(source);
  }
}

void Baseline::Erase(const SourceId& source) {
  digests.erase(source);
  other_fields.erase(source);
  due.erase(source);
  keys.erase(source);
  versions.erase(source);
}

std::uint64_t Baseline::VersionOf(const SourceId& source) const {
  const auto found = versions.find(source);
  return found == versions.end() ? 0 : found->second;
}

bool Baseline::IsOlderThanTemplate(const std::optional<apimachinery::Time>& written) const {
  return written && template_written && *template_written < *written;
}

const std::string& Baseline::KeysOf(const SourceId& source) const {
  static const std::string all;
  const auto found = keys.find(source);
  return found == keys.end() ? all : found->second;
}

std::optional<Baseline> OwnBaselineOf(const Workload& workload) {
  const std::string* text = Find(workload.annotations, kBaselineAnnotation);
  auto baseline =
      text == nullptr ? std::nullopt : Baseline::Parse(*text, workload.id.key.namespace_);
  const bool is_own = baseline && (baseline->is_of_next ? workload.is_made_with_baseline
                                                        : baseline->uid == workload.uid);
  return is_own ? baseline : std::nullopt;
}

}  // namespace kubexx::reloader
