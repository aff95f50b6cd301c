// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/scenes/watch_call.h"

#include <new>
#include <utility>

#include "carom/status.h"
#include "server/base/rpc_status.h"
#include "server/base/scene_name.h"
#include "server/scenes/scene_handler.h"
#include "server/scenes/scene_service.h"
#include "server/transport/message_io.h"

namespace carom::server {
namespace {

// An upper bound of the bytes that one changed polygon takes in the columns (repeated fields with
// one entry for each changed polygon) of a chunk, without the polygon's vertices.
constexpr size_t kRowBytes = 48;

constexpr char kTooSlow[] = "the client is too slow: ";

absl::Status SceneDeleted() {
  return Refused(absl::StatusCode::kNotFound, "name", "the scene was deleted");
}

// Returns the wire value of `kind`.
v1::PolygonChange EncodeChangeKind(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kAdded:
      return v1::POLYGON_CHANGE_ADDED;
    case ChangeKind::kReplaced:
      return v1::POLYGON_CHANGE_REPLACED;
    case ChangeKind::kRemoved:
      return v1::POLYGON_CHANGE_REMOVED;
  }
  return v1::POLYGON_CHANGE_UNSPECIFIED;
}

// Appends one entry, for one changed polygon, to every column (repeated field) of `chunk`, so that
// the columns of each chunk have equal length.
void EncodeRow(const PolygonChange& change, v1::WatchSceneResponse& chunk) {
  chunk.add_polygon_id(change.id);
  chunk.add_change(EncodeChangeKind(change.kind));
  chunk.add_min_x(change.bounds.min.x);
  chunk.add_min_y(change.bounds.min.y);
  chunk.add_max_x(change.bounds.max.x);
  chunk.add_max_y(change.bounds.max.y);
}

}  // namespace

// Requests the event "done" of gRPC, too: otherwise a call that waits for a change of its scene
// would not end when its client disconnects.
void WatchCall::Accept(SceneService& service, EventLoop& loop, SceneRuntime& runtime) {
  auto* call = new WatchCall(service, loop, runtime);
  call->context_.AsyncNotifyWhenDone(&call->done_);
  service.RequestWatchScene(&call->context_, &call->bytes_, &call->writer_, &loop.queue(),
                            &loop.queue(), &call->accepted_);
}

// --- Events -------------------------------------------------------------------------------------

void WatchCall::OnAccepted(bool ok) {
  if (!ok) {
    Unref();  // no call arrived, so the event `done_` never comes
    return Unref();
  }
  Accept(service_, loop_, runtime_);
  absl::Status status = Admit(Role::kReader);
  chunk_charge_ = NewCharge(MemoryShare::kMessages);
  v1::WatchSceneRequest request;
  if (status.ok()) status = ParseShort(bytes_, request);
  bytes_.Clear();
  name_ = request.name();
  from_version_ = request.from_version();
  wants_polygons_ = request.polygons();
  wants_bundle_ = request.bundle();
  if (!status.ok()) return Begin(status);
  CallWhenStarted([this](const absl::Status& started) { Begin(started); });
}

// Opens the watch, or ends the call with an error. The caller passes the reference to the call that
// the event `accepted_` holds; the function releases it, or passes it on to `Run`.
void WatchCall::Begin(absl::Status status) {
  if (status.ok()) status = Open();
  if (status.ok()) return runtime_.executor.Submit(this);  // passes the reference on to `Run`
  Finish(status);
  Unref();
}

// Runs on the event loop, so it must not block. Does not check that the scene exists: `Begin()`
// does so after the `WatchHub` has registered the call, so that the call misses no deletion of the
// scene.
absl::Status WatchCall::Open() {
  if (absl::Status status = CheckSceneName("name", name_); !status.ok()) return status;
  key_ = runtime_.store.KeyOf(caller().tenant, name_);
  runtime_.hub.Add(key_, this);
  bool is_over = false;
  {
    absl::MutexLock lock(&mu_);
    is_over = is_over_;
    is_in_hub_ = !is_over;
  }
  // If `OnDone` ran before `is_in_hub_` was set, it has not removed the call from the hub.
  if (is_over) runtime_.hub.Remove(key_, this);
  return absl::OkStatus();
}

void WatchCall::OnWritten(bool ok) {
  {
    absl::MutexLock lock(&mu_);
    StopTimer(unread_timer_);
  }
  chunk_charge_.Clear();
  if (ok) return runtime_.executor.Submit(this);  // passes the reference on to `Run`
  Unref();                                        // client disconnected; `OnDone` follows
}

// Runs on the thread of the scene's writer, which must not be blocked. So it only records the
// change and submits a waiting call to the executor; `Run` then reads the change from the store.
void WatchCall::OnChange(uint64_t version, const SceneChange::Ptr& change) {
  absl::MutexLock lock(&mu_);
  changed_ = true;
  if (version == 0) deleted_ = true;
  // The call holds at most one uncached change (a change that the store does not keep in memory).
  // For a client that is several changes behind, `Next` loads later changes from the scene's
  // version history, if the history still has them.
  if (change != nullptr && !change->is_kept && uncached_ == nullptr) uncached_ = change;
  if (!std::exchange(is_waiting_, false)) return;
  Ref();
  runtime_.executor.Submit(this);
}

// May run while another thread releases the last reference to the call, because the call is
// registered for drains until then.
void WatchCall::Drain() {
  absl::MutexLock lock(&mu_);
  draining_ = true;
  changed_ = true;
  if (!std::exchange(is_waiting_, false)) return;
  Ref();
  runtime_.executor.Submit(this);
}

void WatchCall::OnDone(bool) {
  bool added = false;
  SceneChange::Ptr large;
  {
    absl::MutexLock lock(&mu_);
    StopTimer(unread_timer_);
    if (context_.IsCancelled()) cancelled_ = true;
    is_over_ = true;
    is_waiting_ = false;  // a later `Drain` must not submit a call that is being deleted
    added = std::exchange(is_in_hub_, false);
    large = std::move(uncached_);
  }
  if (added) runtime_.hub.Remove(key_, this);
  Unref();
}

// Runs on the timer's thread. Aborts the call if the client has not read `chunk`: the pending write
// then fails, which ends the call. `chunk` is the number of the chunk that the timer was started
// for: the function does nothing if gRPC has sent that chunk, and the call perhaps written another
// one, while the timer's thread waited for the lock.
void WatchCall::CheckUnread(uint64_t chunk) {
  absl::MutexLock lock(&mu_);
  if (chunk == chunks_ && std::exchange(unread_timer_, 0) != 0) Abort(kUnread);
}

// --- Sending changes ----------------------------------------------------------------------------

// Sends the next message of the response stream, or ends the call with an error. If memory runs
// out, only this call ends.
void WatchCall::Run() {
  absl::Status status;
  try {
    status = begun_ ? Continue() : Begin();
  } catch (const std::bad_alloc&) {
    status = OutOfMemory();
  }
  if (!status.ok()) Finish(status);
  Unref();
}

// The order of the checks is significant: the client of a cancelled call receives no error, and a
// draining server must report UNAVAILABLE rather than the state of a scene.
absl::Status WatchCall::CheckEnd() {
  absl::MutexLock lock(&mu_);
  if (cancelled_) return absl::CancelledError("the call is cancelled");
  if (draining_) return Draining();
  return deleted_ ? SceneDeleted() : absl::OkStatus();
}

absl::Status WatchCall::Begin() {
  begun_ = true;
  if (absl::Status status = CheckEnd(); !status.ok()) return status;
  const Scene::Ptr scene = runtime_.store.Find(key_);
  if (scene == nullptr) return runtime_.store.WhyMissing(key_, "name");
  first_current_ = scene->version();
  version_ = from_version_;
  if (version_ != 0) {
    if (version_ > first_current_) {
      return Refused(absl::StatusCode::kOutOfRange, "from_version",
                     absl::StrCat("the current version is ", first_current_));
    }
    absl::StatusOr<SceneChange::Ptr> next = Next();
    if (!next.ok()) return next.status();
    change_ = *std::move(next);
    // Sends the initial metadata: a client that waits for a commit learns from it that the watch is
    // registered.
    Ref();
    writer_.SendInitialMetadata(&written_);
    return absl::OkStatus();
  }
  auto whole = std::make_shared<SceneChange>();
  for (const VersionSummary& known : runtime_.store.Versions(key_)) {
    if (known.version == scene->version()) whole->summary = known;
  }
  // If a commit made another version current between `Find` and `Versions`, the summary of `scene`
  // may no longer be among the versions; the fields set below suffice.
  whole->summary.version = scene->version();
  whole->summary.polygon_count = scene->polygon_count();
  whole->summary.vertex_count = scene->vertex_count();
  whole->summary.bounds = scene->bounds();
  whole->after = scene;
  change_ = std::move(whole);
  if (wants_bundle_) {
    absl::StatusOr<OutgoingBundle> bundle =
        OutgoingBundle::Create(*scene, BundleIndex::kArranged, NewCharge(MemoryShare::kScenes));
    if (!bundle.ok()) return bundle.status();
    bundle_ = *std::move(bundle);
  }
  return Continue();
}

absl::Status WatchCall::Continue() {
  while (true) {
    if (absl::Status status = CheckEnd(); !status.ok()) return status;
    if (change_ != nullptr) return Write();
    absl::StatusOr<SceneChange::Ptr> next = Next();
    if (!next.ok()) return next.status();
    change_ = *std::move(next);
    if (change_ == nullptr && Wait()) return absl::OkStatus();
  }
}

// Looks up the current version of the scene first, and then the change after `version_`. The store
// keeps the last change in memory until it has notified all listeners, so the call gets every
// change either from `FindChange` or in `OnChange`.
absl::StatusOr<SceneChange::Ptr> WatchCall::Next() {
  SceneChange::Ptr large;  // declared before the lock, so destroyed after its release
  {
    absl::MutexLock lock(&mu_);
    changed_ = false;
    if (uncached_ != nullptr && uncached_->base <= version_) large = std::move(uncached_);
  }
  const std::string& name = key_;
  const Scene::Ptr current = runtime_.store.Find(name);
  // If the store has no scene, the scene was deleted, because it existed when the watch began; the
  // store has not yet called `OnChange` for the deletion.
  if (current == nullptr) return SceneDeleted();
  if (current->version() == version_) return nullptr;
  if (large != nullptr && large->base == version_) return large;
  if (SceneChange::Ptr change = runtime_.store.FindChange(name, version_)) return change;
  absl::StatusOr<SceneChange::Ptr> loaded =
      runtime_.store.LoadChange(name, version_, NewCharge(MemoryShare::kScenes));
  // Deleting a scene deletes its version history, which makes `LoadChange` fail.
  if (!loaded.ok() && runtime_.store.Find(name) == nullptr) return SceneDeleted();
  if (absl::Status status = CheckEnd(); !loaded.ok() && !status.ok()) return status;
  // If the client's version was superseded before the watch began, slow reading is not the cause:
  // the error of `LoadChange` is returned as it is.
  if (!absl::IsOutOfRange(loaded.status()) || version_ < first_current_) return loaded;
  return absl::ResourceExhaustedError(
      absl::StrCat(kTooSlow, "the change after version ", version_, " is no longer kept"));
}

// If `OnChange` ran after `Next` began, while `is_waiting_` was false, it did not submit the call,
// but it set `changed_`: `Wait` then returns false, and the call runs `Next` again.
bool WatchCall::Wait() {
  absl::MutexLock lock(&mu_);
  if (changed_ || cancelled_) return cancelled_;
  is_waiting_ = true;
  return true;
}

// If the pieces of a polygon are in several chunks, the entry of the polygon in the columns of
// changes is in the chunk with the first piece.
void WatchCall::Add(v1::WatchSceneResponse& chunk) {
  const PolygonChange& change = *cursor_.current();
  if (change_->base != 0 && piece_.is_first()) EncodeRow(change, chunk);
  if (wants_polygons_ && change.polygon.has_value()) {
    v1::Polygon& message = *chunk.add_polygons();
    chunk.set_continues(!wire::EncodePiece(*change.polygon, wire::kPieceVertices, piece_, message));
  }
  if (!chunk.continues()) cursor_.Next();
}

// Writes the next chunk of `change_`. Updates all members before the write begins, as `OnWritten`
// may run on another thread before `writer_.Write` returns.
absl::Status WatchCall::Write() {
  v1::WatchSceneResponse chunk;
  if (std::exchange(is_first_chunk_, false)) {
    // The first version of a watch without `from_version` is sent as a whole and not as a list of
    // changes, so the cursor is needed only if the client wants polygons, and not a bundle.
    const bool needs_cursor = change_->base != 0 || (wants_polygons_ && !wants_bundle_);
    cursor_ = needs_cursor ? ChangeCursor(change_) : ChangeCursor();
    send_start_ = Clock::now();
    EncodeSummary(name_, change_->summary, *chunk.mutable_scene());
    chunk.set_base_version(change_->base);
    chunk.set_edit_id(change_->summary.edit_id);
    chunk.set_created_us(change_->summary.created_us);
  } else if (Clock::now() > send_start_ + runtime_.limits->import_time) {
    return absl::ResourceExhaustedError(
        absl::StrCat(kTooSlow, "sending one version took too long"));
  }
  if (!bundle_.is_sent()) chunk.set_bundle(bundle_.Next());
  size_t bytes = 0;
  while (cursor_.current() != nullptr && bytes < kSceneChunkBytes && !chunk.continues()) {
    const int polygons = chunk.polygons_size();
    Add(chunk);
    bytes += kRowBytes;
    if (chunk.polygons_size() > polygons) bytes += chunk.polygons(polygons).ByteSizeLong();
  }
  chunk.set_more(cursor_.current() != nullptr || !bundle_.is_sent());
  if (!chunk.more()) {
    bundle_ = {};
    version_ = change_->summary.version;
    is_first_chunk_ = true;
    cursor_ = {};
    change_ = nullptr;
  }
  const grpc::ByteBuffer answer = Serialize(chunk);
  if (absl::Status status = chunk_charge_.Add(answer.Length()); !status.ok()) return status;
  Ref();
  {
    absl::MutexLock lock(&mu_);
    StartTimer(unread_timer_, Clock::now() + runtime_.limits->stalled_answer,
               [this, chunk = ++chunks_] { CheckUnread(chunk); });
  }
  // Calls `writer_.Write` without the lock: `OnWritten` may begin on a thread of the event loop
  // before `Write` returns, and would block that thread, perhaps until the thread that runs this
  // function gets a processor again.
  writer_.Write(answer, &written_);
  return absl::OkStatus();
}

void WatchCall::Finish(const absl::Status& status) {
  Ended(status);
  Ref();
  writer_.Finish(ToGrpcStatus(status), &finished_);
}

}  // namespace carom::server
