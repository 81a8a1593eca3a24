// What servers and credential plugins send to pkg/rest: Warning headers, gzip, ExecCredential.

#include <string>

#include "fuzz.h"
#include "kubexx/rest/internal/credentials/exec_credential.h"
#include "kubexx/rest/internal/message/gzip.h"
#include "kubexx/rest/internal/message/warning.h"

namespace kubexx {
namespace {

using apimachinery::Result;

void Unpack(fuzz::Input input) {
  // A small input may unpack to a thousand times its size; no need to see all of it.
  constexpr std::size_t kEnough = 1 << 20;
  rest::internal::GzipDecoder decoder;
  std::size_t total = 0;
  fuzz::InChunks(input, [&](std::string_view chunk) {
    const auto fed = decoder.Feed(chunk, [&total](std::string_view piece) -> Result<void> {
      fuzz::Require(!piece.empty());
      total += piece.size();
      return {};
    });
    return fed.has_value() && total < kEnough;
  });
  (void)decoder.Finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  switch (input.TakeByte() % 3) {
    case 0:
      for (const rest::Warning& warning : rest::internal::ParseWarnings(input.rest())) {
        fuzz::Require(warning.code >= 0 && warning.code <= 999 && !warning.agent.empty());
      }
      break;
    case 1:
      Unpack(input);
      break;
    default:
      if (const auto read = rest::internal::ParseExecCredential("client.authentication.k8s.io/v1",
                                                                input.rest())) {
        fuzz::Require(read->certificate.empty() == read->key.empty());
        fuzz::Require(!read->token.empty() || !read->key.empty());
      }
  }
  return 0;
}

}  // namespace kubexx
