#include "kubexx/codec/internal/gather.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/list_reader.h"
#include "kubexx/codec/watch_reader.h"

namespace kubexx::codec {
namespace {

using apimachinery::Result;

constexpr std::string_view kSecret = "the password of the database";

bool HasSecret(std::string_view memory) { return memory.find(kSecret.substr(8)) != memory.npos; }

TEST(Gather, AGatheredRecordIsOverwrittenWhereItIsSaidToBe) {
  for (const KeptMemory memory : {KeptMemory::kWiped, KeptMemory::kPlain}) {
    internal::Gather gather(1024, memory);
    ASSERT_TRUE(gather.Add(kSecret.substr(0, 5)));
    std::string_view record;
    ASSERT_TRUE(gather.Complete(kSecret.substr(5), record));
    ASSERT_TRUE(HasSecret(record));
    gather.Clear();
    // The memory is still the buffer's.
    EXPECT_EQ(HasSecret(record), memory == KeptMemory::kPlain);
  }
}

// Whoever does not say what a stream has keeps nothing of it.
TEST(Gather, AReaderOverwritesWhatItHasKeptByDefault) {
  const std::string item = R"({"metadata":{"name":"a"},"data":")" + std::string(kSecret) + "\"}";
  const std::string list = R"({"kind":"SecretList","items":[)" + item + "]}";
  const std::string event = R"({"type":"ADDED","object":)" + item + "}";
  std::string_view kept;
  const auto feed = [](auto& reader, std::string_view text, const auto& sink) {
    const std::size_t middle = text.size() - 10;
    return reader.Feed(text.substr(0, middle), sink).has_value() &&
           reader.Feed(text.substr(middle), sink).has_value();
  };
  ListReader lists(Encoding::kJson);
  EXPECT_TRUE(feed(lists, list, [&kept](std::string_view bytes) -> Result<void> {
    kept = bytes;
    EXPECT_TRUE(HasSecret(bytes));
    return {};
  }));
  EXPECT_FALSE(HasSecret(kept));
  WatchReader events(Encoding::kJson);
  EXPECT_TRUE(feed(events, event, [&kept](const WatchFrame& frame) -> Result<void> {
    kept = frame.object;
    EXPECT_TRUE(HasSecret(frame.object));
    return {};
  }));
  EXPECT_FALSE(HasSecret(kept));
}

}  // namespace
}  // namespace kubexx::codec
