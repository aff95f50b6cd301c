// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does caromd add to what gRPC takes? A thousand streams of sixty frames a second each, to
// caromd and to a server that sends back what it gets, in turns.

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "carom/cast.h"
#include "carom/client.h"
#include "carom/v1/query_service.pb.h"
#include "client/load/cpu_clock.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"
#include "tests/support/process.h"

namespace carom::bench {
namespace {

using testing::ServerProcess;
using Clock = std::chrono::steady_clock;

constexpr char kScene[] = "scenes/bench";
constexpr double kRate = 60;  // frames a second of a stream
constexpr size_t kConnections = 10;

class PacedStream;

// An operation of a stream, as gRPC gives it back.
struct Operation {
  PacedStream* stream;
  void (PacedStream::*done)(bool ok);
};

// Sends the same bytes again and again, and measures from when they were due.
class PacedStream {
 public:
  PacedStream(grpc::GenericStub& stub, grpc::CompletionQueue& queue, grpc::ByteBuffer request)
      : request_(std::move(request)),
        call_(stub.PrepareCall(&context_, "/carom.v1.QueryService/Stream", &queue)) {
    call_->StartCall(&started_);
  }

  void Send(Clock::time_point due, std::vector<double>& latencies) {
    latencies_ = &latencies;
    due_.push_back(due);
    if (due_.size() == 1) call_->Write(request_, &written_);
  }
  void Cancel() {
    context_.TryCancel();
    call_->Finish(&status_, &finished_);
  }
  size_t unanswered() const { return due_.size(); }

 private:
  void OnStarted(bool ok) {
    if (!ok) std::abort();
  }
  void OnWritten(bool ok) {
    if (!ok) std::abort();
    call_->Read(&answer_, &read_);
  }
  void OnRead(bool ok) {
    if (!ok) std::abort();
    const std::chrono::duration<double, std::nano> latency = Clock::now() - due_.front();
    latencies_->push_back(latency.count());
    due_.pop_front();
    if (!due_.empty()) call_->Write(request_, &written_);
  }
  void OnFinished(bool) {}

  grpc::ClientContext context_;
  const grpc::ByteBuffer request_;
  grpc::ByteBuffer answer_;
  grpc::Status status_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  std::deque<Clock::time_point> due_;  // frames that are not answered; the first one is under way
  std::vector<double>* latencies_ = nullptr;
  Operation started_{this, &PacedStream::OnStarted};
  Operation written_{this, &PacedStream::OnWritten};
  Operation read_{this, &PacedStream::OnRead};
  Operation finished_{this, &PacedStream::OnFinished};
};

// Streams to one server, on one thread.
class Streams {
 public:
  Streams(const ServerProcess& server, const std::vector<grpc::ByteBuffer>& requests)
      : clock_(*load::CpuClock::Of(server.pid())) {
    for (size_t c = 0; c < kConnections; ++c) {
      grpc::ChannelArguments arguments;
      arguments.SetInt("connection", static_cast<int>(c));  // so that channels do not share one
      stubs_.push_back(std::make_unique<grpc::GenericStub>(grpc::CreateCustomChannel(
          server.address(), grpc::InsecureChannelCredentials(), arguments)));
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      streams_.push_back(
          std::make_unique<PacedStream>(*stubs_[i % kConnections], queue_, requests[i]));
    }
    for (size_t i = 0; i < streams_.size(); ++i) Handle(Clock::time_point::max());
  }
  ~Streams() {
    for (const auto& stream : streams_) stream->Cancel();
    for (size_t i = 0; i < streams_.size(); ++i) Handle(Clock::time_point::max());
    queue_.Shutdown();
    while (Handle(Clock::time_point::max())) {
    }
  }

  struct Cost {
    double cpu_ns;  // of the server, a frame
    double p99_ns;
  };
  Cost Run(double seconds) {
    const auto frames = static_cast<size_t>(seconds * kRate * streams_.size());
    const std::chrono::duration<double> step(1 / (kRate * streams_.size()));
    std::vector<double> latencies;
    latencies.reserve(frames);
    const double cpu = clock_.Seconds().value_or(0);
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < frames; ++i) {
      const auto due =
          start + std::chrono::duration_cast<Clock::duration>(step * static_cast<double>(i));
      while (Handle(due)) {
      }
      streams_[i % streams_.size()]->Send(due, latencies);
    }
    while (latencies.size() < frames) Handle(Clock::time_point::max());
    const double cpu_ns = (clock_.Seconds().value_or(0) - cpu) * 1e9;
    std::ranges::sort(latencies);
    return {cpu_ns / static_cast<double>(frames), latencies[frames * 99 / 100]};
  }

 private:
  // One event; false if none comes by then.
  bool Handle(Clock::time_point by) {
    void* tag = nullptr;
    bool ok = false;
    const auto deadline = by == Clock::time_point::max()
                              ? std::chrono::system_clock::time_point::max()
                              : std::chrono::system_clock::now() +
                                    std::chrono::duration_cast<std::chrono::system_clock::duration>(
                                        by - Clock::now());
    if (queue_.AsyncNext(&tag, &ok, deadline) != grpc::CompletionQueue::GOT_EVENT) return false;
    const auto* operation = static_cast<const Operation*>(tag);
    (operation->stream->*operation->done)(ok);
    return true;
  }

  load::CpuClock clock_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<grpc::GenericStub>> stubs_;
  std::vector<std::unique_ptr<PacedStream>> streams_;
};

// A frame of `bullets` short segments, another one for each stream.
std::vector<grpc::ByteBuffer> Requests(const Segments& all, size_t streams, size_t bullets) {
  std::vector<grpc::ByteBuffer> requests;
  for (size_t i = 0; i < streams; ++i) {
    v1::StreamRequest request;
    v1::Group& group = *request.mutable_frame()->add_groups();
    group.set_scene(kScene);
    v1::SegmentCasts& segments = *group.mutable_segments();
    for (size_t b = 0; b < bullets; ++b) {
      const size_t at = (i * bullets + b) % all.size();
      segments.add_ax(all.ax[at]);
      segments.add_ay(all.ay[at]);
      segments.add_bx(all.bx[at]);
      segments.add_by(all.by[at]);
    }
    const grpc::Slice slice(request.SerializeAsString());
    requests.emplace_back(&slice, 1);
  }
  return requests;
}

// The library's own time for as many, in batches as large as the frames'.
double LibraryNanoseconds(const Scene& scene, const Segments& all, size_t bullets) {
  CastAnswers answers;
  const double start = ThreadNanoseconds();
  size_t frames = 0;
  for (size_t at = 0; at + bullets <= all.size(); at += bullets, ++frames) {
    const auto part = [&](const std::vector<double>& column) {
      return std::span<const double>(column).subspan(at, bullets);
    };
    WorkMeter meter;
    CastSegments(scene, {part(all.ax), part(all.ay), part(all.bx), part(all.by)}, {}, answers,
                 meter);
  }
  return (ThreadNanoseconds() - start) / static_cast<double>(frames);
}

}  // namespace

void RunPacedStreams(Bench& bench) {
  if (!bench.Wants("service_streams_over_echo")) return;
  bench.report.Title("service_streams_over_echo");
  const World world = DenseWorld(bench.quick ? 10000 : 100000);
  const std::vector<Polygon> polygons = MakePolygons(world.polygons);
  const Scene::Ptr scene = MakeScene(polygons);
  const Segments all = FreeSegments(world, 65536, kCell, 5);
  const auto caromd = ServerProcess::Start(CAROMD_BINARY, {"--threads", "1"});
  const auto echo = ServerProcess::Start(ECHO_BINARY);
  if (caromd == nullptr || echo == nullptr) return;
  {
    const auto client = Client::Connect(caromd->address());
    if (!client.ok() || !(*client)->ImportScene(kScene, polygons, ImportMode::kReplace).ok()) {
      std::abort();
    }
  }
  for (const size_t bullets : {1, 16}) {
    const auto requests = Requests(all, bench.quick ? 200 : 1000, bullets);
    Streams ours(*caromd, requests), theirs(*echo, requests);
    const double seconds = bench.quick ? 0.5 : 2;
    std::vector<double> cpu, p99, echo_cpu, echo_p99, library;
    ours.Run(seconds);
    theirs.Run(seconds);
    for (int round = 0; round < bench.rounds(); ++round) {
      const Streams::Cost a = ours.Run(seconds), b = theirs.Run(seconds);
      cpu.push_back(a.cpu_ns);
      p99.push_back(a.p99_ns);
      echo_cpu.push_back(b.cpu_ns);
      echo_p99.push_back(b.p99_ns);
      library.push_back(LibraryNanoseconds(*scene, all, bullets));
    }
    const std::string name = absl::StrCat("service_streams_over_echo_", bullets);
    bench.report.Add({name + "_cpu", Median(cpu) - Median(library), "echo", Median(echo_cpu),
                      RatioAtMost(1.1),
                      absl::StrFormat("ns of the server's CPU a frame, less %.0f of the library's",
                                      Median(library))});
    bench.report.Add({name + "_p99", Median(p99), "echo", Median(echo_p99), RatioAtMost(1.5),
                      "ns from when a frame was due"});
  }
}

}  // namespace carom::bench
