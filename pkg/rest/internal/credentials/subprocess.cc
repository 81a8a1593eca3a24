#include "kubexx/rest/internal/credentials/subprocess.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "kubexx/base/file_descriptor.h"

namespace kubexx::rest::internal {
namespace {

using apimachinery::Fail;
using apimachinery::Reason;
using apimachinery::Result;
using SteadyClock = std::chrono::steady_clock;

// The interval for checking whether a child has ended that prints nothing. It matters for programs
// that close their output, or leave it to a child of their own, and end later.
constexpr std::chrono::milliseconds kTick(20);

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& text : strings) {
    out.push_back(text.data());
  }
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> EnvironmentOf(const Subprocess& program) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    if (std::ranges::none_of(program.env, [name](const auto& v) { return v.first == name; })) {
      out.emplace_back(text);
    }
  }
  for (const auto& [name, value] : program.env) {
    out.push_back(name + "=" + value);
  }
  return out;
}

// Owns the two parameter objects of posix_spawn.
class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  int Spawn(const Subprocess& program, int output, pid_t& pid) {
    if (!program.inherit_stdin) {
      posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (!program.inherit_stdin) {
      // A process group of its own can be killed as a whole, but cannot read from the terminal. So
      // a program that reads our standard input stays in our group.
      flags = static_cast<short>(flags | POSIX_SPAWN_SETPGROUP);
    }
    posix_spawnattr_setflags(&attributes_, flags);
    std::vector<std::string> argv = program.argv;
    std::vector<std::string> env = EnvironmentOf(program);
    return posix_spawnp(&pid, argv.front().c_str(), &actions_, &attributes_, Pointers(argv).data(),
                        Pointers(env).data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// A started child process, which is killed at the latest by the destructor.
class Child {
 public:
  Child(pid_t pid, bool own_group) : pid_(pid), own_group_(own_group) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) {
      ::kill(own_group_ ? -pid_ : pid_, SIGKILL);
      while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }

  // Returns the exit code once the child has ended.
  std::optional<int> Ended() {
    int status = 0;
    const pid_t got = ::waitpid(pid_, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) {
      return std::nullopt;
    }
    pid_ = -1;
    if (got < 0) {
      return -1;  // other code of this process has waited for the child
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
  bool own_group_;
};

// Appends the bytes that can be read. Returns false at the end of the file.
Result<bool> ReadSome(int fd, std::size_t max, std::string& out) {
  std::array<char, 4096> block;
  for (;;) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return got < 0 && errno == EAGAIN;
    }
    if (out.size() + static_cast<std::size_t>(got) > max) {
      OPENSSL_cleanse(block.data(), block.size());
      return Fail(Reason::kMalformed, "it printed more than " + std::to_string(max) + " bytes");
    }
    out.append(block.data(), static_cast<std::size_t>(got));
    OPENSSL_cleanse(block.data(), static_cast<std::size_t>(got));
  }
}

Result<int> Wait(const Subprocess& program, Child& child, int output, int stopped,
                 std::string& text) {
  const auto deadline =
      program.timeout ? SteadyClock::now() + *program.timeout : SteadyClock::time_point::max();
  for (bool open = true;;) {
    std::array<pollfd, 2> wait{pollfd{.fd = open ? output : -1, .events = POLLIN, .revents = 0},
                               pollfd{.fd = stopped, .events = POLLIN, .revents = 0}};
    ::poll(wait.data(), wait.size(), static_cast<int>(kTick.count()));
    // This is checked before the read, so that after the child's end all of its output is read.
    const std::optional<int> code = child.Ended();
    if (open) {
      KX_ASSIGN_OR_RETURN(open, ReadSome(output, program.max_output, text));
    }
    if (code.has_value()) {
      return *code;
    }
    if (wait[1].revents != 0) {
      return Fail(Reason::kCancelled, "stopped while it ran");
    }
    if (SteadyClock::now() >= deadline) {
      return Fail(Reason::kTimeout,
                  "it did not end within " + std::to_string(program.timeout->count()) + " ms");
    }
  }
}

}  // namespace

Result<SubprocessExit> Run(const Subprocess& program, const std::stop_token& stop) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return Fail(Reason::kInternalError, std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  const base::FileDescriptor read_end(ends[0]);
  base::FileDescriptor write_end(ends[1]);
  ::fcntl(write_end.get(), F_SETFL, 0);  // makes writes block for the program
  const base::FileDescriptor stopped(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  pid_t pid = -1;
  const int error = SpawnSettings().Spawn(program, write_end.get(), pid);
  write_end.Close();
  if (error == ENOENT) {
    return SubprocessExit{.found = false};
  }
  if (error != 0) {
    return Fail(Reason::kInvalidConfig, std::strerror(error));
  }
  Child child(pid, !program.inherit_stdin);
  const std::stop_callback on_stop(stop, [fd = stopped.get()] {
    const std::uint64_t one = 1;
    (void)!::write(fd, &one, sizeof(one));
  });
  SubprocessExit exit;
  // The string is never moved, so that no copy is left in memory.
  exit.output.reserve(program.max_output);
  auto code = Wait(program, child, read_end.get(), stopped.get(), exit.output);
  if (!code) {
    OPENSSL_cleanse(exit.output.data(), exit.output.size());
    return Fail(std::move(code).error());
  }
  exit.code = *code;
  return exit;
}

}  // namespace kubexx::rest::internal
