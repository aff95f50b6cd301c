// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Serves one `SceneService.ExportScene` call: how is a scene of any size sent to a client?
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_stream.h>

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "carom/polygon.h"
#include "carom/v1/scene_service.pb.h"
#include "server/scenes/outgoing_bundle.h"
#include "server/scenes/scene_call.h"
#include "server/transport/async_call.h"
#include "server/transport/event_loop.h"
#include "wire/pieces.h"

namespace carom::server {

// One export of a scene, as polygons or as the bytes of a bundle. Writes one chunk (a message of
// the response stream), and each further chunk when gRPC has sent the preceding one. The call holds
// one chunk and either an immutable version of the scene or its bundle, so that later commits do
// not affect the export.
//
//   OnAccepted  The request has arrived; requests the next call from gRPC and writes the first
//               chunk.
//   Run         On an executor thread: reads the polygons of a version that is not in memory, makes
//               the bundle if one is requested, and writes the first chunk.
//   OnWritten   gRPC has sent a chunk: writes the next one. The last chunk ends the call.
//   CheckUnread On the timer's thread: ends the call if the client does not read a chunk within
//               `SceneCallLimits::stalled_answer`.
//   Drain       Does nothing: the export continues during the drain.
class ExportCall final : public AsyncCall {
 public:
  // Accepts ExportScene calls, one after the other, until the server is shut down.
  static void Accept(SceneService& service, EventLoop& loop, SceneRuntime& runtime);

  void Run() override;
  void Drain() override {}

 private:
  ExportCall(SceneService& service, EventLoop& loop, SceneRuntime& runtime)
      : AsyncCall(loop, runtime.calls, RpcMethod::kExportScene, 1),
        service_(service),
        runtime_(runtime) {}
  ~ExportCall() override = default;

  void OnAccepted(bool ok);
  void Begin(absl::Status status);
  void OnWritten(bool ok);
  void OnFinished(bool);
  void CheckUnread(uint64_t chunk);

  // Sets `summary_` to the summary of the requested version, and `scene_` to the version if it is
  // in memory. If the version is not in memory, `ReadOld` reads its polygons later.
  absl::Status Open();
  // Reads the polygons of a version that is not in memory into `polygons_`.
  absl::Status ReadOld();
  // Sets `bundle_` from `scene_` or `polygons_`, which it releases.
  absl::Status MakeBundle();
  // Writes the next chunk. Ends the call with the last chunk, or with an error if the export takes
  // too long.
  void Write();
  // Adds the next polygons to `chunk`.
  void AddPolygons(v1::ExportSceneResponse& chunk);
  // Calls `Write`. A failed allocation ends the call with an error.
  void TryWrite();
  size_t polygon_count() const {
    return scene_ != nullptr ? scene_->polygon_count() : polygons_.size();
  }
  const Polygon& polygon(size_t i) const {
    return scene_ != nullptr ? scene_->polygon(i) : polygons_[i];
  }
  void Finish(const absl::Status& status);

  SceneService& service_;
  SceneRuntime& runtime_;
  // The members from here to `finished_` need no lock: only the handler of one event of gRPC, or
  // `Run`, is in progress at a time, and nothing else uses these members.
  grpc::ByteBuffer bytes_;
  std::string name_;
  std::string key_;                  // key of the scene in the store
  uint64_t version_ = 0;             // the requested version; 0: the current one
  v1::Scene summary_;                // version, counts and bounds of the exported version
  Clock::time_point send_deadline_;  // the last chunk must be written before this time
  Scene::Ptr scene_;                 // the requested version, or null if it is not in memory
  std::vector<Polygon> polygons_;    // the polygons that `ReadOld` read
  bool wants_bundle_ = false;        // whether the request asks for a bundle
  OutgoingBundle bundle_;            // the bundle that `MakeBundle` made
  MemoryCharge charge_;              // memory of `polygons_`
  bool is_first_chunk_ = true;       // true: no chunk has been written
  size_t next_ = 0;                  // index of the next polygon to be sent
  // where in the polygon with index `next_` the next piece begins; large polygons are sent in
  // pieces
  wire::PieceStart piece_;
  grpc::ServerAsyncWriter<grpc::ByteBuffer> writer_{&context_};
  EventOf<ExportCall, &ExportCall::OnAccepted> accepted_{this};
  EventOf<ExportCall, &ExportCall::OnWritten> written_{this};
  EventOf<ExportCall, &ExportCall::OnFinished> finished_{this};

  Timer::Id unread_timer_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t chunks_ ABSL_GUARDED_BY(mu_) = 0;  // number of chunks written so far
};

}  // namespace carom::server
