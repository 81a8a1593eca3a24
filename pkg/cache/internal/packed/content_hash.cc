#include "kubexx/cache/internal/packed/content_hash.h"

#include <cstddef>
#include <cstring>

namespace kubexx::cache::internal {
namespace {

// The constants are odd numbers with about as many ones as zeros, and unrelated to each other.
constexpr std::uint64_t kA = 0x9e3779b97f4a7c15ULL;
constexpr std::uint64_t kB = 0xd1b54a32d192ed03ULL;
constexpr std::uint64_t kC = 0x8cb92ba72f3d8dd7ULL;

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kLanes = 3;  // so many multiplications run at the same time
constexpr std::size_t kBlock = kLanes * 2 * kWord;

std::uint64_t Load(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, kWord);
  return word;
}

// Multiplies, so that both halves of the product depend on all bits of both factors.
std::uint64_t Mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

std::uint64_t ContentHash(std::string_view bytes) {
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t lanes[kLanes] = {kA, kB, kC};
  for (; left > kBlock; left -= kBlock, at += kBlock) {
    lanes[0] = Mix(Load(at) ^ kB, Load(at + kWord) ^ lanes[0]);
    lanes[1] = Mix(Load(at + 2 * kWord) ^ kC, Load(at + 3 * kWord) ^ lanes[1]);
    lanes[2] = Mix(Load(at + 4 * kWord) ^ kA, Load(at + 5 * kWord) ^ lanes[2]);
  }
  std::uint64_t hash = lanes[0] ^ lanes[1] ^ lanes[2];
  char last[kBlock] = {};
  if (left > 0) {
    std::memcpy(last, at, left);
  }
  for (std::size_t i = 0; i < kBlock; i += 2 * kWord) {
    hash = Mix(Load(last + i) ^ kB, Load(last + i + kWord) ^ hash);
  }
  return Mix(hash ^ kC, bytes.size() ^ kA);
}

}  // namespace kubexx::cache::internal
