#include "kubexx/codec/internal/wire.h"

namespace kubexx::codec::internal {

bool WireReader::LongVarint(std::uint64_t& value) {
  std::uint64_t result = 0;
  const char* p = pos_;
  for (int shift = 0; shift < 7 * kMaxVarintBytes; shift += 7) {
    if (p == end_) {
      return false;
    }
    const auto byte = static_cast<unsigned char>(*p++);
    result |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      value = result;
      pos_ = p;
      return true;
    }
  }
  return false;
}

bool WireReader::Advance(std::uint64_t count) {
  if (count > static_cast<std::uint64_t>(end_ - pos_)) {
    return false;
  }
  pos_ += count;
  return true;
}

bool WireReader::Skip(WireType type) {
  int depth = 0;
  while (true) {
    std::uint64_t value = 0;
    std::string_view bytes;
    bool ok = false;
    switch (type) {
      case WireType::kVarint:
        ok = Varint(value);
        break;
      case WireType::kFixed64:
        ok = Advance(8);
        break;
      case WireType::kBytes:
        ok = Bytes(bytes);
        break;
      case WireType::kFixed32:
        ok = Advance(4);
        break;
      case WireType::kStartGroup:
        ok = ++depth <= kMaxDepth;
        break;
      case WireType::kEndGroup:
        ok = --depth >= 0;
        break;
    }
    if (!ok) {
      return false;
    }
    if (depth == 0) {
      return true;
    }
    Tag tag;
    if (!ReadTag(tag)) {
      return false;
    }
    type = tag.type;
  }
}

}  // namespace kubexx::codec::internal
