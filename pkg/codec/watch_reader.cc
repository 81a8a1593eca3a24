#include "kubexx/codec/watch_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "kubexx/codec/envelope.h"
#include "kubexx/codec/internal/gather.h"
#include "kubexx/codec/internal/json_scan.h"
#include "kubexx/codec/internal/json_span.h"
#include "kubexx/codec/internal/json_walk.h"
#include "kubexx/codec/internal/wire.h"

namespace kubexx::codec {
namespace {

using apimachinery::Fail;
using apimachinery::Malformed;
using apimachinery::Result;
using internal::Tag;
using internal::WireReader;
using internal::WireType;

constexpr std::size_t kLengthBytes = 4;

struct EventTypeName {
  std::string_view name;
  WatchEventType type;
};

constexpr std::array kTypeNames = {EventTypeName{"ADDED", WatchEventType::kAdded},
                                   EventTypeName{"MODIFIED", WatchEventType::kModified},
                                   EventTypeName{"DELETED", WatchEventType::kDeleted},
                                   EventTypeName{"BOOKMARK", WatchEventType::kBookmark},
                                   EventTypeName{"ERROR", WatchEventType::kError}};

Result<WatchEventType> ParseType(std::string_view name) {
  const auto* found = std::ranges::find(kTypeNames, name, &EventTypeName::name);
  if (found == kTypeNames.end()) {
    return Fail(Malformed("type", "unknown event type"));
  }
  return found->type;
}

Result<WatchFrame> ParseJsonFrame(std::string_view text) {
  WatchFrame frame;
  std::string type;
  const bool ok = internal::ForEachMember(
      text,
      [&frame, &type](std::string_view key, std::string_view value) {
        if (key == "type") {
          return internal::ReadString(value, type);
        }
        if (key == "object") {
          frame.object = value;
        }
        return true;
      },
      internal::kMaxPassedJsonDepth);
  if (!ok) {
    return Fail(Malformed("", "malformed watch event"));
  }
  KX_ASSIGN_OR_RETURN(frame.type, ParseType(type));
  if (!frame.object.starts_with('{')) {
    return Fail(Malformed("object", "expected an object"));
  }
  return frame;
}

// The last of the length-delimited fields `number` in a message; empty when there is none.
std::optional<std::string_view> FindBytes(std::string_view message, std::uint32_t number) {
  WireReader in(message);
  std::string_view found;
  while (!in.AtEnd()) {
    Tag tag;
    if (!in.ReadTag(tag)) {
      return std::nullopt;
    }
    const bool wanted = tag.number == number;
    if (wanted ? tag.type != WireType::kBytes || !in.Bytes(found) : !in.Skip(tag.type)) {
      return std::nullopt;
    }
  }
  return found;
}

// WatchEvent{type = 1, object = 2 RawExtension{raw = 1}}; raw is enveloped protobuf, or JSON from
// servers that have no protobuf for the type.
Result<WatchFrame> ParseProtobufFrame(std::string_view bytes) {
  const auto type = FindBytes(bytes, 1);
  const auto object = FindBytes(bytes, 2);
  const auto raw = object ? FindBytes(*object, 1) : std::nullopt;
  if (!type || !raw) {
    return Fail(Malformed("", "malformed watch event"));
  }
  WatchFrame frame;
  KX_ASSIGN_OR_RETURN(frame.type, ParseType(*type));
  if (raw->starts_with('{')) {
    frame.object = *raw;
    return frame;
  }
  KX_ASSIGN_OR_RETURN(const Envelope envelope, ReadEnvelope(*raw));
  if (!envelope.content_encoding.empty()) {
    return Fail(Malformed("object", "unknown content encoding"));
  }
  frame.encoding =
      envelope.content_type.starts_with("application/json") ? Encoding::kJson : Encoding::kProtobuf;
  frame.object = envelope.raw;
  return frame;
}

}  // namespace

class WatchReader::Impl {
 public:
  Impl(Encoding encoding, std::size_t max_frame_bytes, OnBadFrame on_bad_frame, KeptMemory memory)
      : encoding_(encoding), on_bad_frame_(on_bad_frame), gather_(max_frame_bytes, memory) {}

  Result<void> Feed(std::string_view chunk, FrameSink sink) {
    while (!chunk.empty()) {
      KX_RETURN_IF_ERROR(encoding_ == Encoding::kJson ? StepJson(chunk, sink)
                                                      : StepProtobuf(chunk, sink));
    }
    return {};
  }

  bool failed = false;

 private:
  Result<void> StepJson(std::string_view& in, FrameSink sink);
  Result<void> StepProtobuf(std::string_view& in, FrameSink sink);
  Result<void> Emit(std::string_view last, FrameSink sink);
  apimachinery::Error TooLarge() const {
    return Fail(
        Malformed("", "watch event larger than " + std::to_string(gather_.limit()) + " bytes"));
  }

  Encoding encoding_;
  OnBadFrame on_bad_frame_;
  internal::Gather gather_;
  internal::JsonSpan span_{};
  bool in_frame_ = false;
  std::size_t length_seen_ = 0;  // bytes of the frame's length
  std::size_t frame_length_ = 0;
  std::size_t frame_left_ = 0;
};

Result<void> WatchReader::Impl::Emit(std::string_view last, FrameSink sink) {
  std::string_view record;
  if (!gather_.Complete(last, record)) {
    return TooLarge();
  }
  in_frame_ = false;
  const Result<WatchFrame> frame =
      encoding_ == Encoding::kJson ? ParseJsonFrame(record) : ParseProtobufFrame(record);
  if (!frame && on_bad_frame_ == OnBadFrame::kPass) {
    const apimachinery::Status why = frame.error();
    KX_RETURN_IF_ERROR(sink({.encoding = encoding_, .malformed = &why}));
  } else if (!frame) {
    return Fail(frame.error());
  } else {
    KX_RETURN_IF_ERROR(sink(*frame));
  }
  gather_.Clear();
  return {};
}

Result<void> WatchReader::Impl::StepJson(std::string_view& in, FrameSink sink) {
  const char* const end = in.data() + in.size();
  const char* const begin = in_frame_ ? in.data() : internal::SkipSpace(in.data(), end);
  in = {begin, static_cast<std::size_t>(end - begin)};
  if (in.empty()) {
    return {};
  }
  if (!in_frame_) {
    if (in.front() != '{') {
      return Fail(Malformed("", "expected a watch event"));
    }
    span_.Begin('{');
    in_frame_ = true;
  }
  const char* const stop = span_.Feed(begin, end);
  if (stop == nullptr) {
    const bool fits = gather_.Add(in);
    in = {};
    return fits ? Result<void>{} : Result<void>(TooLarge());
  }
  in.remove_prefix(static_cast<std::size_t>(stop - begin));
  return Emit({begin, static_cast<std::size_t>(stop - begin)}, sink);
}

Result<void> WatchReader::Impl::StepProtobuf(std::string_view& in, FrameSink sink) {
  if (!in_frame_) {
    frame_length_ = frame_length_ << 8 | static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    if (++length_seen_ < kLengthBytes) {
      return {};
    }
    if (frame_length_ > gather_.limit()) {
      return TooLarge();
    }
    in_frame_ = true;
    frame_left_ = frame_length_;
    length_seen_ = 0;
    frame_length_ = 0;
    return frame_left_ == 0 ? Emit({}, sink) : Result<void>{};
  }
  const std::string_view piece = in.substr(0, std::min(in.size(), frame_left_));
  in.remove_prefix(piece.size());
  frame_left_ -= piece.size();
  if (frame_left_ > 0) {
    gather_.Add(piece);  // fits: the length was checked
    return {};
  }
  return Emit(piece, sink);
}

WatchReader::WatchReader(Encoding encoding, std::size_t max_frame_bytes, OnBadFrame on_bad_frame,
                         KeptMemory memory)
    : impl_(std::make_unique<Impl>(encoding, max_frame_bytes, on_bad_frame, memory)) {}
WatchReader::WatchReader(WatchReader&&) noexcept = default;
WatchReader& WatchReader::operator=(WatchReader&&) noexcept = default;
WatchReader::~WatchReader() = default;

Result<void> WatchReader::Feed(std::string_view chunk, FrameSink sink) {
  if (impl_->failed) {
    return Fail(Malformed("", "the watch stream could not be read"));
  }
  auto result = impl_->Feed(chunk, sink);
  impl_->failed = !result.has_value();
  return result;
}

}  // namespace kubexx::codec
