#include "ui_command.h"

#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "judge.h"
#include "kubexx/authfilter/auth_filter.h"
#include "kubexx/base/wait_until_stopped.h"
#include "kubexx/certwatcher/cert_watcher.h"
#include "kubexx/controller/stop_signals.h"
#include "kubexx/http/message.h"
#include "kubexx/http/server.h"
#include "kubexx/logging/log.h"
#include "kubexx/reloader/model/digest.h"
#include "kubexx/reloader/ui/browser_request.h"
#include "kubexx/reloader/ui/link_access.h"
#include "kubexx/reloader/ui/page_access.h"
#include "kubexx/reloader/ui/page_server.h"
#include "kubexx/reloader/ui/token_access.h"
#include "kubexx/rest/config.h"
#include "kubexx/rest/rest_client.h"
#include "ui_session.h"

namespace kubexx {
namespace {

using apimachinery::Result;

constexpr std::string_view kUi = "ui";
constexpr std::string_view kByLink = "link";
constexpr std::string_view kByToken = "token";

/// How one gets in.
struct Way {
  std::unique_ptr<reloader::PageAccess> access{};
  reloader::LinkAccess* link = nullptr;  ///< the same, where it is a link
};

Result<Way> NewWay(const UiFlags& question, const std::shared_ptr<rest::RESTClient>& client) {
  Way way;
  if (question.sign_in == kByToken) {
    // Who loses the right is out soon, and who gets it is in soon.
    const auto filter = std::make_shared<authfilter::AuthFilter>(
        client, authfilter::AuthFilter::Options{.allowed_ttl = std::chrono::minutes(1),
                                                .denied_ttl = std::chrono::seconds(5)});
    way.access = std::make_unique<reloader::TokenAccess>(reloader::TokenAccess::Options{
        .review = [filter](const http::Request& request) -> reloader::TokenAccess::Review {
          auto [user, refusal] = filter->Review(request);
          return {.user = std::move(user), .refusal = std::move(refusal)};
        }});
    return way;
  }
  reloader::LinkAccess::Options link{
      .address = question.address, .on_link = [](const std::string& next) {
        std::cout << "Another browser gets in by: " << next << std::endl;
      }};
  KX_ASSIGN_OR_RETURN(link.token, reloader::NewSecret());
  KX_ASSIGN_OR_RETURN(link.session, reloader::NewSecret());
  auto access = std::make_unique<reloader::LinkAccess>(std::move(link));
  way.link = access.get();
  way.access = std::move(access);
  return way;
}

/// What is wrong with the flags; empty when nothing is.
std::string WrongIn(const UiFlags& question) {
  if (question.sign_in != kByLink && question.sign_in != kByToken) {
    return "--sign-in is \"" + question.sign_in + "\", and has to be link or token";
  }
  if (question.certificate_file.empty() != question.key_file.empty()) {
    return "--tls-cert-file and --tls-private-key-file belong together";
  }
  if (!question.certificate_file.empty() && question.sign_in == kByLink) {
    return "--tls-cert-file needs --sign-in token: the page that a link leads to is for this "
           "machine";
  }
  return "";
}

Result<void> Serve(const UiFlags& question, const reloader::Config& config,
                   const flags::FlagSet::GivenFlags& given, const std::stop_token& stop) {
  KX_RETURN_IF_ERROR(reloader::CheckDigests());
  KX_ASSIGN_OR_RETURN(rest::Config connection, rest::LoadConfig(config.kubeconfig));
  connection.user_agent = "kubexx-reloader-ui/" KUBEXX_VERSION;
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<rest::RESTClient> client,
                      rest::RESTClient::New(std::move(connection)));
  KX_ASSIGN_OR_RETURN(const Way way, NewWay(question, client));
  std::unique_ptr<certwatcher::CertWatcher> certificate;
  std::optional<http::TlsOptions> tls;
  if (!question.certificate_file.empty()) {
    KX_ASSIGN_OR_RETURN(
        certificate, certwatcher::CertWatcher::New({.certificate_file = question.certificate_file,
                                                    .key_file = question.key_file}));
    tls.emplace().certificate = certificate->Provider();
  }
  UiSession session(client, {.namespace_ = question.namespace_,
                             .operator_namespace = question.operator_namespace,
                             .own = config,
                             .given = given});
  reloader::PageServer server(
      session.streams(), *way.access,
      {.address = question.address,
       .may_be_reached = question.may_be_reached,
       .tls = std::move(tls),
       .workload = [&session](const reloader::WorkloadId& id,
                              const std::stop_token& asked) { return session.Workload(id, asked); },
       .source = [&session](const reloader::SourceId& id,
                            const std::stop_token& asked) { return session.Source(id, asked); }});
  KX_RETURN_IF_ERROR(server.Start());
  if (way.link != nullptr) {
    std::cout << "The page: " << way.link->Link()
              << "\nThe link works once. Ctrl-C ends the program." << std::endl;
  } else {
    std::cout << "The page is served on port " << server.port() << " over "
              << (certificate ? "https" : "http")
              << ". Who signs in needs the verb get on the non-resource URL " << reloader::kPageUrl
              << "." << std::endl;
  }
  session.Run(stop);
  server.Stop();
  return {};
}

}  // namespace

void UiFlags::AddTo(flags::FlagSet& flags) {
  flags.AddString("namespace", "show this namespace only; by default all of them", &namespace_);
  flags.AddString("operator-namespace",
                  "use the flags of the operator in this namespace; by default those of the "
                  "operator that watches what is shown",
                  &operator_namespace);
  flags.AddNonEmptyString("address", "host:port to serve the page on; port 0 means any free port",
                          &address);
  flags.AddBool("allow-other-machines",
                "permit an --address that other machines can reach; without TLS, everybody on the "
                "way can read what the page shows",
                &may_be_reached);
  flags.AddString(
      "sign-in",
      "link: who opens the link that the command writes sees the page. token: who has "
      "a bearer token that the API server accepts (TokenReview), and whose user may get "
      "the non-resource URL /kubexx-reloader/page; for a page in the cluster",
      &sign_in);
  flags.AddString("tls-cert-file",
                  "with --sign-in token: the PEM file of the certificate to serve the page with; "
                  "may be replaced while the command runs",
                  &certificate_file);
  flags.AddString("tls-private-key-file", "the PEM file of the certificate's key", &key_file);
}

int RunUi(int argc, const char* const* argv,
          const reloader::ConfigFlags::Environment& environment) {
  const controller::StopSignals signals;
  flags::FlagSet flags(
      std::string(ProgramName()) + " ui",
      "Serves a page on this machine that shows what the operator does: which workloads use which "
      "ConfigMaps and Secrets, what they run with, what waits and why, waves, histories, policies "
      "and their maintenance windows. The page follows the cluster until you end the command with "
      "Ctrl-C.\n"
      "The command reads the cluster with your kubeconfig and writes nothing; the page shows no "
      "values. It writes a link that lets one browser in, and the next one when that has been "
      "used. It uses the flags that the running operator has written to the ConfigMap "
      "reloader-meta-info; flags that you give here replace them.\n"
      "With --sign-in token the command serves many people, who show tokens of their own, and sees "
      "the cluster with its own rights: everybody who gets in sees all of it.\n"
      "-n stands for --namespace. The command exits with 0 after Ctrl-C, with 1 when it cannot "
      "serve the page, and with 2 when the command line is wrong.",
      KUBEXX_VERSION);
  const reloader::ConfigFlags config_flags(flags);
  UiFlags question;
  question.AddTo(flags);
  if (const auto exit_code = ParseCommandLine(flags, argc, argv, UiFlags::kShort)) {
    return *exit_code;
  }
  if (!config_flags.arguments().empty()) {
    Complain(kUi, "unexpected argument \"" + config_flags.arguments().front() + "\"\nSee " +
                      std::string(ProgramName()) + " ui --help for its usage.");
    return kBadUsage;
  }
  if (const std::string wrong = WrongIn(question); !wrong.empty()) {
    Complain(kUi, wrong);
    return kBadUsage;
  }
  const auto config = config_flags.Build(environment);
  if (!config) {
    Complain(kUi, config.error().message);
    return 1;
  }
  // What cannot be read is on the page.
  logging::Init({.level = logging::Level::kError, .format = config->logging.format});
  if (const auto served = Serve(question, *config, WithoutOwn(flags.given()), signals.token());
      !served) {
    Complain(kUi, served.error().message);
    return 1;
  }
  return 0;
}

}  // namespace kubexx
