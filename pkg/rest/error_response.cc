#include "kubexx/rest/error_response.h"

#include <charconv>
#include <string>

#include "kubexx/apimachinery/status_causes.h"
#include "kubexx/rest/status_body.h"

namespace kubexx::rest {
namespace {

using apimachinery::Reason;
using apimachinery::Status;

// Returns at most kMaxErrorText bytes of `text`, without cutting a UTF-8 sequence. Control
// characters become spaces.
std::string Printable(std::string_view text) {
  if (text.size() > kMaxErrorText) {
    std::size_t end = kMaxErrorText;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
      --end;
    }
    text = text.substr(0, end);
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      c = ' ';
    }
  }
  return out;
}

Status Generic(int code, bool is_text, std::string_view body) {
  Status status(apimachinery::ReasonForHttpCode(code),
                "the server answered with HTTP status " + std::to_string(code), code);
  if (status.reason == Reason::kUnknown && code >= 500) {
    status.reason = Reason::kInternalError;
  }
  if (is_text && !body.empty()) {
    status.message += ": " + Printable(body);
  }
  status.details.causes.push_back({.reason = std::string(apimachinery::kUnexpectedResponseCause)});
  return status;
}

}  // namespace

codec::Encoding EncodingOf(std::string_view content_type) {
  return content_type.starts_with("application/vnd.kubernetes.protobuf")
             ? codec::Encoding::kProtobuf
             : codec::Encoding::kJson;
}

std::string_view MediaTypeOf(codec::Encoding encoding) {
  return encoding == codec::Encoding::kProtobuf ? "application/vnd.kubernetes.protobuf"
                                                : "application/json";
}

std::optional<std::chrono::seconds> ParseRetryAfter(std::string_view header) {
  std::int32_t seconds = 0;
  const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), seconds);
  if (error != std::errc() || end != header.data() + header.size() || seconds < 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(seconds);
}

Status StatusOfResponse(int code, std::string_view content_type, std::string_view retry_after,
                        std::string_view body) {
  const codec::Encoding encoding = EncodingOf(content_type);
  const bool may_be_status =
      encoding == codec::Encoding::kProtobuf || content_type.starts_with("application/json");
  Status status;
  if (auto decoded = may_be_status ? DecodeStatus(encoding, body) : apimachinery::Fail(Status());
      decoded && decoded->code != 0) {
    status = std::move(*decoded);
  } else {
    status = Generic(code, encoding != codec::Encoding::kProtobuf, body);
  }
  if (const auto seconds = ParseRetryAfter(retry_after);
      seconds && status.details.retry_after.count() == 0) {
    status.details.retry_after = *seconds;
  }
  return status;
}

}  // namespace kubexx::rest
