#include "kubexx/http/internal/response_header.h"

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <cstddef>

#include "kubexx/http/internal/websocket_frames.h"

namespace kubexx::http::internal {
namespace {

constexpr std::size_t kMaxFieldBytes = 60 << 10;

void AddFields(const Response& response, std::string& text) {
  for (const auto& [name, value] : response.headers) {
    text += name + ": " + value + "\r\n";
  }
}

}  // namespace

bool IsSendable(const Response& response) {
  return std::ranges::all_of(response.headers, [](const auto& field) {
    return field.first.size() + field.second.size() <= kMaxFieldBytes &&
           (field.first + field.second).find_first_of("\r\n") == std::string::npos;
  });
}

std::string HeaderOf(const Response& response, std::string_view fields) {
  const auto reason =
      boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(response.status));
  std::string text = "HTTP/1.1 " + std::to_string(response.status) + " ";
  text.append(reason.data(), reason.size());
  text += "\r\nContent-Type: " + response.content_type +
          "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
  AddFields(response, text);
  text += fields;
  text += "\r\n";
  return text;
}

std::string UpgradeHeaderOf(const Response& response, std::string_view key) {
  std::string text =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: " +
      AcceptKey(key) + "\r\n";
  AddFields(response, text);
  return text + "\r\n";
}

}  // namespace kubexx::http::internal
