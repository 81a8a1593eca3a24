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

/// The API's reasons (meta/v1 StatusReason) plus those that arise in a client. Branch on these,
/// never on text.
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

/// The inverse; an unknown or empty spelling gives kUnknown.
Reason ParseReason(std::string_view text);

/// One cause of a Status, as meta/v1 StatusCause. `field` is a path such as
/// "spec.containers[0].image".
struct StatusCause {
  std::string reason{};
  std::string message{};
  std::string field{};
  bool operator==(const StatusCause&) const = default;
};

/// What a Status is about, as meta/v1 StatusDetails.
struct StatusDetails {
  std::string name{};
  std::string group{};
  std::string kind{};
  std::string uid{};
  std::vector<StatusCause> causes{};
  /// Zero when the server named no time.
  std::chrono::seconds retry_after{0};
  bool operator==(const StatusDetails&) const = default;
};

/// An error. A value type. `code` is the HTTP status, 0 when there was no response.
class [[nodiscard]] Status {
 public:
  // Out of line, as every file that returns errors would have them otherwise.
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
  /// The reason's spelling where it is none of Reason's, as admission webhooks may give one; else
  /// empty. `reason` is then kUnknown, or what `code` stands for.
  std::string other_reason{};

  /// "<Reason>: <message>", for logs. The reason is `other_reason` if there is one.
  std::string ToString() const;

  /// The same status with "context: " in front of its message; add it once per layer.
  Status WithContext(std::string_view context) const;

  bool operator==(const Status&) const = default;
};

/// A kMalformed status with one cause at `field`; the message reads "<field>: <what>".
Status Malformed(std::string field, std::string what);

/// The reason that an HTTP status code without a Status body stands for, as apimachinery's
/// NewGenericServerResponse.
Reason ReasonForHttpCode(int code);

/// 410 Gone or reason Expired: the resourceVersion or continue token is too old.
bool IsExpired(const Status& status);

/// Whether a server says that the object itself is not there: kNotFound, and the object is named.
/// An API server names it in `details.name`. The 404 of a proxy, of a server that is just starting
/// or of one that does not serve the API has no Status body, and so no name: it says nothing about
/// the object, and is a failure that is tried again like any other.
bool IsObjectNotFound(const Status& status);

/// The "Too large resource version" timeout of a server whose watch cache is behind.
bool IsTooLargeResourceVersion(const Status& status);

/// What Result::error() gives for a success. Never changes, and is there until the process ends.
const Status& NoError();

/// A T or a Status. As std::expected, but ignoring one is a compile error: the CMake targets of the
/// library hand -Werror=unused-result on to whoever links them.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Status> {
 public:
  using std::expected<T, Status>::expected;
  /// `return other.error();`, or `.error()`, from a function that returns a Result: every Status
  /// is an error. Not for a T that can be made of a Status itself: there Fail says which is meant.
  template <class S>
    requires(std::same_as<std::remove_cvref_t<S>, Status> && !std::is_constructible_v<T, S>)
  Result(S&& error) : std::expected<T, Status>(std::unexpect, std::forward<S>(error)) {}

  /// The error; of a success NoError(), which is kUnknown and says that there is none. Unlike
  /// std::expected's, which must not be asked for the error of a success.
  const Status& error() const& { return this->has_value() ? NoError() : Expected::error(); }
  /// As above, moved out of the Result.
  Status error() && { return this->has_value() ? NoError() : std::move(Expected::error()); }

 private:
  using Expected = std::expected<T, Status>;
};

/// What a function that returns a Result returns when it fails.
using Error = std::unexpected<Status>;

/// `return Fail(Reason::kNotFound, "...")` from a function that returns Result<T>.
Error Fail(Reason reason, std::string message, int code = 0);
/// As above, with a whole Status.
Error Fail(Status status);

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
    std::move(*tmp);                                                \
  })
/// @endcond

/// Returns the error of a Result from the function this stands in. One statement, also in an `if`
/// without braces; the expression may have commas.
#define KX_RETURN_IF_ERROR(...)                                           \
  do {                                                                    \
    if (auto kx_result = (__VA_ARGS__); !kx_result) {                     \
      return ::kubexx::apimachinery::Error(std::move(kx_result).error()); \
    }                                                                     \
  } while (false)

/// Assigns the value of a Result to `lhs`, or returns its error from the function this stands in:
///
///     KX_ASSIGN_OR_RETURN(const auto x, F());
///     KX_ASSIGN_OR_RETURN((auto [a, b]), G<int, int>(x));
///
/// `lhs` may be a declaration; in parentheses where it has a comma. One statement, also in an `if`
/// without braces. It uses an extension of gcc and clang, an expression made of statements. The
/// value is moved out of the Result, which is gone afterwards: a declared view of it would dangle.
#define KX_ASSIGN_OR_RETURN(lhs, ...) \
  KX_LHS(lhs) = KX_VALUE_OR_RETURN(KX_CONCAT(kx_tmp_, __LINE__), __VA_ARGS__)

#endif  // KUBEXX_APIMACHINERY_STATUS_H_
