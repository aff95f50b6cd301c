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

// The first and the longest pause between calls that fail one after the other; each pause is twice
// the preceding pause.
constexpr std::chrono::milliseconds kFirstPause(20);
constexpr std::chrono::milliseconds kLongestPause(2000);

absl::Status WatchCancelled() { return absl::CancelledError("the watch is cancelled"); }

// Returns the error of a watch whose server breaks the protocol.
absl::Status Malformed(absl::string_view what) { return absl::InternalError(what); }

// Returns whether the watch retries after a call that ended with `status`; carom/watch.h lists the
// statuses.
bool IsTransient(const absl::Status& status) {
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

// Appends to `out` the changed polygons that `chunk` lists. `chunk` is one of the messages by which
// the server sends a version. Returns INTERNAL for malformed columns.
absl::Status DecodeRows(const v1::WatchSceneResponse& chunk, std::vector<PolygonUpdate>& out) {
  const int count = chunk.polygon_id_size();
  for (const int size : {chunk.change_size(), chunk.min_x_size(), chunk.min_y_size(),
                         chunk.max_x_size(), chunk.max_y_size()}) {
    if (size != count) return Malformed("a watch update has columns of unequal length");
  }
  for (int i = 0; i < count; ++i) {
    const std::optional<PolygonChange> change = Decoded(chunk.change(i));
    if (!change.has_value()) return Malformed("a watch update has an unknown kind of change");
    PolygonUpdate& update = out.emplace_back();
    update.id = chunk.polygon_id(i);
    update.change = *change;
    update.bounds.min = {chunk.min_x(i), chunk.min_y(i)};
    update.bounds.max = {chunk.max_x(i), chunk.max_y(i)};
  }
  return absl::OkStatus();
}

}  // namespace

SceneWatch::SceneWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SceneWatch::~SceneWatch() = default;
absl::StatusOr<SceneUpdate> SceneWatch::Next() { return impl_->Next(); }
void SceneWatch::Cancel() { impl_->Cancel(); }

// Waits for the end of `call_`, because gRPC uses `context_` until then.
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

// Sets no deadline: the server sends nothing on a call until the scene changes, and keepalive
// (ClientOptions) detects a server that does not respond.
absl::Status SceneWatch::Impl::Open() {
  auto context = std::make_unique<grpc::ClientContext>();
  grpc::ClientContext& call_context = *context;
  {
    MutexLock lock(mutex_);
    if (cancelled_) return WatchCancelled();
    context_ = std::move(context);
  }
  v1::WatchSceneRequest request;
  request.set_name(name_);
  request.set_from_version(last_version_);
  request.set_polygons(options_.polygons);
  address_ = addresses_->current();
  absl::Status status = addresses_->BeginCall(
      [&] { call_ = addresses_->scenes(address_).WatchScene(&call_context, request); });
  // The server sends its headers when it accepts the call, even if it has no version to send yet.
  if (status.ok()) call_->WaitForInitialMetadata();
  opened_ = std::chrono::steady_clock::now();
  return status;
}

// If the last chunk (message) of a version does not arrive, drops the earlier chunks of this
// version: the next call sends the version from its first chunk.
absl::StatusOr<SceneUpdate> SceneWatch::Impl::Read() {
  constexpr size_t kAny = std::numeric_limits<size_t>::max();
  wire::PolygonJoiner joiner({.max_vertices = kAny, .max_user_data_bytes = kAny});
  const auto hold = [](size_t, size_t) { return absl::OkStatus(); };
  SceneUpdate update;
  v1::WatchSceneResponse chunk;
  bool is_first = true;
  do {
    if (!call_->Read(&chunk)) {
      const absl::Status status = Close();
      return status.ok() ? absl::UnavailableError("the server has ended the watch") : status;
    }
    if (is_first) {
      update.scene = Summary(chunk.scene());
      update.base_version = chunk.base_version();
      update.edit_id = chunk.edit_id();
      update.created = TimeOf(chunk.created_us());
      is_first = false;
    }
    absl::Status status = DecodeRows(chunk, update.changes);
    if (status.ok()) {
      status = joiner.Add(chunk.polygons(), chunk.continues(), hold, update.polygons);
    }
    if (!status.ok()) return Malformed(status.message());
  } while (chunk.more());
  if (!joiner.Finish().ok()) return Malformed("a watch update ends in the middle of a polygon");
  if (update.base_version != last_version_ || update.scene.version <= last_version_) {
    return Malformed("a watch update does not follow the version before it");
  }
  return update;
}

// The caller must have cancelled the call or read all of its messages, else `Finish` would wait for
// ever.
absl::Status SceneWatch::Impl::Close() {
  const absl::Status status = CallStatus(call_->Finish());
  call_ = nullptr;
  MutexLock lock(mutex_);
  context_ = nullptr;
  return cancelled_ ? WatchCancelled() : status;
}

// Retries with backoff until `reconnect_timeout` after the first failure. Backoff and timeout start
// again after a call that returned a version, and after a call that broke more than `kFirstPause`
// after the server had accepted it.
absl::StatusOr<SceneUpdate> SceneWatch::Impl::Next() {
  // time at which the watch stops retrying; absent before the first failure
  std::optional<Time> give_up;
  for (std::chrono::milliseconds pause = kFirstPause; final_status_.ok();
       pause = std::min(2 * pause, kLongestPause)) {
    absl::Status status = call_ == nullptr ? Open() : absl::OkStatus();
    if (status.ok()) {
      absl::StatusOr<SceneUpdate> update = Read();
      if (update.ok()) {
        last_version_ = update->scene.version;
        return update;
      }
      status = update.status();
    }
    if (call_ != nullptr) Cancel();  // `Read` found a protocol error and left the call open
    if (absl::IsUnavailable(status)) addresses_->FailOver(address_);
    const Time now = std::chrono::steady_clock::now();
    if (now - opened_ > kFirstPause) {
      give_up.reset();
      pause = kFirstPause;
    }
    if (!give_up.has_value()) give_up = now + options_.reconnect_timeout;
    const Time again = now + std::max<std::chrono::microseconds>(
                                 pause, std::chrono::microseconds(RetryDelay(status)));
    if (!IsTransient(status) || again >= *give_up) {
      final_status_ = status;
    } else if (!WaitUntil(again)) {
      final_status_ = WatchCancelled();
    }
  }
  return final_status_;
}

}  // namespace carom
