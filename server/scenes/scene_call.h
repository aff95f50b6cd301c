// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does the server run a unary call of SceneService?
//
// A call that waits for its client, for another writer of its scene or for an executor thread holds
// no thread: the server keeps the bytes of its request, and an executor thread parses the bytes
// when it runs the call. Methods that only read have short requests; the event loop thread that
// receives such a request answers it, unless the call's peer (its client address or tenant) has
// used too much of the event loop's time, or the method takes long: then an executor thread answers
// it.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_unary_call.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "server/base/live_value.h"
#include "server/scenes/scene_handler.h"
#include "server/store/watch_hub.h"
#include "server/store/writer_queue.h"
#include "server/transport/async_call.h"
#include "server/transport/event_loop.h"

namespace carom::server {

class SceneService;

// Size from which on ExportScene and WatchScene add no further polygon, or piece of a polygon, to a
// chunk (a message of the stream): encoding this many bytes takes a thread of the event loop about
// 100 us.
inline constexpr size_t kSceneChunkBytes = 64 << 10;

// The limits of one call of SceneService. The members have the meaning of those in `ServerOptions`
// (server/options.h).
struct SceneCallLimits {
  size_t max_message_bytes = 4u << 20;
  Clock::duration idle_import = std::chrono::seconds(300);
  Clock::duration stalled_answer = std::chrono::seconds(30);
  Clock::duration import_time = std::chrono::seconds(600);
  PolygonLimits polygons;
  SceneLimits scenes;
};

// The objects and limits that all calls of SceneService share. Outlives the calls. Thread-safe, as
// each member is.
struct SceneRuntime {
  ForkStore& store;
  SceneHandler& handler;
  Executor& executor;
  WriterQueue& writers;
  WatchHub& hub;
  const CallContext calls;
  // like `calls`, but for WatchScene calls, which count against a limit of their own
  const CallContext watches;
  const LiveValue<SceneCallLimits>& limits;
  const std::function<std::string()> metrics;  // the page of `/metrics`; thread-safe

  // Returns RESOURCE_EXHAUSTED if `bytes` are more than `max_message_bytes`. O(1).
  absl::Status CheckLength(const grpc::ByteBuffer& bytes) const;
};

// What a unary method may use while it answers a call.
struct SceneCallUse {
  // The memory of the request's bytes, whose peer is charged for further memory.
  const MemoryCharge& bytes_charge;
  // Returns whether the call is over; a long method then stops soon.
  const std::function<bool()>& is_over;
};

// A unary method of SceneService: how it is requested from gRPC and answered.
struct SceneMethod {
  RpcMethod rpc;

  using Writer = grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>;

  // Requests the next call of the method from gRPC, which triggers the event `accepted` when the
  // call arrives.
  void (*request)(SceneService& service, grpc::ServerContext& context, grpc::ByteBuffer& bytes,
                  Writer& writer, grpc::ServerCompletionQueue& queue, Event* accepted);
  // Parses the request `bytes`, runs the method and serializes its response into `answer`.
  absl::Status (*handle)(const SceneRuntime& runtime, const Caller& caller,
                         const grpc::ByteBuffer& bytes, const SceneCallUse& use,
                         grpc::ByteBuffer& answer);
  // True: the method writes to a scene, and an executor thread runs it, after earlier writers of
  // the scene. False: the thread that receives the call runs the method, or the executor if the
  // call's peer (client address or tenant) has used too much of the event loop's time.
  bool writes;
  Role required_role;    // the least role that may call the method
  bool is_long = false;  // a method that only reads, and that an executor thread always runs
};

// One unary call of SceneService. Its events:
//
//   OnAccepted  The whole request has arrived; requests the next call from gRPC. `ok` false: the
//               server is shut down and no call arrives.
//   Run         Answers the call on an executor thread; a writing method is the only writer of the
//               scene meanwhile.
//   OnFinished  gRPC has sent the answer, or could not send it.
//   OnDone      Of a long method: the call is over, possibly since the client has cancelled it.
//   CheckUnread On the timer's thread: ends the call if the client does not read its answer within
//               `SceneCallLimits::stalled_answer`.
//   Drain       Does nothing: the request has been read, so the call is answered.
class SceneCall final : public AsyncCall {
 public:
  // Accepts calls of `method`, one after the other, until the server is shut down.
  static void Accept(SceneService& service, EventLoop& loop, SceneRuntime& runtime,
                     const SceneMethod& method);

  void Run() override;
  void Drain() override {}

 private:
  SceneCall(SceneService& service, EventLoop& loop, SceneRuntime& runtime,
            const SceneMethod& method)
      : AsyncCall(loop, runtime.calls, method.rpc, 1),
        service_(service),
        runtime_(runtime),
        method_(method) {}
  ~SceneCall() override = default;

  bool IsLate() const { return context_.deadline() <= std::chrono::system_clock::now(); }
  // Whether the client has cancelled the call, or its deadline has passed.
  bool IsOver() const { return is_done_.load(std::memory_order_relaxed) || IsLate(); }

  void OnAccepted(bool ok);
  void Begin(const absl::Status& started);
  void OnFinished(bool);
  void OnDone(bool);
  void CheckUnread();
  void Answer();
  void LogChange() const;
  void Finish(const absl::Status& status, const grpc::ByteBuffer& answer);

  SceneService& service_;
  SceneRuntime& runtime_;
  const SceneMethod& method_;
  // The members from here to `finished_` need no lock: gRPC uses them for one operation at a time,
  // and after the operation only the thread that answers the call uses them.
  grpc::ByteBuffer bytes_;
  MemoryCharge charge_;  // memory of `bytes_`
  SceneMethod::Writer writer_{&context_};
  std::string scene_;  // key of the scene that a writing method changes
  EventOf<SceneCall, &SceneCall::OnAccepted> accepted_{this};
  EventOf<SceneCall, &SceneCall::OnFinished> finished_{this};
  EventOf<SceneCall, &SceneCall::OnDone> done_{this};
  std::atomic<bool> is_done_ = false;

  // memory of the answer, until gRPC has sent it
  MemoryCharge unread_charge_ ABSL_GUARDED_BY(mu_);
  Timer::Id unread_timer_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace carom::server
