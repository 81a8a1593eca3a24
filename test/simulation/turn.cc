#include "turn.h"

#include <execinfo.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "real_calls.h"

#if defined(__x86_64__)
extern "C" {
/// Keeps the caller's registers on its stack, and `*stack`, where that ends; goes on with the stack
/// that ends at `next`, and with these thread-local data.
void kx_simulation_switch(void** stack, void* next, void* thread_pointer);
/// Keeps the same, sets `*word` to 1, and sleeps until it is another; goes on with the stack that
/// `*stack` ends at then. Uses no stack in between, since others do.
void kx_simulation_park(void** stack, std::uint32_t* word);
}

asm(R"(
  .pushsection .text
  .type kx_simulation_switch, @function
kx_simulation_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  wrfsbase %rdx
  movq %rsi, %rsp
  jmp 2f
  .type kx_simulation_park, @function
kx_simulation_park:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rdi, %r12
  movq %rsi, %r13
  movl $1, (%r13)
1:
  movl $202, %eax
  movq %r13, %rdi
  movl $128, %esi
  movl $1, %edx
  xorl %r10d, %r10d
  syscall
  cmpl $1, (%r13)
  je 1b
  movq (%r12), %rsp
2:
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .popsection
)");
static_assert(SYS_futex == 202 && FUTEX_WAIT_PRIVATE == 128);
#endif

namespace kubexx::simulation {
namespace {

// The values of the word. Of a thread that runs itself:
constexpr std::uint32_t kMayRun = 1;
constexpr std::uint32_t kIsAsked = 2;
constexpr std::uint32_t kHasAnswered = 3;
// Of one that others run as:
constexpr std::uint32_t kParked = 1;
constexpr std::uint32_t kMayEnd = 2;

#if defined(__x86_64__)
void* ThreadPointer() {
  void* pointer = nullptr;
  asm("movq %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

bool Decide() {
  constexpr unsigned long kFsgsbase = 1UL << 1;  // HWCAP2_FSGSBASE
  return (::getauxval(AT_HWCAP2) & kFsgsbase) != 0 &&
         std::getenv("KUBEXX_SIMULATION_THREADS") == nullptr;
}
#else
void kx_simulation_switch(void**, void*, void*) {}
void kx_simulation_park(void**, std::uint32_t*) {}
void* ThreadPointer() { return nullptr; }
bool Decide() { return false; }
#endif

/// Whether one thread of the system takes all turns.
const bool is_one_thread = Decide();

void WriteStack() {
  std::array<void*, 48> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  ::backtrace_symbols_fd(frames.data() + 2, std::max(count - 2, 0), STDERR_FILENO);
}

}  // namespace

void Turn::Adopt() { thread_pointer_ = ThreadPointer(); }

void Turn::Begin() {
  if (!is_one_thread) {
    return AwaitWord();
  }
  thread_pointer_ = ThreadPointer();
  static_assert(sizeof word_ == sizeof(std::uint32_t));
  kx_simulation_park(&stack_, reinterpret_cast<std::uint32_t*>(&word_));
  Answer();
}

void Turn::AwaitBegin() const {
  while (is_one_thread && word_.load() != kParked) {
    KX_REAL(sched_yield)();
  }
}

void Turn::PassTo(Turn& next) {
  if (is_one_thread) {
    kx_simulation_switch(&stack_, next.stack_, next.thread_pointer_);
    Answer();
  } else {
    next.Set(kMayRun);
    AwaitWord();
  }
}

void Turn::EndWith(Turn& next) {
  if (is_one_thread) {
    kx_simulation_switch(&stack_, next.stack_, next.thread_pointer_);
  } else {
    next.Set(kMayRun);
  }
}

void Turn::Release() {
  if (is_one_thread) {
    Set(kMayEnd);
  }
}

void Turn::Describe(Turn& other) {
  if (is_one_thread) {
    other.asker_ = this;
    kx_simulation_switch(&stack_, other.stack_, other.thread_pointer_);
    return;
  }
  other.Set(kIsAsked);
  while (other.word_.load() != kHasAnswered) {
    KX_REAL(sched_yield)();
  }
}

void Turn::Answer() {
  while (Turn* const asker = std::exchange(asker_, nullptr)) {
    WriteStack();
    kx_simulation_switch(&stack_, asker->stack_, asker->thread_pointer_);
  }
}

void Turn::AwaitWord() {
  while (true) {
    const std::uint32_t word = word_.load();
    if (word == kMayRun) {
      word_.store(0);
      return;
    }
    if (word == kIsAsked) {
      WriteStack();
      word_.store(kHasAnswered);
      continue;
    }
    KX_REAL(syscall)(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, word, nullptr, nullptr, 0);
  }
}

void Turn::Set(std::uint32_t word) {
  word_.store(word);
  KX_REAL(syscall)(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace kubexx::simulation
