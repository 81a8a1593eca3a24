// Any bytes as a watch stream in chunks of any size: the events must not depend on the chunks.

#include "fuzz.h"
#include "kubexx/codec/watch_reader.h"

namespace kubexx {

namespace {

template <class Feed>
std::string Read(codec::Encoding encoding, Feed feed) {
  std::string events;
  codec::WatchReader reader(encoding, 1 << 12);
  const auto sink = [&events](const codec::WatchFrame& frame) -> apimachinery::Result<void> {
    events += static_cast<char>('0' + static_cast<int>(frame.type));
    events += static_cast<char>('0' + static_cast<int>(frame.encoding));
    events += frame.object;
    return {};
  };
  feed([&](std::string_view chunk) {
    const bool ok = reader.Feed(chunk, sink).has_value();
    events += ok ? "" : "!";
    return ok;
  });
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const auto encoding =
      input.TakeByte() % 2 == 0 ? codec::Encoding::kProtobuf : codec::Encoding::kJson;
  const std::string chunked = Read(encoding, [&input](auto feed) { fuzz::InChunks(input, feed); });
  fuzz::Input whole = input;
  whole.TakeByte();
  const std::string at_once = Read(encoding, [&whole](auto feed) { feed(whole.rest()); });
  fuzz::Require(chunked == at_once);
  return 0;
}

}  // namespace kubexx
