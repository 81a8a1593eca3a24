#include "kubexx/rest/internal/message/gzip.h"

#include <zlib.h>

#include <array>
#include <string>

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

constexpr int kGzipWithLargestWindow = 16 + MAX_WBITS;

}  // namespace

struct GzipDecoder::State {
  z_stream stream{};
  bool usable = false;
  bool within_member = false;
  std::array<unsigned char, 64 * 1024> out;
};

GzipDecoder::GzipDecoder() : state_(std::make_unique<State>()) {
  state_->usable = inflateInit2(&state_->stream, kGzipWithLargestWindow) == Z_OK;
}

GzipDecoder::~GzipDecoder() { inflateEnd(&state_->stream); }

Result<void> GzipDecoder::Feed(std::string_view bytes, Sink sink) {
  if (!state_->usable) {
    return Fail(Reason::kMalformed, "the gzip decoder could not be set up");
  }
  z_stream& stream = state_->stream;
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  // When the output is full, more output may follow from input that has been consumed already.
  for (bool more = true; stream.avail_in > 0 || more;) {
    stream.next_out = state_->out.data();
    stream.avail_out = static_cast<uInt>(state_->out.size());
    if (stream.avail_in > 0) {
      state_->within_member = true;
    }
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return Fail(Reason::kMalformed, std::string("the response is not valid gzip: ") +
                                          (stream.msg == nullptr ? "bad data" : stream.msg));
    }
    more = stream.avail_out == 0;
    const std::size_t got = state_->out.size() - stream.avail_out;
    if (result == Z_STREAM_END) {
      more = false;
      state_->within_member = false;
      inflateReset(&stream);
    }
    if (got > 0) {
      KX_RETURN_IF_ERROR(
          sink(std::string_view(reinterpret_cast<const char*>(state_->out.data()), got)));
    }
    if (result == Z_BUF_ERROR) {
      break;  // without more input there is nothing to do
    }
  }
  return {};
}

Result<void> GzipDecoder::Finish() const {
  if (state_->within_member) {
    return Fail(Reason::kMalformed, "the response ended within its gzip data");
  }
  return {};
}

}  // namespace kubexx::rest::internal
