#include "etcd_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kubexx::integration {
namespace {

/// Two ports of 127.0.0.1 that were free a moment ago. Not from the range that the kernel gives to
/// whoever asks for any: nobody else gets them before etcd listens there, or while it is killed.
std::array<int, 2> FreePorts() {
  std::random_device random;
  std::array<int, 2> sockets{};
  std::array<int, 2> ports{};
  for (std::size_t place = 0; place < ports.size(); ++place) {
    sockets.at(place) = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int bound = -1;
    for (int tries = 0; bound != 0 && tries < 1000; ++tries) {
      ports.at(place) = 25000 + static_cast<int>(random() % 7000);
      address.sin_port = htons(static_cast<std::uint16_t>(ports.at(place)));
      bound = ::bind(sockets.at(place), reinterpret_cast<sockaddr*>(&address), sizeof address);
    }
    EXPECT_EQ(bound, 0);
  }
  for (const int socket : sockets) {
    ::close(socket);
  }
  return ports;
}

}  // namespace

EtcdProcess::EtcdProcess(std::string scheme, std::vector<std::string> flags)
    : scheme_(std::move(scheme)), flags_(std::move(flags)) {
  const std::array<int, 2> ports = FreePorts();
  port_ = ports[0];
  peer_port_ = ports[1];
  Start();
}

EtcdProcess::~EtcdProcess() { Kill(); }

void EtcdProcess::Start() {
  const char* cache = std::getenv("KUBEXX_CACHE");
  ASSERT_NE(cache, nullptr)
      << "KUBEXX_CACHE is not set; run these tests with: hack/test --integration";
  const std::string program = std::string(cache) + "/bin/etcd";
  const std::string peer = "http://127.0.0.1:" + std::to_string(peer_port_);
  std::vector<std::string> words = {
      program, "--data-dir=" + folder_.path() + "/data", "--listen-client-urls=" + endpoint(),
      "--advertise-client-urls=" + endpoint(), "--listen-peer-urls=" + peer,
      "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
      // A killed process loses nothing by it, only a crashed machine.
      "--unsafe-no-fsync=true"};
  words.insert(words.end(), flags_.begin(), flags_.end());
  const std::string log = folder_.path() + "/log";
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  process_ = ::fork();
  ASSERT_GE(process_, 0);
  if (process_ == 0) {
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execv(program.c_str(), arguments.data());
    ::_exit(127);
  }
}

void EtcdProcess::Kill() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }
}

}  // namespace kubexx::integration
