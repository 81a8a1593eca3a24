#include "kubexx/apiserver/storage/internal/record.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

namespace kubexx::apiserver::storage::internal {
namespace {

constexpr std::size_t kFixed = 1 + 8 + 8 + 4;  // the fixed bytes after the header, before the key

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// There are eight tables, so that eight bytes are processed at a time.
constexpr Tables MakeTables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
    }
    tables[0][byte] = crc;
  }
  for (std::size_t table = 1; table < 8; ++table) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[table - 1][byte];
      tables[table][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}
constexpr Tables kTables = MakeTables();

template <class T>
T Read(std::string_view data, std::size_t at) {
  static_assert(std::endian::native == std::endian::little);
  T value{};
  std::memcpy(&value, data.data() + at, sizeof value);
  return value;
}

template <class T>
void Put(std::string& out, T value) {
  std::array<char, sizeof value> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  out.append(bytes.data(), bytes.size());
}

bool Plausible(const Record& record, std::size_t key_size, std::size_t length) {
  return record.type >= Record::Type::kBase && record.type <= Record::Type::kDelete &&
         record.revision >= 0 && record.create >= 0 && record.create <= record.revision &&
         key_size <= length - kFixed;
}

}  // namespace

std::uint32_t Crc32c(std::string_view data) {
  std::uint32_t crc = std::numeric_limits<std::uint32_t>::max();
  std::size_t at = 0;
  for (; at + 8 <= data.size(); at += 8) {
    const auto word = Read<std::uint64_t>(data, at) ^ crc;
    crc = 0;
    for (std::size_t byte = 0; byte < 8; ++byte) {
      crc ^= kTables[7 - byte][(word >> (8 * byte)) & 0xFF];
    }
  }
  for (; at < data.size(); ++at) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(data[at])) & 0xFF];
  }
  return ~crc;
}

void EncodeRecord(const Record& record, std::string& out) {
  const std::size_t start = out.size();
  Put(out, static_cast<std::uint32_t>(kFixed + record.key.size() + record.value.size()));
  Put(out, std::uint32_t{0});
  Put(out, record.durable);
  Put(out, static_cast<std::uint8_t>(record.type));
  Put(out, static_cast<std::uint64_t>(record.revision));
  Put(out, static_cast<std::uint64_t>(record.create));
  Put(out, static_cast<std::uint32_t>(record.key.size()));
  out.append(record.key);
  out.append(record.value);
  const std::uint32_t crc = Crc32c(std::string_view(out).substr(start + 8));
  std::memcpy(out.data() + start + 4, &crc, sizeof crc);
}

DecodedRecord DecodeRecord(std::string_view data) {
  DecodedRecord out;
  if (data.size() < kRecordHeader) {
    out.wanted = kRecordHeader;
    return out;
  }
  const auto length = Read<std::uint32_t>(data, 0);
  if (length < kFixed || length > kMaxRecord) {
    return out;
  }
  out.wanted = kRecordHeader + length;
  if (data.size() < kRecordHeader + kFixed) {
    return out;
  }
  const std::string_view body = data.substr(kRecordHeader, length);
  Record record;
  record.durable = Read<std::uint64_t>(data, 8);
  record.type = static_cast<Record::Type>(body[0]);
  record.revision = Read<std::int64_t>(body, 1);
  record.create = Read<std::int64_t>(body, 9);
  const auto key_size = Read<std::uint32_t>(body, 17);
  // The cheap checks come first, because this also runs at every byte of a damaged file.
  if (!Plausible(record, key_size, length)) {
    out.wanted = 0;
    return out;
  }
  if (data.size() < out.wanted ||
      Read<std::uint32_t>(data, 4) != Crc32c(data.substr(8, out.wanted - 8))) {
    return out;
  }
  record.key = body.substr(kFixed, key_size);
  record.value = body.substr(kFixed + key_size);
  out.record = record;
  out.size = out.wanted;
  return out;
}

}  // namespace kubexx::apiserver::storage::internal
