/// @file
/// A thread's turn to run, and how it is handed over.
#ifndef KUBEXX_TEST_SIMULATION_TURN_H_
#define KUBEXX_TEST_SIMULATION_TURN_H_

#include <atomic>
#include <cstdint>

namespace kubexx::simulation {

/// One of it belongs to each thread of a simulation, of which one has its turn at a time.
///
/// Where the processor lets a program say where its thread-local data lie (x86-64 with FSGSBASE, as
/// Linux 5.9 and later tell), one thread of the system takes all turns: it goes on with the
/// registers, the stack and the thread-local data of whoever is next, which takes nanoseconds and
/// no call of the system. The threads that these belong to sleep from their first step to their
/// last ones, so all that the C library knows of a thread is right. Elsewhere, and where the
/// environment variable KUBEXX_SIMULATION_THREADS is set (gdb follows it more easily), each thread
/// runs itself, and wakes the next one. Runs are the same both ways.
class Turn {
 public:
  Turn() = default;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  /// For the first thread, which has its turn.
  void Adopt();
  /// For a new thread, as its first step: blocks until it is its turn.
  void Begin();
  /// For whoever has started a thread: blocks until that has called Begin.
  void AwaitBegin() const;
  /// Hands the turn over; blocks until it is back.
  void PassTo(Turn& next);
  /// Hands the turn over for ever. When it returns, the thread is nobody's any more, and has to end
  /// without a step that others could notice.
  void EndWith(Turn& next);
  /// For whoever has the turn after EndWith: lets that thread end.
  void Release();
  /// For whoever has the turn: the thread of `other` writes to standard error where it stands.
  void Describe(Turn& other);

 private:
  void AwaitWord();
  void Set(std::uint32_t word);
  /// Tells whoever has asked where this thread stands.
  void Answer();

  /// What it sleeps at: see the source.
  std::atomic<std::uint32_t> word_ = 0;
  void* stack_ = nullptr;           ///< the stack pointer that it goes on with
  void* thread_pointer_ = nullptr;  ///< where its thread-local data lie
  Turn* asker_ = nullptr;
};

}  // namespace kubexx::simulation

#endif  // KUBEXX_TEST_SIMULATION_TURN_H_
