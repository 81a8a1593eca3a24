#include "kubexx/remotecommand/internal/name_lookup.h"

#include <netdb.h>

#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "kubexx/base/host_lookup.h"
#include "kubexx/base/mutex.h"

namespace kubexx::remotecommand::internal {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"  // Boost's, which nobody deletes
/// The errors of lookups that the system has no word for.
class LookupErrors final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "kubexx.lookup"; }
  std::string message(int /*error*/) const override {
    return "too many lookups of host names are under way";
  }
};
#pragma GCC diagnostic pop

error_code TooManyLookups() {
  static const LookupErrors errors;
  return {base::kTooManyLookups, errors};
}

struct Found {
  error_code error{};
  NameLookup::Endpoints endpoints{};
};

error_code ErrorOf(const base::HostAddresses& found) {
  switch (found.error) {
    case 0:
      return {};
    case EAI_NONAME:
      return asio::error::host_not_found;
    case EAI_AGAIN:
      return asio::error::host_not_found_try_again;
    case EAI_SERVICE:
      return asio::error::service_not_found;
    case EAI_MEMORY:
      return asio::error::no_memory;
    case EAI_SYSTEM:
      return {found.system_error, boost::system::system_category()};
    case base::kTooManyLookups:
      return TooManyLookups();
    default:
      return asio::error::no_recovery;
  }
}

Found EndpointsOf(const base::HostAddresses& addresses) {
  Found found{.error = ErrorOf(addresses)};
  for (const base::SocketAddress& address : addresses.addresses) {
    tcp::endpoint endpoint;
    if (address.size <= endpoint.capacity()) {
      endpoint.resize(address.size);
      std::memcpy(endpoint.data(), &address.storage, address.size);
      found.endpoints.push_back(endpoint);
    }
  }
  return found;
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
  base::LookUpHost(host, port, [state = state_](base::HostAddresses addresses) {
    state->Finish(EndpointsOf(addresses));
  });
}

void NameLookup::Cancel() { state_->Finish({.error = asio::error::operation_aborted}); }

}  // namespace kubexx::remotecommand::internal
