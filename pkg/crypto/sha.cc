#include "kubexx/crypto/sha.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstdlib>

namespace kubexx::crypto {
namespace {

// OpenSSL fails here only when memory runs out, or when the installation lacks the algorithm: no
// input can cause it. Nobody could go on with a hash that is none.
void Check(bool ok) {
  if (!ok) {
    std::abort();
  }
}

template <class Sum>
Sum SumOf(std::string_view text, const EVP_MD* algorithm) {
  Sum sum{};
  unsigned int size = 0;
  Check(EVP_Digest(text.data(), text.size(), sum.data(), &size, algorithm, nullptr) == 1 &&
        size == sum.size());
  return sum;
}

}  // namespace

Sha1Sum Sha1(std::string_view text) { return SumOf<Sha1Sum>(text, EVP_sha1()); }
Sha256Sum Sha256(std::string_view text) { return SumOf<Sha256Sum>(text, EVP_sha256()); }
Sha512Sum Sha512(std::string_view text) { return SumOf<Sha512Sum>(text, EVP_sha512()); }

Sha256Sum HmacSha256(std::string_view key, std::string_view text) {
  Sha256Sum sum{};
  unsigned int size = 0;
  Check(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), sum.data(),
             &size) != nullptr &&
        size == sum.size());
  return sum;
}

namespace {

// Freeing a context wipes the block of the text that it buffers.
void* BegunSha1() {
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  if (context != nullptr && EVP_DigestInit_ex(context, EVP_sha1(), nullptr) != 1) {
    EVP_MD_CTX_free(context);
    return nullptr;
  }
  return context;
}

EVP_MD_CTX* ContextIn(const std::unique_ptr<void, FreeSha>& context) {
  return static_cast<EVP_MD_CTX*>(context.get());
}

}  // namespace

void FreeSha::operator()(void* context) const {
  EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context));
}

Sha1Stream::Sha1Stream() : context_(BegunSha1()) { Check(context_ != nullptr); }

void Sha1Stream::Update(std::string_view text) {
  Check(EVP_DigestUpdate(ContextIn(context_), text.data(), text.size()) == 1);
}

Sha1Sum Sha1Stream::Finish() {
  Sha1Sum sum{};
  unsigned int size = 0;
  Check(EVP_DigestFinal_ex(ContextIn(context_), sum.data(), &size) == 1 && size == sum.size());
  return sum;
}

bool HasSha1() { return std::unique_ptr<void, FreeSha>(BegunSha1()) != nullptr; }

}  // namespace kubexx::crypto
