#include "kubexx/rest/internal/message/request_body.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "kubexx/apimachinery/bytes.h"

namespace kubexx::rest::internal {
namespace {

class OnceStreambuf final
    : public Concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
 public:
  explicit OnceStreambuf(std::string_view body)
      : streambuf_state_manager<std::uint8_t>(std::ios_base::in), body_(std::string(body)) {}

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  std::size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(std::size_t, std::ios_base::openmode) override {}
  std::size_t in_avail() const override { return left().size(); }
  pos_type getpos(std::ios_base::openmode) const override { return Nowhere(); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return Nowhere(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return Nowhere();
  }
  bool acquire(std::uint8_t*& ptr, std::size_t& count) override {
    ptr = nullptr;
    count = 0;
    return false;
  }
  void release(std::uint8_t*, std::size_t) override {}

 protected:
  pplx::task<int_type> _putc(std::uint8_t) override { return Done(traits::eof()); }
  pplx::task<std::size_t> _putn(const std::uint8_t*, std::size_t) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  pplx::task<int_type> _bumpc() override { return Done(_sbumpc()); }
  int_type _sbumpc() override {
    const int_type next = _sgetc();
    read_ += left().empty() ? 0 : 1;
    return next;
  }
  pplx::task<int_type> _getc() override { return Done(_sgetc()); }
  int_type _sgetc() override {
    return left().empty() ? traits::eof() : int_type(static_cast<std::uint8_t>(left().front()));
  }
  pplx::task<int_type> _nextc() override {
    (void)_sbumpc();
    return Done(_sgetc());
  }
  pplx::task<int_type> _ungetc() override { return Done(traits::eof()); }
  pplx::task<std::size_t> _getn(std::uint8_t* to, std::size_t count) override {
    const std::size_t copied = _scopy(to, count);
    read_ += copied;
    return pplx::task_from_result(copied);
  }
  std::size_t _scopy(std::uint8_t* to, std::size_t count) override {
    const std::string_view from = left().substr(0, count);
    std::ranges::copy(from, to);
    return from.size();
  }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(std::size_t) override { return nullptr; }
  void _commit(std::size_t) override {}

 private:
  static pplx::task<int_type> Done(int_type result) { return pplx::task_from_result(result); }
  static pos_type Nowhere() { return static_cast<pos_type>(traits::eof()); }
  std::string_view left() const { return body_.view().substr(read_); }

  const apimachinery::Bytes body_;
  std::size_t read_ = 0;
};

}  // namespace

Concurrency::streams::istream BodyToSendOnce(std::string_view body) {
  return Concurrency::streams::streambuf<std::uint8_t>(std::make_shared<OnceStreambuf>(body))
      .create_istream();
}

}  // namespace kubexx::rest::internal
