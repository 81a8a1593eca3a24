#include "kubexx/remotecommand/executor.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>

#include "kubexx/remotecommand/internal/channels.h"
#include "kubexx/remotecommand/internal/start_thread.h"
#include "kubexx/remotecommand/internal/web_socket.h"
#include "kubexx/rest/stream_access.h"
#include "kubexx/rest/url.h"

namespace kubexx::remotecommand {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using internal::Channel;
using internal::WebSocket;
using rest::ClientAccess;
using rest::PercentEncode;

/// How much of the input goes into one message, as with Go's io.Copy.
constexpr std::size_t kInputBytes = 32 << 10;

Result<std::string> PodPath(const Target& target, std::string_view subresource) {
  KX_RETURN_IF_ERROR(rest::CheckPathSegment("namespace", target.namespace_));
  KX_RETURN_IF_ERROR(rest::CheckPathSegment("pod", target.pod));
  return "/api/v1/namespaces/" + PercentEncode(target.namespace_) + "/pods/" +
         PercentEncode(target.pod) + "/" + std::string(subresource);
}

std::string QueryOf(const Target& target, const Streams& streams) {
  std::string query;
  if (!target.container.empty()) {
    query += "&container=" + PercentEncode(target.container);
  }
  query += streams.in ? "&stdin=true" : "";
  query += streams.out ? "&stdout=true" : "";
  query += streams.err && !streams.tty ? "&stderr=true" : "";
  query += streams.tty ? "&tty=true" : "";
  return query;
}

/// Sends the input on channel 0 until it ends, and `at_end` then; calls `on_error` when the source
/// failed.
class InputPump {
 public:
  InputPump(WebSocket& socket, const Source& source, std::string at_end,
            std::function<void()> on_error = {})
      : socket_(socket),
        source_(source),
        at_end_(std::move(at_end)),
        on_error_(std::move(on_error)) {}

  /// Starts the thread, if there is a source. kUnavailable where none is left.
  Result<void> Start() {
    return source_
               ? internal::StartThread(thread_, [this](const std::stop_token& stop) { Run(stop); })
               : Result<void>();
  }

  /// Ends the thread and gives the source's error, if there was one.
  Result<void> Stop() {
    thread_.request_stop();
    if (thread_.joinable()) {
      thread_.join();
    }
    return std::move(result_);
  }

 private:
  void Run(const std::stop_token& stop) {
    std::array<char, kInputBytes> buffer{};
    while (!stop.stop_requested()) {
      auto size = source_(std::span<char>(buffer), stop);
      if (!size) {
        result_ = Fail(std::move(size).error().WithContext("input"));
      }
      if (stop.stop_requested()) {
        return;
      }
      if (!size && on_error_) {
        return on_error_();
      }
      if (!size || *size == 0) {
        if (!at_end_.empty()) {
          (void)socket_.Send(at_end_, stop);
        }
        return;
      }
      if (!socket_.Send(
              internal::Message(Channel::kIn,
                                std::string_view(buffer.data(), std::min(*size, buffer.size()))),
              stop)) {
        return;
      }
    }
  }

  WebSocket& socket_;
  const Source& source_;
  const std::string at_end_;
  const std::function<void()> on_error_;
  Result<void> result_;
  std::jthread thread_;
};

}  // namespace

Executor::Executor(std::shared_ptr<rest::RESTClient> client, Options options)
    : client_(std::move(client)), options_(options) {}
Executor::Executor(std::shared_ptr<rest::RESTClient> client)
    : Executor(std::move(client), Options{}) {}

Result<std::unique_ptr<WebSocket>> Executor::Open(const std::string& path_and_query,
                                                  const std::string& protocol,
                                                  const std::stop_token& stop) const {
  for (bool renewed = false;; renewed = true) {
    KX_ASSIGN_OR_RETURN(const auto access, ClientAccess::For(*client_, stop));
    auto socket =
        WebSocket::Open(access, access.server.prefix + path_and_query, protocol, options_, stop);
    const bool refused = !socket && socket.error().code == 401;
    if (!refused || renewed || !ClientAccess::Renew(*client_, access)) {
      return socket;
    }
  }
}

Result<Exit> Executor::Exec(const Target& target, const std::vector<std::string>& command,
                            const Streams& streams, const std::stop_token& stop) const {
  KX_ASSIGN_OR_RETURN(std::string path, PodPath(target, "exec"));
  if (command.empty()) {
    return Fail(Reason::kBadRequest, "exec: the command is empty");
  }
  std::string query = QueryOf(target, streams);
  for (const std::string& word : command) {
    query += "&command=" + PercentEncode(word);
  }
  return Run(std::move(path), query, streams, stop);
}

Result<Exit> Executor::Attach(const Target& target, const Streams& streams,
                              const std::stop_token& stop) const {
  KX_ASSIGN_OR_RETURN(std::string path, PodPath(target, "attach"));
  return Run(std::move(path), QueryOf(target, streams), streams, stop);
}

Result<Exit> Executor::Run(std::string path, const std::string& query, const Streams& streams,
                           const std::stop_token& stop) const {
  if (!streams.in && !streams.out && !streams.err) {
    return Fail(Reason::kBadRequest, "no stream is set: the server requires at least one");
  }
  KX_ASSIGN_OR_RETURN(const auto socket,
                      Open(path + "?" + query.substr(1), internal::kCommandProtocol, stop));
  internal::CommandReader reader(streams);
  bool refused = false;  // by a sink
  const auto take = [&reader, &refused](std::string_view message) {
    auto taken = reader.Take(message);
    refused = !taken;
    return taken;
  };
  const std::string close_input = internal::Message(Channel::kClose, std::string_view("\0", 1));
  InputPump input(*socket, streams.in, close_input);
  KX_RETURN_IF_ERROR(input.Start());
  std::jthread resizer;
  if (streams.tty && streams.sizes) {
    const auto resize = [&socket, &streams](const std::stop_token& ended) {
      while (const auto size = streams.sizes->Next(ended)) {
        if (!socket->Send(internal::ResizeMessage(*size), ended)) {
          return;
        }
      }
    };
    KX_RETURN_IF_ERROR(internal::StartThread(resizer, resize));
  }
  const auto closed = socket->Run(take, internal::HeldUpInput::kFails, stop);
  resizer = {};
  const auto input_result = input.Stop();
  if (reader.has_status() && !refused) {
    return reader.Finish();  // The server has said all, whatever became of the connection.
  }
  if (!closed) {
    return Fail(closed.error());
  }
  if (!input_result) {
    return Fail(input_result.error());
  }
  if (!closed->in_order()) {
    return Fail(Reason::kUnavailable, "the server closed with code " +
                                          std::to_string(closed->code) + ": " + closed->reason);
  }
  return reader.Finish();
}

Result<void> Executor::Forward(const Target& target, std::uint16_t port, Source in, Sink out,
                               const std::stop_token& stop) const {
  KX_ASSIGN_OR_RETURN(const std::string path, PodPath(target, "portforward"));
  KX_ASSIGN_OR_RETURN(const auto socket, Open(path + "?ports=" + std::to_string(port),
                                              internal::kForwardProtocol, stop));
  internal::ForwardReader reader(port, out);
  const auto take = [&reader](std::string_view message) { return reader.Take(message); };
  std::stop_source broken;  // a local side that is gone does not come back
  const std::stop_callback on_stop(stop, [&broken] { broken.request_stop(); });
  InputPump input(*socket, in, {}, [&broken] { broken.request_stop(); });
  KX_RETURN_IF_ERROR(input.Start());
  const auto closed = socket->Run(take, internal::HeldUpInput::kWaits, broken.get_token());
  KX_RETURN_IF_ERROR(input.Stop());
  if (!closed) {
    return Fail(closed.error());
  }
  if (!closed->in_order()) {
    return Fail(Reason::kUnavailable, "the server closed with code " +
                                          std::to_string(closed->code) + ": " + closed->reason);
  }
  return {};
}

}  // namespace kubexx::remotecommand
