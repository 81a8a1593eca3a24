#include "kubexx/remotecommand/internal/channels.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "kubexx/api/meta/v1/types.gen.h"
#include "kubexx/base/utf8.h"
#include "kubexx/codec/codec.h"
#include "kubexx/rest/status_body.h"

namespace kubexx::remotecommand::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;

/// A Status is some hundred bytes.
constexpr std::size_t kMaxStatusBytes = 1 << 20;
/// Why a port cannot be forwarded is a sentence, and goes into logs.
constexpr std::size_t kMaxErrorBytes = 4 << 10;

Result<void> Give(const Sink& sink, std::string_view bytes) {
  return sink ? sink(bytes) : Result<void>();
}

}  // namespace

std::string Message(Channel channel, std::string_view bytes) {
  std::string message;
  message.reserve(bytes.size() + 1);
  message += static_cast<char>(channel);
  message += bytes;
  return message;
}

std::string ResizeMessage(TerminalSize size) {
  return Message(Channel::kResize, "{\"Width\":" + std::to_string(size.width) +
                                       ",\"Height\":" + std::to_string(size.height) + "}");
}

Result<Exit> ParseExit(std::string_view json) {
  auto wire = codec::DecodeJson<api::meta::v1::Status>(json);
  if (!wire) {
    return Fail(wire.error().WithContext("exit status"));
  }
  if (wire->status == "Success") {
    return Exit{};
  }
  if (wire->reason == "NonZeroExitCode" && wire->details.has_value()) {
    const auto& causes = wire->details->causes;
    const auto cause = std::ranges::find(causes, "ExitCode", &api::meta::v1::StatusCause::reason);
    int code = 0;
    if (cause != causes.end()) {
      const std::string& text = cause->message;
      const auto parsed = std::from_chars(text.data(), text.data() + text.size(), code);
      if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) {
        return Exit{.code = code, .message = std::move(wire->message)};
      }
    }
    return Fail(apimachinery::Malformed("details.causes", "holds no exit code"));
  }
  KX_ASSIGN_OR_RETURN(apimachinery::Status status,
                      rest::DecodeStatus(codec::Encoding::kJson, json));
  if (status.reason == Reason::kUnknown) {
    status.reason = Reason::kInternalError;
  }
  return Fail(std::move(status));
}

Result<void> CommandReader::Take(std::string_view message) {
  if (message.size() < 2) {
    return {};  // Servers begin with an empty message on each channel.
  }
  const std::string_view bytes = message.substr(1);
  switch (static_cast<Channel>(message.front())) {
    case Channel::kOut:
      return Give(streams_.out, bytes);
    case Channel::kErr:
      return Give(streams_.err, bytes);
    case Channel::kStatus:
      if (status_.size() + bytes.size() > kMaxStatusBytes) {
        return Fail(apimachinery::Malformed("exit status", "is too long"));
      }
      status_ += bytes;
      return {};
    case Channel::kIn:
    case Channel::kResize:
    case Channel::kClose:
      break;
  }
  return {};
}

Result<Exit> CommandReader::Finish() const {
  if (status_.empty()) {
    return Fail(Reason::kUnavailable, "the connection ended before the command's exit status");
  }
  return ParseExit(status_);
}

Result<std::string_view> ForwardReader::WithoutPort(std::size_t channel, std::string_view bytes) {
  std::string& port = port_bytes_[channel];
  const std::size_t missing = std::min(2 - port.size(), bytes.size());
  if (missing > 0) {
    port += bytes.substr(0, missing);
    bytes.remove_prefix(missing);
    if (port.size() == 2) {
      const int number = static_cast<unsigned char>(port[0]) | static_cast<unsigned char>(port[1])
                                                                   << 8;
      if (number != port_) {
        return Fail(apimachinery::Malformed(
            "port", "the server has forwarded a different port: " + std::to_string(number)));
      }
    }
  }
  return bytes;
}

Result<void> ForwardReader::Take(std::string_view message) {
  if (message.size() < 2 || static_cast<unsigned char>(message.front()) > 1) {
    return {};
  }
  const auto channel = static_cast<std::size_t>(message.front());
  KX_ASSIGN_OR_RETURN(const std::string_view bytes, WithoutPort(channel, message.substr(1)));
  if (bytes.empty()) {
    return {};
  }
  if (channel == 1) {
    std::string why = base::CutUtf8(bytes, kMaxErrorBytes);
    why += bytes.size() > kMaxErrorBytes ? "..." : "";
    return Fail(Reason::kUnavailable, "forward to port " + std::to_string(port_) + ": " + why);
  }
  return Give(out_, bytes);
}

}  // namespace kubexx::remotecommand::internal
