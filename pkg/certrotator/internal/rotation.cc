#include "kubexx/certrotator/internal/rotation.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "kubexx/apimachinery/bytes.h"
#include "kubexx/apimachinery/time.h"

namespace kubexx::certrotator::internal {
namespace {

using api::core::v1::Secret;
using apimachinery::Bytes;
using apimachinery::Result;

constexpr const char* kCertificate = "tls.crt";
constexpr const char* kKey = "tls.key";
constexpr const char* kNextCertificate = "next.crt";
constexpr const char* kNextKey = "next.key";
constexpr const char* kPrevious = "previous.crt";
constexpr const char* kTrustedSince = "kubexx.io/next-certificate-trusted-since";

constexpr auto kBackdated = std::chrono::hours(1);  // for clocks that are behind

std::string Text(const Secret& secret, const char* key) {
  const auto found = secret.data.find(key);
  return found == secret.data.end() ? std::string() : std::string(found->second.view());
}

Bytes Value(const Secret& secret, const char* key) {
  const auto found = secret.data.find(key);
  return found == secret.data.end() ? Bytes() : found->second;
}

void Put(Secret& secret, const char* key, Bytes value) {
  if (value.empty()) {
    secret.data.erase(key);
  } else {
    secret.data.insert_or_assign(key, std::move(value));
  }
}

bool IsValid(const http::KeyPair& pair, base::WallTime now) {
  const auto validity = http::ValidityOf(pair);
  return http::CheckKeyPair(pair) && validity && validity->not_before <= now &&
         now < validity->not_after;
}

bool HasAll(const http::KeyPair& pair, const std::vector<std::string>& names) {
  return std::ranges::all_of(names,
                             [&pair](const std::string& name) { return http::IsFor(pair, name); });
}

/// Whether API servers that trust the pair can call the Service with it. They cannot yet call it by
/// a further name that the pair lacks.
bool IsUsable(const http::KeyPair& pair, const Plan& plan, base::WallTime now) {
  return IsValid(pair, now) && http::IsFor(pair, plan.names.front());
}

Result<http::KeyPair> NewPair(const Plan& plan, base::WallTime now) {
  return http::SelfSigned(plan.names,
                          {.not_before = now - kBackdated, .not_after = now + plan.lifetime});
}

void Promote(Held& held) {
  held.previous = std::move(held.current.certificate);
  held.current = *std::exchange(held.next, std::nullopt);
  held.trusted_since.reset();
}

}  // namespace

Held Read(const Secret& secret) {
  Held held{.current = {.certificate = Text(secret, kCertificate), .key = Value(secret, kKey)},
            .previous = Text(secret, kPrevious)};
  http::KeyPair next{.certificate = Text(secret, kNextCertificate), .key = Value(secret, kNextKey)};
  if (!next.certificate.empty()) {
    held.next = std::move(next);
  }
  const auto since = secret.metadata.annotations.find(kTrustedSince);
  if (since != secret.metadata.annotations.end()) {
    if (const auto time = apimachinery::Time::Parse(since->second)) {
      held.trusted_since = base::WallTime(std::chrono::seconds(time->seconds));
    }
  }
  return held;
}

void Write(const Held& held, Secret& secret) {
  Put(secret, kCertificate, Bytes(held.current.certificate));
  Put(secret, kKey, held.current.key);
  Put(secret, kNextCertificate, held.next ? Bytes(held.next->certificate) : Bytes());
  Put(secret, kNextKey, held.next ? held.next->key : Bytes());
  Put(secret, kPrevious, Bytes(held.previous));
  if (held.trusted_since) {
    secret.metadata.annotations.insert_or_assign(
        kTrustedSince, apimachinery::Time::From(*held.trusted_since).ToString());
  } else {
    secret.metadata.annotations.erase(kTrustedSince);
  }
}

std::string Bundle(const Held& held, base::WallTime now) {
  std::string bundle = held.current.certificate;
  if (held.next) {
    bundle += held.next->certificate;
  }
  const auto previous = http::ValidityOf({.certificate = held.previous});
  if (previous && now < previous->not_after) {
    bundle += held.previous;
  }
  return bundle;
}

Result<std::optional<std::string>> Advance(Held& held, const Plan& plan, base::WallTime now,
                                           std::optional<bool> trusts_next) {
  if (held.next && !(IsValid(*held.next, now) && HasAll(*held.next, plan.names))) {
    held.next.reset();
    held.trusted_since.reset();
  }
  if (!IsUsable(held.current, plan, now)) {
    if (held.next) {
      Promote(held);
      return std::optional<std::string>(
          "the next certificate is served, as the current one cannot be used");
    }
    KX_ASSIGN_OR_RETURN(held.current, NewPair(plan, now));
    held.previous.clear();
    return std::optional<std::string>(
        "there was no certificate that can be used; a new one is served");
  }
  if (!held.next) {
    // A name that was added is no reason to serve what nobody trusts yet: while replicas with the
    // old settings run beside this one, the current certificate does its work.
    const bool has_all = HasAll(held.current, plan.names);
    if (has_all && http::ValidityOf(held.current)->not_after - now >= plan.renew_before) {
      return std::optional<std::string>();
    }
    KX_ASSIGN_OR_RETURN(held.next, NewPair(plan, now));
    held.trusted_since.reset();
    return std::optional<std::string>(has_all ? "the next certificate is made"
                                              : "the next certificate is made, for more names");
  }
  if (!trusts_next) {
    return std::optional<std::string>();
  }
  if (!*trusts_next) {
    if (!held.trusted_since) {
      return std::optional<std::string>();
    }
    held.trusted_since.reset();  // somebody has taken it out of a configuration
    return std::optional<std::string>("a configuration has lost the next certificate");
  }
  if (!held.trusted_since || *held.trusted_since > now) {
    held.trusted_since = std::chrono::floor<std::chrono::seconds>(now);
    return std::optional<std::string>("all configurations trust the next certificate");
  }
  if (now - *held.trusted_since < plan.trust_delay) {
    return std::optional<std::string>();
  }
  Promote(held);
  return std::optional<std::string>("the next certificate is served");
}

}  // namespace kubexx::certrotator::internal
