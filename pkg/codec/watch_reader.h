/// @file
/// WatchReader: reads a watch stream while it arrives, one event at a time.
#ifndef KUBEXX_CODEC_WATCH_READER_H_
#define KUBEXX_CODEC_WATCH_READER_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/codec/codec.h"

namespace kubexx::codec {

/// The types of events, as in meta/v1's WatchEvent.
enum class WatchEventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

/// One frame of a watch. The view is only valid during the call of the sink.
struct WatchFrame {
  WatchEventType type = WatchEventType::kAdded;
  Encoding encoding = Encoding::kJson;
  /// The object, which is a meta/v1 Status for kError: a protobuf message without its envelope, or
  /// JSON text.
  std::string_view object{};
  /// Why the frame could not be read; the other members are empty then. Null for a good frame, and
  /// always null with OnBadFrame::kFail.
  const apimachinery::Status* malformed = nullptr;
};

/// What a reader does with a frame whose end it finds, but whose content it cannot read: it fails,
/// or it passes the frame on with the reason.
enum class OnBadFrame : std::uint8_t { kFail, kPass };

/// Reads a watch incrementally. The stream is `application/json;stream=watch`, which consists of
/// JSON values one after the other, or `application/vnd.kubernetes.protobuf;stream=watch`, which
/// consists of frames: a big-endian length of 4 bytes, and a meta/v1 WatchEvent whose object is in
/// an envelope. Keeps at most one frame in memory, of `max_frame_bytes` at most. Not thread-safe.
class WatchReader {
 public:
  using FrameSink = base::FunctionRef<apimachinery::Result<void>(const WatchFrame&)>;

  explicit WatchReader(Encoding encoding, std::size_t max_frame_bytes = 64 << 20,
                       OnBadFrame on_bad_frame = OnBadFrame::kFail,
                       KeptMemory memory = KeptMemory::kWiped);
  WatchReader(WatchReader&&) noexcept;
  WatchReader& operator=(WatchReader&&) noexcept;
  ~WatchReader();

  /// Reads the next bytes. Returns kMalformed for bad framing and, with OnBadFrame::kFail, for
  /// frames that cannot be read, for example because their event type is unknown. An error of
  /// `sink` is returned.
  apimachinery::Result<void> Feed(std::string_view chunk, FrameSink sink);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kubexx::codec

#endif  // KUBEXX_CODEC_WATCH_READER_H_
