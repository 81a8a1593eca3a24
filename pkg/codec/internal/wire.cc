#include "kubexx/codec/internal/wire.h"

namespace kubexx::codec::internal {

LongVarint ReadLongVarint(const char* pos, const char* end) {
  std::uint64_t result = 0;
  for (int shift = 0; shift < 7 * kMaxVarintBytes && pos != end; shift += 7) {
    const auto byte = static_cast<unsigned char>(*pos++);
    result |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      return {result, pos};
    }
  }
  return {};
}

const char* EndOfValue(WireType type, const char* pos, const char* end) {
  const auto after = [end](const char* from, std::uint64_t count) {
    return count > static_cast<std::uint64_t>(end - from) ? nullptr : from + count;
  };
  int depth = 0;
  while (true) {
    LongVarint read;
    switch (type) {
      case WireType::kVarint:
        pos = ReadLongVarint(pos, end).next;
        break;
      case WireType::kFixed64:
        pos = after(pos, 8);
        break;
      case WireType::kBytes:
        read = ReadLongVarint(pos, end);
        pos = read.next == nullptr ? nullptr : after(read.next, read.value);
        break;
      case WireType::kFixed32:
        pos = after(pos, 4);
        break;
      case WireType::kStartGroup:
        pos = ++depth <= kMaxDepth ? pos : nullptr;
        break;
      case WireType::kEndGroup:
        pos = --depth >= 0 ? pos : nullptr;
        break;
    }
    if (pos == nullptr || depth == 0) {
      return pos;
    }
    WireReader in({pos, static_cast<std::size_t>(end - pos)});
    Tag tag;
    if (!in.ReadTag(tag)) {
      return nullptr;
    }
    pos = in.pos();
    type = tag.type;
  }
}

}  // namespace kubexx::codec::internal
