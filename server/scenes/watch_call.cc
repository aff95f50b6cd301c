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

// Of a row of changes, at most.
constexpr size_t kRowBytes = 48;

constexpr char kTooSlow[] = "the client is too slow: ";

absl::Status SceneDeleted() {
  return Refused(absl::StatusCode::kNotFound, "name", "the scene was deleted");
}

// The wire's word for what became of a polygon.
v1::PolygonChange Encoded(ChangeKind kind) {
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

// Columns grow together, so that each part is complete by itself.
void EncodeRow(const PolygonChange& change, v1::WatchSceneResponse& part) {
  part.add_polygon_id(change.id);
  part.add_change(Encoded(change.kind));
  part.add_min_x(change.bounds.min.x);
  part.add_min_y(change.bounds.min.y);
  part.add_max_x(change.bounds.max.x);
  part.add_max_y(change.bounds.max.y);
}

}  // namespace

// "Done" is asked for, since a watch that waits would not notice otherwise that its client is gone.
void WatchCall::Accept(SceneService& service, EventLoop& loop, SceneRuntime& runtime) {
  auto* call = new WatchCall(service, loop, runtime);
  call->context_.AsyncNotifyWhenDone(&call->done_);
  service.RequestWatchScene(&call->context_, &call->bytes_, &call->writer_, &loop.queue(),
                            &loop.queue(), &call->accepted_);
}

// --- Events -------------------------------------------------------------------------------------

void WatchCall::OnAccepted(bool ok) {
  if (!ok) {
    Unref();  // there is no call, so `done_` never happens
    return Unref();
  }
  Accept(service_, loop_, runtime_);
  absl::Status status = Admit(Role::kReader);
  part_charge_ = NewCharge(MemoryShare::kMessages);
  v1::WatchSceneRequest request;
  if (status.ok()) status = ParseShort(bytes_, request);
  bytes_.Clear();
  name_ = request.name();
  from_version_ = request.from_version();
  wants_polygons_ = request.polygons();
  if (!status.ok()) return Begin(status);
  OnceStarted([this](const absl::Status& started) { Begin(started); });
}

// With the reference of `accepted_`.
void WatchCall::Begin(absl::Status status) {
  if (status.ok()) status = Open();
  if (status.ok()) return runtime_.executor.Submit(this);  // its reference is that of the run
  Finish(status);
  Unref();
}

// On the event loop: nothing here waits. The scene itself is looked up once notifications come, so
// that no deletion is missed.
absl::Status WatchCall::Open() {
  if (absl::Status status = CheckSceneName("name", name_); !status.ok()) return status;
  key_ = runtime_.store.KeyOf(caller().tenant, name_);
  runtime_.hub.Add(key_, this);
  bool is_over = false;
  {
    absl::MutexLock lock(&mu_);
    is_over = is_over_;
    added_ = !is_over;
  }
  // Then `OnDone` came before.
  if (is_over) runtime_.hub.Remove(key_, this);
  return absl::OkStatus();
}

void WatchCall::OnWritten(bool ok) {
  {
    absl::MutexLock lock(&mu_);
    StopTimer(unread_timer_);
  }
  part_charge_.Clear();
  if (ok) return runtime_.executor.Submit(this);  // its reference is that of the run
  Unref();                                        // the call is broken, and "done" comes
}

// On the writer's thread, which must not wait: what is to be sent is found out in `Run`.
void WatchCall::OnChange(uint64_t version, const SceneChange::Ptr& change) {
  absl::MutexLock lock(&mu_);
  changed_ = true;
  if (version == 0) deleted_ = true;
  // One at a time: who gets that far behind finds the next one where versions are kept, or not.
  if (change != nullptr && !change->is_kept && large_ == nullptr) large_ = change;
  if (!std::exchange(waits_, false)) return;
  Ref();
  runtime_.executor.Submit(this);
}

// May come while the last reference goes, as it is registered until then.
void WatchCall::Drain() {
  absl::MutexLock lock(&mu_);
  draining_ = true;
  changed_ = true;
  if (!std::exchange(waits_, false)) return;
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
    waits_ = false;  // nobody wakes it, while it goes: see `Drain`
    added = std::exchange(added_, false);
    large = std::move(large_);
  }
  if (added) runtime_.hub.Remove(key_, this);
  Unref();
}

// On the timer's thread. The write then ends as failed, and the call with it. The part may have
// been taken, and another one written, while the timer waited for the lock.
void WatchCall::CheckUnread(uint64_t part) {
  absl::MutexLock lock(&mu_);
  if (part == parts_ && std::exchange(unread_timer_, 0) != 0) CutOff(kUnread);
}

// --- What comes next ----------------------------------------------------------------------------

// What is not sent for lack of memory is this call's loss alone.
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

// In this order: who is gone hears nothing, and a server that drains is not asked for scenes.
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
    // A client that waits for a commit wants to know that it would hear of one.
    Ref();
    writer_.SendInitialMetadata(&written_);
    return absl::OkStatus();
  }
  auto whole = std::make_shared<SceneChange>();
  for (const VersionSummary& known : runtime_.store.Versions(key_)) {
    if (known.version == scene->version()) whole->summary = known;
  }
  // Another version has come in between: of this one the rest is not needed.
  whole->summary.version = scene->version();
  whole->summary.polygon_count = scene->polygon_count();
  whole->summary.vertex_count = scene->vertex_count();
  whole->summary.bounds = scene->bounds();
  whole->after = scene;
  change_ = std::move(whole);
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

// The current version is looked at first: one that is visible has its change in memory until the
// listeners know of it, so that none is missed between the two.
absl::StatusOr<SceneChange::Ptr> WatchCall::Next() {
  SceneChange::Ptr large;  // freed without the lock
  {
    absl::MutexLock lock(&mu_);
    changed_ = false;
    if (large_ != nullptr && large_->base <= version_) large = std::move(large_);
  }
  const std::string& name = key_;
  const Scene::Ptr current = runtime_.store.Find(name);
  // It was there: the notification is still to come.
  if (current == nullptr) return SceneDeleted();
  if (current->version() == version_) return nullptr;
  if (large != nullptr && large->base == version_) return large;
  if (SceneChange::Ptr change = runtime_.store.FindChange(name, version_)) return change;
  absl::StatusOr<SceneChange::Ptr> loaded =
      runtime_.store.LoadChange(name, version_, NewCharge(MemoryShare::kScenes));
  // A scene that is deleted takes its history with it.
  if (!loaded.ok() && runtime_.store.Find(name) == nullptr) return SceneDeleted();
  if (absl::Status status = CheckEnd(); !loaded.ok() && !status.ok()) return status;
  // What was there when the watch began was lost by nobody's reading.
  if (!absl::IsOutOfRange(loaded.status()) || version_ < first_current_) return loaded;
  return absl::ResourceExhaustedError(
      absl::StrCat(kTooSlow, "what came after version ", version_, " is no longer kept"));
}

// A change that came since `Next` looked is not waited for: it has woken nobody.
bool WatchCall::Wait() {
  absl::MutexLock lock(&mu_);
  if (changed_ || cancelled_) return cancelled_;
  waits_ = true;
  return true;
}

// The row of a large polygon is in the part where its first piece is.
void WatchCall::Add(v1::WatchSceneResponse& part) {
  const PolygonChange& change = *cursor_.current();
  if (change_->base != 0 && piece_.is_first()) EncodeRow(change, part);
  if (wants_polygons_ && change.polygon.has_value()) {
    v1::Polygon& message = *part.add_polygons();
    part.set_continues(!wire::EncodePiece(*change.polygon, wire::kPieceVertices, piece_, message));
  }
  if (!part.continues()) cursor_.Next();
}

// All that the next part needs is there before the write begins, as `OnWritten` may come on another
// thread before this returns.
absl::Status WatchCall::Write() {
  v1::WatchSceneResponse part;
  if (std::exchange(is_first_part_, false)) {
    // Of a version as a whole there are no rows, so without polygons there is nothing to go over.
    cursor_ = change_->base != 0 || wants_polygons_ ? ChangeCursor(change_) : ChangeCursor();
    sent_since_ = Clock::now();
    EncodeSummary(name_, change_->summary, *part.mutable_scene());
    part.set_base_version(change_->base);
    part.set_edit_id(change_->summary.edit_id);
    part.set_created_us(change_->summary.created_us);
  } else if (Clock::now() > sent_since_ + runtime_.limits.import_time) {
    return absl::ResourceExhaustedError(absl::StrCat(kTooSlow, "one version takes it too long"));
  }
  size_t bytes = 0;
  while (cursor_.current() != nullptr && bytes < kScenePartBytes && !part.continues()) {
    const int polygons = part.polygons_size();
    Add(part);
    bytes += kRowBytes;
    if (part.polygons_size() > polygons) bytes += part.polygons(polygons).ByteSizeLong();
  }
  part.set_more(cursor_.current() != nullptr);
  if (!part.more()) {
    version_ = change_->summary.version;
    is_first_part_ = true;
    cursor_ = {};
    change_ = nullptr;
  }
  const grpc::ByteBuffer answer = Serialize(part);
  if (absl::Status status = part_charge_.Add(answer.Length()); !status.ok()) return status;
  Ref();
  {
    absl::MutexLock lock(&mu_);
    StartTimer(unread_timer_, Clock::now() + runtime_.limits.stalled_answer,
               [this, part = ++parts_] { CheckUnread(part); });
  }
  // Without the lock: `OnWritten` comes from within, on a thread of the event loop, which would
  // wait for this one, and this one perhaps for a processor.
  writer_.Write(answer, &written_);
  return absl::OkStatus();
}

void WatchCall::Finish(const absl::Status& status) {
  Ref();
  writer_.Finish(ToGrpcStatus(status), &finished_);
}

}  // namespace carom::server
