// Any bytes as the messages of a remote command or a forwarded port.

#include <string>

#include "fuzz.h"
#include "kubexx/remotecommand/internal/channels.h"

namespace kubexx {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const bool forward = input.TakeByte() % 2 == 0;
  std::string out;
  const remotecommand::Streams streams{.out = remotecommand::StringSink(out),
                                       .err = remotecommand::StringSink(out)};
  remotecommand::internal::CommandReader command(streams);
  remotecommand::internal::ForwardReader port(80, streams.out);
  fuzz::InChunks(input, [&](std::string_view message) {
    return forward ? port.Take(message).has_value() : command.Take(message).has_value();
  });
  (void)command.Finish();
  fuzz::Require(out.size() <= size);
  return 0;
}

}  // namespace kubexx
