// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One call of SceneService that has one request and one answer.
//
// No call holds a thread while it waits for its client, for another writer of its scene, or for its
// turn: it waits as bytes, which are parsed when a thread of the executor takes them. Calls that
// read have short requests, and are answered where they arrive.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_unary_call.h>

#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "server/scenes/scene_handler.h"
#include "server/store/watch_hub.h"
#include "server/store/writer_queue.h"
#include "server/transport/async_call.h"
#include "server/transport/event_loop.h"

namespace carom::server {

class SceneService;

// A part of an export or a watch ends with the polygon, or the piece of one, that reaches this: to
// encode so many bytes takes some 100 us of the event loop.
inline constexpr size_t kScenePartBytes = 64 << 10;

// What a call may take of the server; see ServerOptions.
struct SceneCallLimits {
  size_t max_message_bytes = 4u << 20;
  Clock::duration idle_import = std::chrono::seconds(300);
  Clock::duration stalled_answer = std::chrono::seconds(30);
  Clock::duration import_time = std::chrono::seconds(600);
  PolygonLimits polygons;
  SceneLimits scenes;
};

// What calls of SceneService work with. Outlives them; thread-safe, as each part is.
struct SceneRuntime {
  ForkStore& store;
  SceneHandler& handler;
  Executor& executor;
  WriterQueue& writers;
  WatchHub& hub;
  const CallContext calls;
  const CallContext watches;  // the same, with a limit of their own
  const SceneCallLimits limits;

  // RESOURCE_EXHAUSTED for a message that is too long. O(1).
  absl::Status CheckLength(const grpc::ByteBuffer& bytes) const;
};

// A unary method.
struct SceneMethod {
  using Writer = grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>;

  // Asks gRPC for a call.
  void (*request)(SceneService& service, grpc::ServerContext& context, grpc::ByteBuffer& bytes,
                  Writer& writer, grpc::ServerCompletionQueue& queue, Event* accepted);
  // Parses, which is charged to the peer of the bytes, answers and serializes.
  absl::Status (*handle)(const SceneRuntime& runtime, const Caller& caller,
                         const grpc::ByteBuffer& bytes, const MemoryCharge& of_bytes,
                         grpc::ByteBuffer& answer);
  // Runs on the executor, in turn with other writers of the scene; others run where they arrive.
  bool writes;
  Role least;  // that may call it
};

//   OnAccepted  the request is here, as a whole; the next call is waited for. `ok` false: the
//               server is shut down and no call comes.
//   Run         on an executor thread, as the only writer of the scene.
//   OnFinished  the answer is sent, or could not be.
//   CheckUnread on the timer's thread: the call ends whose client does not take its answer.
//   Drain       nothing: the request has been read, so it is answered.
class SceneCall final : public AsyncCall {
 public:
  // Takes one call of `method`, and each that follows, until the server is shut down.
  static void Accept(SceneService& service, EventLoop& loop, SceneRuntime& runtime,
                     const SceneMethod& method);

  void Run() override;
  void Drain() override {}

 private:
  SceneCall(SceneService& service, EventLoop& loop, SceneRuntime& runtime,
            const SceneMethod& method)
      : AsyncCall(loop, runtime.calls, 1), service_(service), runtime_(runtime), method_(method) {}
  ~SceneCall() override = default;

  void OnAccepted(bool ok);
  void Begin(const absl::Status& started);
  void OnFinished(bool);
  void CheckUnread();
  void Answer();
  void Finish(const absl::Status& status, const grpc::ByteBuffer& answer);

  SceneService& service_;
  SceneRuntime& runtime_;
  const SceneMethod& method_;
  // No lock: given to gRPC, one operation after the other; then of the thread that answers.
  grpc::ByteBuffer bytes_;
  MemoryCharge charge_;  // of bytes_
  SceneMethod::Writer writer_{&context_};
  std::string scene_;  // of a writer: its key
  EventOf<SceneCall, &SceneCall::OnAccepted> accepted_{this};
  EventOf<SceneCall, &SceneCall::OnFinished> finished_{this};

  MemoryCharge unread_charge_ ABSL_GUARDED_BY(mu_);  // of the answer
  Timer::Id unread_timer_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace carom::server
