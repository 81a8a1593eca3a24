#include "kubexx/rest/testing/client.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace kubexx::rest::testing {

std::shared_ptr<RESTClient> ClientFor(Config config, RESTClient::Options options) {
  if (config.qps == 0) {
    config.qps = -1;
  }
  auto client = RESTClient::New(std::move(config), options);
  if (!client) {
    std::fprintf(stderr, "no client: %s\n", client.error().ToString().c_str());
    std::abort();
  }
  return std::move(*client);
}

RESTClient::Options WithoutDeadlines(base::Clock& clock) {
  constexpr std::chrono::seconds kNone(0);
  return {.clock = clock,
          .connect_timeout = kNone,
          .response_timeout = kNone,
          .idle_timeout = kNone,
          .body_timeout = kNone};
}

std::shared_ptr<RESTClient> NewClient(const std::string& url, RESTClient::Options options) {
  return ClientFor(Config{.host = url}, options);
}

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "kubexx-rest-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    std::perror("mkdtemp");
    std::abort();
  }
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::Write(const std::string& name, const std::string& text) const {
  const std::string path = path_ + "/" + name;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  return path;
}

}  // namespace kubexx::rest::testing
