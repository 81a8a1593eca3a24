#include "kubexx/remotecommand/internal/name_lookup.h"

#include <netdb.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>

#include "kubexx/base/mutex.h"

namespace kubexx::remotecommand::internal {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

constexpr int kMaxThreads = 64;

std::atomic<int> threads = 0;

struct Found {
  error_code error{};
  NameLookup::Endpoints endpoints{};
};

error_code ErrorOf(int result) {
  switch (result) {
    case EAI_NONAME:
      return asio::error::host_not_found;
    case EAI_AGAIN:
      return asio::error::host_not_found_try_again;
    case EAI_SERVICE:
      return asio::error::service_not_found;
    case EAI_SYSTEM:
      return {errno, boost::system::system_category()};
    default:
      return asio::error::no_recovery;
  }
}

Found Ask(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int result = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list); result != 0) {
    return {.error = ErrorOf(result)};
  }
  Found found;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    tcp::endpoint endpoint;
    if ((each->ai_family == AF_INET || each->ai_family == AF_INET6) &&
        each->ai_addrlen <= endpoint.capacity()) {
      endpoint.resize(each->ai_addrlen);
      std::memcpy(endpoint.data(), each->ai_addr, each->ai_addrlen);
      found.endpoints.push_back(endpoint);
    }
  }
  ::freeaddrinfo(list);
  if (found.endpoints.empty()) {
    found.error = asio::error::host_not_found;
  }
  return found;
}

std::optional<tcp::endpoint> Numeric(const std::string& host, const std::string& port) {
  error_code error;
  const auto address = asio::ip::make_address(host, error);
  std::uint16_t number = 0;
  const auto [end, wrong] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error || wrong != std::errc() || end != port.data() + port.size()) {
    return std::nullopt;
  }
  return tcp::endpoint(address, number);
}

}  // namespace

// Shared with the thread, which may outlive everything else.
struct NameLookup::State {
  explicit State(asio::io_context& of) : context(of) {}

  // The first call counts. The io_context is there as long as `done` is.
  void Finish(Found found) {
    const base::MutexLock lock(mu);
    if (done) {
      asio::post(context, [last = std::exchange(done, nullptr), found = std::move(found),
                           work = std::exchange(busy, std::nullopt)]() mutable {
        last(found.error, std::move(found.endpoints));
      });
    }
  }

  void Drop() {
    const base::MutexLock lock(mu);
    done = nullptr;
    busy.reset();
  }

  asio::io_context& context;
  base::Mutex mu;
  Done done KX_GUARDED_BY(mu);
  // Keeps the io_context running.
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> busy KX_GUARDED_BY(mu);
};

NameLookup::NameLookup(asio::io_context& context) : state_(std::make_shared<State>(context)) {}

NameLookup::~NameLookup() { state_->Drop(); }

void NameLookup::Start(const std::string& host, const std::string& port, Done done) {
  {
    const base::MutexLock lock(state_->mu);
    state_->done = std::move(done);
    state_->busy.emplace(state_->context.get_executor());
  }
  if (const auto endpoint = Numeric(host, port)) {
    state_->Finish({.endpoints = {*endpoint}});
    return;
  }
  if (threads.fetch_add(1) >= kMaxThreads) {
    threads.fetch_sub(1);
    state_->Finish({.error = asio::error::no_descriptors});
    return;
  }
  try {
    std::thread([state = state_, host, port] {
      state->Finish(Ask(host, port));
      threads.fetch_sub(1);
    }).detach();
  } catch (const std::system_error&) {
    threads.fetch_sub(1);
    state_->Finish({.error = asio::error::no_memory});
  }
}

void NameLookup::Cancel() { state_->Finish({.error = asio::error::operation_aborted}); }

}  // namespace kubexx::remotecommand::internal
