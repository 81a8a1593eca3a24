/// @file
/// Status: the error of every fallible call, with the fields of Kubernetes' own meta/v1 Status, and
/// Result<T>.
#ifndef KUBEXX_APIMACHINERY_STATUS_H_
#define KUBEXX_APIMACHINERY_STATUS_H_

#include <chrono>
#include <concepts>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kubexx::apimachinery {

/// The reasons of the API (meta/v1 StatusReason) and further ones that only a client returns.
/// Programs should decide by the reason, never by the message.
enum class Reason : std::uint8_t {
  kUnknown,
  kUnauthorized,
  kForbidden,
  kNotFound,
  kAlreadyExists,
  kConflict,
  kGone,
  kInvalid,
  kServerTimeout,
  kStoreReadError,
  kTimeout,
  kTooManyRequests,
  kBadRequest,
  kMethodNotAllowed,
  kNotAcceptable,
  kRequestEntityTooLarge,
  kUnsupportedMediaType,
  kInternalError,
  kExpired,
  kServiceUnavailable,
  // Reasons of the client; never sent by a server.
  kUnavailable,   ///< no connection, or one that broke: connect, TLS, reset, unexpected end
  kCancelled,     ///< the caller's stop_token was requested
  kMalformed,     ///< bytes that cannot be decoded; `details.causes` names the field
  kInvalidConfig  ///< a kubeconfig, flag or file that cannot be used
};

/// The API's spelling, for example "AlreadyExists"; kUnknown gives "".
std::string_view ToString(Reason reason);

/// Returns the reason with this spelling; kUnknown when the spelling is unknown or empty.
Reason ParseReason(std::string_view text);

/// One cause of a Status, as meta/v1 StatusCause. `field` is a path such as
/// "spec.containers[0].image".
struct StatusCause {
  std::string reason{};
  std::string message{};
  std::string field{};
  bool operator==(const StatusCause&) const = default;
};

/// The object that a Status is about, and its causes, as meta/v1 StatusDetails.
struct StatusDetails {
  std::string name{};
  std::string group{};
  std::string kind{};
  std::string uid{};
  std::vector<StatusCause> causes{};
  /// The server's Retry-After; zero when it sent none.
  std::chrono::seconds retry_after{0};
  bool operator==(const StatusDetails&) const = default;
};

/// An error. A value type. `code` is the HTTP status code, 0 when there was no response.
class [[nodiscard]] Status {
 public:
  // These members are defined out of line; otherwise every file that returns errors would contain
  // their code.
  Status();
  Status(Reason reason_in, std::string message_in, int code_in = 0);
  Status(const Status& other);
  Status(Status&& other) noexcept;
  Status& operator=(const Status& other);
  Status& operator=(Status&& other) noexcept;
  ~Status();

  Reason reason = Reason::kUnknown;
  int code = 0;
  std::string message{};
  StatusDetails details{};
  /// The reason's spelling when Reason does not have it, as admission webhooks may send it;
  /// otherwise empty. `reason` is then kUnknown, or the reason that `code` stands for.
  std::string other_reason{};

  /// Returns "<Reason>: <message>", for logs, with `other_reason` as the reason if it is set.
  std::string ToString() const;

  /// Returns the same status with "context: " in front of its message. Each layer should add one
  /// context.
  Status WithContext(std::string_view context) const;

  bool operator==(const Status&) const = default;
};

/// Makes a kMalformed status with one cause at `field` and the message "<field>: <what>".
Status Malformed(std::string field, std::string what);

/// Returns the reason for an HTTP status code without a Status in the body, as apimachinery's
/// NewGenericServerResponse.
Reason ReasonForHttpCode(int code);

/// Whether the resourceVersion or continue token is too old: 410 Gone or reason Expired.
bool IsExpired(const Status& status);

/// Whether a server says that the object itself does not exist: kNotFound with the object's name.
/// An API server sends the name in `details.name`. A 404 of a proxy, of a server that is just
/// starting, or of a server that does not serve the API has no Status body and therefore no name.
/// It says nothing about the object, and should be retried like any other failure.
bool IsObjectNotFound(const Status& status);

/// Whether this is the "Too large resource version" timeout of a server whose watch cache is
/// behind.
bool IsTooLargeResourceVersion(const Status& status);

/// The Status that Result::error() returns for a success. It never changes and exists until the
/// process ends.
const Status& NoError();

/// A T or a Status. Like std::expected, but ignoring one is a compile error: the installed CMake
/// targets of the library pass -Werror=unused-result on to the targets that link them.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Status> {
 public:
  using std::expected<T, Status>::expected;
  /// Makes `return other.error();` possible in a function that returns a Result; every Status is an
  /// error. Not available for a T that can be made from a Status itself; use Fail there.
  template <class S>
    requires(std::same_as<std::remove_cvref_t<S>, Status> && !std::is_constructible_v<T, S>)
  Result(S&& error) : std::expected<T, Status>(std::unexpect, std::forward<S>(error)) {}

  /// Returns the error. For a success it returns NoError(), whose reason is kUnknown and which says
  /// that there is no error; std::expected forbids this call.
  const Status& error() const& { return this->has_value() ? NoError() : Expected::error(); }
  /// Like the above, but moves the error out of the Result.
  Status error() && { return this->has_value() ? NoError() : std::move(Expected::error()); }

 private:
  using Expected = std::expected<T, Status>;
};

/// The error value that a function with a Result returns when it fails.
using Error = std::unexpected<Status>;

/// Makes an error. Usage in a function that returns Result<T>: `return Fail(Reason::kNotFound,
/// "...")`.
Error Fail(Reason reason, std::string message, int code = 0);
/// Makes an error from a whole Status.
Error Fail(Status status);

/// @cond
/// What KX_ASSIGN_OR_RETURN assigns of a Result without a value, which is an error: it fits
/// everywhere, so that it is the only one.
struct NoValue {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};
/// The value of a Result that has one, to be moved from.
template <class R>
constexpr decltype(auto) ValueOf(R& result) {
  constexpr bool kHasValue = !std::is_void_v<typename R::value_type>;
  static_assert(kHasValue,
                "kubexx: a Result<void> has no value that KX_ASSIGN_OR_RETURN could assign; use "
                "KX_RETURN_IF_ERROR.");
  if constexpr (kHasValue) {
    return std::move(*result);
  } else {
    return NoValue();
  }
}
/// @endcond

}  // namespace kubexx::apimachinery

/// @cond
#define KX_CONCAT_INNER(a, b) a##b
#define KX_CONCAT(a, b) KX_CONCAT_INNER(a, b)
// `lhs`, without its parentheses if all of it is in them: what is left of "(a, b)" when a macro
// that expands to nothing is put in front of it is nothing, and of "(*p).x" it is ".x".
#define KX_NOTHING(...)
#define KX_WITHOUT_PARENTHESES(...) __VA_ARGS__
#define KX_LHS(lhs) KX_LHS_IF_LEFT(lhs, KX_NOTHING lhs)
#define KX_LHS_IF_LEFT(lhs, ...) KX_LHS_PICK(__VA_OPT__(1), lhs)
#define KX_LHS_PICK(left, lhs) KX_LHS_PICKED(left, lhs)
#define KX_LHS_PICKED(left, lhs) KX_LHS_AS##left(lhs)
#define KX_LHS_AS1(lhs) lhs
#define KX_LHS_AS(lhs) KX_WITHOUT_PARENTHESES lhs
#define KX_VALUE_OR_RETURN(tmp, ...)                                \
  __extension__({                                                   \
    auto tmp = (__VA_ARGS__);                                       \
    if (!tmp) {                                                     \
      return ::kubexx::apimachinery::Error(std::move(tmp).error()); \
    }                                                               \
    ::kubexx::apimachinery::ValueOf(tmp);                           \
  })
/// @endcond

/// Returns the error of a Result, if it has one, from the surrounding function. It is one
/// statement, so that it also works in an `if` without braces; the expression may contain commas.
#define KX_RETURN_IF_ERROR(...)                                           \
  do {                                                                    \
    if (auto kx_result = (__VA_ARGS__); !kx_result) {                     \
      return ::kubexx::apimachinery::Error(std::move(kx_result).error()); \
    }                                                                     \
  } while (false)

/// Assigns the value of a Result to `lhs`, or returns its error from the surrounding function:
///
///     KX_ASSIGN_OR_RETURN(const auto x, F());
///     KX_ASSIGN_OR_RETURN((auto [a, b]), G<int, int>(x));
///
/// `lhs` may be a declaration; it needs parentheses if it contains a comma. It is one statement, so
/// that it also works in an `if` without braces. It uses statement expressions, an extension of gcc
/// and clang. The value is moved out of the Result, which is destroyed afterwards: do not declare a
/// view of the Result's content, because it would dangle.
#define KX_ASSIGN_OR_RETURN(lhs, ...) \
  KX_LHS(lhs) = KX_VALUE_OR_RETURN(KX_CONCAT(kx_tmp_, __LINE__), __VA_ARGS__)

#endif  // KUBEXX_APIMACHINERY_STATUS_H_
