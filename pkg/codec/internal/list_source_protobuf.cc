#include <algorithm>
#include <cstdint>
#include <string>

#include "kubexx/codec/envelope.h"
#include "kubexx/codec/internal/gather.h"
#include "kubexx/codec/internal/list_source.h"
#include "kubexx/codec/internal/wire.h"

namespace kubexx::codec::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Result;

// Fields of runtime.Unknown and of every list message.
constexpr std::uint32_t kTypeField = 1;
constexpr std::uint32_t kRawField = 2;
constexpr std::uint32_t kEncodingField = 3;
constexpr std::uint32_t kMetadataField = 1;
constexpr std::uint32_t kItemsField = 2;

bool ReadListMeta(std::string_view bytes, ListMeta& meta) {
  WireReader in(bytes);
  while (!in.AtEnd()) {
    Tag tag;
    if (!in.ReadTag(tag)) {
      return false;
    }
    std::string_view text;
    std::uint64_t number = 0;
    if (tag.number == 4) {
      if (tag.type != WireType::kVarint || !in.Varint(number)) {
        return false;
      }
      meta.remaining_item_count = static_cast<std::int64_t>(number);
    } else if (tag.number == 2 || tag.number == 3) {
      if (tag.type != WireType::kBytes || !in.Bytes(text)) {
        return false;
      }
      (tag.number == 2 ? meta.resource_version : meta.continue_).assign(text);
    } else if (!in.Skip(tag.type)) {
      return false;
    }
  }
  return true;
}

/// A varint that arrives byte by byte.
class VarintGatherer {
 public:
  enum class Outcome : std::uint8_t { kMore, kDone, kBad };

  Outcome Add(char c) {
    const auto byte = static_cast<unsigned char>(c);
    value_ |= static_cast<std::uint64_t>(byte & 0x7f) << shift_;
    shift_ += 7;
    if (byte < 0x80) {
      return Outcome::kDone;
    }
    return shift_ >= 7 * kMaxVarintBytes ? Outcome::kBad : Outcome::kMore;
  }
  bool started() const { return shift_ != 0; }
  std::uint64_t Take() {
    const std::uint64_t value = value_;
    value_ = 0;
    shift_ = 0;
    return value;
  }

 private:
  std::uint64_t value_ = 0;
  int shift_ = 0;
};

/// Follows the envelope and, inside of its raw field, the list message.
class ProtobufListSource : public ListSource {
 public:
  ProtobufListSource(std::size_t max_item_bytes, KeptMemory memory)
      : gather_(max_item_bytes, memory) {}

  Result<void> Feed(std::string_view chunk, ListReader::ItemSink sink) override;
  Result<ListMeta> Finish() override;
  const TypeMeta& type() const override { return type_; }
  bool has_items() const override { return true; }  // an empty list has no field for them

 private:
  enum class State : std::uint8_t { kMagic, kTag, kVarint, kLength, kPayload };
  enum class Payload : std::uint8_t { kSkip, kType, kMetadata, kItem, kContentEncoding };

  Result<void> Step(std::string_view& in, ListReader::ItemSink sink);
  Result<void> AddVarintByte(char c, ListReader::ItemSink sink);
  Result<void> BeginField(std::uint64_t tag);
  Result<void> BeginLength(std::uint64_t length, ListReader::ItemSink sink);
  Result<void> AddPayload(std::string_view& in, ListReader::ItemSink sink);
  Result<void> EndPayload(std::string_view bytes, ListReader::ItemSink sink);
  apimachinery::Error Bad(std::string_view what) const {
    return Fail(
        Malformed(in_list_ ? "items[" + std::to_string(items_) + "]" : "", std::string(what)));
  }

  State state_ = State::kMagic;
  bool in_list_ = false;
  bool list_seen_ = false;
  std::size_t magic_left_ = kEnvelopeMagic.size();
  std::uint64_t list_left_ =
      0;  // bytes of the list message that are still to come, beginning with the current field
  VarintGatherer varint_{};
  std::uint32_t field_ = 0;
  Payload payload_ = Payload::kSkip;
  std::uint64_t payload_left_ = 0;
  Gather gather_;
  TypeMeta type_{};
  ListMeta meta_{};
  std::uint64_t items_ = 0;
};

Result<void> ProtobufListSource::BeginField(std::uint64_t tag) {
  field_ = static_cast<std::uint32_t>(tag >> 3);
  if (field_ == 0 || tag >> 32 != 0) {
    return Bad("bad field tag");
  }
  payload_ = Payload::kSkip;
  const auto type = static_cast<WireType>(tag & 7);
  const bool known = in_list_ ? field_ == kMetadataField || field_ == kItemsField : field_ <= 4;
  if (known && type != WireType::kBytes) {
    return Bad("wrong wire type");
  }
  switch (type) {
    case WireType::kVarint:
      state_ = State::kVarint;
      return {};
    case WireType::kBytes:
      state_ = State::kLength;
      return {};
    case WireType::kFixed64:
    case WireType::kFixed32:
      state_ = State::kPayload;
      payload_left_ = type == WireType::kFixed64 ? 8 : 4;
      if (in_list_ && payload_left_ > list_left_) {
        return Bad("length beyond the end of the list");
      }
      return {};
    default:
      return Bad("bad wire type");
  }
}

Result<void> ProtobufListSource::BeginLength(std::uint64_t length, ListReader::ItemSink sink) {
  if (in_list_ && length > list_left_) {
    return Bad("length beyond the end of the list");
  }
  if (!in_list_ && field_ == kRawField) {
    if (list_seen_) {
      return Bad("more than one list in the envelope");
    }
    list_seen_ = true;
    in_list_ = length > 0;
    list_left_ = length;
    state_ = State::kTag;
    return {};
  }
  if (in_list_) {
    payload_ = field_ == kItemsField      ? Payload::kItem
               : field_ == kMetadataField ? Payload::kMetadata
                                          : Payload::kSkip;
  } else if (field_ == kTypeField) {
    payload_ = Payload::kType;
  } else if (field_ == kEncodingField) {
    payload_ = Payload::kContentEncoding;
  }
  if (payload_ != Payload::kSkip && length > gather_.limit()) {
    return Bad("larger than " + std::to_string(gather_.limit()) + " bytes");
  }
  state_ = State::kPayload;
  payload_left_ = length;
  return length == 0 ? EndPayload({}, sink) : Result<void>{};
}

Result<void> ProtobufListSource::EndPayload(std::string_view bytes, ListReader::ItemSink sink) {
  state_ = State::kTag;
  switch (payload_) {
    case Payload::kSkip:
      return {};
    case Payload::kItem: {
      KX_RETURN_IF_ERROR(sink(bytes));
      ++items_;
      return {};
    }
    case Payload::kType: {
      Envelope named;
      if (!ReadTypeMeta(bytes, named)) {
        return Bad("malformed type in the envelope");
      }
      type_ = {std::string(named.api_version), std::string(named.kind)};
      return {};
    }
    case Payload::kMetadata:
      if (!ReadListMeta(bytes, meta_)) {
        return Fail(Malformed("metadata", "malformed list metadata"));
      }
      return {};
    case Payload::kContentEncoding:
      if (!bytes.empty()) {
        return Bad("the list has an unknown content encoding");
      }
      return {};
  }
  return {};
}

Result<void> ProtobufListSource::AddPayload(std::string_view& in, ListReader::ItemSink sink) {
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(payload_left_, in.size()));
  const std::string_view piece = in.substr(0, size);
  in.remove_prefix(size);
  payload_left_ -= size;
  list_left_ -= in_list_ ? size : 0;
  if (payload_ == Payload::kSkip) {
    return payload_left_ == 0 ? EndPayload({}, sink) : Result<void>{};
  }
  // Neither call can fail: the length was checked against the limit.
  if (payload_left_ > 0) {
    gather_.Add(piece);
    return {};
  }
  std::string_view record;
  gather_.Complete(piece, record);
  KX_RETURN_IF_ERROR(EndPayload(record, sink));
  gather_.Clear();
  return {};
}

Result<void> ProtobufListSource::AddVarintByte(char c, ListReader::ItemSink sink) {
  if (in_list_) {
    --list_left_;
  }
  const auto outcome = varint_.Add(c);
  if (outcome == VarintGatherer::Outcome::kBad) {
    return Bad("bad varint");
  }
  if (outcome == VarintGatherer::Outcome::kMore) {
    return in_list_ && list_left_ == 0 ? Result<void>(Bad("bad varint")) : Result<void>{};
  }
  const std::uint64_t value = varint_.Take();
  switch (state_) {
    case State::kTag: {
      KX_RETURN_IF_ERROR(BeginField(value));
      return in_list_ && list_left_ == 0 ? Result<void>(Bad("a field without a value"))
                                         : Result<void>{};
    }
    case State::kLength:
      return BeginLength(value, sink);
    default:
      state_ = State::kTag;
      return {};
  }
}

Result<void> ProtobufListSource::Step(std::string_view& in, ListReader::ItemSink sink) {
  if (state_ == State::kPayload) {
    return AddPayload(in, sink);
  }
  const char c = in.front();
  in.remove_prefix(1);
  if (state_ == State::kMagic) {
    if (c != kEnvelopeMagic[kEnvelopeMagic.size() - magic_left_]) {
      return Bad("no protobuf list: the bytes do not begin with \"k8s\\0\"");
    }
    if (--magic_left_ == 0) {
      state_ = State::kTag;
    }
    return {};
  }
  return AddVarintByte(c, sink);
}

Result<void> ProtobufListSource::Feed(std::string_view chunk, ListReader::ItemSink sink) {
  while (!chunk.empty()) {
    KX_RETURN_IF_ERROR(Step(chunk, sink));
    if (in_list_ && list_left_ == 0 && state_ == State::kTag) {
      in_list_ = false;
    }
  }
  return {};
}

Result<ListMeta> ProtobufListSource::Finish() {
  if (!list_seen_ || in_list_ || state_ != State::kTag || varint_.started()) {
    return Bad("the list ends too early");
  }
  return meta_;
}

}  // namespace

std::unique_ptr<ListSource> MakeProtobufListSource(std::size_t max_item_bytes, KeptMemory memory) {
  return std::make_unique<ProtobufListSource>(max_item_bytes, memory);
}

}  // namespace kubexx::codec::internal
