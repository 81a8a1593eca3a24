#include "kubexx/otlp/trace_message.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <variant>

#include "kubexx/base/utf8.h"

namespace kubexx::otlp {
namespace {

using tracing::AttributeValue;
using tracing::SpanData;

// Protobuf's wire types.
constexpr unsigned kVarint = 0;
constexpr unsigned kFixed64 = 1;
constexpr unsigned kBytes = 2;
constexpr unsigned kFixed32 = 5;

constexpr std::uint64_t kStatusError = 2;

// The numbers of the fields below are those of opentelemetry/proto/trace/v1/trace.proto,
// common.proto and resource.proto.

void AddVarint(std::string& out, std::uint64_t value) {
  constexpr std::uint64_t kMore = 0x80;
  for (; value >= kMore; value >>= 7) {
    out += static_cast<char>(value | kMore);
  }
  out += static_cast<char>(value);
}

void AddTag(std::string& out, unsigned field, unsigned type) { AddVarint(out, field << 3 | type); }

void AddNumber(std::string& out, unsigned field, std::uint64_t value) {
  AddTag(out, field, kVarint);
  AddVarint(out, value);
}

void AddFixed(std::string& out, unsigned field, std::uint64_t value) {
  AddTag(out, field, kFixed64);
  for (std::size_t i = 0; i < sizeof(value); ++i, value >>= 8) {
    out += static_cast<char>(value & 0xff);
  }
}

void AddBytes(std::string& out, unsigned field, std::string_view bytes) {
  AddTag(out, field, kBytes);
  AddVarint(out, bytes.size());
  out += bytes;
}

// Collectors refuse a whole message for one text that is not UTF-8.
void AddText(std::string& out, unsigned field, std::string_view text) {
  if (!text.empty()) {
    AddBytes(out, field, base::ToValidUtf8(text));
  }
}

template <class Id>
void AddId(std::string& out, unsigned field, const Id& id) {
  if (std::ranges::any_of(id, [](std::uint8_t byte) { return byte != 0; })) {
    AddBytes(out, field, {reinterpret_cast<const char*>(id.data()), id.size()});
  }
}

void AddAttribute(std::string& out, unsigned field, std::string_view name,
                  const AttributeValue& value) {
  std::string any;
  if (const auto* text = std::get_if<std::string>(&value)) {
    AddBytes(any, 1, base::ToValidUtf8(*text));  // also when it is empty: it is the value
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    AddNumber(any, 3, static_cast<std::uint64_t>(*number));
  } else {
    AddNumber(any, 2, std::get<bool>(value) ? 1 : 0);
  }
  std::string pair;
  AddText(pair, 1, name);
  AddBytes(pair, 2, any);
  AddBytes(out, field, pair);
}

std::uint64_t NanosOf(base::WallTime time) {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch());
  return static_cast<std::uint64_t>(std::max<std::int64_t>(since.count(), 0));
}

std::string EncodeSpan(const SpanData& span) {
  std::string out;
  AddId(out, 1, span.context.trace);
  AddId(out, 2, span.context.span);
  AddText(out, 3, tracing::TraceStateOf(span.context));
  AddId(out, 4, span.parent);
  AddText(out, 5, span.name);
  AddNumber(out, 6, static_cast<std::uint64_t>(span.kind));
  AddFixed(out, 7, NanosOf(span.start));
  AddFixed(out, 8, NanosOf(span.end));
  for (const auto& [name, value] : span.attributes) {
    AddAttribute(out, 9, name, value);
  }
  if (span.error) {
    std::string status;
    AddText(status, 2, *span.error);
    AddNumber(status, 3, kStatusError);
    AddBytes(out, 15, status);
  }
  return out;
}

// Reads protobuf of which nothing is known. Every function is false at its end or when it is
// malformed.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;
    std::string_view bytes{};
  };

  bool at_end() const { return rest_.empty(); }

  bool Next(Field& field) {
    std::uint64_t tag = 0;
    if (!Varint(tag)) {
      return false;
    }
    field = {.number = tag >> 3};
    switch (static_cast<unsigned>(tag & 7)) {
      case kVarint:
        return Varint(field.value);
      case kFixed64:
        return Skip(sizeof(std::uint64_t));
      case kFixed32:
        return Skip(sizeof(std::uint32_t));
      case kBytes: {
        std::uint64_t size = 0;
        if (!Varint(size) || size > rest_.size()) {
          return false;
        }
        field.bytes = rest_.substr(0, size);
        return Skip(size);
      }
      default:
        return false;
    }
  }

 private:
  bool Skip(std::size_t size) {
    if (size > rest_.size()) {
      return false;
    }
    rest_.remove_prefix(size);
    return true;
  }

  bool Varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) {
        return true;
      }
    }
    return false;
  }

  std::string_view rest_;
};

std::string PrintableText(std::string_view text) {
  constexpr std::size_t kMost = 200;
  std::string out = base::CutUtf8(text, kMost);
  std::ranges::replace_if(out, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, ' ');
  return out;
}

}  // namespace

std::string EncodeTraces(const Resource& resource, std::span<const SpanData> spans) {
  std::string of_process;
  for (const auto& [name, value] : resource) {
    AddAttribute(of_process, 1, name, value);
  }
  std::string scope;
  AddText(scope, 1, "kubexx");
  std::string of_scope;
  AddBytes(of_scope, 1, scope);
  for (const SpanData& span : spans) {
    AddBytes(of_scope, 2, EncodeSpan(span));
  }
  std::string all;
  AddBytes(all, 1, of_process);
  AddBytes(all, 2, of_scope);
  std::string out;
  AddBytes(out, 1, all);
  return out;
}

std::optional<PartialSuccess> DecodePartialSuccess(std::string_view bytes) {
  PartialSuccess out;
  FieldReader response(bytes);
  FieldReader::Field field;
  while (!response.at_end()) {
    if (!response.Next(field)) {
      return std::nullopt;
    }
    if (field.number != 1) {
      continue;
    }
    FieldReader partial(field.bytes);
    while (!partial.at_end()) {
      if (!partial.Next(field)) {
        return std::nullopt;
      }
      if (field.number == 1) {
        out.rejected_spans = static_cast<std::int64_t>(field.value);
      } else if (field.number == 2) {
        out.message = PrintableText(field.bytes);
      }
    }
  }
  return out;
}

}  // namespace kubexx::otlp
