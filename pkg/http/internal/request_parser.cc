#include "kubexx/http/internal/request_parser.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <string_view>

namespace kubexx::http::internal {

namespace beast = boost::beast;
namespace bhttp = boost::beast::http;

namespace {

using beast::string_view;

// Each takes many times the four bytes that it may have on the wire.
constexpr std::size_t kMaxFields = 1000;

/// Takes "https://host" off the target and returns "host"; "" when there is none.
std::string TakeAuthority(std::string& target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (beast::iequals(string_view(target).substr(0, scheme.size()),
                       string_view(scheme.data(), scheme.size()))) {
      const std::size_t end = std::min(target.find_first_of("/?", scheme.size()), target.size());
      std::string authority = target.substr(scheme.size(), end - scheme.size());
      target.erase(0, end);
      if (!target.starts_with('/')) {
        target.insert(target.begin(), '/');
      }
      return authority.substr(authority.rfind('@') + 1);  // npos + 1 is 0
    }
  }
  return {};
}

}  // namespace

bool RequestParser::wants_websocket() const {
  const auto text = [this](std::string_view name) {
    const std::string_view value = request_.Header(name);
    return string_view(value.data(), value.size());
  };
  return bhttp::token_list(text("Connection")).exists("upgrade") &&
         beast::iequals(text("Upgrade"), "websocket");
}

void RequestParser::on_request_impl(bhttp::verb /*method*/, string_view method_name,
                                    string_view target, int version, error_code& error) {
  version_ = version;
  request_.method = std::string(method_name);
  request_.path = std::string(target);
  authority_ = TakeAuthority(request_.path);
  if (!request_.path.starts_with('/') && request_.path != "*") {
    error = bhttp::error::bad_target;
    return;
  }
  if (const auto question = request_.path.find('?'); question != std::string::npos) {
    request_.query = request_.path.substr(question + 1);
    request_.path.resize(question);
  }
}

void RequestParser::on_response_impl(int /*code*/, string_view /*reason*/, int /*version*/,
                                     error_code& /*error*/) {}

void RequestParser::on_field_impl(bhttp::field field, string_view name, string_view value,
                                  error_code& error) {
  if (header_done_) {
    return;
  }
  if (field == bhttp::field::transfer_encoding) {
    if (version_ < 11) {
      error = bhttp::error::bad_transfer_encoding;
    } else if (has_coding_ || !beast::iequals(value, "chunked")) {
      unknown_coding_ = true;
      error = bhttp::error::bad_transfer_encoding;
    }
    has_coding_ = true;
  }
  if (field == bhttp::field::host) {
    ++hosts_;
    if (!authority_.empty()) {
      value = authority_;
    }
  }
  if (request_.headers.size() >= kMaxFields) {
    error = bhttp::error::header_limit;
    return;
  }
  request_.headers.emplace_back(std::string(name), std::string(value));
}

void RequestParser::on_header_impl(error_code& error) {
  header_done_ = true;
  if (hosts_ > 1 || (hosts_ == 0 && version_ >= 11)) {
    error = bhttp::error::bad_field;
  }
}

void RequestParser::on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                                      error_code& /*error*/) {}

std::size_t RequestParser::on_body_impl(string_view body, error_code& /*error*/) {
  request_.body.append(body.data(), body.size());
  return body.size();
}

void RequestParser::on_chunk_header_impl(std::uint64_t /*size*/, string_view /*extensions*/,
                                         error_code& /*error*/) {}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t /*remain*/, string_view body,
                                              error_code& /*error*/) {
  request_.body.append(body.data(), body.size());
  return body.size();
}

void RequestParser::on_finish_impl(error_code& /*error*/) {}

}  // namespace kubexx::http::internal
