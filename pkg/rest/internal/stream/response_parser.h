/// @file
/// ResponseParser: parses one HTTP/1.1 response that comes in pieces of any size.
#ifndef KUBEXX_REST_INTERNAL_STREAM_RESPONSE_PARSER_H_
#define KUBEXX_REST_INTERNAL_STREAM_RESPONSE_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/rest/round_tripper.h"

namespace kubexx::rest::internal {

/// Parses the response to one request. It is a state machine without I/O: the caller passes the
/// connection's bytes to TakeHead first and then to TakeBody. It skips interim responses (1xx) that
/// come before the response. Its memory is bounded: a head may have kMaxHead bytes, and nothing is
/// kept of the framing of a body. It must not be used any more after an error. Not thread-safe.
/// Semantics: RFC 9112, and the limits of Go's net/http.
class ResponseParser {
 public:
  /// The maximum size of a head in bytes, including the interim responses before it.
  static constexpr std::size_t kMaxHead = 1 << 20;
  static constexpr int kMaxInterim = 20;  ///< how many of these there may be

  enum class Error : std::uint8_t {
    kNone,
    kNotHttp,      ///< the head is malformed
    kHeadTooLong,  ///< or there are too many interim answers
    kBadChunk,     ///< the body's framing is malformed, or there is too much of it
  };

  /// Whether the response may have a body, which the response itself does not say.
  enum class Body : std::uint8_t {
    kUsual,
    kNone,   ///< the answer to a HEAD
    kTunnel  ///< the answer to a CONNECT: none with 2xx
  };

  explicit ResponseParser(Body body = Body::kUsual) : body_(body) {}

  /// Parses bytes up to the end of the head and returns their number. It takes all of `bytes` when
  /// the head continues after them, and when there is an error.
  std::size_t TakeHead(std::string_view bytes);
  bool has_head() const { return state_ >= State::kBody; }
  /// The head. It is valid when has_head() is true.
  const HttpHead& head() const { return head_; }
  /// The text after the code in the first line, for example "Not Found".
  const std::string& reason() const { return reason_; }

  /// The result of TakeBody.
  struct Taken {
    std::size_t payload = 0;   ///< bytes of the body, which lie at the front now
    std::size_t consumed = 0;  ///< of those that were given
  };
  /// Parses bytes of the body up to its end, and moves the content to the front of `bytes`, without
  /// the framing in between. The content of a single chunk stays where it is.
  Taken TakeBody(char* bytes, std::size_t size);

  /// Tells the parser that the connection has ended. Returns false when the response was not
  /// complete.
  bool TakeEnd();
  /// Whether the whole response has been parsed.
  bool ended() const { return state_ == State::kEnd; }
  /// Whether the connection can be used for another request after this response.
  bool keeps_alive() const { return keep_alive_ && !ambiguous_ && length_ != Length::kUntilClose; }
  Error error() const { return error_; }
  /// Whether at least one byte of the response has come.
  bool begun() const { return head_bytes_ > 0; }

 private:
  // The order matters: from kBody on, the state has a head.
  enum class State : std::uint8_t { kFailed, kStatusLine, kField, kBody, kEnd };
  enum class Length : std::uint8_t { kUntilClose, kCounted, kChunked };
  enum class Chunk : std::uint8_t {
    kSize,       // the digits of the size
    kExtension,  // the rest of the line after the digits
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailer,  // the beginning of a line
    kTrailerLine,
    kTrailerLf,  // the line feed of the empty line
  };

  void Fail(Error error);
  void TakeLine(std::string_view line);
  bool TakeStatusLine(std::string_view line);
  bool TakeField(std::string_view line);
  bool SetLength(std::string_view value);
  void EndHead();
  /// Parses one byte of the framing. Returns false when it is malformed.
  bool TakeFraming(char c);
  void EndChunkSize();

  const Body body_;
  State state_ = State::kStatusLine;
  Error error_ = Error::kNone;
  std::string line_{};  ///< of the head, as far as it has come
  std::size_t head_bytes_ = 0;
  int interim_ = 0;
  HttpHead head_{};
  std::string reason_{};
  bool keep_alive_ = true;
  bool ambiguous_ = false;  ///< it says in two ways where the body ends
  bool has_length_ = false;
  Length length_ = Length::kUntilClose;
  std::uint64_t left_ = 0;  ///< of the body with kCounted, of the chunk otherwise
  Chunk chunk_ = Chunk::kSize;
  bool has_digit_ = false;      ///< in the line of the chunk's size
  std::uint64_t overhead_ = 0;  ///< of framing, beyond what is usual
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_STREAM_RESPONSE_PARSER_H_
