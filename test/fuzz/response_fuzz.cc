// What servers answer to the streams of pkg/rest: heads, interim answers, chunks.

#include <string>
#include <string_view>
#include <utility>

#include "fuzz.h"
#include "kubexx/rest/internal/stream/response_parser.h"

namespace kubexx {
namespace {

using rest::internal::ResponseParser;

struct Seen {
  ResponseParser::Error error{};
  bool has_head = false;
  int code = 0;
  std::string body{};
  bool ended = false;
  bool keeps_alive = false;
};

class Reader {
 public:
  explicit Reader(ResponseParser::Body kind) : parser_(kind) {}

  bool Feed(std::string_view bytes) {
    std::string piece(bytes);
    if (!parser_.has_head()) {
      const std::size_t taken = parser_.TakeHead(piece);
      fuzz::Require(taken <= piece.size());
      fuzz::Require(parser_.has_head() || taken == piece.size());
      piece.erase(0, taken);
    }
    if (parser_.has_head()) {
      seen_.has_head = true;
      seen_.code = parser_.head().code;
      const auto taken = parser_.TakeBody(piece.data(), piece.size());
      fuzz::Require(taken.payload <= taken.consumed && taken.consumed <= piece.size());
      fuzz::Require(taken.consumed == piece.size() || parser_.ended() ||
                    parser_.error() != ResponseParser::Error::kNone);
      seen_.body.append(piece, 0, taken.payload);
    }
    return parser_.error() == ResponseParser::Error::kNone && !parser_.ended();
  }

  Seen Finish() {
    seen_.error = parser_.error();
    seen_.ended = seen_.error == ResponseParser::Error::kNone && parser_.TakeEnd();
    seen_.keeps_alive = seen_.ended && parser_.keeps_alive();
    fuzz::Require(!seen_.ended || (seen_.has_head && (seen_.code >= 200 || seen_.code == 101)));
    return std::move(seen_);
  }

 private:
  ResponseParser parser_;
  Seen seen_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const auto kind = static_cast<ResponseParser::Body>(input.TakeByte() % 3);
  Reader in_pieces(kind);
  fuzz::InChunks(input, [&](std::string_view chunk) { return in_pieces.Feed(chunk); });
  input.TakeByte();  // the size of the pieces
  Reader at_once(kind);
  if (!input.rest().empty()) {
    at_once.Feed(input.rest());
  }
  const Seen pieces = in_pieces.Finish();
  const Seen whole = at_once.Finish();
  fuzz::Require(pieces.error == whole.error && pieces.has_head == whole.has_head &&
                pieces.code == whole.code && pieces.body == whole.body &&
                pieces.ended == whole.ended && pieces.keeps_alive == whole.keeps_alive);
  return 0;
}

}  // namespace kubexx
