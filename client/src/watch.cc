// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/watch.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "carom/status.h"
#include "client/src/call_status.h"
#include "client/src/scene_codec.h"
#include "client/src/watch_impl.h"
#include "wire/pieces.h"

namespace carom {
namespace {

// Pauses between calls that fail one after the other: these, each twice the one before.
constexpr std::chrono::milliseconds kFirstPause(20);
constexpr std::chrono::milliseconds kLongestPause(2000);

absl::Status WatchCancelled() { return absl::CancelledError("the watch is cancelled"); }

absl::Status Malformed(absl::string_view what) { return absl::InternalError(what); }

// Whether the watch goes on elsewhere, or a little later: the list of watch.h.
bool EndsForNow(const absl::Status& status) {
  return absl::IsUnavailable(status) || RetryDelay(status) != 0;
}

std::optional<PolygonChange> Decoded(int change) {
  switch (change) {
    case v1::POLYGON_CHANGE_ADDED:
      return PolygonChange::kAdded;
    case v1::POLYGON_CHANGE_REPLACED:
      return PolygonChange::kReplaced;
    case v1::POLYGON_CHANGE_REMOVED:
      return PolygonChange::kRemoved;
    default:
      return std::nullopt;
  }
}

// Appends the rows of a part.
absl::Status DecodeRows(const v1::WatchSceneResponse& part, std::vector<PolygonUpdate>& out) {
  const int count = part.polygon_id_size();
  for (const int size : {part.change_size(), part.min_x_size(), part.min_y_size(),
                         part.max_x_size(), part.max_y_size()}) {
    if (size != count) return Malformed("columns of unequal length in a watch");
  }
  for (int i = 0; i < count; ++i) {
    const std::optional<PolygonChange> change = Decoded(part.change(i));
    if (!change.has_value()) return Malformed("an unknown change in a watch");
    PolygonUpdate& update = out.emplace_back();
    update.id = part.polygon_id(i);
    update.change = *change;
    update.bounds.min = {part.min_x(i), part.min_y(i)};
    update.bounds.max = {part.max_x(i), part.max_y(i)};
  }
  return absl::OkStatus();
}

}  // namespace

SceneWatch::SceneWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SceneWatch::~SceneWatch() = default;
absl::StatusOr<SceneUpdate> SceneWatch::Next() { return impl_->Next(); }
void SceneWatch::Cancel() { impl_->Cancel(); }

// A call must have ended before its objects go.
SceneWatch::Impl::~Impl() {
  Cancel();
  if (call_ != nullptr) Close().IgnoreError();
}

void SceneWatch::Impl::Cancel() {
  MutexLock lock(mutex_);
  cancelled_ = true;
  if (context_ != nullptr) context_->TryCancel();
  changed_.NotifyAll();
}

bool SceneWatch::Impl::WaitUntil(Time time) {
  MutexLock lock(mutex_);
  while (!cancelled_ && std::chrono::steady_clock::now() < time) {
    changed_.WaitUntil(mutex_, time);
  }
  return !cancelled_;
}

// A watch has no deadline: the server's silence is what it waits for, and keepalive finds out when
// it is gone.
absl::Status SceneWatch::Impl::Open() {
  auto context = std::make_unique<grpc::ClientContext>();
  grpc::ClientContext& of_call = *context;
  {
    MutexLock lock(mutex_);
    if (cancelled_) return WatchCancelled();
    context_ = std::move(context);
  }
  v1::WatchSceneRequest request;
  request.set_name(name_);
  request.set_from_version(seen_);
  request.set_polygons(options_.polygons);
  address_ = addresses_->current();
  absl::Status status = addresses_->BeginCall(
      [&] { call_ = addresses_->scenes(address_).WatchScene(&of_call, request); });
  // The server sends its headers at once, whenever there is a version.
  if (status.ok()) call_->WaitForInitialMetadata();
  opened_ = std::chrono::steady_clock::now();
  return status;
}

// Parts of a version that breaks off are dropped: the next call sends it from its beginning.
absl::StatusOr<SceneUpdate> SceneWatch::Impl::Read() {
  constexpr size_t kAny = std::numeric_limits<size_t>::max();
  wire::PolygonJoiner joiner({.max_vertices = kAny, .max_user_data_bytes = kAny});
  const auto hold = [](size_t, size_t) { return absl::OkStatus(); };
  SceneUpdate update;
  v1::WatchSceneResponse part;
  bool is_first = true;
  do {
    if (!call_->Read(&part)) {
      const absl::Status status = Close();
      return status.ok() ? absl::UnavailableError("the server has ended the watch") : status;
    }
    if (is_first) {
      update.scene = Summary(part.scene());
      update.base_version = part.base_version();
      update.edit_id = part.edit_id();
      update.created = TimeOf(part.created_us());
      is_first = false;
    }
    absl::Status status = DecodeRows(part, update.changes);
    if (status.ok()) {
      status = joiner.Add(part.polygons(), part.continues(), hold, update.polygons);
    }
    if (!status.ok()) return Malformed(status.message());
  } while (part.more());
  if (!joiner.Finish().ok()) return Malformed("half a polygon in a watch");
  if (update.base_version != seen_ || update.scene.version <= seen_) {
    return Malformed("a version in a watch that does not follow the one before");
  }
  return update;
}

// Waits for the call's end, which has come or was asked for.
absl::Status SceneWatch::Impl::Close() {
  const absl::Status status = CallStatus(call_->Finish());
  call_ = nullptr;
  MutexLock lock(mutex_);
  context_ = nullptr;
  return cancelled_ ? WatchCancelled() : status;
}

// A call that gives a version has begun anew, so the pauses and the time to give up do, too; and so
// does one that breaks a while after the server has answered it.
absl::StatusOr<SceneUpdate> SceneWatch::Impl::Next() {
  std::optional<Time> give_up;  // from the first failure on
  for (std::chrono::milliseconds pause = kFirstPause; end_.ok();
       pause = std::min(2 * pause, kLongestPause)) {
    absl::Status status = call_ == nullptr ? Open() : absl::OkStatus();
    if (status.ok()) {
      absl::StatusOr<SceneUpdate> update = Read();
      if (update.ok()) {
        seen_ = update->scene.version;
        return update;
      }
      status = update.status();
    }
    if (call_ != nullptr) Cancel();  // it broke the protocol
    if (absl::IsUnavailable(status)) addresses_->Leave(address_);
    const Time now = std::chrono::steady_clock::now();
    if (now - opened_ > kFirstPause) {
      give_up.reset();
      pause = kFirstPause;
    }
    if (!give_up.has_value()) give_up = now + options_.reconnect_timeout;
    const Time again = now + std::max<std::chrono::microseconds>(
                                 pause, std::chrono::microseconds(RetryDelay(status)));
    if (!EndsForNow(status) || again >= *give_up) {
      end_ = status;
    } else if (!WaitUntil(again)) {
      end_ = WatchCancelled();
    }
  }
  return end_;
}

}  // namespace carom
