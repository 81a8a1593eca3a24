/// @file
/// ResponseParser: reads one HTTP/1.1 response from pieces of any size.
#ifndef KUBEXX_REST_INTERNAL_STREAM_RESPONSE_PARSER_H_
#define KUBEXX_REST_INTERNAL_STREAM_RESPONSE_PARSER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kubexx/rest/round_tripper.h"

namespace kubexx::rest::internal {

/// The first answer to one request. A state machine without I/O: the bytes of the connection go in,
/// first to TakeHead and then to TakeBody. Interim answers (1xx) before it are left out. Its memory
/// is bounded: a head may have kMaxHead bytes, and of the framing of a body nothing is kept. After
/// an error it must not be used any more. Not thread-safe. Semantics: RFC 9112, and the limits of
/// Go's net/http.
class ResponseParser {
 public:
  /// What a head may have in bytes, with the interim answers before it.
  static constexpr std::size_t kMaxHead = 1 << 20;
  static constexpr int kMaxInterim = 20;  ///< how many of these there may be

  enum class Error : std::uint8_t {
    kNone,
    kNotHttp,      ///< the head is malformed
    kHeadTooLong,  ///< or there are too many interim answers
    kBadChunk,     ///< the body's framing is malformed, or there is too much of it
  };

  /// What a response does not say: whether it may have a body.
  enum class Body : std::uint8_t {
    kUsual,
    kNone,   ///< the answer to a HEAD
    kTunnel  ///< the answer to a CONNECT: none with 2xx
  };

  explicit ResponseParser(Body body = Body::kUsual) : body_(body) {}

  /// Takes bytes up to the end of the head, and returns how many. All of them when the head goes on
  /// behind them, or there is an error.
  std::size_t TakeHead(std::string_view bytes);
  bool has_head() const { return state_ >= State::kBody; }
  /// Valid when has_head().
  const HttpHead& head() const { return head_; }
  /// What follows the code in the first line: "Not Found".
  const std::string& reason() const { return reason_; }

  /// What TakeBody found.
  struct Taken {
    std::size_t payload = 0;   ///< bytes of the body, which lie at the front now
    std::size_t consumed = 0;  ///< of those that were given
  };
  /// Takes bytes of the body, up to its end, and moves what is the body's to the front of `bytes`,
  /// without the framing between. What comes in one chunk stays where it is.
  Taken TakeBody(char* bytes, std::size_t size);

  /// The connection has ended. False when the response has not: it broke off.
  bool TakeEnd();
  /// Whether the whole response has been taken.
  bool ended() const { return state_ == State::kEnd; }
  /// Whether the connection can take another request when the response has ended.
  bool keeps_alive() const { return keep_alive_ && !ambiguous_ && length_ != Length::kUntilClose; }
  Error error() const { return error_; }
  /// Whether a byte of the response has come.
  bool begun() const { return head_bytes_ > 0; }

 private:
  // In this order: everything from kBody on has a head.
  enum class State : std::uint8_t { kFailed, kStatusLine, kField, kBody, kEnd };
  enum class Length : std::uint8_t { kUntilClose, kCounted, kChunked };
  enum class Chunk : std::uint8_t {
    kSize,       // digits
    kExtension,  // what follows them in the line
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailer,  // at the beginning of a line
    kTrailerLine,
    kTrailerLf,  // of the empty line
  };

  void Fail(Error error);
  void TakeLine(std::string_view line);
  bool TakeStatusLine(std::string_view line);
  bool TakeField(std::string_view line);
  bool SetLength(std::string_view value);
  void EndHead();
  /// Takes one byte of the framing. False when it is malformed.
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
