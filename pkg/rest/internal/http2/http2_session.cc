#include "kubexx/rest/internal/http2/http2_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <iterator>

#include "kubexx/base/ascii.h"

namespace kubexx::rest::internal {
namespace {

// What all answers of a connection may have on the way together. It is given back as it comes, so
// that an answer that nobody reads holds up no other one; kStreamWindow bounds what is kept.
constexpr std::int32_t kConnectionWindow = 4 << 20;

// How many owners of answers see to the health check: one of them may be busy elsewhere.
constexpr std::size_t kKeepers = 2;

// Of the HTTP/1.1 connection; HTTP/2 has none of these.
constexpr std::array<std::string_view, 7> kOfConnection = {
    "connection", "host", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"};

std::uint8_t* Bytes(std::string_view text) {
  // nghttp2 takes pointers to what it only reads.
  return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
}

nghttp2_nv Field(std::string_view name, std::string_view value) {
  return {.name = Bytes(name),
          .value = Bytes(value),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = static_cast<std::uint8_t>(name == "authorization" ? NGHTTP2_NV_FLAG_NO_INDEX
                                                                     : NGHTTP2_NV_FLAG_NONE)};
}

// Bytes that are overwritten before their memory is given back, also where the text grows.
void Append(std::string& to, std::string_view bytes, bool secret) {
  if (secret && to.capacity() - to.size() < bytes.size()) {
    std::string larger;
    larger.reserve(std::max(2 * to.capacity(), to.size() + bytes.size()));
    larger = to;
    explicit_bzero(to.data(), to.size());
    to.swap(larger);
  }
  to += bytes;
}

}  // namespace

struct Http2Session::Library {
  nghttp2_session* session = nullptr;
};

/// What nghttp2 calls. An error ends the connection; nothing here throws but for want of memory.
class Http2Session::Callbacks {
 public:
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* data) {
    Http2Session& self = *static_cast<Http2Session*>(data);
    self.unfinished_ = std::min<std::int64_t>(self.unfinished_, 0);
    if (frame->hd.type == NGHTTP2_HEADERS) {
      return self.Find(frame->hd.stream_id) == nullptr ? Idle(self) : OnHead(self, *frame);
    }
    const bool ends =
        frame->hd.type == NGHTTP2_RST_STREAM ||
        (frame->hd.type == NGHTTP2_DATA && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0);
    if ((frame->hd.type == NGHTTP2_DATA && frame->hd.length > frame->data.padlen) ||
        (ends && self.Find(frame->hd.stream_id) != nullptr)) {
      return 0;
    }
    if (frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) {
      self.has_settings_ = true;
    }
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      self.is_closing_ = true;
    }
    return Idle(self);
  }

  static int OnInvalidFrame(nghttp2_session*, const nghttp2_frame*, int error, void* data) {
    Http2Session& self = *static_cast<Http2Session*>(data);
    self.last_error_ = nghttp2_strerror(error);
    return Idle(self);
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* data) {
    Http2Session& self = *static_cast<Http2Session*>(data);
    Http2Answer* const answer = self.Find(frame->hd.stream_id);
    if (answer != nullptr && !answer->has_head) {
      answer->head = {};  // another one than the interim answer before
    }
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* data) {
    Http2Session& self = *static_cast<Http2Session*>(data);
    Http2Answer* const answer = self.Find(frame->hd.stream_id);
    if (answer == nullptr) {
      return 0;
    }
    answer->head_bytes += name_size + value_size + 32;  // as SETTINGS_MAX_HEADER_LIST_SIZE counts
    if (answer->head_bytes > kMaxHead) {
      self.End(*answer, Http2Answer::State::kFailed, TooLong());
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // resets the stream
    }
    if (!answer->has_head) {
      TakeField(answer->head, {reinterpret_cast<const char*>(name), name_size},
                {reinterpret_cast<const char*>(value), value_size});
    }
    return 0;
  }

  static int OnData(nghttp2_session* session, std::uint8_t, std::int32_t id,
                    const std::uint8_t* bytes, std::size_t size, void* data) {
    Http2Session& self = *static_cast<Http2Session*>(data);
    self.unfinished_ = std::min<std::int64_t>(self.unfinished_, 0);
    nghttp2_session_consume_connection(session, size);
    Http2Answer* const answer = self.Find(id);
    if (answer == nullptr) {
      return 0;
    }
    // nghttp2 hands over what is beyond the window, too, before it resets the stream.
    if (size > static_cast<std::size_t>(kStreamWindow) - answer->body.size()) {
      self.End(*answer, Http2Answer::State::kFailed, "the server sends more than it may");
      return 0;
    }
    Append(answer->body, {reinterpret_cast<const char*>(bytes), size}, answer->secret);
    self.Changed(*answer);
    return 0;
  }

  static int OnStreamClose(nghttp2_session*, std::int32_t id, std::uint32_t code, void* data) {
    using State = Http2Answer::State;
    Http2Session& self = *static_cast<Http2Session*>(data);
    Http2Answer* const answer = self.Find(id);
    if (answer == nullptr) {
      return 0;
    }
    if (code == NGHTTP2_NO_ERROR && answer->has_head) {
      self.End(*answer, State::kEnded);
    } else if (code == NGHTTP2_REFUSED_STREAM && !answer->has_head) {
      self.End(*answer, State::kRefused);
    } else if (code == NGHTTP2_HTTP_1_1_REQUIRED && !answer->has_head) {
      self.End(*answer, State::kNeedsHttp1);
    } else {
      self.End(*answer, State::kFailed,
               std::string("the server ended the stream ") +
                   (answer->has_head ? "in the middle of the response: " : "before a response: ") +
                   nghttp2_http2_strerror(code));
    }
    return 0;
  }

  static int OnNotSent(nghttp2_session*, const nghttp2_frame* frame, int error, void* data) {
    Http2Session& self = *static_cast<Http2Session*>(data);
    Http2Answer* const answer = self.Find(frame->hd.stream_id);
    if (frame->hd.type != NGHTTP2_HEADERS || answer == nullptr) {
      return 0;
    }
    if (error == NGHTTP2_ERR_START_STREAM_NOT_ALLOWED) {
      self.End(*answer, Http2Answer::State::kRefused);
    } else {
      self.End(*answer, Http2Answer::State::kFailed,
               std::string("the request cannot be sent: ") + nghttp2_strerror(error));
    }
    return 0;
  }

 private:
  static std::string TooLong() {
    return "the head of the response is larger than " + std::to_string(kMaxHead / 1024) +
           " KiB, or there are too many of them";
  }

  static int Idle(Http2Session& self) {
    self.CountIdleFrame();
    return self.failure_.empty() ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
  }

  static int OnHead(Http2Session& self, const nghttp2_frame& frame) {
    Http2Answer& answer = *self.Find(frame.hd.stream_id);
    if (answer.has_head) {
      return 0;  // trailers
    }
    if (answer.head.code >= 200) {
      answer.has_head = true;
      self.Changed(answer);
      return 0;
    }
    if (++answer.interim > kMaxInterim) {
      const std::int32_t id = answer.id;
      self.End(answer, Http2Answer::State::kFailed, TooLong());
      self.Reset(id);
    }
    return 0;
  }

  static void TakeField(HttpHead& head, std::string_view name, std::string_view value) {
    if (name == ":status") {
      std::from_chars(value.data(), value.data() + value.size(), head.code);
    } else if (name == "content-type") {
      head.content_type = value;
    } else if (name == "retry-after") {
      head.retry_after = value;
    } else if (name == "content-encoding") {
      head.content_encoding = value;
    } else if (name == "warning") {
      head.warning += head.warning.empty() ? "" : ", ";
      head.warning += value;
    }
  }
};

Http2Session::Http2Session(base::Clock& clock)
    : clock_(clock),
      library_(std::make_unique<Library>()),
      idle_frames_(kIdleFramesPerSecond, kMaxIdleFrames, clock),
      heard_(clock.Now()) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* options = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) != 0 || nghttp2_option_new(&options) != 0) {
    nghttp2_session_callbacks_del(callbacks);
    Fail("out of memory");
    return;
  }
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks,
                                                               Callbacks::OnInvalidFrame);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Callbacks::OnBeginHeaders);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnStreamClose);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, Callbacks::OnNotSent);
  nghttp2_option_set_no_auto_window_update(options, 1);
  nghttp2_option_set_no_closed_streams(options, 1);
  constexpr std::array<nghttp2_settings_entry, 3> kSettings = {{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHead},
  }};
  nghttp2_session*& session = library_->session;
  if (nghttp2_session_client_new2(&session, callbacks, this, options) != 0 ||
      nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, kSettings.data(), kSettings.size()) !=
          0 ||
      nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kConnectionWindow) !=
          0) {
    Fail("out of memory");
  }
  nghttp2_option_del(options);
  nghttp2_session_callbacks_del(callbacks);
}

Http2Session::~Http2Session() { nghttp2_session_del(library_->session); }

bool Http2Session::HasRoom() const {
  if (!failure_.empty() || is_closing_ || !has_settings_) {
    return false;
  }
  const std::size_t allowed = nghttp2_session_get_remote_settings(
      library_->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  return answers_.size() < std::min(allowed, kMaxStreams) &&
         nghttp2_session_check_request_allowed(library_->session) != 0;
}

bool Http2Session::Submit(const HttpRequest& request, const std::string& authority,
                          Http2Answer& answer) {
  if (!HasRoom()) {
    return false;
  }
  std::vector<std::string> names;
  names.reserve(request.headers.size());
  std::vector<nghttp2_nv> fields = {Field(":method", request.method), Field(":scheme", "https"),
                                    Field(":authority", authority), Field(":path", request.target)};
  for (const auto& [name, value] : request.headers) {
    names.push_back(base::ToLower(name));
    if (std::ranges::find(kOfConnection, names.back()) == kOfConnection.end()) {
      fields.push_back(Field(names.back(), value));
    }
  }
  const std::int32_t id = nghttp2_submit_request(library_->session, nullptr, fields.data(),
                                                 fields.size(), nullptr, nullptr);
  if (id < 0) {
    is_closing_ = true;  // there are no numbers left for streams, or no memory
    return false;
  }
  answer.id = id;
  answers_.emplace(id, &answer);
  return true;
}

void Http2Session::Took(const Http2Answer& answer, std::size_t bytes) {
  if (failure_.empty() && answer.state == Http2Answer::State::kOpen && answer.id != 0) {
    nghttp2_session_consume_stream(library_->session, answer.id, bytes);
  }
}

void Http2Session::Forget(Http2Answer& answer) {
  if (answer.is_listed) {
    std::erase(changed_, &answer);
    answer.is_listed = false;
  }
  if (answers_.erase(answer.id) > 0 && failure_.empty()) {
    // May be on the way, and is thrown away.
    unfinished_ = std::max<std::int64_t>(unfinished_ - kStreamWindow, -kConnectionWindow);
    Reset(answer.id);
  }
  answer.id = 0;
}

void Http2Session::Reset(std::int32_t id) {
  nghttp2_submit_rst_stream(library_->session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

bool Http2Session::Receive(std::string_view bytes) {
  if (!failure_.empty()) {
    return false;
  }
  heard_ = clock_.Now();
  asked_ = false;
  unfinished_ += static_cast<std::int64_t>(bytes.size());
  const ssize_t taken = nghttp2_session_mem_recv(library_->session, Bytes(bytes), bytes.size());
  if (taken < 0) {
    Fail(nghttp2_strerror(static_cast<int>(taken)));
  } else if (unfinished_ > static_cast<std::int64_t>(kMaxHead)) {
    Fail("the server sends a frame without an end");
  }
  return failure_.empty();
}

std::string_view Http2Session::Output() {
  if (!failure_.empty()) {
    return {};
  }
  const std::uint8_t* bytes = nullptr;
  const ssize_t size = nghttp2_session_mem_send(library_->session, &bytes);
  if (size < 0) {
    Fail(nghttp2_strerror(static_cast<int>(size)));
    return {};
  }
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

bool Http2Session::is_over() const {
  return !failure_.empty() || (nghttp2_session_want_read(library_->session) == 0 &&
                               nghttp2_session_want_write(library_->session) == 0);
}

void Http2Session::Lose() {
  Fail("the connection is gone");
  const auto open = std::exchange(answers_, {});
  for (const auto& [id, answer] : open) {
    End(*answer, Http2Answer::State::kLost);
  }
}

std::vector<Http2Answer*> Http2Session::TakeChanged() {
  for (Http2Answer* answer : changed_) {
    answer->is_listed = false;
  }
  return std::exchange(changed_, {});
}

std::vector<Http2Answer*> Http2Session::Keepers() const {
  std::vector<Http2Answer*> keepers;
  for (const auto& [id, answer] : answers_) {
    keepers.push_back(answer);
    if (keepers.size() == kKeepers) {
      break;
    }
  }
  return keepers;
}

bool Http2Session::IsKeeper(const Http2Answer& answer) const {
  const auto end =
      answers_.size() <= kKeepers ? answers_.end() : std::next(answers_.begin(), kKeepers);
  return std::any_of(answers_.begin(), end,
                     [&answer](const auto& entry) { return entry.second == &answer; });
}

base::TimePoint Http2Session::NextCheck() const {
  return asked_ ? asked_at_ + kPingTimeout : heard_ + kSilence;
}

bool Http2Session::CheckHealth() {
  const base::TimePoint now = clock_.Now();
  if (now < NextCheck() || !failure_.empty()) {
    return true;
  }
  if (asked_) {
    return false;
  }
  nghttp2_submit_ping(library_->session, NGHTTP2_FLAG_NONE, nullptr);
  asked_ = true;
  asked_at_ = now;
  return true;
}

void Http2Session::Fail(std::string why) {
  if (failure_.empty()) {
    failure_ = std::move(why);
  }
  is_closing_ = true;
}

void Http2Session::Changed(Http2Answer& answer) {
  if (!answer.is_listed) {
    answer.is_listed = true;
    changed_.push_back(&answer);
  }
}

void Http2Session::End(Http2Answer& answer, Http2Answer::State state, std::string failure) {
  answers_.erase(answer.id);
  answer.state = state;
  answer.failure = std::move(failure);
  answer.id = 0;
  Changed(answer);
}

Http2Answer* Http2Session::Find(std::int32_t id) const {
  const auto found = answers_.find(id);
  return found == answers_.end() ? nullptr : found->second;
}

void Http2Session::CountIdleFrame() {
  if (idle_frames_.Reserve() > base::Duration::zero()) {
    Fail("the server sends too many frames that bring nothing");
  }
}

}  // namespace kubexx::rest::internal
