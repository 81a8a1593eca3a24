// GoogleTest is included before cpprestsdk, which defines a macro U.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <thread>

#include "kubexx/rest/internal/transport/exchange.h"

namespace kubexx::rest::internal {
namespace {

/// An exchange whose stream has been fast for so long that its small blocks gather.
class FastExchangeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 20; ++i) {
      Put("x");
      ASSERT_EQ(Read(), "x");
    }
  }

  void Put(std::string_view block) {
    exchange_.Put(reinterpret_cast<const std::uint8_t*>(block.data()), block.size());
  }

  /// Returns what one call of Read hands over: the bytes, "end" at the end, or the error's reason.
  std::string Read() {
    std::string got;
    const auto more = exchange_.Read(
        [&got](std::string_view bytes) {
          got += bytes;
          return apimachinery::Result<void>();
        },
        stop_.get_token(), base::TimePoint::max());
    return !more ? "failed: " + more.error().message : *more ? got : "end";
  }

  Exchange exchange_{base::Clock::Real()};
  std::stop_source stop_;
};

TEST_F(FastExchangeTest, ALoneBlockIsNotKeptForOthers) {
  Put("last");
  EXPECT_EQ(Read(), "last");
}

TEST_F(FastExchangeTest, KeepsOrderAndLosesNothing) {
  std::string sent;
  for (int i = 0; i < 20'000; ++i) {
    sent += std::to_string(i) + ",";
  }
  std::jthread network([&] {
    std::string_view rest = sent;
    while (!rest.empty()) {
      const std::string_view block = rest.substr(0, 61);
      rest.remove_prefix(block.size());
      exchange_.Put(reinterpret_cast<const std::uint8_t*>(block.data()), block.size()).wait();
    }
    exchange_.OnEnd();
  });
  std::string got;
  for (std::string piece = Read(); piece != "end"; piece = Read()) {
    got += piece;
  }
  EXPECT_EQ(got, sent);
}

TEST_F(FastExchangeTest, WhatCameBeforeAFailureIsHandedOverFirst) {
  Put("data");
  Failure failure;
  failure.status.message = "broken";
  exchange_.OnFailure(failure);
  EXPECT_EQ(Read(), "data");
  EXPECT_EQ(Read(), "failed: broken");
}

TEST_F(FastExchangeTest, StopsWhileItGathers) {
  std::jthread stopper([&] { stop_.request_stop(); });
  EXPECT_EQ(Read(), "failed: stopped while reading the response");
}

}  // namespace
}  // namespace kubexx::rest::internal
