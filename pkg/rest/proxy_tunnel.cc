#include "kubexx/rest/proxy_tunnel.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "kubexx/rest/internal/stream/response_parser.h"

namespace kubexx::rest {
namespace {

using apimachinery::Error;
using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using apimachinery::Status;
using internal::ResponseParser;

constexpr std::string_view kGiveUser = "; write its user and password into the proxy's URL";
constexpr std::string_view kCheckUser = "; check the user and password in the proxy's URL";
constexpr std::string_view kClosed = "the proxy closed the connection instead of opening a tunnel";
constexpr std::string_view kOwnData = "the proxy sent data of its own through the tunnel";

// SOCKS5.
constexpr char kVersion = 5;
constexpr char kConnect = 1;
constexpr char kNoUser = 0;
constexpr char kUserAndPassword = 2;
constexpr auto kNoMethod = static_cast<char>(0xff);
constexpr char kPasswordVersion = 1;
constexpr char kIpv4 = 1;
constexpr char kName = 3;
constexpr char kIpv6 = 4;
constexpr std::size_t kMaxName = 255;

Error Refuse(std::string message) { return Fail(Reason::kUnavailable, std::move(message)); }

// The proxy's own words, as far as they fit into a line of a log.
std::string PrintableReason(std::string_view text) {
  constexpr std::size_t kMost = 100;
  std::string out(text.substr(0, kMost));
  std::ranges::replace_if(out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

std::string_view WhyRefused(char reply) {
  switch (reply) {
    case 1:
      return "general failure";
    case 2:
      return "its rules do not allow it";
    case 3:
      return "it cannot reach the network";
    case 4:
      return "it cannot reach the host, or not find its name";
    case 5:
      return "the server refused the connection";
    case 6:
      return "the server did not answer in time";
    case 7:
      return "it does not know the command";
    case 8:
      return "it does not know this kind of address";
    default:
      return "unknown cause";
  }
}

// A byte of its length and the text, which must not be longer than kMaxName.
std::string Counted(std::string_view text) {
  return static_cast<char>(text.size()) + std::string(text);
}

}  // namespace

class ProxyTunnel::Talk {
 public:
  Talk() = default;
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;
  virtual ~Talk() = default;

  virtual Result<void> Feed(std::string_view bytes) = 0;
  virtual Status WhenClosed() const = 0;

  std::string output{};
  bool is_open = false;
};

class ProxyTunnel::Connect final : public Talk {
 public:
  Connect(const Proxy& proxy, const ServerUrl& server) : has_user_(proxy.has_login()) {
    const std::string authority = server.Authority();
    output = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n";
    if (has_user_) {
      output += "Proxy-Authorization: " + proxy.Authorization() + "\r\n";
    }
    output += "\r\n";
  }

  Result<void> Feed(std::string_view bytes) override {
    const std::size_t taken = parser_.TakeHead(bytes);
    bytes_ += taken;
    if (parser_.error() == ResponseParser::Error::kHeadTooLong || bytes_ > kMaxAnswer) {
      return Refuse("the proxy's answer is larger than " + std::to_string(kMaxAnswer / 1024) +
                    " KiB");
    }
    if (parser_.error() != ResponseParser::Error::kNone) {
      return Refuse(
          "the proxy's answer is not HTTP; does its URL need the scheme https or socks5?");
    }
    if (!parser_.has_head()) {
      return {};
    }
    if (const int code = parser_.head().code; code < 200 || code > 299) {
      return Refuse("the proxy refused a tunnel: " + std::to_string(code) + " " +
                    PrintableReason(parser_.reason()) + std::string(Advice(code)));
    }
    // In TLS and HTTP the client sends first.
    if (taken < bytes.size()) {
      return Refuse(std::string(kOwnData));
    }
    is_open = true;
    return {};
  }

  Status WhenClosed() const override { return Status(Reason::kUnavailable, std::string(kClosed)); }

 private:
  std::string_view Advice(int code) const {
    // Tinyproxy answers 401 to a wrong password.
    const bool login = code == 407 || code == 401;
    return !login ? "" : has_user_ ? kCheckUser : kGiveUser;
  }

  const bool has_user_;
  ResponseParser parser_{ResponseParser::Body::kTunnel};
  std::size_t bytes_ = 0;
};

class ProxyTunnel::Socks5 final : public Talk {
 public:
  Socks5(const Proxy& proxy, const ServerUrl& server) : has_user_(!proxy.username.empty()) {
    output = {kVersion, static_cast<char>(has_user_ ? 2 : 1), kNoUser};
    if (has_user_) {
      output += kUserAndPassword;
      login_ = kPasswordVersion + Counted(proxy.username) + Counted(proxy.password);
    }
    request_ = std::string{kVersion, kConnect, 0} + AddressOf(server);
  }

  Result<void> Feed(std::string_view bytes) override {
    input_ += bytes;
    for (;;) {
      // Each step takes its answer from the front, or waits for more.
      const Step step = step_;
      switch (step) {
        case Step::kMethod:
          KX_RETURN_IF_ERROR(TakeMethod());
          break;
        case Step::kLogin:
          KX_RETURN_IF_ERROR(TakeLogin());
          break;
        case Step::kReply:
          KX_RETURN_IF_ERROR(TakeReply());
          break;
      }
      if (is_open && !input_.empty()) {
        return Refuse(std::string(kOwnData));
      }
      if (is_open || step_ == step) {
        return {};
      }
    }
  }

  Status WhenClosed() const override {
    return Status(Reason::kUnavailable,
                  std::string(kClosed) + std::string(step_ == Step::kLogin ? kCheckUser : ""));
  }

 private:
  enum class Step : std::uint8_t { kMethod, kLogin, kReply };

  static std::string AddressOf(const ServerUrl& server) {
    unsigned port = 0;
    std::from_chars(server.port.data(), server.port.data() + server.port.size(), port);
    const std::string at = {static_cast<char>(port >> 8), static_cast<char>(port & 0xff)};
    in_addr v4{};
    if (inet_pton(AF_INET, server.host.c_str(), &v4) == 1) {
      return kIpv4 + std::string(reinterpret_cast<const char*>(&v4), sizeof(v4)) + at;
    }
    in6_addr v6{};
    if (inet_pton(AF_INET6, server.host.c_str(), &v6) == 1) {
      return kIpv6 + std::string(reinterpret_cast<const char*>(&v6), sizeof(v6)) + at;
    }
    return kName + Counted(server.host) + at;
  }

  Result<void> CheckVersion(char version) const {
    if (!input_.empty() && input_.front() != version) {
      return Refuse(
          "the proxy's answer is not SOCKS5; does its URL need the scheme http or https?");
    }
    return {};
  }

  void GoOn(Step next, std::size_t taken, std::string& message) {
    input_.erase(0, taken);
    output += std::exchange(message, {});
    step_ = next;
  }

  Result<void> TakeMethod() {
    KX_RETURN_IF_ERROR(CheckVersion(kVersion));
    if (input_.size() < 2) {
      return {};
    }
    if (input_[1] == kNoUser) {
      GoOn(Step::kReply, 2, request_);
      return {};
    }
    if (input_[1] == kUserAndPassword && has_user_) {
      GoOn(Step::kLogin, 2, login_);
      return {};
    }
    if (input_[1] == kNoMethod && !has_user_) {
      return Refuse("the proxy wants to know who asks" + std::string(kGiveUser));
    }
    return Refuse("the proxy wants another kind of login than a user and a password");
  }

  Result<void> TakeLogin() {
    KX_RETURN_IF_ERROR(CheckVersion(kPasswordVersion));
    if (input_.size() < 2) {
      return {};
    }
    if (input_[1] != 0) {
      return Refuse("the proxy refused the user or the password" + std::string(kCheckUser));
    }
    GoOn(Step::kReply, 2, request_);
    return {};
  }

  Result<void> TakeReply() {
    KX_RETURN_IF_ERROR(CheckVersion(kVersion));
    if (input_.size() >= 2 && input_[1] != 0) {
      return Refuse("the proxy refused a tunnel: " + std::string(WhyRefused(input_[1])));
    }
    constexpr std::size_t kHead = 4;
    if (input_.size() < kHead + 1) {
      return {};
    }
    const char kind = input_[kHead - 1];
    if (kind != kIpv4 && kind != kIpv6 && kind != kName) {
      return Refuse("the proxy's answer is not SOCKS5");
    }
    const std::size_t address = kind == kIpv4   ? sizeof(in_addr)
                                : kind == kIpv6 ? sizeof(in6_addr)
                                                : 1 + static_cast<unsigned char>(input_[kHead]);
    const std::size_t all = kHead + address + sizeof(std::uint16_t);
    if (input_.size() >= all) {
      input_.erase(0, all);
      is_open = true;
    }
    return {};
  }

  const bool has_user_;
  Step step_ = Step::kMethod;
  std::string login_{};
  std::string request_{};
  std::string input_{};  // never more than what one answer has, and what came with its end
};

Result<ProxyTunnel> ProxyTunnel::New(const Proxy& proxy, const ServerUrl& server) {
  if (proxy.protocol != ProxyProtocol::kSocks5) {
    return ProxyTunnel(std::make_unique<Connect>(proxy, server));
  }
  if (proxy.username.size() > kMaxName || proxy.password.size() > kMaxName ||
      server.host.size() > kMaxName) {
    return Fail(Reason::kInvalidConfig,
                "a SOCKS5 proxy takes no user, password or host name of more than 255 bytes");
  }
  return ProxyTunnel(std::make_unique<Socks5>(proxy, server));
}

ProxyTunnel::ProxyTunnel(std::unique_ptr<Talk> talk) : talk_(std::move(talk)) {}
ProxyTunnel::ProxyTunnel(ProxyTunnel&&) noexcept = default;
ProxyTunnel::~ProxyTunnel() = default;

std::string ProxyTunnel::TakeOutput() { return std::exchange(talk_->output, {}); }

Result<void> ProxyTunnel::Feed(std::string_view bytes) { return talk_->Feed(bytes); }

bool ProxyTunnel::is_open() const { return talk_->is_open; }

Status ProxyTunnel::WhenClosed() const { return talk_->WhenClosed(); }

}  // namespace kubexx::rest
