#include "kubexx/codec/envelope.h"

#include "kubexx/codec/internal/wire.h"

namespace kubexx::codec {
namespace {

using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Result;
using internal::Tag;
using internal::WireReader;
using internal::WireType;

bool ReadField(const Tag& tag, WireReader& in, Envelope& envelope) {
  if (tag.number > 4) {
    return in.Skip(tag.type);
  }
  std::string_view bytes;
  if (tag.type != WireType::kBytes || !in.Bytes(bytes)) {
    return false;
  }
  switch (tag.number) {
    case 1:
      return ReadTypeMeta(bytes, envelope);
    case 2:
      envelope.raw = bytes;
      break;
    case 3:
      envelope.content_encoding = bytes;
      break;
    default:
      envelope.content_type = bytes;
      break;
  }
  return true;
}

std::size_t FieldSize(std::string_view bytes) {
  return 1 + internal::VarintSize(bytes.size()) + bytes.size();
}

void AppendHead(std::uint32_t number, std::size_t size, std::string& out) {
  char head[1 + internal::kMaxVarintBytes];
  head[0] = static_cast<char>(number << 3 | static_cast<std::uint32_t>(WireType::kBytes));
  out.append(head, internal::PutVarint(size, head + 1));
}

void AppendField(std::uint32_t number, std::string_view bytes, std::string& out) {
  AppendHead(number, bytes.size(), out);
  out += bytes;
}

}  // namespace

bool ReadTypeMeta(std::string_view bytes, Envelope& envelope) {
  WireReader in(bytes);
  while (!in.AtEnd()) {
    Tag tag;
    if (!in.ReadTag(tag)) {
      return false;
    }
    if (tag.number > 2) {
      if (!in.Skip(tag.type)) {
        return false;
      }
      continue;
    }
    if (tag.type != WireType::kBytes ||
        !in.Bytes(tag.number == 1 ? envelope.api_version : envelope.kind)) {
      return false;
    }
  }
  return true;
}

Result<Envelope> ReadEnvelope(std::string_view bytes) {
  if (!bytes.starts_with(kEnvelopeMagic)) {
    return Fail(Malformed("", "no protobuf object: the bytes do not begin with \"k8s\\0\""));
  }
  WireReader in(bytes.substr(kEnvelopeMagic.size()));
  Envelope envelope;
  while (!in.AtEnd()) {
    Tag tag;
    if (!in.ReadTag(tag)) {
      return Fail(Malformed("", "bad field tag in the envelope"));
    }
    if (!ReadField(tag, in, envelope)) {
      return Fail(Malformed("", "bad field " + std::to_string(tag.number) + " in the envelope"));
    }
  }
  return envelope;
}

void WriteEnvelope(std::string_view api_version, std::string_view kind, std::string_view raw,
                   std::string& out) {
  const std::size_t type_meta = FieldSize(api_version) + FieldSize(kind);
  out.reserve(out.size() + kEnvelopeMagic.size() + type_meta + raw.size() + 24);
  out += kEnvelopeMagic;
  AppendHead(1, type_meta, out);
  AppendField(1, api_version, out);
  AppendField(2, kind, out);
  AppendField(2, raw, out);
  AppendField(3, "", out);
  AppendField(4, "", out);
}

void WriteEnvelope(const TypeSchema& schema, std::string_view raw, std::string& out) {
  if (schema.json_form == JsonForm::kBareObject) {
    WriteEnvelope("", "", raw, out);
  } else {
    WriteEnvelope(ApiVersionOf(schema), schema.kind, raw, out);
  }
}

std::string ApiVersionOf(const TypeSchema& schema) {
  std::string out(schema.group);
  if (!out.empty()) {
    out += '/';
  }
  return out += schema.version;
}

}  // namespace kubexx::codec
