#include "kubexx/apimachinery/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace kubexx::apimachinery {
namespace {

// The test's name is the index of its case.
constexpr auto CaseName = [](const auto& test) { return std::to_string(test.index); };

// Expected values: k8s.io/apimachinery v0.36.3, resource.ParseQuantity(text).String().
struct Canonical {
  std::string_view text;
  std::string_view want;
};

class QuantityForm : public ::testing::TestWithParam<Canonical> {};

TEST_P(QuantityForm, IsThatOfGo) {
  const auto quantity = Quantity::Parse(GetParam().text);
  ASSERT_TRUE(quantity.has_value()) << GetParam().text;
  EXPECT_EQ(quantity->ToString(), GetParam().want) << GetParam().text;
}

TEST_P(QuantityForm, IsStable) {
  const auto once = Quantity::Parse(GetParam().want);
  ASSERT_TRUE(once.has_value());
  EXPECT_EQ(Quantity::Compare(*once, *Quantity::Parse(GetParam().text)),
            std::strong_ordering::equal);
}

constexpr Canonical kDecimal[] = {
    {"0", "0"},
    {"1", "1"},
    {"-1", "-1"},
    {"-0", "0"},
    {"00", "0"},
    {"1.5", "1500m"},
    {"0.5", "500m"},
    {".5", "500m"},
    {".", "0"},
    {"-", "0"},
    {"0.001", "1m"},
    {"0.0001", "100u"},
    {"1000m", "1"},
    {"1500m", "1500m"},
    {"100m", "100m"},
    {"100000", "100k"},
    {"123456", "123456"},
    {"1000000", "1M"},
    {"1.0", "1"},
    {"2.50", "2500m"},
    {"1.5k", "1500"},
    {"0m", "0"},
    {"1000n", "1u"},
    {"0.1n", "1n"},
    {"-0.1n", "-1n"},
    {"0.000000000123", "1n"},
    {"1.23456789012345", "1234567891n"},
    {"3E", "3E"},
    {"9223372036854775808", "9223372036854775808"},
    {"123456789012345678901234567890", "123456789012345678901234567890"},
    {"960308246281948021.90351801909370860579P", "960308246281948021903518019093708605790u"},
    {"-5.01092815901396204595u", "-5011n"},
};
constexpr Canonical kBinary[] = {
    {"1Ki", "1Ki"},
    {"1024Ki", "1Mi"},
    {"1025Ki", "1025Ki"},
    {"1.5Gi", "1536Mi"},
    {"0.5Gi", "512Mi"},
    {"0.1Gi", "107374182400m"},
    {"1.1Ki", "1126400m"},
    {"0.0000001Ki", "102400n"},
    {"0.5Ki", "512"},
    {"0.5Mi", "512Ki"},
    {"1048576Ki", "1Gi"},
    {"7Ei", "7Ei"},
    {"9Ei", "9223372036854775807"},
    {"-9Ei", "-9223372036854775807"},
    {"-1.5Gi", "-1536Mi"},
    {".5Ki", "512"},
    {"0Ki", "0"},
    {"1024", "1024"},
};
constexpr Canonical kExponent[] = {
    {"1e3", "1e3"},
    {"1E3", "1E3"},
    {"1e2", "100"},
    {"1e-3", "1e-3"},
    {"5e-4", "500e-6"},
    {"1000e0", "1e3"},
    {"12e6", "12e6"},
    {"1e30", "1e30"},
    {"1e-10", "1e-9"},
    {"906410037900008e17", "90641003790000800e15"},
    {"0e5", "0"},
    {"5e2147483647", "50e2147483646"},
    {"1e-2147483648", "1e-9"},
};
// Go keeps the spelling of short numbers that pass its test for canonical ones.
constexpr Canonical kKept[] = {
    {"5.", "5."},       {"+5", "+5"},         {"0005", "0005"},
    {"1.500", "1.500"}, {"1.Ki", "1.Ki"},     {"+1Ki", "+1Ki"},
    {"1e+3", "1e+3"},   {"852.E6", "852.E6"}, {"030008428T", "030008428T"}};
// Go prints "1" and "507786025205019" for these.
constexpr Canonical kBeyondExa[] = {{"1000E", "1000E"},
                                    {"507786025205019000.E", "507786025205019000E"}};

INSTANTIATE_TEST_SUITE_P(Decimal, QuantityForm, ::testing::ValuesIn(kDecimal), CaseName);
INSTANTIATE_TEST_SUITE_P(Binary, QuantityForm, ::testing::ValuesIn(kBinary), CaseName);
INSTANTIATE_TEST_SUITE_P(Exponent, QuantityForm, ::testing::ValuesIn(kExponent), CaseName);
INSTANTIATE_TEST_SUITE_P(KeptSpelling, QuantityForm, ::testing::ValuesIn(kKept), CaseName);
INSTANTIATE_TEST_SUITE_P(BeyondExa, QuantityForm, ::testing::ValuesIn(kBeyondExa), CaseName);

TEST(Quantity, RefusesWhatGoRefuses) {
  for (const std::string_view text : {"",      " 1",       "1 ",
                                      "1e",    "1ee3",     "1K",
                                      "1ki",   "1mi",      "1i",
                                      "abc",   "1_0",      "1,5",
                                      "1.2.3", "--1",      "+-1",
                                      "1m5",   "1e3Ki",    "1Kii",
                                      "1e1.5", "1e+",      "1e-",
                                      "1e+-3", "1e-+3",    "1e--3",
                                      "0x10",  "\xc2\xb2", "1e99999999999999999999",
                                      ".Ei"}) {
    const auto quantity = Quantity::Parse(text);
    ASSERT_FALSE(quantity.has_value()) << text;
    EXPECT_EQ(quantity.error().reason, Reason::kMalformed);
  }
}

struct Number {
  std::string_view text;
  std::int64_t value;
  std::int64_t milli;
};

class QuantityValue : public ::testing::TestWithParam<Number> {};

TEST_P(QuantityValue, IsRoundedAwayFromZeroAndSaturates) {
  const auto quantity = Quantity::Parse(GetParam().text);
  ASSERT_TRUE(quantity.has_value());
  EXPECT_EQ(quantity->Value(), GetParam().value) << GetParam().text;
  EXPECT_EQ(quantity->MilliValue(), GetParam().milli) << GetParam().text;
}

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr Number kNumbers[] = {
    {"0", 0, 0},
    {"1500m", 2, 1500},
    {"-1500m", -2, -1500},
    {"1n", 1, 1},
    {"1Gi", 1073741824, 1073741824000},
    {"0.1Gi", 107374183, 107374182400},
    {"1E", 1'000'000'000'000'000'000, kMax},
    {"10E", kMax, kMax},
    {"-10E", kMin, kMin},
    {"9223372036854775807", kMax, kMax},
    {"1e2147483647", kMax, kMax},
    {"100k", 100000, 100000000},
};
INSTANTIATE_TEST_SUITE_P(Numbers, QuantityValue, ::testing::ValuesIn(kNumbers), CaseName);

TEST(Quantity, ComparesByNumber) {
  const std::string_view ascending[] = {"-1e30", "-1Ki", "-1",          "-1m", "0",
                                        "1n",    "999m", "1",           "1.1", "1000",
                                        "1Ki",   "1e30", "1e1000000000"};
  for (std::size_t i = 0; i < std::size(ascending); ++i) {
    for (std::size_t j = 0; j < std::size(ascending); ++j) {
      EXPECT_EQ(Quantity::Compare(*Quantity::Parse(ascending[i]), *Quantity::Parse(ascending[j])),
                i <=> j)
          << ascending[i] << " " << ascending[j];
    }
  }
  EXPECT_EQ(Quantity::Compare(*Quantity::Parse("1000m"), *Quantity::Parse("1")),
            std::strong_ordering::equal);
  EXPECT_EQ(Quantity::Compare(*Quantity::Parse("-0"), Quantity()), std::strong_ordering::equal);
}

TEST(Quantity, IsZeroByDefault) { EXPECT_EQ(Quantity().ToString(), "0"); }

// A zero in front keeps a text from being taken for canonical at a glance.
TEST(QuantityTest, ShortTextsAreKeptAndMeanWhatLongerOnesMean) {
  for (const std::string digits : {"0", "1", "9", "10", "128", "500", "999"}) {
    for (const std::string suffix : {"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi",
                                     "Gi", "Ti", "Pi", "Ei", "e3"}) {
      const auto plain = Quantity::Parse(digits + suffix);
      // A leading zero takes the long way through the parser.
      const auto parsed = Quantity::Parse("0" + digits + suffix);
      ASSERT_TRUE(plain && parsed) << digits << suffix;
      EXPECT_TRUE(Quantity::Compare(*plain, *parsed) == 0) << digits << suffix;
      if (digits != "0" &&
          suffix != "Ei") {  // 8Ei and more do not fit 63 bits and lose their suffix, as in Go.
        EXPECT_EQ(plain->ToString(), digits + suffix);
      }
    }
  }
  for (const std::string bad : {"1ki", "1K", "1x", "1mi", "1 ", "1kk"}) {
    EXPECT_FALSE(Quantity::Parse(bad)) << bad;
  }
}

}  // namespace
}  // namespace kubexx::apimachinery
