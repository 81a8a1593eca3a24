#include "kubexx/base/function_ref.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace kubexx::base {
namespace {

int Twice(int x) { return 2 * x; }

int Apply(FunctionRef<int(int)> f, int x) { return f(x); }

TEST(FunctionRefTest, CallsWhatItRefersTo) {
  int calls = 0;
  const auto add = [&calls](int x) {
    ++calls;
    return x + 1;
  };
  EXPECT_EQ(Apply(add, 2), 3);
  EXPECT_EQ(Apply([](int x) { return x - 1; }, 2), 1);
  EXPECT_EQ(calls, 1);
}

TEST(FunctionRefTest, TakesFunctionsAndTheirPointers) {
  EXPECT_EQ(Apply(Twice, 2), 4);
  EXPECT_EQ(Apply(&Twice, 3), 6);
}

TEST(FunctionRefTest, KeepsStateInTheCallable) {
  auto count = [n = 0]() mutable { return ++n; };
  const FunctionRef<int()> ref(count);
  const FunctionRef<int()> copy = ref;
  ref();
  EXPECT_EQ(copy(), 2);
  EXPECT_EQ(count(), 3);
}

TEST(FunctionRefTest, ResultMayBeDroppedAndConverted) {
  int calls = 0;
  auto f = [&calls] { return ++calls; };
  const FunctionRef<void()> drop(f);
  drop();
  const FunctionRef<double()> convert(f);
  EXPECT_EQ(convert(), 2.0);
}

TEST(FunctionRefTest, ArgumentsAreForwarded) {
  std::string kept;
  auto keep = [&kept](std::unique_ptr<std::string> text) { kept = *text; };
  const FunctionRef<void(std::unique_ptr<std::string>)> ref(keep);
  ref(std::make_unique<std::string>("moved"));
  EXPECT_EQ(kept, "moved");
  auto change = [](std::string& text) { text += "!"; };
  const FunctionRef<void(std::string&)> by_reference(change);
  by_reference(kept);
  EXPECT_EQ(kept, "moved!");
}

}  // namespace
}  // namespace kubexx::base
