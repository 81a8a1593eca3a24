#include "judge.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kubexx/reloader/observe/meta_info.h"
#include "running_operator.h"

namespace kubexx {

using apimachinery::Result;

Result<reloader::Config> ConfigWith(const std::vector<std::string>& of_operator,
                                    const flags::FlagSet::GivenFlags& own) {
  std::vector<std::string> words{""};
  for (const std::string& argument : of_operator) {
    const std::string name = argument.substr(0, argument.find('=')).substr(2);
    if (std::ranges::find(own, name, &flags::FlagSet::GivenFlags::value_type::first) == own.end()) {
      words.push_back(argument);
    }
  }
  for (const auto& [name, value] : own) {
    words.push_back("--" + name + "=" + value);
  }
  flags::FlagSet flags("", "");
  const reloader::ConfigFlags config_flags(flags);
  std::vector<const char*> argv;
  for (const std::string& word : words) {
    argv.push_back(word.c_str());
  }
  KX_RETURN_IF_ERROR(flags.Parse(static_cast<int>(argv.size()), argv.data()));
  return config_flags.Build([](const char*) { return std::string(); });
}

Judge FindJudge(const std::shared_ptr<rest::RESTClient>& client, const Questioned& question,
                const reloader::Config& own, const flags::FlagSet::GivenFlags& given,
                const reloader::NamespaceLabels& labels, const std::stop_token& stop) {
  const auto without = [&own](const std::string& why) {
    reloader::AddSourceKinds(own.source_kinds);
    return Judge{own, "given here; those of the running operator are not known: " + why};
  };
  const auto operators = FindOperators(client, question.operator_namespace, stop);
  if (!operators) {
    return without("the ConfigMaps reloader-meta-info cannot be read: " +
                   operators.error().message);
  }
  std::vector<Judge> judges;
  std::vector<Judge> watching;
  std::string why =
      operators->gone.empty()
          ? "no operator has published them in a ConfigMap reloader-meta-info"
          : "the Deployment " + operators->gone.front().deployment.ToString() +
                ", which a ConfigMap reloader-meta-info names, does not exist any more";
  for (const reloader::ToldOperator& each : operators->running) {
    const std::string name = NameOf(each);
    // It is the one that watches the workload by its own flags; what is given here is tried on it.
    const auto as_it_is = ConfigWith(each.arguments, {});
    auto config = ConfigWith(each.arguments, given);
    if (!as_it_is || !config) {
      why = "those of " + name +
            " are of another version: " + (as_it_is ? config : as_it_is).error().message;
      continue;
    }
    judges.push_back({*std::move(config), "of " + name, each.UnreadIn(question.namespace_)});
    reloader::AddKindsOf(*as_it_is, reloader::Precedence::kKnown);
    const auto not_watched =
        reloader::WhyNotWatched(question.kind, question.namespace_, *as_it_is, labels);
    if (not_watched && not_watched->empty()) {
      watching.push_back(judges.back());
    }
  }
  if (judges.empty()) {
    return without(why);
  }
  Judge chosen = watching.empty() ? judges.front() : watching.front();
  // What is asked about stays what it is, whoever describes its kind otherwise.
  std::vector<reloader::CustomKind> kinds = chosen.config.workload_kinds;
  std::erase_if(kinds, [&](const reloader::CustomKind& kind) {
    return kind.kind == reloader::KindName(question.kind);
  });
  reloader::AddCustomKinds(kinds);
  reloader::AddSourceKinds(chosen.config.source_kinds);
  if (!given.empty()) {
    chosen.whose += ", and those given here";
  }
  if (watching.size() > 1 || (watching.empty() && judges.size() > 1)) {
    chosen.whose += "; there are other operators (--operator-namespace chooses one)";
  }
  return chosen;
}

flags::FlagSet::GivenFlags WithoutOwn(flags::FlagSet::GivenFlags given) {
  std::erase_if(given, [](const auto& flag) {
    return flag.first == "namespace" || flag.first == "output" ||
           flag.first == "operator-namespace" || flag.first == "kubeconfig" ||
           flag.first == "context" || flag.first == "filename" || flag.first == "exit-code" ||
           flag.first == "address" || flag.first == "allow-other-machines" ||
           flag.first == "sign-in" || flag.first == "tls-cert-file" ||
           flag.first == "tls-private-key-file";
  });
  return given;
}

}  // namespace kubexx
