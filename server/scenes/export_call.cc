// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/scenes/export_call.h"

#include <new>
#include <utility>

#include "server/base/rpc_status.h"
#include "server/base/scene_name.h"
#include "server/scenes/scene_service.h"
#include "server/transport/message_io.h"
#include "wire/encode.h"

namespace carom::server {

// The next call is waited for as soon as one is here.
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
  if (!status.ok()) return Begin(status);
  OnceStarted([this](const absl::Status& started) { Begin(started); });
}

// With the reference of `accepted_`.
void ExportCall::Begin(absl::Status status) {
  last_moment_ = Clock::now() + runtime_.limits.import_time;
  if (status.ok()) status = Open();
  if (!status.ok()) {
    Finish(status);
  } else if (scene_ == nullptr) {
    return runtime_.executor.Submit(this);  // the reference becomes that of the run
  } else {
    TryWrite();
  }
  Unref();
}

// A version that is no scene in memory has its summary there, and its polygons where the journal
// has them: those are read on the executor, since they take as long as a disk does.
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
  charge_ = NewCharge(MemoryShare::kScenes);
  absl::StatusOr<std::vector<Polygon>> polygons = runtime_.store.Load(key_, version_, charge_);
  if (!polygons.ok()) return polygons.status();
  polygons_ = *std::move(polygons);
  return absl::OkStatus();
}

void ExportCall::Run() {
  absl::Status status;
  try {
    status = ReadOld();
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

// A scene without polygons is one part, too: its summary.
void ExportCall::Write() {
  v1::ExportSceneResponse part;
  if (next_ == 0 && piece_.is_first()) *part.mutable_scene() = summary_;
  if (Clock::now() > last_moment_) {
    return Finish(absl::ResourceExhaustedError("the client takes the export too slowly"));
  }
  const size_t count = scene_ != nullptr ? scene_->polygon_count() : polygons_.size();
  for (size_t bytes = 0; next_ < count && bytes < kScenePartBytes;) {
    v1::Polygon& message = *part.add_polygons();
    part.set_continues(!wire::EncodePiece(polygon(next_), wire::kPieceVertices, piece_, message));
    if (part.continues()) break;
    ++next_;
    bytes += message.ByteSizeLong();
  }
  const grpc::ByteBuffer bytes = Serialize(part);
  Ref();
  {
    absl::MutexLock lock(&mu_);
    StartTimer(unread_timer_, Clock::now() + runtime_.limits.stalled_answer,
               [this, part = ++parts_] { CheckUnread(part); });
  }
  if (next_ == count) {
    writer_.WriteAndFinish(bytes, grpc::WriteOptions(), grpc::Status::OK, &finished_);
  } else {
    writer_.Write(bytes, &written_);
  }
}

// A client that is gone is noticed here, by the write that fails.
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

// The write then ends as failed, and with it the call. The part may have been taken, and another
// one written, while the timer waited for the lock.
void ExportCall::CheckUnread(uint64_t part) {
  absl::MutexLock lock(&mu_);
  if (part == parts_ && std::exchange(unread_timer_, 0) != 0) CutOff(kUnread);
}

// Not after `WriteAndFinish`, which is an end as well.
void ExportCall::Finish(const absl::Status& status) {
  Ref();
  writer_.Finish(ToGrpcStatus(status), &finished_);
}

}  // namespace carom::server
