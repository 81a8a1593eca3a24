// What hack/build-times compiles to tell how fast the machine is: only the standard library, and
// never changed, so that the time it takes means the same on every machine and at every revision.
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <ranges>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

using Value =
    std::variant<int, double, std::string, std::vector<std::string>, std::map<std::string, int>>;

struct Record {
  std::string name{};
  std::map<std::string, Value> values{};
  std::vector<std::shared_ptr<Record>> children{};
  std::unordered_map<std::string, std::function<Value(const Record&)>> functions{};
  bool operator==(const Record& other) const {
    return name == other.name && values == other.values;
  }
};

template <int N>
struct Reader {
  std::map<int, std::deque<std::pair<Record, std::set<std::string>>>> read;
  std::size_t Read(std::istream& in) {
    const std::regex line("([a-z]+)=([^,]*)(,|$)");
    for (std::string text; std::getline(in, text);) {
      std::smatch found;
      Record record{.name = text};
      while (std::regex_search(text, found, line)) {
        record.values[found[1]] =
            N % 2 == 0 ? Value(found[2].str()) : Value(std::vector<std::string>{found[2].str()});
        text = found.suffix();
      }
      read[N].emplace_back(record, std::set<std::string>{record.name});
    }
    std::ranges::sort(read[N],
                      [](const auto& a, const auto& b) { return a.first.name < b.first.name; });
    auto some =
        read[N] | std::views::filter([](const auto& each) { return each.first.values.size() > N; });
    return static_cast<std::size_t>(std::ranges::distance(some));
  }
};

std::size_t ReadAll(std::istream& in) {
  return Reader<0>().Read(in) + Reader<1>().Read(in) + Reader<2>().Read(in) + Reader<3>().Read(in);
}
