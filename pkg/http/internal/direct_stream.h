/// @file
/// DirectStream: a TCP connection to which the layers above can write without waiting.
#ifndef KUBEXX_HTTP_INTERNAL_DIRECT_STREAM_H_
#define KUBEXX_HTTP_INTERNAL_DIRECT_STREAM_H_

#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace kubexx::http::internal {

/// Its synchronous write takes everything and never waits: it keeps the bytes that do not fit into
/// the kernel's buffer, and Flush sends them. This helps when one event goes to many watchers,
/// because an asynchronous write, with its timer and handlers, costs as much as the encryption. It
/// is also an AsyncStream, like boost::beast::tcp_stream. Only one thread may use it.
class DirectStream {
 public:
  using next_layer_type = boost::beast::tcp_stream;
  using lowest_layer_type = boost::asio::ip::tcp::socket;
  using executor_type = next_layer_type::executor_type;
  using Done = std::function<void(boost::system::error_code)>;

  explicit DirectStream(boost::asio::ip::tcp::socket socket) : tcp_(std::move(socket)) {
    boost::system::error_code ignored;  // Of a connection that has gone; the first read says so.
    tcp_.socket().non_blocking(true, ignored);
  }

  executor_type get_executor() noexcept { return tcp_.get_executor(); }
  next_layer_type& next_layer() noexcept { return tcp_; }
  const next_layer_type& next_layer() const noexcept { return tcp_; }
  lowest_layer_type& lowest_layer() noexcept { return tcp_.socket(); }
  const lowest_layer_type& lowest_layer() const noexcept { return tcp_.socket(); }

  /// Whether an asynchronous write is in progress. Nothing may be written synchronously meanwhile.
  bool writing() const { return writes_ > 0; }
  /// Whether Flush has something to do.
  bool has_rest() const { return !rest_.empty(); }

  /// Takes all of `buffers`, or fails. `buffers` should be small, because bytes that are kept are
  /// copied.
  template <class Buffers>
  std::size_t write_some(const Buffers& buffers, boost::system::error_code& error) {
    const std::size_t size = boost::asio::buffer_size(buffers);
    std::size_t sent = 0;
    error = {};
    if (rest_.empty()) {
      sent = tcp_.socket().write_some(buffers, error);
      if (error == boost::asio::error::would_block) {
        error = {};
        sent = 0;
      }
    }
    if (!error && sent < size) {
      rest_.append(boost::beast::buffers_to_string(buffers), sent);
    }
    return error ? 0 : size;
  }

  /// Always returns would_block, because it never waits. For layers that have to read in order to
  /// write.
  template <class Buffers>
  std::size_t read_some(const Buffers& /*buffers*/, boost::system::error_code& error) {
    error = boost::asio::error::would_block;
    return 0;
  }

  /// Sends the kept bytes, and then starts the asynchronous write that waits for this.
  void Flush(Done done) {
    ++writes_;
    boost::asio::async_write(
        tcp_, boost::asio::buffer(rest_),
        [this, done = std::move(done)](boost::system::error_code error, std::size_t) {
          --writes_;
          rest_.clear();
          if (const auto after = std::exchange(after_flush_, nullptr)) {
            after();
          }
          done(error);
        });
  }

  template <class Buffers, class Handler>
  auto async_read_some(const Buffers& buffers, Handler&& handler) {
    return tcp_.async_read_some(buffers, std::forward<Handler>(handler));
  }

  template <class Buffers, class Handler>
  auto async_write_some(const Buffers& buffers, Handler&& handler) {
    return boost::asio::async_initiate<Handler, void(boost::system::error_code, std::size_t)>(
        [this](auto&& own, const Buffers& what) {
          // Kept by reference, because what waits for a flush is copied.
          auto held =
              std::make_shared<std::decay_t<decltype(own)>>(std::forward<decltype(own)>(own));
          auto write = [this, held, what] {
            ++writes_;
            tcp_.async_write_some(what,
                                  [this, held](boost::system::error_code error, std::size_t size) {
                                    --writes_;
                                    (*held)(error, size);
                                  });
          };
          if (rest_.empty()) {
            write();
          } else {
            after_flush_ = std::move(write);
          }
        },
        handler, buffers);
  }

 private:
  boost::beast::tcp_stream tcp_;
  std::string rest_{};
  std::function<void()> after_flush_{};
  int writes_ = 0;
};

}  // namespace kubexx::http::internal

#endif  // KUBEXX_HTTP_INTERNAL_DIRECT_STREAM_H_
