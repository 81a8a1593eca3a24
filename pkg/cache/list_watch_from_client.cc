#include "kubexx/cache/list_watch_from_client.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kubexx/codec/codec.h"
#include "kubexx/codec/list_reader.h"
#include "kubexx/codec/object_meta.h"
#include "kubexx/codec/watch_reader.h"
#include "kubexx/rest/request.h"
#include "kubexx/rest/response_stream.h"
#include "kubexx/rest/rest_client.h"
#include "kubexx/rest/status_body.h"

namespace kubexx::cache {
namespace {

using apimachinery::Fail;
using apimachinery::ListOptions;
using apimachinery::Result;
using codec::WatchEventType;

constexpr std::size_t kMaxItemBytes = 64 << 20;

codec::KeptMemory MemoryFor(const rest::Request::StreamHead& head) {
  return head.secret ? codec::KeptMemory::kWiped : codec::KeptMemory::kPlain;
}

// Turns the bytes of a watch into events.
class EventReader {
 public:
  using EventSink = ListerWatcher::EventSink;

  void Begin(const rest::Request::StreamHead& head) {
    reader_.emplace(head.encoding, kMaxItemBytes, codec::OnBadFrame::kPass, MemoryFor(head));
  }

  // Gives an event to the sink only when it is known whether another event follows in the bytes
  // that have been read.
  Result<void> Feed(std::string_view chunk, EventSink sink) {
    Result<void> fed = reader_->Feed(
        chunk, [this, &sink](const codec::WatchFrame& frame) { return OnFrame(frame, sink); });
    const Result<void> given = Give(false, sink);
    std::string().swap(memory_);  // a quiet watch keeps no memory
    KX_RETURN_IF_ERROR(given);
    return fed;
  }

 private:
  Result<void> OnFrame(const codec::WatchFrame& frame, EventSink sink) {
    auto event = MakeEvent(frame, std::move(memory_));
    KX_RETURN_IF_ERROR(Give(event.has_value(), sink));
    KX_ASSIGN_OR_RETURN(held_, std::move(event));
    return {};
  }

  Result<void> Give(bool more, EventSink sink) {
    if (!held_) {
      return {};
    }
    held_->more = more;
    Result<void> taken = sink(std::move(*held_));
    // A sink that copies the bytes into a cache leaves the memory in the object, and the next event
    // uses that memory.
    memory_ = std::move(held_->object.bytes);  // NOLINT(bugprone-use-after-move)
    held_.reset();
    return taken;
  }

  // Only an event that the server marks as an error is an error of the watch. An event that is
  // garbled concerns only one object.
  static Result<WatchEvent> MakeEvent(const codec::WatchFrame& frame, std::string&& memory) {
    WatchEvent event{.type = frame.type};
    if (frame.malformed != nullptr) {
      event.object = UnreadableObject(frame.malformed->WithContext("a watch event"));
      return event;
    }
    switch (frame.type) {
      case WatchEventType::kError: {
        KX_ASSIGN_OR_RETURN(apimachinery::Status status,
                            rest::DecodeStatus(frame.encoding, frame.object));
        return Fail(std::move(status));
      }
      case WatchEventType::kBookmark: {
        auto meta = codec::ScanObjectMeta(frame.encoding, frame.object);
        if (!meta) {
          event.object = UnreadableObject(meta.error().WithContext("a bookmark"));
          return event;
        }
        event.object.encoding = frame.encoding;
        event.object.resource_version = std::move(meta->resource_version);
        event.initial_events_end = EndsInitialEvents(frame.object);
        return event;
      }
      case WatchEventType::kAdded:
      case WatchEventType::kModified:
      case WatchEventType::kDeleted:
        break;
    }
    auto object = MakeObject(frame.encoding, frame.object, std::move(memory));
    event.object =
        object ? *std::move(object) : UnreadableObject(object.error().WithContext("a watch event"));
    return event;
  }

  std::optional<codec::WatchReader> reader_{};
  std::optional<WatchEvent> held_{};
  std::string memory_{};
};

// A watch whose bytes are read when they have come.
class ClientWatch final : public OpenWatch {
 public:
  ClientWatch(std::shared_ptr<rest::RESTClient> client,
              std::unique_ptr<rest::ResponseStream> stream)
      : client_(std::move(client)), stream_(std::move(stream)) {
    events_.Begin(stream_->head());
  }

  Result<Found> Read(EventSink sink) override {
    KX_ASSIGN_OR_RETURN(const rest::StreamRead read,
                        stream_->TryRead([this, &sink](std::string_view chunk) {
                          return events_.Feed(chunk, sink);
                        }));
    switch (read) {
      case rest::StreamRead::kPiece:
        return Found::kSome;
      case rest::StreamRead::kNothing:
        return Found::kNothing;
      case rest::StreamRead::kEnd:
        break;
    }
    return Found::kEnd;
  }
  void Notify(std::function<void()> tell) override { stream_->Notify(std::move(tell)); }
  base::TimePoint Arm() override { return stream_->Arm(); }

 private:
  // Declared before the stream, which refers to it.
  const std::shared_ptr<rest::RESTClient> client_;
  const std::unique_ptr<rest::ResponseStream> stream_;
  EventReader events_;
};

class ClientListWatch final : public ListerWatcher {
 public:
  ClientListWatch(std::shared_ptr<rest::RESTClient> client,
                  const apimachinery::ResourceInfo& resource, std::string namespace_,
                  OptionsModifier modifier, ListWatchOptions options)
      : client_(std::move(client)),
        resource_(resource),
        in_namespace_(std::move(namespace_)),
        modifier_(std::move(modifier)),
        options_(std::move(options)) {}

  Result<codec::ListMeta> List(const ListOptions& options, ObjectSink sink,
                               std::stop_token stop) override {
    std::optional<codec::ListReader> reader;
    codec::Encoding encoding{};
    std::size_t index = 0;
    const auto on_item = [&](std::string_view bytes) -> Result<void> {
      const std::string place = "items[" + std::to_string(index++) + "]";
      Result<Object> made = MakeObject(encoding, bytes);
      if (!made) {
        return sink(UnreadableObject(made.error().WithContext(place)));
      }
      Object& object = *made;
      if (options_.name_types && encoding == codec::Encoding::kJson) {
        const codec::ItemType type = reader->item_type();
        object.bytes = codec::WithTypeMeta(bytes, type.api_version, type.kind);
      }
      return sink(std::move(object));
    };
    KX_RETURN_IF_ERROR(NewRequest(options, options_.list_accept_parameters)
                           .BodyTimeout(options_.list_timeout)
                           .Stream(
                               [&](const rest::Request::StreamHead& head) -> Result<void> {
                                 encoding = head.encoding;
                                 reader.emplace(encoding, kMaxItemBytes, MemoryFor(head));
                                 reader->Expect(Wanted());
                                 return {};
                               },
                               [&](std::string_view chunk) { return reader->Feed(chunk, on_item); },
                               std::move(stop), options_.list_idle_timeout));
    return reader->Finish();
  }

  Result<void> Watch(const ListOptions& options, EventSink sink, std::stop_token stop) override {
    EventReader events;
    return NewWatch(options).Stream(
        [&events](const rest::Request::StreamHead& head) -> Result<void> {
          events.Begin(head);
          return {};
        },
        [&events, &sink](std::string_view chunk) { return events.Feed(chunk, sink); },
        std::move(stop), IdleTimeout(options));
  }

  bool CanStartWatch() const override { return client_->CanOpenStreams(); }

  Result<std::unique_ptr<OpenWatch>> StartWatch(const ListOptions& options,
                                                std::stop_token stop) override {
    KX_ASSIGN_OR_RETURN(std::unique_ptr<rest::ResponseStream> stream,
                        NewWatch(options).OpenStream(stop, IdleTimeout(options)));
    return std::make_unique<ClientWatch>(client_, std::move(stream));
  }

 private:
  rest::Request NewRequest(ListOptions options, const std::string& accept_parameters) {
    options.label_selector = options_.label_selector;
    options.field_selector = options_.field_selector;
    if (modifier_) {
      modifier_(options);
    }
    rest::Request request = client_->Get();
    request.Resource(resource_)
        .Namespace(in_namespace_)
        .Options(options)
        .Accept(options_.accept)
        .MaxRetries(0);
    return request.AcceptParameters(accept_parameters);
  }

  rest::Request NewWatch(const ListOptions& options) {
    return NewRequest(options, options_.watch_accept_parameters).Watch();
  }

  codec::WantedType Wanted() const {
    return {.api_version = resource_.ApiVersion(),
            .kind = std::string(resource_.kind),
            .or_metadata = !options_.list_accept_parameters.empty()};
  }

  std::chrono::seconds IdleTimeout(const ListOptions& options) const {
    return options.timeout.count() > 0 ? options.timeout + options_.watch_idle_margin
                                       : std::chrono::seconds(0);
  }

  const std::shared_ptr<rest::RESTClient> client_;
  const apimachinery::ResourceInfo resource_;
  const std::string in_namespace_;
  const OptionsModifier modifier_;
  const ListWatchOptions options_;
};

}  // namespace

void AskForMetadata(ListWatchOptions& options) {
  options.accept = {codec::Encoding::kProtobuf, codec::Encoding::kJson};
  options.list_accept_parameters = kAsPartialObjectList;
  options.watch_accept_parameters = kAsPartialObject;
  options.name_types = false;
}

std::shared_ptr<ListerWatcher> NewListWatchFromClient(std::shared_ptr<rest::RESTClient> client,
                                                      const apimachinery::ResourceInfo& resource,
                                                      std::string namespace_,
                                                      ListWatchOptions options) {
  return NewFilteredListWatchFromClient(std::move(client), resource, std::move(namespace_), {},
                                        std::move(options));
}

std::shared_ptr<ListerWatcher> NewFilteredListWatchFromClient(
    std::shared_ptr<rest::RESTClient> client, const apimachinery::ResourceInfo& resource,
    std::string namespace_, OptionsModifier modifier, ListWatchOptions options) {
  return std::make_shared<ClientListWatch>(std::move(client), resource, std::move(namespace_),
                                           std::move(modifier), std::move(options));
}

bool EndsInitialEvents(std::string_view bookmark) {
  // A bookmark's object has only a version and annotations, so it need not be decoded: in both
  // encodings nothing but punctuation stands between the key and its value (in protobuf a tag and a
  // length).
  constexpr std::string_view kAnnotation = "k8s.io/initial-events-end";
  constexpr std::string_view kPunctuation = "\": \t\r\n\x12\x04";
  const std::size_t at = bookmark.find(kAnnotation);
  if (at == std::string_view::npos) {
    return false;
  }
  std::string_view value = bookmark.substr(at + kAnnotation.size());
  value.remove_prefix(std::min(value.size(), value.find_first_not_of(kPunctuation)));
  return value.starts_with("true");
}

}  // namespace kubexx::cache
