#include "kubexx/reloader/model/source_trace.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "kubexx/reloader/model/restored_mark.h"

namespace kubexx::reloader {
namespace {

constexpr std::size_t kMaxManagerName = 64;

/// Packs "KEY=" and the bytes of each key, one after the other. No key contains "=".
std::string PackedValues(const ValueDigests& data) {
  std::string text;
  for (const auto& [key, digest] : data.values) {
    text.append(key).append("=");
    text.append(digest.bytes.begin(), digest.bytes.begin() + ShortDigest().size());
  }
  return text;
}

std::optional<std::map<std::string, ShortDigest>> UnpackedValues(std::string_view text) {
  std::map<std::string, ShortDigest> values;
  while (!text.empty()) {
    const std::size_t equals = text.find('=');
    ShortDigest digest{};
    if (equals == std::string_view::npos || text.size() - equals - 1 < digest.size()) {
      return std::nullopt;
    }
    std::ranges::transform(text.substr(equals + 1, digest.size()), digest.begin(),
                           [](char c) { return static_cast<std::uint8_t>(c); });
    values.emplace(text.substr(0, equals), digest);
    text.remove_prefix(equals + 1 + digest.size());
  }
  return values;
}

/// Parses "SECONDS MANAGER".
std::optional<DataWriter> UnpackedWriter(std::string_view text) {
  const std::size_t blank = text.find(' ');
  DataWriter writer;
  const std::string_view digits = text.substr(0, blank);
  const auto read =
      std::from_chars(digits.data(), digits.data() + digits.size(), writer.time.seconds);
  if (blank == std::string_view::npos || read.ec != std::errc{} ||
      read.ptr != digits.data() + digits.size()) {
    return std::nullopt;
  }
  writer.manager = text.substr(blank + 1);
  return writer;
}

}  // namespace

std::string ShownManager(std::string_view manager) {
  std::string shown(manager.substr(0, kMaxManagerName));
  std::ranges::replace_if(shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  return shown;
}

std::optional<DataWriter> DataWriterOf(const api::meta::v1::ObjectMeta& metadata) {
  std::optional<DataWriter> writer;
  for (const api::meta::v1::ManagedFieldsEntry& entry : metadata.managed_fields) {
    // It writes nothing but data and the annotation about them, and gives the data to others.
    const bool is_restore = entry.manager == kRestoreFieldManager;
    const bool has_data =
        is_restore ||
        (entry.fields_v1 && (entry.fields_v1->raw.find("\"f:data\"") != std::string::npos ||
                             entry.fields_v1->raw.find("\"f:binaryData\"") != std::string::npos));
    if (entry.time && has_data &&
        (!writer || writer->time < *entry.time || (is_restore && writer->time == *entry.time))) {
      writer = {.manager = ShownManager(entry.manager), .time = *entry.time};
    }
  }
  if (writer) {
    writer->time.nanos = 0;
  }
  return writer;
}

void KeepTrace(const ValueDigests& data, const std::optional<DataWriter>& writer,
               KeptSource& kept) {
  if (data.values.size() <= SourceTrace::kMaxKeys) {
    kept.values = apimachinery::Bytes(PackedValues(data));
  }
  kept.writer =
      writer ? std::to_string(writer->time.seconds) + " " + writer->manager : std::string();
}

std::optional<SourceTrace> TraceFrom(const cache::Object& object) {
  const auto kept = LoadKept<KeptSource>(object);
  if (!kept || !kept->writer) {
    return std::nullopt;
  }
  SourceTrace trace{.writer = UnpackedWriter(*kept->writer)};
  if (kept->values) {
    trace.values = UnpackedValues(kept->values->view());
  }
  return trace;
}

}  // namespace kubexx::reloader
