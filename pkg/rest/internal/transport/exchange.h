/// @file
/// Exchange: the state that the network thread and the caller of one HTTP request share.
#ifndef KUBEXX_REST_INTERNAL_TRANSPORT_EXCHANGE_H_
#define KUBEXX_REST_INTERNAL_TRANSPORT_EXCHANGE_H_

#include <cpprest/astreambuf.h>
#include <pplx/pplxtasks.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kubexx/apimachinery/status.h"
#include "kubexx/base/clock.h"
#include "kubexx/base/mutex.h"
#include "kubexx/rest/internal/message/failure.h"
#include "kubexx/rest/internal/transport/transport.h"

namespace kubexx::rest::internal {

/// Options for continuations that run directly when the caller is the network thread, and are
/// queued for it otherwise.
pplx::task_options OnNetworkThread();

/// Connects the two sides of one request. Network threads call Put and the On... methods, which
/// never block: when the buffer is full, Put's task stays incomplete until the caller has taken the
/// bytes, and cpprestsdk does not read from the socket meanwhile. The caller's thread calls the
/// Await, Read and Close methods.
class Exchange {
 public:
  explicit Exchange(base::Clock& clock) : clock_(clock) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  void OnConnected();
  void OnHead(HttpHead head);
  /// Reports that `total` bytes of the body have arrived, including the block that Put gets next.
  /// Throws when that is impossible, so that nobody uses the block, and when the exchange has
  /// failed; cpprestsdk then closes the connection. Put itself must not fail, because cpprestsdk
  /// would then wait for its own thread.
  void OnReceived(std::uint64_t total);
  void OnEnd();
  void OnFailure(Failure failure);
  pplx::task<std::size_t> Put(const std::uint8_t* bytes, std::size_t count);

  apimachinery::Result<HttpHead> AwaitHead(const std::stop_token& stop,
                                           const HttpCall::Limits& limits);
  apimachinery::Result<bool> Read(HttpCall::Sink sink, const std::stop_token& stop,
                                  base::TimePoint deadline);
  bool lost_connection();
  bool failed();

  /// Drops everything that arrives from now on. This is the caller's last call. Returns whether the
  /// exchange was still in progress.
  bool Close();

 private:
  // A block that did not fit into the buffer. Its bytes stay with cpprestsdk until `done` is set.
  struct Pending {
    std::string_view bytes{};
    pplx::task_completion_event<std::size_t> done{};
  };

  bool HasBytesLocked() const KX_REQUIRES(mu_) { return !buffer_.empty() || pending_.has_value(); }
  std::optional<Pending> TakeFittingPendingLocked() KX_REQUIRES(mu_);
  /// Waits while small blocks of a fast stream gather, so that the two threads do not switch for
  /// each block.
  void GatherLocked(const std::stop_token& stop) KX_REQUIRES(mu_);
  /// Waits for a change until `deadline` of the clock. Frees large buffers while a stream is quiet.
  base::Wake WaitForBytesLocked(const std::stop_token& stop, base::TimePoint deadline)
      KX_REQUIRES(mu_);

  base::Clock& clock_;
  base::Mutex mu_;
  base::CondVar changed_;
  bool connected_ KX_GUARDED_BY(mu_) = false;
  bool ended_ KX_GUARDED_BY(mu_) = false;
  bool closed_ KX_GUARDED_BY(mu_) = false;
  std::optional<HttpHead> head_ KX_GUARDED_BY(mu_);
  std::optional<Failure> failure_ KX_GUARDED_BY(mu_);
  std::uint64_t received_ KX_GUARDED_BY(mu_) = 0;
  std::string buffer_ KX_GUARDED_BY(mu_);
  std::optional<Pending> pending_ KX_GUARDED_BY(mu_);
  /// Put wakes the caller when this many bytes are buffered.
  std::size_t wake_at_ KX_GUARDED_BY(mu_) = 1;
  /// Whether the caller waits in Read and has not been woken by Put yet.
  bool reading_ KX_GUARDED_BY(mu_) = false;
  /// Counts the caller's short waits, up to a limit; a long one halves it.
  int short_waits_ KX_GUARDED_BY(mu_) = 0;
  std::string taken_;  // the caller's side of the double buffer
};

/// The response stream for cpprestsdk. It can only be written, and passes every block to the
/// Exchange.
class BodyStreambuf final
    : public Concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
 public:
  explicit BodyStreambuf(std::shared_ptr<Exchange> exchange);

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  std::size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(std::size_t, std::ios_base::openmode) override {}
  std::size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode) const override {
    return static_cast<pos_type>(traits::eof());
  }
  pos_type seekpos(pos_type, std::ios_base::openmode) override {
    return static_cast<pos_type>(traits::eof());
  }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return static_cast<pos_type>(traits::eof());
  }
  bool acquire(std::uint8_t*& ptr, std::size_t& count) override;
  void release(std::uint8_t*, std::size_t) override {}

 protected:
  pplx::task<int_type> _putc(std::uint8_t c) override;
  pplx::task<std::size_t> _putn(const std::uint8_t* ptr, std::size_t count) override;
  pplx::task<int_type> _bumpc() override { return Eof(); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return Eof(); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return Eof(); }
  pplx::task<int_type> _ungetc() override { return Eof(); }
  pplx::task<std::size_t> _getn(std::uint8_t*, std::size_t) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  std::size_t _scopy(std::uint8_t*, std::size_t) override { return 0; }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(std::size_t) override { return nullptr; }
  void _commit(std::size_t) override {}

 private:
  static pplx::task<int_type> Eof() { return pplx::task_from_result<int_type>(traits::eof()); }

  std::shared_ptr<Exchange> exchange_;
};

}  // namespace kubexx::rest::internal

#endif  // KUBEXX_REST_INTERNAL_TRANSPORT_EXCHANGE_H_
