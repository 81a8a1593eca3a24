#include "kubexx/http/internal/websocket_frames.h"

#include <algorithm>

#include "kubexx/codec/base64.h"
#include "kubexx/crypto/sha.h"

namespace kubexx::http::internal {
namespace {

/// From RFC 6455, section 1.3.
constexpr std::string_view kMagic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::size_t kMaxControlPayload = 125;
constexpr unsigned char kFinal = 0x80;
constexpr unsigned char kMasked = 0x80;
constexpr unsigned char kControl = 0x08;

unsigned char ByteAt(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

}  // namespace

std::string AcceptKey(std::string_view key) {
  const crypto::Sha1Sum sum = crypto::Sha1(std::string(key) + std::string(kMagic));
  return codec::EncodeBase64({reinterpret_cast<const char*>(sum.data()), sum.size()});
}

std::string FrameHeader(Opcode opcode, std::size_t size) {
  std::string header(1, static_cast<char>(kFinal | static_cast<unsigned char>(opcode)));
  if (size <= kMaxControlPayload) {
    header.push_back(static_cast<char>(size));
    return header;
  }
  const bool is_short = size <= 0xffff;
  header.push_back(static_cast<char>(is_short ? 126 : 127));
  for (int shift = is_short ? 8 : 56; shift >= 0; shift -= 8) {
    header.push_back(static_cast<char>(size >> shift & 0xff));
  }
  return header;
}

bool ClientFrames::ReadHead() {
  if (head_.size() < 2) {
    return false;
  }
  const unsigned length = ByteAt(head_, 1) & 0x7fU;
  const std::size_t more = length == 126 ? 2 : length == 127 ? 8 : 0;
  if (head_.size() < 2 + more + mask_.size()) {
    return false;
  }
  size_ = more == 0 ? length : 0;
  for (std::size_t i = 0; i < more; ++i) {
    size_ = size_ << 8 | ByteAt(head_, 2 + i);
  }
  std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(2 + more), mask_.size(), mask_.begin());
  left_ = size_;
  return true;
}

bool ClientFrames::Feed(std::string_view bytes,
                        base::FunctionRef<void(Opcode opcode, std::string_view payload)> sink) {
  while (!bytes.empty() || (in_payload_ && left_ == 0)) {
    if (!in_payload_) {
      head_.push_back(bytes.front());
      bytes.remove_prefix(1);
      if (head_.size() == 2 && (ByteAt(head_, 1) & kMasked) == 0) {
        return false;  // Clients have to mask.
      }
      in_payload_ = ReadHead();
      continue;
    }
    const bool control = (ByteAt(head_, 0) & kControl) != 0;
    if (control && size_ > kMaxControlPayload) {
      return false;
    }
    const std::size_t taken =
        static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    for (std::size_t i = 0; control && i < taken; ++i) {
      const std::size_t place = payload_.size() % mask_.size();
      payload_.push_back(static_cast<char>(bytes[i] ^ mask_[place]));
    }
    bytes.remove_prefix(taken);
    left_ -= taken;
    if (left_ == 0) {
      if (control) {
        sink(static_cast<Opcode>(ByteAt(head_, 0) & 0x0f), payload_);
      }
      head_.clear();
      payload_.clear();
      in_payload_ = false;
    }
  }
  return true;
}

}  // namespace kubexx::http::internal
