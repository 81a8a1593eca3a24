/// @file
/// Reads and writes the protobuf wire format.
#ifndef KUBEXX_CODEC_INTERNAL_WIRE_H_
#define KUBEXX_CODEC_INTERNAL_WIRE_H_

#include <cstdint>
#include <cstring>
#include <string_view>

namespace kubexx::codec::internal {

enum class WireType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5
};

/// How deep messages may nest.
inline constexpr int kMaxDepth = 64;
/// The length of the longest varint of 64 bits.
inline constexpr int kMaxVarintBytes = 10;

/// The parts of a tag.
struct Tag {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
};

/// A varint and the position after it; `next` is null if there is no valid varint.
struct LongVarint {
  std::uint64_t value = 0;
  const char* next = nullptr;
};

/// Reads a varint of any length.
LongVarint ReadLongVarint(const char* pos, const char* end);
/// Returns the end of the value of a field of type `type`, which may be a whole group, or null for
/// bad bytes.
const char* EndOfValue(WireType type, const char* pos, const char* end);

/// Reads from a byte range that it does not own. Every method returns false for bad or missing
/// bytes. The address of a reader is passed to no other function, so that loops can keep it in
/// registers.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes)
      : pos_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool AtEnd() const { return pos_ == end_; }
  const char* pos() const { return pos_; }

  bool Varint(std::uint64_t& value) {
    if (pos_ != end_ && static_cast<unsigned char>(*pos_) < 0x80) {
      value = static_cast<unsigned char>(*pos_++);
      return true;
    }
    const LongVarint read = ReadLongVarint(pos_, end_);
    if (read.next == nullptr) {
      return false;
    }
    value = read.value;
    pos_ = read.next;
    return true;
  }

  bool ReadTag(Tag& tag) {
    std::uint64_t value = 0;
    if (!Varint(value) || (value >> 3) == 0 || (value >> 3) > 0x1fffffff || (value & 7) > 5) {
      return false;
    }
    tag = {static_cast<std::uint32_t>(value >> 3), static_cast<WireType>(value & 7)};
    return true;
  }

  bool Fixed64(std::uint64_t& value) {
    if (end_ - pos_ < 8) {
      return false;
    }
    std::memcpy(&value, pos_, 8);
    pos_ += 8;
    return true;
  }

  /// Reads a length and a view of that many bytes.
  bool Bytes(std::string_view& value) {
    std::uint64_t size = 0;
    if (!Varint(size) || size > static_cast<std::uint64_t>(end_ - pos_)) {
      return false;
    }
    value = {pos_, static_cast<std::size_t>(size)};
    pos_ += size;
    return true;
  }

  /// Skips the value of a field of type `type`, which may be a whole group.
  bool Skip(WireType type) {
    const char* const next = EndOfValue(type, pos_, end_);
    if (next == nullptr) {
      return false;
    }
    pos_ = next;
    return true;
  }

 private:
  const char* pos_;
  const char* end_;
};

/// Returns the number of bytes of `value` as a varint.
inline std::size_t VarintSize(std::uint64_t value) {
  return static_cast<std::size_t>(__builtin_clzll(value | 1) ^ 63) / 7 + 1;
}

/// Writes `value` to `out`, which must have room for it, and returns the end.
inline char* PutVarint(std::uint64_t value, char* out) {
  while (value >= 0x80) {
    *out++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<char>(value);
  return out;
}

}  // namespace kubexx::codec::internal

#endif  // KUBEXX_CODEC_INTERNAL_WIRE_H_
