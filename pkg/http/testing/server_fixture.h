/// @file
/// ServerFixture: a server for tests, and functions that send requests to it.
#ifndef KUBEXX_HTTP_TESTING_SERVER_FIXTURE_H_
#define KUBEXX_HTTP_TESTING_SERVER_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kubexx/http/server.h"
#include "kubexx/http/testing/raw_connection.h"

namespace kubexx::http::testing {

/// Options to listen on a free port of 127.0.0.1.
inline Server::Options Local() { return {.address = "127.0.0.1:0"}; }

/// Sends `request` over a new connection, and returns everything that the server sends.
inline std::string Exchange(const Server& server, std::string_view request) {
  return RawConnection(server.port()).Send(request).ReadAll();
}

/// Returns the answer to GET of `target`.
inline std::string Get(const Server& server, const std::string& target) {
  return Exchange(server, "GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
}

/// A server that answers /ok with the query of the request.
class ServerFixture : public ::testing::Test {
 protected:
  void Start(Server::Options options = Local()) {
    server_ = std::make_unique<Server>(std::move(options));
    server_->Handle("/ok",
                    [](const Request& request) { return Response{.body = "q=" + request.query}; });
    const auto started = server_->Start();
    ASSERT_TRUE(started) << started.error().ToString();
    ASSERT_NE(server_->port(), 0);
  }

  std::unique_ptr<Server> server_;
};

}  // namespace kubexx::http::testing

#endif  // KUBEXX_HTTP_TESTING_SERVER_FIXTURE_H_
