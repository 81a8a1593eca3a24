#include "kubexx/reloader/ui/visitors.h"

#include <utility>

#include "kubexx/crypto/sha.h"
#include "kubexx/reloader/ui/fair_share.h"

namespace kubexx::reloader {

std::string Visitors::KeyOf(std::string_view secret) {
  const crypto::Sha256Sum sum = crypto::Sha256(secret);
  return {reinterpret_cast<const char*>(sum.data()), sum.size()};
}

std::optional<std::string> Visitors::UserOf(const std::string& key) const {
  const base::MutexLock lock(mu_);
  const Visitor* visitor = Find(key);
  return visitor == nullptr || visitor->is_refused ? std::nullopt : std::optional(visitor->user);
}

std::optional<apimachinery::Bytes> Visitors::TokenOfSession(const std::string& session) {
  const base::MutexLock lock(mu_);
  ForgetIdle();
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) {
    return std::nullopt;
  }
  found->second.last_used = options_.clock.Now();
  return found->second.token;
}

void Visitors::Begin(const std::string& session, apimachinery::Bytes token, std::string user) {
  std::string token_key = KeyOf(token.view());
  const base::MutexLock lock(mu_);
  Put(sessions_, session,
      {.token = std::move(token), .token_key = std::move(token_key), .user = std::move(user)});
}

void Visitors::End(const std::string& session) {
  const base::MutexLock lock(mu_);
  sessions_.erase(session);
}

void Visitors::OnAccepted(const std::string& session, const std::string& token_key,
                          const std::string& user) {
  const base::MutexLock lock(mu_);
  if (session.empty()) {
    Put(tokens_, token_key, {.token_key = token_key, .user = user});
    return;
  }
  if (const auto found = sessions_.find(session); found != sessions_.end()) {
    found->second.user = user;
    found->second.accepted = options_.clock.Now();
    found->second.is_refused = false;
  }
}

void Visitors::OnRefused(const std::string& token_key) {
  const base::MutexLock lock(mu_);
  tokens_.erase(token_key);
  const base::TimePoint now = options_.clock.Now();
  std::erase_if(sessions_, [&](const auto& each) {
    return each.second.token_key == token_key && now - each.second.accepted > options_.patience;
  });
  for (auto& [session, visitor] : sessions_) {
    visitor.is_refused = visitor.is_refused || visitor.token_key == token_key;
  }
}

bool Visitors::MayStay(const std::string& key) const {
  const base::MutexLock lock(mu_);
  const Visitor* visitor = Find(key);
  return visitor != nullptr && !visitor->is_refused &&
         options_.clock.Now() - visitor->accepted <= options_.patience;
}

std::size_t Visitors::sessions() const {
  const base::MutexLock lock(mu_);
  return sessions_.size();
}

const Visitors::Visitor* Visitors::Find(const std::string& key) const {
  for (const Table* table : {&sessions_, &tokens_}) {
    if (const auto found = table->find(key); found != table->end()) {
      return &found->second;
    }
  }
  return nullptr;
}

void Visitors::Put(Table& table, const std::string& key, Visitor visitor) {
  ForgetIdle();
  visitor.last_used = visitor.accepted = options_.clock.Now();
  table[key] = std::move(visitor);
  while (table.size() > options_.max_sessions) {
    table.erase(FirstToGo(
        table, [](const Visitor& each) -> const std::string& { return each.user; },
        // At the same instant, not the new one.
        [&](const auto& each) { return std::pair(each.second.last_used, each.first == key); }));
  }
}

void Visitors::ForgetIdle() {
  const base::TimePoint now = options_.clock.Now();
  for (Table* table : {&sessions_, &tokens_}) {
    std::erase_if(*table,
                  [&](const auto& each) { return now - each.second.last_used > options_.idle; });
  }
}

}  // namespace kubexx::reloader
