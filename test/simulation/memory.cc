// Memory for a simulation's threads, of which one runs at a time: without locks, and without a
// look at what lies beside a piece. A fifth of a run's time went into malloc and free.
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "scheduler.h"

namespace kubexx::simulation {
namespace {

/// Pieces have a multiple of this size; larger ones than kLargest are the C library's.
constexpr std::size_t kGrain = 16;
constexpr std::size_t kLargest = 4096;
constexpr std::size_t kClasses = kLargest / kGrain + 1;
/// A span has pieces of one size.
constexpr std::size_t kSpan = std::size_t{1} << 16;
/// Only what is used of it takes memory. When it is used up, the C library has the rest.
constexpr std::size_t kRegion = std::size_t{1} << 33;

/// A piece that is free.
struct Piece {
  Piece* next = nullptr;
};

/// Where the next pieces of a size are.
struct Class {
  Piece* free = nullptr;
  std::byte* next = nullptr;  ///< in the last span
  std::byte* end = nullptr;
};

// Constant-initialised: others' constructors ask for memory.
constinit std::byte* region = nullptr;
constinit std::size_t spans = 0;
constinit std::array<Class, kClasses> classes{};
constinit std::array<std::uint16_t, kRegion / kSpan> class_of_span{};

bool IsHere(const void* piece) {
  return region != nullptr &&
         static_cast<std::size_t>(static_cast<const std::byte*>(piece) - region) < kRegion;
}

/// False: there is no more.
bool AddSpan(std::size_t index) {
  if (region == nullptr) {
    void* const made = ::mmap(nullptr, kRegion, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) {
      return false;
    }
    region = static_cast<std::byte*>(made);
  }
  if (spans == class_of_span.size()) {
    return false;
  }
  class_of_span[spans] = static_cast<std::uint16_t>(index);
  Class& own = classes[index];
  own.next = region + spans++ * kSpan;
  own.end = own.next + kSpan;
  return true;
}

/// Null: ask the C library.
void* Take(std::size_t size) {
  const std::size_t index = (size + kGrain - 1) / kGrain;
  Class& own = classes[index];
  if (Piece* const piece = own.free) {
    own.free = piece->next;
    return piece;
  }
  const std::size_t whole = index * kGrain;
  if (static_cast<std::size_t>(own.end - own.next) < whole && !AddSpan(index)) {
    return nullptr;
  }
  void* const piece = own.next;
  own.next += whole;
  return piece;
}

void Give(void* piece) {
  const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(piece) - region);
  Class& own = classes[class_of_span[offset / kSpan]];
  own.free = new (piece) Piece{.next = own.free};
}

}  // namespace
}  // namespace kubexx::simulation

void* operator new(std::size_t size) {
  using kubexx::simulation::Scheduler;
  if (size <= kubexx::simulation::kLargest && Scheduler::Current() != nullptr) {
    if (void* const piece = kubexx::simulation::Take(size == 0 ? 1 : size)) {
      return piece;
    }
  }
  if (void* const piece = std::malloc(size == 0 ? 1 : size)) {
    return piece;
  }
  throw std::bad_alloc();
}

// Whoever is no thread of the simulation gives back what is left of it when none of them runs.
void operator delete(void* piece) noexcept {
  if (kubexx::simulation::IsHere(piece)) {
    kubexx::simulation::Give(piece);
  } else {
    std::free(piece);
  }
}

void operator delete(void* piece, std::size_t) noexcept { ::operator delete(piece); }
