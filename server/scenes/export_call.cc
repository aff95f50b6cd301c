// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/scenes/export_call.h"

#include <new>
#include <utility>

#include "server/base/rpc_status.h"
#include "server/base/scene_name.h"
#include "server/scenes/scene_service.h"
#include "server/store/scene_snapshot.h"
#include "server/transport/message_io.h"
#include "wire/encode.h"

namespace carom::server {

// Requests one call from gRPC; `OnAccepted` requests the next call.
void ExportCall::Accept(SceneService& service, EventLoop& loop, SceneRuntime& runtime) {
  auto* call = new ExportCall(service, loop, runtime);
  service.RequestExportScene(&call->context_, &call->bytes_, &call->writer_, &loop.queue(),
                             &loop.queue(), &call->accepted_);
}

void ExportCall::OnAccepted(bool ok) {
  if (!ok) return Unref();
  Accept(service_, loop_, runtime_);
  absl::Status status = Admit(Role::kReader);
  v1::ExportSceneRequest request;
  if (status.ok()) status = ParseShort(bytes_, request);
  bytes_.Clear();
  name_ = request.name();
  version_ = request.version();
  wants_bundle_ = request.bundle();
  if (!status.ok()) return Begin(status);
  CallWhenStarted([this](const absl::Status& started) { Begin(started); });
}

// Writes the first chunk, or submits the call to the executor, which runs `Run`: to read a disk and
// to make a bundle may take long. The caller passes
// the reference to the call that the event `accepted_` holds; the function releases it or passes it
// on.
void ExportCall::Begin(absl::Status status) {
  send_deadline_ = Clock::now() + runtime_.limits->import_time;
  if (status.ok()) status = Open();
  if (!status.ok()) {
    Finish(status);
  } else if (scene_ == nullptr || wants_bundle_) {
    return runtime_.executor.Submit(this);  // passes the reference on to `Run`
  } else {
    TryWrite();
  }
  Unref();
}

// The store has in memory the summary (counts and bounds) of each version that it keeps. The
// polygons of an old version may only be in the journal; `Run` reads such polygons on the executor,
// as reading from a disk may take long.
absl::Status ExportCall::Open() {
  if (absl::Status status = CheckSceneName("name", name_); !status.ok()) return status;
  key_ = runtime_.store.KeyOf(caller().tenant, name_);
  if (runtime_.store.Find(key_) == nullptr) return runtime_.store.WhyMissing(key_, "name");
  scene_ = runtime_.store.FindVersion(key_, version_);
  if (scene_ != nullptr) {
    wire::EncodeScene(name_, *scene_, summary_);
    return absl::OkStatus();
  }
  v1::GetSceneRequest get;
  get.set_name(name_);
  get.set_version(version_);
  v1::GetSceneResponse got;
  absl::Status status = runtime_.handler.Get(caller(), get, got);
  summary_ = std::move(*got.mutable_scene());
  return status;
}

absl::Status ExportCall::ReadOld() {
  absl::StatusOr<std::vector<Polygon>> polygons = runtime_.store.Load(key_, version_, charge_);
  if (!polygons.ok()) return polygons.status();
  polygons_ = *std::move(polygons);
  return absl::OkStatus();
}

// A version that is not in memory has no index, so that its bundle contains no arrangement of one.
absl::Status ExportCall::MakeBundle() {
  MemoryCharge index_charge = charge_.Another();
  BundleIndex index = BundleIndex::kArranged;
  if (scene_ == nullptr) {
    index = BundleIndex::kNone;
    const absl::Status status = index_charge.Add(polygons_.size() * kIndexBytesAPolygon);
    if (!status.ok()) return status;
    absl::StatusOr<Scene::Ptr> scene = Scene::Create(std::exchange(polygons_, {}));
    if (!scene.ok()) return scene.status();
    scene_ = *std::move(scene);
  }
  absl::StatusOr<OutgoingBundle> bundle = OutgoingBundle::Create(*scene_, index, charge_.Another());
  if (!bundle.ok()) return bundle.status();
  bundle_ = *std::move(bundle);
  scene_ = nullptr;
  charge_.Clear();
  return absl::OkStatus();
}

void ExportCall::Run() {
  absl::Status status;
  try {
    charge_ = NewCharge(MemoryShare::kScenes);
    if (scene_ == nullptr) status = ReadOld();
    if (status.ok() && wants_bundle_) status = MakeBundle();
  } catch (const std::bad_alloc&) {
    status = OutOfMemory();
  }
  if (status.ok()) {
    TryWrite();
  } else {
    Finish(status);
  }
  Unref();
}

void ExportCall::TryWrite() {
  try {
    Write();
  } catch (const std::bad_alloc&) {
    Finish(OutOfMemory());
  }
}

// Writes the next chunk. The first chunk has the summary of the scene; if the scene has no
// polygons, it is the only chunk.
void ExportCall::Write() {
  v1::ExportSceneResponse chunk;
  if (std::exchange(is_first_chunk_, false)) *chunk.mutable_scene() = summary_;
  if (Clock::now() > send_deadline_) {
    return Finish(absl::ResourceExhaustedError("the client takes the export too slowly"));
  }
  if (wants_bundle_) {
    chunk.set_bundle(bundle_.Next());
  } else {
    AddPolygons(chunk);
  }
  const bool is_last = wants_bundle_ ? bundle_.is_sent() : next_ == polygon_count();
  const grpc::ByteBuffer bytes = Serialize(chunk);
  Ref();
  {
    absl::MutexLock lock(&mu_);
    StartTimer(unread_timer_, Clock::now() + runtime_.limits->stalled_answer,
               [this, chunk = ++chunks_] { CheckUnread(chunk); });
  }
  if (is_last) {
    Ended(absl::OkStatus());
    writer_.WriteAndFinish(bytes, grpc::WriteOptions(), grpc::Status::OK, &finished_);
  } else {
    writer_.Write(bytes, &written_);
  }
}

void ExportCall::AddPolygons(v1::ExportSceneResponse& chunk) {
  for (size_t bytes = 0; next_ < polygon_count() && bytes < kSceneChunkBytes;) {
    v1::Polygon& message = *chunk.add_polygons();
    chunk.set_continues(!wire::EncodePiece(polygon(next_), wire::kPieceVertices, piece_, message));
    if (chunk.continues()) break;
    ++next_;
    bytes += message.ByteSizeLong();
  }
}

// Writes the next chunk after gRPC has sent one. If `ok` is false, the client has disconnected or
// cancelled the call.
void ExportCall::OnWritten(bool ok) {
  {
    absl::MutexLock lock(&mu_);
    StopTimer(unread_timer_);
  }
  if (ok) {
    TryWrite();
  } else {
    Finish(absl::CancelledError("the call is cancelled"));
  }
  Unref();
}

void ExportCall::OnFinished(bool) {
  {
    absl::MutexLock lock(&mu_);
    StopTimer(unread_timer_);
  }
  Unref();
}

// Aborts the call if the client has not read `chunk`: the pending write then fails, which ends the
// call. `chunk` is the number of the chunk that the timer was started for: the function does
// nothing if gRPC has sent that chunk, and the call perhaps written another one, while the timer's
// thread waited for the lock.
void ExportCall::CheckUnread(uint64_t chunk) {
  absl::MutexLock lock(&mu_);
  if (chunk == chunks_ && std::exchange(unread_timer_, 0) != 0) Abort(kUnread);
}

// Ends the call with the error `status`. Must not be called after `writer_.WriteAndFinish`, which
// ends the call, too.
void ExportCall::Finish(const absl::Status& status) {
  Ended(status);
  Ref();
  writer_.Finish(ToGrpcStatus(status), &finished_);
}

}  // namespace carom::server
