#include "kubexx/apimachinery/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kubexx::apimachinery {
namespace {

TEST(ReasonTest, EverySpellingIsReadBack) {
  for (int i = 1; i <= static_cast<int>(Reason::kInvalidConfig); ++i) {
    const auto reason = static_cast<Reason>(i);
    EXPECT_FALSE(ToString(reason).empty()) << i;
    EXPECT_EQ(ParseReason(ToString(reason)), reason) << i;
  }
}

TEST(ReasonTest, UnknownSpellings) {
  EXPECT_EQ(ToString(Reason::kUnknown), "");
  for (const char* text : {"", "notfound", "NotFound ", "Whatever"}) {
    EXPECT_EQ(ParseReason(text), Reason::kUnknown);
  }
}

TEST(ReasonTest, SpellingsOfTheApi) {
  EXPECT_EQ(ToString(Reason::kStoreReadError), "StorageReadError");
  EXPECT_EQ(ToString(Reason::kTooManyRequests), "TooManyRequests");
  EXPECT_EQ(ToString(Reason::kRequestEntityTooLarge), "RequestEntityTooLarge");
}

TEST(ReasonTest, HttpCodesStandForReasons) {
  for (const auto& [code, reason] :
       std::vector<std::pair<int, Reason>>{{400, Reason::kBadRequest},
                                           {401, Reason::kUnauthorized},
                                           {403, Reason::kForbidden},
                                           {404, Reason::kNotFound},
                                           {405, Reason::kMethodNotAllowed},
                                           {406, Reason::kNotAcceptable},
                                           {409, Reason::kConflict},
                                           {410, Reason::kGone},
                                           {413, Reason::kRequestEntityTooLarge},
                                           {415, Reason::kUnsupportedMediaType},
                                           {422, Reason::kInvalid},
                                           {429, Reason::kTooManyRequests},
                                           {500, Reason::kInternalError},
                                           {503, Reason::kServiceUnavailable},
                                           {504, Reason::kTimeout},
                                           {418, Reason::kUnknown},
                                           {0, Reason::kUnknown},
                                           {-1, Reason::kUnknown}}) {
    EXPECT_EQ(ReasonForHttpCode(code), reason) << code;
  }
}

TEST(StatusTest, ToStringNamesTheReason) {
  EXPECT_EQ(Status(Reason::kNotFound, "no pod", 404).ToString(), "NotFound: no pod");
  EXPECT_EQ(Status().ToString(), "Unknown: ");
}

TEST(StatusTest, ContextGoesInFrontAndKeepsTheRest) {
  Status status(Reason::kConflict, "try again", 409);
  status.details.name = "web";
  status.details.retry_after = std::chrono::seconds(3);
  const Status wrapped = status.WithContext("update").WithContext("reconcile");
  EXPECT_EQ(wrapped.message, "reconcile: update: try again");
  EXPECT_EQ(wrapped.code, 409);
  EXPECT_EQ(wrapped.details, status.details);
  EXPECT_EQ(status.message, "try again");
}

Result<int> Odd(int n) {
  if (n % 2 == 0) {
    return Fail(Reason::kInvalid, "even", 422);
  }
  return n;
}

// What a user writes first.
Result<std::string> OddText(int n) {
  const auto odd = Odd(n);
  if (!odd) {
    return odd.error();
  }
  return std::to_string(*odd);
}
Result<void> CheckOdd(int n) {
  if (auto odd = Odd(n); !odd) {
    return std::move(odd.error());
  }
  return {};
}

TEST(ResultTest, AnErrorIsReturnedAsItIs) {
  EXPECT_EQ(*OddText(3), "3");
  EXPECT_EQ(OddText(4).error(), Status(Reason::kInvalid, "even", 422));
  EXPECT_TRUE(CheckOdd(3));
  EXPECT_EQ(CheckOdd(4).error(), Status(Reason::kInvalid, "even", 422));
  const Result<int> from_status = Odd(4).error();
  EXPECT_FALSE(from_status);
  static_assert(std::is_convertible_v<const Status&, Result<void>>);
  // Which of the two it would be nobody sees.
  static_assert(!std::is_convertible_v<int, Result<std::string>>);
  const Result<Status> value = Status(Reason::kGone, "a value");
  EXPECT_TRUE(value);
}

TEST(ResultTest, TheStatusOfASuccessSaysThatItIsNone) {
  const Result<int> odd = Odd(3);
  EXPECT_EQ(odd.error(), NoError());
  EXPECT_EQ(odd.error().reason, Reason::kUnknown);
  EXPECT_EQ(odd.error().code, 0);
  EXPECT_NE(odd.error().message, "");
  EXPECT_EQ(CheckOdd(3).error(), NoError());
  EXPECT_FALSE(Result<void>(odd.error())) << "whoever passes it on has an error that says so";
}

TEST(StatusTest, MalformedNamesTheField) {
  const Status status = Malformed("spec.replicas", "not a number");
  EXPECT_EQ(status.reason, Reason::kMalformed);
  EXPECT_EQ(status.message, "spec.replicas: not a number");
  ASSERT_EQ(status.details.causes.size(), 1U);
  EXPECT_EQ(status.details.causes[0],
            (StatusCause{"FieldValueInvalid", "not a number", "spec.replicas"}));
  EXPECT_EQ(Malformed("", "cut off").message, "cut off");
}

TEST(StatusTest, ExpiredIsGoneOrExpired) {
  EXPECT_TRUE(IsExpired(Status(Reason::kExpired, "")));
  EXPECT_TRUE(IsExpired(Status(Reason::kGone, "")));
  EXPECT_TRUE(IsExpired(Status(Reason::kUnknown, "", 410)));
  EXPECT_FALSE(IsExpired(Status(Reason::kConflict, "", 409)));
}

TEST(StatusTest, AnObjectThatIsNotThereIsNamed) {
  Status status(Reason::kNotFound, "deployments.apps \"web\" not found", 404);
  EXPECT_FALSE(IsObjectNotFound(status)) << "as of a proxy's answer";
  status.details.name = "web";
  EXPECT_TRUE(IsObjectNotFound(status));
  EXPECT_TRUE(IsObjectNotFound(status.WithContext("read it")));
  status.reason = Reason::kConflict;
  EXPECT_FALSE(IsObjectNotFound(status));
}

TEST(StatusTest, TooLargeResourceVersionIsATimeoutWithACause) {
  Status status(Reason::kTimeout, "wait", 504);
  EXPECT_FALSE(IsTooLargeResourceVersion(status));
  status.details.causes.push_back({.reason = "ResourceVersionTooLarge"});
  EXPECT_TRUE(IsTooLargeResourceVersion(status));
  EXPECT_TRUE(IsTooLargeResourceVersion(
      Status(Reason::kTimeout, "Too large resource version: 5, current: 4", 504)));
  EXPECT_FALSE(
      IsTooLargeResourceVersion(Status(Reason::kBadRequest, "Too large resource version: 5", 400)));
}

Result<int> Half(int n) {
  if (n % 2 != 0) {
    return Fail(Reason::kInvalid, "odd", 422);
  }
  return n / 2;
}

Result<std::string> Quarter(int n) {
  KX_ASSIGN_OR_RETURN(const int half, Half(n));
  KX_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return std::to_string(quarter);
}

Result<void> CheckEven(int n) {
  KX_RETURN_IF_ERROR(Half(n));
  return {};
}

Result<std::unique_ptr<int>> Boxed(int n) {
  KX_ASSIGN_OR_RETURN(auto value, Half(n));
  return std::make_unique<int>(value);
}

TEST(ResultTest, MacrosPassValuesAndErrorsOn) {
  EXPECT_EQ(Quarter(8), "2");
  EXPECT_EQ(Quarter(6).error(), Status(Reason::kInvalid, "odd", 422));
  EXPECT_TRUE(CheckEven(2));
  EXPECT_FALSE(CheckEven(3));
}

// NOLINTBEGIN(readability-braces-around-statements,google-readability-braces-around-statements)
// clang-format off: it would add the braces.
Result<int> HalfOrNegative(int n, bool half) {
  int out = 0;
  if (half)
    KX_ASSIGN_OR_RETURN(out, Half(n));
  else
    out = -n;
  return out;
}

Result<int> CheckedIf(int n, bool check) {
  if (check)
    KX_RETURN_IF_ERROR(Half(n));
  else
    return -1;
  return n;
}
// clang-format on
// NOLINTEND(readability-braces-around-statements,google-readability-braces-around-statements)

template <class A, class B>
Result<std::pair<A, B>> PairOf(int n) {
  KX_ASSIGN_OR_RETURN(const int half, Half(n));
  return std::pair<A, B>(n, half);
}

Result<int> SumOfPair(int n) {
  KX_RETURN_IF_ERROR(PairOf<int, long>(n));
  KX_ASSIGN_OR_RETURN((const auto [whole, half]), PairOf<int, int>(n));
  KX_ASSIGN_OR_RETURN((std::pair<int, int> again), PairOf<int, int>(n));
  int sum = whole + half;
  int* const target = &sum;
  KX_ASSIGN_OR_RETURN((*target), Half(2 * (sum + again.first)));
  return sum;
}

TEST(ResultTest, MacrosAreWholeStatements) {
  EXPECT_EQ(HalfOrNegative(4, true), 2);
  EXPECT_EQ(HalfOrNegative(3, false), -3);
  EXPECT_EQ(HalfOrNegative(3, true).error().reason, Reason::kInvalid);
  EXPECT_EQ(CheckedIf(4, true), 4);
  EXPECT_EQ(CheckedIf(3, false), -1);
  EXPECT_EQ(CheckedIf(3, true).error().reason, Reason::kInvalid);
}

TEST(ResultTest, MacrosTakeCommas) {
  EXPECT_EQ(SumOfPair(4), 10);
  EXPECT_EQ(SumOfPair(3).error().reason, Reason::kInvalid);
}

TEST(ResultTest, HoldsTypesThatOnlyMove) {
  auto boxed = Boxed(4);
  ASSERT_TRUE(boxed);
  const std::unique_ptr<int> taken = std::move(*boxed);
  EXPECT_EQ(*taken, 2);
  EXPECT_EQ(Boxed(1).error().reason, Reason::kInvalid);
}

}  // namespace
}  // namespace kubexx::apimachinery
