#include "kubexx/apimachinery/thrown_text.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "kubexx/apimachinery/status.h"

namespace kubexx::apimachinery {
namespace {

template <class F>
std::string TextOfWhatIsThrownBy(F function) {
  try {
    function();
  } catch (...) {
    return ThrownText();
  }
  return "nothing";
}

TEST(ThrownTextTest, AFailedResultTellsItsError) {
  const Result<int> failed = Fail(Reason::kNotFound, "there is no such pod");
  EXPECT_EQ(TextOfWhatIsThrownBy([&failed] { (void)failed.value(); }),
            "value() of a failed result: NotFound: there is no such pod");
}

TEST(ThrownTextTest, OthersTellWhatTheyAre) {
  EXPECT_EQ(TextOfWhatIsThrownBy([] { throw std::runtime_error("full"); }), "full");
  EXPECT_EQ(TextOfWhatIsThrownBy([] { throw 42; }), "something other than a std::exception");
}

}  // namespace
}  // namespace kubexx::apimachinery
