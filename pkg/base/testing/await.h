/// @file
/// Waits in tests. Every wait has an end: if the condition does not come true in time, the program
/// says where and for what it waited, and what it saw instead, and fails.
#ifndef KUBEXX_BASE_TESTING_AWAIT_H_
#define KUBEXX_BASE_TESTING_AWAIT_H_

#include <concepts>
#include <functional>
#include <initializer_list>
#include <ranges>
#include <source_location>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kubexx/base/clock.h"
#include "kubexx/base/function_ref.h"
#include "kubexx/base/mutex.h"
#include "kubexx/base/stop_timer.h"

namespace kubexx::base::testing {

/// The place of a wait in the source. A helper that waits takes a Where as its last argument, with
/// Where::current() as the default, so that a failure names the line of the test.
using Where = std::source_location;

/// Returns the form of a value in a failure message: text in quotes, numbers, enumerators as
/// numbers, ranges in brackets, and the values that pointers and optionals refer to. Other values
/// are shown as "(a value that cannot be shown)".
template <class T>
std::string Shown(const T& value);

/// One wait, from its construction to its end. Code that waits tests the condition in a loop and
/// calls Pause or Wait in between:
///
///     MutexLock lock(mu_);
///     Patience patience("two lines in the journal", where);
///     while (lines_.size() < 2) {
///       patience.Wait(changed_, mu_, lines_);
///     }
///
/// When the limit has passed, Pause and Wait write to standard error where and for what this wait
/// is, the values that they were given, and every other wait of the process. Then they abort, so
/// that later tests of the same program do not run. They do not throw, because the thread may
/// belong to the code under test; and in the test's own thread the destructors would join threads
/// that wait for something themselves, so that the program would hang after all.
///
/// Not thread-safe: each thread that waits needs its own. The condition is tested once more after
/// the limit.
class Patience {
 public:
  /// `what` completes "waited for", for example "two lines in the journal".
  explicit Patience(std::string what, const Where& where = Where::current());
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  ~Patience();

  /// Lets other threads run for a moment: yields at first, and sleeps for up to a quarter of a
  /// millisecond when the wait has become longer.
  template <class... Seen>
  void Pause(const Seen&... seen) {
    if (!PauseOnce()) {
      Fail({Shown(seen)...});
    }
  }

  /// Waits until `changed` is notified, with `mu` held before and after.
  template <class... Seen>
  void Wait(CondVar& changed, Mutex& mu, const Seen&... seen) KX_REQUIRES(mu) {
    if (!WaitOnce(changed, mu, limit_)) {
      Fail({Shown(seen)...});
    }
  }

  /// The same, but for no longer than `time`.
  template <class... Seen>
  void WaitFor(Duration time, CondVar& changed, Mutex& mu, const Seen&... seen) KX_REQUIRES(mu) {
    if (!WaitOnce(changed, mu, time)) {
      Fail({Shown(seen)...});
    }
  }

  /// Returns the limit of every wait: 60 s of real time, times the whole number in the environment
  /// variable KUBEXX_PATIENCE if it is set. hack/test sets it for runs that load the machine.
  static Duration Limit();
  /// Replaces the limit of waits that begin later. It serves tests of waiting itself. Thread-safe.
  static void SetLimitForTest(Duration limit);

 private:
  bool IsOver() const;
  void Begin();
  bool PauseOnce();
  bool WaitOnce(CondVar& changed, Mutex& mu, Duration time) KX_REQUIRES(mu);
  std::string Description() const;
  [[noreturn]] void Fail(std::initializer_list<std::string> seen) const;

  const std::string what_;
  const Where where_;
  const TimePoint begin_;
  const Duration limit_;
  bool listed_ = false;
};

/// A stop token that is requested after Patience::Limit, for calls of the code under test that wait
/// until a stop. The test then sees that the call failed:
/// `ASSERT_TRUE(informer->WaitForSync(PatienceEnd().token()))`.
class PatienceEnd : public StopTimer {
 public:
  PatienceEnd() : StopTimer(Clock::Real(), {}, Patience::Limit()) {}
};

/// Waits until `stop` is requested, with a limit (see Patience).
void AwaitStop(const std::stop_token& stop, const Where& where = Where::current());

/// Tests the condition until it holds or Patience::Limit has passed, and returns whether it holds.
/// It serves tests that have to clean up after another process, as in
/// `ASSERT_TRUE(HoldsSoon(...))`; other tests should use KX_AWAIT. `between` is the pause between
/// two tests of the condition, for conditions that cost something, such as a request.
bool HoldsSoon(FunctionRef<bool()> condition, Duration between = {});

/// Lets other threads run for a moment, so that the steps of several threads interleave in many
/// ways. It is not for waiting.
void LetOthersRun();

namespace internal {

/// The condition of a loop; a call, since compilers warn of one that names what the loop does not
/// change, and so that two conditions with a comma between them do not compile.
template <class T>
constexpr bool IsTrue(const T& condition) {
  return static_cast<bool>(condition);
}

/// "a >= 3" for the text "a, 3" of two arguments and the operator ">=". "S<1, 2>(), 3 (>=)" where
/// it takes a compiler to find the comma between the two.
std::string Comparison(std::string_view arguments, std::string_view op);

template <class T>
concept IsText = std::convertible_to<const T&, std::string_view>;

template <class T>
concept IsAtomic = requires(const T& value) {
  typename T::value_type;
  { value.load() } -> std::convertible_to<typename T::value_type>;
};

template <class T>
concept IsPair = requires(const T& value) {
  value.first;
  value.second;
};

template <class T>
concept HoldsOneOrNone = requires(const T& value) {
  static_cast<bool>(value);
  *value;
};

/// A plain or smart pointer to an object. Its own operator<< shows an address.
template <class T>
concept IsPointer =
    (std::is_pointer_v<T> && std::is_object_v<std::remove_pointer_t<T>>) || requires {
      typename T::element_type;
      requires requires(const T& value) {
        { value.get() } -> std::same_as<typename T::element_type*>;
        *value;
      };
    };

template <class T>
concept IsStreamed = requires(std::ostream& out, const T& value) { out << value; };

template <class T>
concept IsCharacter =
    std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
    std::same_as<T, char16_t> || std::same_as<T, char32_t>;

/// What std::cmp_less takes.
template <class T>
concept IsInteger = std::integral<T> && !std::same_as<T, bool> && !IsCharacter<T>;

/// What an atomic holds now, and everything else as it is.
template <class T>
decltype(auto) Loaded(const T& value) {
  if constexpr (IsAtomic<T>) {
    return value.load();
  } else {
    return (value);
  }
}

}  // namespace internal

template <class T>
std::string Shown(const T& value) {
  if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(std::to_underlying(value));
  } else if constexpr (internal::IsText<T>) {
    return "\"" + std::string(std::string_view(value)) + "\"";
  } else if constexpr (internal::IsAtomic<T>) {
    return Shown(value.load());
  } else if constexpr (requires {
                         { value.count() } -> std::convertible_to<double>;
                       }) {
    return std::to_string(value.count());  // a duration, in its own unit
  } else if constexpr (internal::IsPointer<T>) {
    return value ? Shown(*value) : "nothing";
  } else if constexpr (internal::IsStreamed<T>) {
    std::ostringstream out;
    out << value;
    return out.str();
  } else if constexpr (std::ranges::input_range<const T>) {
    std::string text = "[";
    for (const auto& element : value) {
      text += (text.size() > 1 ? ", " : "") + Shown(element);
    }
    return text + "]";
  } else if constexpr (internal::IsPair<T>) {
    return Shown(value.first) + ": " + Shown(value.second);
  } else if constexpr (requires {
                         { value.ToString() } -> std::convertible_to<std::string>;
                       }) {
    return value.ToString();
  } else if constexpr (internal::HoldsOneOrNone<T>) {
    return value ? Shown(*value) : "nothing";
  } else {
    return "(a value that cannot be shown)";
  }
}

namespace internal {

/// Whether `compare`, such as std::less<>, holds; integers are compared as numbers.
template <class Compare, class A, class B>
bool Holds(const A& a, const B& b) {
  if constexpr (IsInteger<A> && IsInteger<B>) {
    return Compare()(std::cmp_less(a, b) ? -1 : std::cmp_less(b, a) ? 1 : 0, 0);
  } else {
    return Compare()(a, b);
  }
}

/// One look of KX_AWAIT_EQ and the others, with a pause when the comparison does not hold yet.
template <class Compare, class A, class B>
bool Compares(Patience& patience, const A& a, const B& b) {
  const auto& seen = Loaded(a);
  if (Holds<Compare>(seen, Loaded(b))) {
    return true;
  }
  patience.Pause(seen);
  return false;
}

}  // namespace internal

}  // namespace kubexx::base::testing

/// @cond
#define KX_AWAIT_NAME_(line) kx_patience_##line
#define KX_AWAIT_NAME(line) KX_AWAIT_NAME_(line)
#define KX_AWAIT_COMPARED(op, Compare, ...)                                           \
  for (::kubexx::base::testing::Patience KX_AWAIT_NAME(__LINE__)(                     \
           ::kubexx::base::testing::internal::Comparison(#__VA_ARGS__, op));          \
       !::kubexx::base::testing::internal::Compares<Compare>(KX_AWAIT_NAME(__LINE__), \
                                                             __VA_ARGS__);)           \
  static_cast<void>(0)
/// @endcond

// A comma in an expression, as between the arguments of a template, does no harm: what the
// preprocessor takes for several arguments goes whole into the call of one function. Only `changed`
// and `mu` of KX_AWAIT_CHANGE have none.

/// Waits until the condition holds; see Patience. A failure shows the text of the condition.
#define KX_AWAIT(...) \
  KX_UNTIL(__VA_ARGS__) static_cast<void>(0)

/// Repeats the statement behind it until the condition holds, with a pause after each time; see
/// Patience. `KX_UNTIL(reads > 2) { clock.Advance(seconds(1)); }`
#define KX_UNTIL(...)                                                           \
  for (::kubexx::base::testing::Patience KX_AWAIT_NAME(__LINE__)(#__VA_ARGS__); \
       !::kubexx::base::testing::internal::IsTrue(__VA_ARGS__); KX_AWAIT_NAME(__LINE__).Pause())

/// Waits until the condition holds, which is looked at with `mu` held, first and whenever the
/// CondVar `changed` is notified; see Patience.
#define KX_AWAIT_CHANGE(changed, mu, ...)                                       \
  for (::kubexx::base::testing::Patience KX_AWAIT_NAME(__LINE__)(#__VA_ARGS__); \
       !::kubexx::base::testing::internal::IsTrue(__VA_ARGS__);                 \
       KX_AWAIT_NAME(__LINE__).Wait(changed, mu))                               \
  static_cast<void>(0)

/// KX_AWAIT_EQ(a, b) waits until `a` equals `b`; see Patience. Both are evaluated many times.
/// Integers are compared as numbers, whatever their signs. A failure shows the last `a`.
#define KX_AWAIT_EQ(...) KX_AWAIT_COMPARED("==", ::std::equal_to<>, __VA_ARGS__)
/// Waits until the first argument differs from the second one, as KX_AWAIT_EQ does.
#define KX_AWAIT_NE(...) KX_AWAIT_COMPARED("!=", ::std::not_equal_to<>, __VA_ARGS__)
/// Waits until the first argument is not above the second one, as KX_AWAIT_EQ does.
#define KX_AWAIT_LE(...) KX_AWAIT_COMPARED("<=", ::std::less_equal<>, __VA_ARGS__)
/// Waits until the first argument is below the second one, as KX_AWAIT_EQ does.
#define KX_AWAIT_LT(...) KX_AWAIT_COMPARED("<", ::std::less<>, __VA_ARGS__)
/// Waits until the first argument is not below the second one, as KX_AWAIT_EQ does.
#define KX_AWAIT_GE(...) KX_AWAIT_COMPARED(">=", ::std::greater_equal<>, __VA_ARGS__)
/// Waits until the first argument is above the second one, as KX_AWAIT_EQ does.
#define KX_AWAIT_GT(...) KX_AWAIT_COMPARED(">", ::std::greater<>, __VA_ARGS__)

#endif  // KUBEXX_BASE_TESTING_AWAIT_H_
