#include <algorithm>
#include <vector>

#include "informer.h"
#include "kubexx/apimachinery/labels.h"

namespace kubexx::bench {
namespace {

using apimachinery::Fail;
using apimachinery::LabelSelector;
using apimachinery::Reason;
using apimachinery::Result;

constexpr double kMillisecondsPerSecond = 1e3;

template <class T>
Result<void> SelectOf(const Options& options, const LabelSelector& selector) {
  KX_ASSIGN_OR_RETURN(const std::shared_ptr<rest::RESTClient> client, Connect(options));
  informers::SharedInformerFactory factory(client, FactoryOptionsOf(options));
  const auto informer = factory.InformerFor<T>({.use_watch_list = options.watch_list});
  factory.Start();
  AwaitSync(factory, *informer, "");

  const cache::Lister<T> lister = factory.ListerFor<T>();
  const Meter first;
  KX_ASSIGN_OR_RETURN(const auto found, lister.List("", selector));
  const double first_seconds = first.WallSeconds();
  std::vector<double> seconds;
  std::size_t read = 0;
  const Meter all;
  for (std::int64_t i = 0; i < options.reads; ++i) {
    const Meter one;
    KX_ASSIGN_OR_RETURN(const auto listed, lister.List("", selector));
    seconds.push_back(one.WallSeconds());
    for (const cache::Ref<T>& object : listed) {
      read += object->metadata.uid.empty() ? 0 : 1;
    }
  }
  const double cpu_seconds = all.CpuSeconds();
  const auto reads = static_cast<std::size_t>(options.reads);
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(reads / 2);
  std::ranges::nth_element(seconds, middle);
  Line("select")
      .Add("objects", std::uint64_t{informer->Size()})
      .Add("found", std::uint64_t{found.size()})
      .Add("list_ms", *middle * kMillisecondsPerSecond, 3)
      .Add("list_cpu_ms", cpu_seconds / static_cast<double>(reads) * kMillisecondsPerSecond, 3)
      .Add("first_ms", first_seconds * kMillisecondsPerSecond, 3)
      .Add("rss_mb", ResidentMb(), 1)
      .Add("peak_mb", PeakMb(), 1)
      .Print();
  factory.Shutdown();
  return read == reads * found.size()
             ? Result<void>{}
             : Fail(Reason::kInternalError, "the lists are not all the same");
}

}  // namespace

Result<void> Select(const Options& options) {
  auto selector = LabelSelector::Parse(options.selector);
  if (!selector) {
    return Fail(std::move(selector).error().WithContext("--selector"));
  }
  return WithResource(options, [&]<class T>() { return SelectOf<T>(options, *selector); });
}

}  // namespace kubexx::bench
