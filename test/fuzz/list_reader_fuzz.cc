// Any bytes as a list response in chunks of any size: the result must not depend on the chunks.

#include "fuzz.h"
#include "kubexx/codec/list_reader.h"

namespace kubexx {

namespace {

struct Outcome {
  bool ok = true;
  std::string items{};
  bool operator==(const Outcome&) const = default;
};

template <class Feed>
Outcome Read(codec::Encoding encoding, Feed feed) {
  Outcome outcome;
  codec::ListReader reader(encoding, 1 << 12);
  const auto sink = [&outcome](std::string_view item) -> apimachinery::Result<void> {
    outcome.items += item;
    outcome.items += '|';
    return {};
  };
  feed([&](std::string_view chunk) {
    outcome.ok = reader.Feed(chunk, sink).has_value();
    return outcome.ok;
  });
  outcome.ok = outcome.ok && reader.Finish().has_value();
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const auto encoding =
      input.TakeByte() % 2 == 0 ? codec::Encoding::kProtobuf : codec::Encoding::kJson;
  const Outcome chunked = Read(encoding, [&input](auto feed) { fuzz::InChunks(input, feed); });
  fuzz::Input whole = input;
  whole.TakeByte();
  const Outcome at_once = Read(encoding, [&whole](auto feed) { feed(whole.rest()); });
  fuzz::Require(chunked == at_once);
  return 0;
}

}  // namespace kubexx
