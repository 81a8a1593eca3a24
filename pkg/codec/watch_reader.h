/// @file
/// Takes a watch stream apart as it arrives, one event at a time.
#ifndef KUBEXX_CODEC_WATCH_READER_H_
#define KUBEXX_CODEC_WATCH_READER_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/codec.h"

namespace kubexx::codec {

/// As in meta/v1's WatchEvent.
enum class WatchEventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

/// One frame. The view is valid during the sink's call only.
struct WatchFrame {
  WatchEventType type = WatchEventType::kAdded;
  Encoding encoding = Encoding::kJson;
  /// The object: a protobuf message with its envelope taken off, or JSON text. For kError a meta/v1
  /// Status.
  std::string_view object{};
  /// Why the frame could not be read; the other members are empty then. Null otherwise, and always
  /// null unless OnBadFrame::kPass was asked for.
  const apimachinery::Status* malformed = nullptr;
};

/// What a reader does with a frame of which it can find the end, but cannot read the content.
enum class OnBadFrame : std::uint8_t { kFail, kPass };

/// Incremental reader of `application/json;stream=watch` (JSON values one after the other) or
/// `application/vnd.kubernetes.protobuf;stream=watch` (frames of 4 bytes big-endian length and a
/// meta/v1 WatchEvent whose object is enveloped). Holds at most one frame of at most
/// `max_frame_bytes`. Not thread-safe.
class WatchReader {
 public:
  using FrameSink = base::FunctionRef<apimachinery::Result<void>(const WatchFrame&)>;

  explicit WatchReader(Encoding encoding, std::size_t max_frame_bytes = 64 << 20,
                       OnBadFrame on_bad_frame = OnBadFrame::kFail);
  WatchReader(WatchReader&&) noexcept;
  WatchReader& operator=(WatchReader&&) noexcept;
  ~WatchReader();

  /// Consumes the next bytes. kMalformed on bad framing, and on an unknown event type and the like
  /// unless such frames are passed on; an error of `sink` is returned.
  apimachinery::Result<void> Feed(std::string_view chunk, FrameSink sink);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_WATCH_READER_H_
