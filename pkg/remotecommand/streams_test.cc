#include "kubexx/remotecommand/streams.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <stop_token>
#include <string>
#include <thread>

#include "kubexx/base/testing/await.h"
#include "kubexx/base/testing/few_descriptors.h"

namespace kubexx::remotecommand {
namespace {

using apimachinery::Reason;
using apimachinery::Result;
using base::testing::FewDescriptors;

TEST(StreamsTest, DescriptorsAreReadAndWritten) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  EXPECT_TRUE(DescriptorSink(ends[1])("text"));
  std::array<char, 16> buffer{};
  const Source source = DescriptorSource(ends[0]);
  EXPECT_EQ(source(buffer, {}).value(), 4U);
  EXPECT_EQ(std::string(buffer.data(), 4), "text");
  ::close(ends[1]);
  EXPECT_EQ(source(buffer, {}).value(), 0U);
  ::close(ends[0]);
  EXPECT_FALSE(DescriptorSink(-1)("text"));
}

TEST(StreamsTest, AStopEndsAWriteThatNobodyTakes) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  std::stop_source stop;
  std::jthread stopper([&] {
    pollfd room{ends[1], POLLOUT, 0};
    KX_AWAIT_EQ(::poll(&room, 1, 0), 0);
    stop.request_stop();
  });
  const auto written = DescriptorSink(ends[1], stop.get_token())(std::string(1 << 20, 'x'));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().reason, Reason::kCancelled);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(StreamsTest, WithoutADescriptorForAStopNobodyWaits) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  // Nothing to read, and no room to write.
  std::array<int, 2> full{};
  ASSERT_EQ(::pipe(full.data()), 0);
  const std::string piece(4096, 'x');
  pollfd room{full[1], POLLOUT, 0};
  while (::poll(&room, 1, 0) == 1) {
    ASSERT_EQ(::write(full[1], piece.data(), piece.size()), 4096);
  }
  std::stop_source stop;
  std::atomic<bool> done = false;
  Result<std::size_t> read;
  Result<void> written;
  {
    const FewDescriptors none(0);
    const std::jthread caller([&] {
      std::array<char, 16> buffer{};
      read = DescriptorSource(ends[0])(buffer, stop.get_token());
      written = DescriptorSink(full[1], stop.get_token())("x");
      done = true;
    });
    KX_AWAIT(done);
  }
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().reason, Reason::kUnavailable);
  EXPECT_EQ(read.error().message, "no descriptor is left to wait for a stop with");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, read.error().message);
  for (const int fd : {ends[0], ends[1], full[0], full[1]}) {
    ::close(fd);
  }
}

TEST(StreamsTest, WhereNothingCanBeStoppedNoDescriptorIsNeeded) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const FewDescriptors none(0);
  EXPECT_TRUE(DescriptorSink(ends[1])("text"));
  std::array<char, 16> buffer{};
  EXPECT_EQ(DescriptorSource(ends[0])(buffer, {}).value(), 4U);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace kubexx::remotecommand
