// Responses in chunks. A frame that many connections send is one string that they share: what is
// their own is the line with the chunk's length.
#include <utility>
// Asio needs <utility> first.
#include <boost/asio/io_context.hpp>

#include "kubexx/http/internal/response_header.h"
#include "kubexx/http/internal/session.h"

namespace kubexx::http::internal {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// So often a stream that always has more writes before others have their turn.
constexpr int kWritesInATurn = 4;
constexpr std::string_view kChunkedFields = "Connection: close\r\nTransfer-Encoding: chunked\r\n";
constexpr std::string_view kEndOfChunk = "\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";

std::string LineOf(std::size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string line;
  for (std::size_t rest = size; rest > 0; rest >>= 4) {
    line.insert(line.begin(), kDigits[rest & 15]);
  }
  return line + "\r\n";
}

}  // namespace

void Session::BeginStream(Response response) {
  stream_body_ = std::move(response.stream);
  const bool json = response.content_type.starts_with("application/json");
  opcode_ = json ? Opcode::kText : Opcode::kBinary;
  frames_.push_back(websocket_key_.empty() ? HeaderOf(response, kChunkedFields)
                                           : UpgradeHeaderOf(response, websocket_key_));
  WatchClient();
  stream_body_->Start([self = weak_from_this(), this] {
    // Not before the connection ends: EndStream waits for the stream to forget this.
    if (!awake_.exchange(true)) {
      host_.Awake(self);
    }
  });
  Pump();
  TakeEarlyBytes();
}

// The client sends nothing now, or now and then: the end means that it has gone.
void Session::WatchClient() {
  if (ahead_) {
    return;  // That read is as good.
  }
  tcp().expires_never();  // The time that a write had may have been left for this.
  ahead_ = true;
  AsyncReadSome(asio::buffer(drain_),
                Guarded([this](error_code error, std::size_t size) { OnReadAhead(error, size); }));
}

void Session::OnClientOfStream(error_code error, std::string_view bytes) {
  // A client of chunks has nothing to say.
  if (error || (!websocket_key_.empty() && !ReadFromWebSocket(bytes))) {
    Close();
  } else if (!closed_ && !lingering_) {
    WatchClient();
  }
}

// What has come behind the request, before it was answered.
void Session::TakeEarlyBytes() {
  if (closed_ || stream_body_ == nullptr || buffer_.size() == 0) {
    return;
  }
  const std::string bytes(static_cast<const char*>(buffer_.cdata().data()), buffer_.size());
  buffer_.consume(buffer_.size());
  if (!websocket_key_.empty() && !ReadFromWebSocket(bytes)) {
    Close();
  }
}

bool Session::ReadFromWebSocket(std::string_view bytes) {
  bool open = true;
  const bool good = client_frames_.Feed(bytes, [&](Opcode opcode, std::string_view payload) {
    if (opcode == Opcode::kPing) {
      pong_ = FrameHeader(Opcode::kPong, payload.size()) + std::string(payload);
    } else if (opcode == Opcode::kClose) {
      open = false;
    }
  });
  if (good && open && !pong_.empty()) {
    Pump();
  }
  return good && open;
}

void Session::Wake() {
  awake_ = false;
  Pump();
}

void Session::Pump() {
  for (int i = 0; !closed_ && stream_body_ != nullptr && !writing_; ++i) {
    if (i == kWritesInATurn) {
      if (!awake_.exchange(true)) {
        host_.Awake(weak_from_this());
      }
      return;
    }
    if (!WriteChunks()) {
      return;
    }
  }
}

/// Whether there was something to write.
bool Session::WriteChunks() {
  const bool websocket = !websocket_key_.empty();
  chunks_.clear();
  buffers_.clear();
  // A stream may have no end of its own, so that one of a server which is draining gets one.
  body_ended_ = !stream_body_->Take(chunks_) || host_.draining();
  if (!pong_.empty()) {
    frames_.push_back(std::move(pong_));
    pong_.clear();
  }
  const std::size_t before = frames_.size();  // The header, the first time, and a pong.
  for (const BodyStream::Chunk& chunk : chunks_) {
    frames_.push_back(websocket ? FrameHeader(opcode_, chunk->size()) : LineOf(chunk->size()));
  }
  if (body_ended_) {
    frames_.emplace_back(websocket ? FrameHeader(Opcode::kClose, 0) : std::string(kLastChunk));
  }
  for (std::size_t i = 0; i < before; ++i) {
    buffers_.emplace_back(asio::buffer(frames_[i]));
  }
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    if (!chunks_[i]->empty()) {
      buffers_.emplace_back(asio::buffer(frames_[before + i]));
      buffers_.emplace_back(asio::buffer(*chunks_[i]));
      if (!websocket) {
        buffers_.emplace_back(asio::buffer(kEndOfChunk));
      }
    }
  }
  if (body_ended_) {
    buffers_.emplace_back(asio::buffer(frames_.back()));
  }
  if (buffers_.empty()) {
    frames_.clear();  // Of empty chunks.
    return false;
  }
  writing_ = true;
  error_code error;
  const bool at_once = WriteAtOnce(buffers_, error);
  if (at_once && (error || !HasRest())) {
    OnChunksWritten(error);
    return true;
  }
  BeginWrite();
  HoldOwnChunks();
  const auto done = Guarded([this](error_code failed) {
    OnChunksWritten(failed);
    Pump();
  });
  if (at_once) {
    tcp().expires_at(write_deadline());
    AsyncFlush(done);
  } else {
    AsyncWrite(buffers_, done);
  }
  return true;
}

/// What many connections send counts for none of them.
void Session::HoldOwnChunks() {
  for (const BodyStream::Chunk& chunk : chunks_) {
    held_of_answer_ += chunk.use_count() == 1 ? chunk->size() : 0;
  }
  if (held_of_answer_ > 0) {
    host_.HoldAnswer(*this, static_cast<std::ptrdiff_t>(held_of_answer_));
  }
}

void Session::OnChunksWritten(error_code error) {
  writing_ = false;
  frames_.clear();
  chunks_.clear();
  ReleaseAnswer();
  if (closed_) {
    return;
  }
  if (error) {
    Close();
  } else if (body_ended_) {
    EndStream();
    Linger();
  }
}

void Session::EndStream() {
  if (const std::shared_ptr<BodyStream> body = std::move(stream_body_)) {
    stream_body_ = nullptr;
    body->Closed();
  }
}

}  // namespace kubexx::http::internal
