#include "kubexx/rest/internal/stream/response_parser.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

#include "kubexx/base/ascii.h"
#include "kubexx/base/text/trim.h"

namespace kubexx::rest::internal {
namespace {

// A chunk has less than 4 GiB, which is more than any list that a server encodes in one piece.
constexpr int kSizeBits = 32;

// As in Go: a chunk may have this much framing, and in addition twice as much as it has data. What
// exceeds that, summed over all chunks, is limited.
constexpr std::uint64_t kUsualOverhead = 16;
constexpr std::uint64_t kMaxOverhead = 16 << 10;

bool IsTokenChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, IsTokenChar);
}

// Whether a list such as "keep-alive, Upgrade" contains the element.
bool ListHas(std::string_view list, std::string_view element) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (base::ToLower(base::Trim(list.substr(begin, end - begin))) == element) {
      return true;
    }
    begin = end + 1;
  }
  return false;
}

int HexDigit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

void SetFirst(std::string& field, std::string_view value) {
  if (field.empty()) {
    field = value;
  }
}

}  // namespace

void ResponseParser::Fail(Error error) {
  error_ = error;
  state_ = State::kFailed;
}

std::size_t ResponseParser::TakeHead(std::string_view bytes) {
  std::size_t taken = 0;
  while ((state_ == State::kStatusLine || state_ == State::kField) && taken < bytes.size()) {
    const std::string_view rest = bytes.substr(taken);
    const std::size_t end = rest.find('\n');
    const std::string_view piece = rest.substr(0, end == std::string_view::npos ? end : end + 1);
    taken += piece.size();
    head_bytes_ += piece.size();
    if (head_bytes_ > kMaxHead) {
      Fail(Error::kHeadTooLong);
      break;
    }
    line_ += piece;
    if (end == std::string_view::npos) {
      // Checks the first bytes at once, because a peer that does not speak HTTP may never send a
      // line end.
      constexpr std::string_view kBegin = "HTTP/1.";
      if (state_ == State::kStatusLine &&
          kBegin.substr(0, line_.size()) != std::string_view(line_).substr(0, kBegin.size())) {
        Fail(Error::kNotHttp);
      }
      break;
    }
    std::string_view line(line_);
    line.remove_suffix(1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    TakeLine(line);
    line_.clear();
  }
  if (state_ == State::kFailed) {
    return bytes.size();
  }
  return taken;
}

void ResponseParser::TakeLine(std::string_view line) {
  if (state_ == State::kStatusLine) {
    if (!TakeStatusLine(line)) {
      Fail(Error::kNotHttp);
    }
  } else if (line.empty()) {
    EndHead();
  } else if (!TakeField(line)) {
    Fail(Error::kNotHttp);
  }
}

// Parses "HTTP/1.1 200 OK". The last part may be empty, and some servers then leave out the space
// before it.
bool ResponseParser::TakeStatusLine(std::string_view line) {
  constexpr std::size_t kVersion = 8;
  constexpr std::size_t kCodeEnd = 12;
  if (line.size() < kCodeEnd || !line.starts_with("HTTP/1.") ||
      (line[kVersion - 1] != '0' && line[kVersion - 1] != '1') || line[kVersion] != ' ' ||
      (line.size() > kCodeEnd && line[kCodeEnd] != ' ')) {
    return false;
  }
  keep_alive_ = line[kVersion - 1] == '1';
  const std::string_view code = line.substr(kVersion + 1, 3);
  const auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), head_.code);
  if (error != std::errc() || end != code.data() + code.size() || head_.code < 100) {
    return false;
  }
  reason_ = line.size() > kCodeEnd ? line.substr(kCodeEnd + 1) : std::string_view();
  state_ = State::kField;
  return true;
}

bool ResponseParser::TakeField(std::string_view line) {
  const std::size_t colon = line.find(':');
  // A line that continues the one before it (obs-fold) is refused here, because it has no name.
  if (colon == std::string_view::npos || !IsName(line.substr(0, colon))) {
    return false;
  }
  const std::string_view value = base::Trim(line.substr(colon + 1));
  if (value.find('\0') != std::string_view::npos) {
    return false;
  }
  const std::string name = base::ToLower(line.substr(0, colon));
  if (name == "content-type") {
    SetFirst(head_.content_type, value);
  } else if (name == "retry-after") {
    SetFirst(head_.retry_after, value);
  } else if (name == "content-encoding") {
    SetFirst(head_.content_encoding, value);
  } else if (name == "warning") {
    head_.warning += (head_.warning.empty() ? "" : ", ") + std::string(value);
  } else if (name == "connection") {
    keep_alive_ = (keep_alive_ || ListHas(value, "keep-alive")) && !ListHas(value, "close");
  } else if (name == "transfer-encoding") {
    // The client has not asked for any other coding, and a second coding would hide where the body
    // ends.
    if (base::ToLower(value) != "chunked" || length_ == Length::kChunked) {
      return false;
    }
    length_ = Length::kChunked;
    ambiguous_ = has_length_;
  } else if (name == "content-length") {
    return SetLength(value);
  }
  return true;
}

bool ResponseParser::SetLength(std::string_view value) {
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
  if (value.empty() || error != std::errc() || end != value.data() + value.size() ||
      (has_length_ && left_ != length)) {
    return false;
  }
  has_length_ = true;
  left_ = length;
  ambiguous_ = length_ == Length::kChunked;
  if (!ambiguous_) {
    length_ = Length::kCounted;
  }
  return true;
}

void ResponseParser::EndHead() {
  const bool informs = head_.code < 200 && head_.code != 101;
  if (informs) {
    if (++interim_ > kMaxInterim) {
      Fail(Error::kHeadTooLong);
      return;
    }
    head_ = {};
    ambiguous_ = false;
    has_length_ = false;
    length_ = Length::kUntilClose;
    left_ = 0;
    state_ = State::kStatusLine;
    return;
  }
  keep_alive_ = keep_alive_ && head_.code >= 200;
  const bool empty = body_ == Body::kNone || head_.code < 200 || head_.code == 204 ||
                     head_.code == 304 || (body_ == Body::kTunnel && head_.code < 300);
  if (length_ == Length::kChunked) {
    left_ = 0;
  }
  if (empty || (length_ == Length::kCounted && left_ == 0)) {
    length_ = Length::kCounted;
    left_ = 0;
    state_ = State::kEnd;
    return;
  }
  state_ = State::kBody;
}

void ResponseParser::EndChunkSize() {
  overhead_ -= std::min(overhead_, kUsualOverhead + 2 * left_);
  has_digit_ = false;
  chunk_ = left_ > 0 ? Chunk::kData : Chunk::kTrailer;
}

bool ResponseParser::TakeFraming(char c) {
  if (++overhead_ > kMaxOverhead) {
    return false;
  }
  switch (chunk_) {
    case Chunk::kSize:
      if (const int digit = HexDigit(c); digit >= 0) {
        has_digit_ = true;
        left_ = left_ << 4 | static_cast<unsigned>(digit);
        return left_ >> kSizeBits == 0;
      }
      chunk_ = c == '\r' ? Chunk::kSizeLf : Chunk::kExtension;
      return has_digit_ && (c == '\r' || c == ';' || c == ' ' || c == '\t');
    case Chunk::kExtension:
      // A line feed alone would end the line for some parsers and not for others, so it does not
      // end it here.
      chunk_ = c == '\r' ? Chunk::kSizeLf : Chunk::kExtension;
      return c != '\n';
    case Chunk::kSizeLf:
      EndChunkSize();
      return c == '\n';
    case Chunk::kDataCr:
      chunk_ = Chunk::kDataLf;
      return c == '\r';
    case Chunk::kDataLf:
      chunk_ = Chunk::kSize;
      return c == '\n';
    case Chunk::kTrailer:
      chunk_ = c == '\r' ? Chunk::kTrailerLf : Chunk::kTrailerLine;
      return c != '\n';
    case Chunk::kTrailerLine:
      chunk_ = c == '\n' ? Chunk::kTrailer : Chunk::kTrailerLine;
      return true;
    case Chunk::kTrailerLf:
      state_ = State::kEnd;
      return c == '\n';
    case Chunk::kData:
      break;
  }
  return false;
}

ResponseParser::Taken ResponseParser::TakeBody(char* bytes, std::size_t size) {
  Taken taken;
  while (state_ == State::kBody && taken.consumed < size) {
    if (length_ == Length::kChunked && chunk_ != Chunk::kData) {
      if (!TakeFraming(bytes[taken.consumed])) {
        Fail(Error::kBadChunk);
        break;
      }
      ++taken.consumed;
      continue;
    }
    std::size_t count = size - taken.consumed;
    if (length_ != Length::kUntilClose) {
      count = static_cast<std::size_t>(std::min<std::uint64_t>(count, left_));
      left_ -= count;
    }
    if (taken.payload != taken.consumed) {
      std::memmove(bytes + taken.payload, bytes + taken.consumed, count);
    }
    taken.payload += count;
    taken.consumed += count;
    if (left_ == 0 && length_ == Length::kCounted) {
      state_ = State::kEnd;
    } else if (left_ == 0 && length_ == Length::kChunked) {
      chunk_ = Chunk::kDataCr;
    }
  }
  return taken;
}

bool ResponseParser::TakeEnd() {
  if (state_ == State::kBody && length_ == Length::kUntilClose) {
    state_ = State::kEnd;
  }
  return state_ == State::kEnd;
}

}  // namespace kubexx::rest::internal
