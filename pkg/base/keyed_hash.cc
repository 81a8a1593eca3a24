#include "kubexx/base/keyed_hash.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <random>

namespace kubexx::base {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

struct HashKeys {
  std::uint64_t text = 0;
  std::uint64_t chain = 0;
  std::uint64_t end = 0;
};

std::uint64_t RandomWord(std::random_device& random) {
  return std::uint64_t{random()} << 32 | random();
}

// Where the system has no randomness to give: what differs from process to process, as the time and
// the place where the system has put the program. Worse than random, and better than to end here.
HashKeys KeysWithoutRandomness() {
  static const char here = 0;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const auto today = std::chrono::system_clock::now().time_since_epoch().count();
  const auto place = reinterpret_cast<std::uintptr_t>(&here);
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
  HashKeys keys;
  keys.text = (static_cast<std::uint64_t>(now) ^ place) * kOdd;
  keys.chain = (static_cast<std::uint64_t>(today) ^ keys.text) * kOdd;
  keys.end = (keys.text ^ keys.chain >> 32) * kOdd;
  return keys;
}

// On the first use and not before: simulations have taken std::random_device over by then, so that
// the order of what is in tables is the same in another run of the same seed.
const HashKeys& KeysOfProcess() {
  static const HashKeys keys = [] {
    try {
      std::random_device random;
      HashKeys drawn;
      drawn.text = RandomWord(random);
      drawn.chain = RandomWord(random);
      drawn.end = RandomWord(random);
      return drawn;
    } catch (const std::exception&) {
      return KeysWithoutRandomness();
    }
  }();
  return keys;
}

std::uint64_t LoadWord(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, kWord);
  return word;
}

std::uint64_t LoadHalf(const char* at) {
  std::uint32_t half = 0;
  std::memcpy(&half, at, sizeof(half));
  return half;
}

// Both halves of the product depend on all bits of both factors.
std::uint64_t Multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

std::uint64_t KeyedHash(std::string_view text, std::uint64_t chained) noexcept {
  const HashKeys& keys = KeysOfProcess();
  const char* at = text.data();
  const std::size_t size = text.size();
  std::uint64_t hash = chained ^ keys.chain;
  // The last two words may overlap each other, or what comes before them: the size tells how.
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (size > 2 * kWord) {
    for (std::size_t left = size; left > 2 * kWord; left -= 2 * kWord, at += 2 * kWord) {
      hash = Multiply(LoadWord(at) ^ keys.text, LoadWord(at + kWord) ^ hash);
    }
    first = LoadWord(text.data() + size - 2 * kWord);
    last = LoadWord(text.data() + size - kWord);
  } else if (size >= kWord) {
    first = LoadWord(at);
    last = LoadWord(at + size - kWord);
  } else if (size >= kWord / 2) {
    first = LoadHalf(at);
    last = LoadHalf(at + size - kWord / 2);
  } else if (size > 0) {
    const auto byte = [at](std::size_t i) {
      return std::uint64_t{static_cast<unsigned char>(at[i])};
    };
    first = byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16;
  }
  return Multiply(Multiply(first ^ keys.text, last ^ hash) ^ keys.end, size ^ keys.chain);
}

}  // namespace kubexx::base
