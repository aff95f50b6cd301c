// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A caromd that is killed and started again has what it acknowledged.
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "carom/bundle.h"
#include "carom/client.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/server/fixture.h"
#include "tests/store/fixture.h"
#include "tests/support/process.h"
#include "tests/support/random.h"
#include "tests/support/repeats.h"

namespace carom::server {
namespace {

using carom::testing::ServerProcess;
using carom::testing::SplitMix64;

class CaromdStoreTest : public ::testing::Test {
 protected:
  void Start(const std::vector<std::string>& options = {}) {
    const char* binary = std::getenv("CAROMD_BINARY");
    ASSERT_NE(binary, nullptr) << "CAROMD_BINARY is not set: run this through ctest";
    std::vector<std::string> all{"--store",         "sqlite",    "--state-dir",
                                 folder_ / "state", "--threads", "2"};
    all.insert(all.end(), options.begin(), options.end());
    server_ = ServerProcess::Start(binary, all, 60.0, "unix:" + (folder_ / "socket"));
    ASSERT_NE(server_, nullptr);
    client_ = Client::Connect(server_->address()).value();
  }
  void Kill() {
    kill(server_->pid(), SIGKILL);
    server_.reset();
  }

  TemporaryFolder folder_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<Client> client_;
};

// One writer's view of its scene: polygon k is at 2k, and they are added in this order.
struct Writer {
  std::string name;
  std::atomic<uint64_t> acknowledged{0};
  std::atomic<uint64_t> version{0};
};

void Write(Client& client, Writer& writer, const std::atomic<bool>& stop) {
  while (!stop) {
    const uint64_t next = writer.acknowledged;
    const std::vector<SceneEdit> edits{AddPolygon{SquareAt(next, 2.0 * next)}};
    const auto scene = client.CommitEdits(writer.name, writer.version, edits,
                                          {.timeout = std::chrono::milliseconds(200)});
    if (!scene.ok()) return;
    writer.version = scene->version;
    writer.acknowledged = next + 1;
  }
}

// Whether the scene has exactly the first `count` squares.
void ExpectSquares(Client& client, const std::string& name, uint64_t count) {
  Frame frame;
  std::vector<double> x, y;
  for (uint64_t k = 0; k < count + 3; ++k) {
    x.push_back(2.0 * k + 0.5);
    y.push_back(0.5);
  }
  FrameGroup& group = frame.groups.emplace_back();
  group.scene = name;
  group.group.points = {.x = x, .y = y};
  const auto answer = client.Evaluate(frame);
  ASSERT_TRUE(answer.ok()) << answer.status();
  const auto& points = answer->groups[0].answers.points;
  ASSERT_EQ(points.polygon_ids.size(), count);
  for (uint64_t k = 0; k < count; ++k) ASSERT_EQ(points.polygon_ids[k], k);
}

// Nothing acknowledged is lost, nothing is half there, and what was under way is there or not.
TEST_F(CaromdStoreTest, KilledAtAnyMoment) {
  ASSERT_NO_FATAL_FAILURE(Start());
  std::vector<Writer> writers(4);
  for (size_t i = 0; i < writers.size(); ++i) {
    writers[i].name = absl::StrCat("scenes/w", i);
    const auto made = client_->CreateScene(writers[i].name, {});
    ASSERT_TRUE(made.ok()) << made.status();
    writers[i].version = made->version;
  }
  SplitMix64 random(1);
  for (int round = 0; round < carom::testing::Repeats(15, 1000); ++round) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (Writer& writer : writers) {
      threads.emplace_back([&] { Write(*client_, writer, stop); });
    }
    absl::SleepFor(absl::Milliseconds(5 + random.Next() % 150));
    stop = true;
    Kill();
    for (std::thread& thread : threads) thread.join();
    ASSERT_NO_FATAL_FAILURE(Start());
    for (Writer& writer : writers) {
      const auto scene = client_->GetScene(writer.name);
      ASSERT_TRUE(scene.ok()) << scene.status();
      ASSERT_GE(scene->version, writer.version) << round;
      const uint64_t added = scene->polygon_count - writer.acknowledged;
      ASSERT_LE(added, 1u) << round;
      ASSERT_EQ(added == 0, scene->version == writer.version) << round;
      ASSERT_NO_FATAL_FAILURE(ExpectSquares(*client_, writer.name, scene->polygon_count));
      writer.version = scene->version;
      writer.acknowledged = scene->polygon_count;
    }
  }
  EXPECT_GT(writers[0].acknowledged, 0u);
  EXPECT_EQ(server_->Stop(), 0);
}

// Of two writers on one base, one wins each time.
TEST_F(CaromdStoreTest, OneOfTwoWritersWins) {
  ASSERT_NO_FATAL_FAILURE(Start());
  uint64_t base = client_->CreateScene("scenes/a", {})->version;
  for (uint64_t round = 0; round < 50; ++round) {
    std::atomic<uint64_t> version{0};
    std::atomic<int> wins{0};
    std::vector<std::thread> threads;
    for (int writer = 0; writer < 2; ++writer) {
      threads.emplace_back([&, writer] {
        const std::vector<SceneEdit> edits{AddPolygon{SquareAt(2 * round + writer, writer)}};
        const auto scene = client_->CommitEdits("scenes/a", base, edits);
        if (scene.ok()) {
          ++wins;
          version = scene->version;
        } else {
          EXPECT_EQ(scene.status().code(), absl::StatusCode::kAborted) << scene.status();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(wins, 1);
    base = version;
  }
  EXPECT_EQ(client_->GetScene("scenes/a")->polygon_count, 50u);
  EXPECT_EQ(server_->Stop(), 0);
}

// A commit whose answer is lost can be sent again, also to the server's next life.
TEST_F(CaromdStoreTest, AnEditIsMadeOnce) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const auto stub = [&] {
    return v1::SceneService::NewStub(
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  };
  ASSERT_TRUE(client_->CreateScene("scenes/a", {}).ok());
  auto request = FromText<v1::CommitEditsRequest>(
      "name: 'scenes/a' edit_id: 'mine' edits { add { " + Square(7, 0, 0) + " } }");
  const auto commit = [&] {
    Context context;
    v1::CommitEditsResponse response;
    const grpc::Status status = stub()->CommitEdits(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.scene();
  };
  const v1::Scene first = commit();
  EXPECT_EQ(commit().SerializeAsString(), first.SerializeAsString());
  ASSERT_TRUE(client_->CommitEdits("scenes/a", 0, std::vector<SceneEdit>{RemovePolygon{7}}).ok());
  EXPECT_EQ(commit().SerializeAsString(), first.SerializeAsString());
  Kill();
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(commit().SerializeAsString(), first.SerializeAsString());
  EXPECT_EQ(client_->GetScene("scenes/a")->polygon_count, 0u);
  const auto versions = client_->ListSceneVersions("scenes/a");
  ASSERT_TRUE(versions.ok()) << versions.status();
  ASSERT_EQ(versions->size(), 3u);
  EXPECT_EQ((*versions)[1].edit_id, "mine");
  EXPECT_EQ((*versions)[1].scene.version, first.version());
  EXPECT_LT((*versions)[0].created, (*versions)[1].created);
  // Of a version its summary, and its polygons.
  const auto back = client_->RollbackScene("scenes/a", first.version());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->polygon_count, 1u);
  const auto exported = client_->ExportScene("scenes/a", first.version());
  ASSERT_TRUE(exported.ok()) << exported.status();
  ASSERT_EQ(exported->size(), 1u);
  EXPECT_EQ((*exported)[0].id(), 7u);
  const auto bundle = client_->ExportBundle("scenes/a", first.version());
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_EQ(bundle->scene.version, first.version());
  EXPECT_EQ(bundle->bytes, WriteBundle(**Scene::Create(*exported), BundleIndex::kNone));
  EXPECT_EQ(client_->ExportBundle("scenes/a", 1000000).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(client_->ExportScene("scenes/a", 1000000).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(client_->RollbackScene("scenes/a", 1000000).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(client_->RollbackScene("scenes/a", first.version(), first.version()).status().code(),
            absl::StatusCode::kAborted);
  request.set_edit_id(std::string(65, 'x'));
  Context context;
  v1::CommitEditsResponse response;
  EXPECT_TRUE(Refuses(stub()->CommitEdits(&context, request, &response),
                      absl::StatusCode::kInvalidArgument, "edit_id"));
  EXPECT_EQ(server_->Stop(), 0);
}

// What goes out comes in the same, in parts that nobody disturbs.
TEST_F(CaromdStoreTest, ExportsWhatImports) {
  ASSERT_NO_FATAL_FAILURE(Start());
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 20000; ++id) polygons.push_back(SquareAt(id, 2.0 * id, id % 50));
  polygons.push_back(Comb(1000000, 200000));
  ASSERT_TRUE(client_->ImportScene("scenes/a", polygons, carom::ImportMode::kCreate).ok());
  const auto first = client_->ExportScene("scenes/a");
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(first->size(), polygons.size());
  EXPECT_EQ((*first)[30].user_data(), polygons[30].user_data());
  ASSERT_TRUE(client_->ImportScene("scenes/b", *first, carom::ImportMode::kCreate).ok());
  Kill();
  ASSERT_NO_FATAL_FAILURE(Start());
  const auto second = client_->ExportScene("scenes/b");
  ASSERT_TRUE(second.ok()) << second.status();
  ASSERT_EQ(second->size(), polygons.size());
  for (size_t i = 0; i < polygons.size(); ++i) {
    ASSERT_TRUE(std::ranges::equal((*second)[i].vertices(), polygons[i].vertices())) << i;
    ASSERT_EQ((*second)[i].category(), polygons[i].category());
  }
  const auto bundle = client_->ExportBundle("scenes/b");
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_EQ(bundle->scene.polygon_count, polygons.size());
  const auto read = ReadBundle(bundle->bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(WriteBundle(**read, BundleIndex::kNone) ==
              WriteBundle(**Scene::Create(polygons), BundleIndex::kNone));
  EXPECT_EQ(client_->ExportBundle("scenes/none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(client_->ExportScene("scenes/none").status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(client_->CreateScene("scenes/empty", {}).ok());
  EXPECT_EQ(client_->ExportScene("scenes/empty")->size(), 0u);
  EXPECT_EQ(client_->ExportBundle("scenes/empty")->bytes, WriteBundle(**Scene::Create({})));
  EXPECT_EQ(server_->Stop(), 0);
}

// The client's own commits are sent again when the server is killed under them.
TEST_F(CaromdStoreTest, TheClientTriesAgain) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_TRUE(client_->CreateScene("scenes/a", {}).ok());
  std::unique_ptr<Client> client = std::move(client_);
  std::atomic<uint64_t> made{0};
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop) {
      const std::vector<SceneEdit> edits{AddPolygon{SquareAt(made, 2.0 * made)}};
      const auto scene = client->CommitEdits("scenes/a", 0, edits);
      ASSERT_TRUE(scene.ok()) << scene.status();
      ++made;
    }
  });
  for (int i = 0; i < 5; ++i) {
    absl::SleepFor(absl::Milliseconds(100));
    const uint64_t before = made;
    Kill();
    ASSERT_NO_FATAL_FAILURE(Start());
    EXPECT_TRUE(Eventually([&] { return made > before; })) << i;
  }
  stop = true;
  writer.join();
  ExpectSquares(*client, "scenes/a", made);
  EXPECT_EQ(server_->Stop(), 0);
}

// Whether a process may have mounts of its own.
bool MayMount() {
  return carom::testing::RunProcess({"unshare", "--map-root-user", "--mount", "true"}, "", 20)
             .exit_code == 0;
}

// A disk of 6 MiB, 3 of which are taken at first: a commit for which there is no room is refused
// and changes nothing, and the next one is made once there is room again.
TEST_F(CaromdStoreTest, AFullDisk) {
  if (!MayMount()) GTEST_SKIP() << "no mount namespaces here";
  const std::string disk = folder_ / "disk", script = folder_ / "caromd.sh";
  std::filesystem::create_directory(disk);
  std::ofstream(script) << "#!/bin/sh\nexport DISK='" << disk
                        << "'\nexec unshare --map-root-user --mount sh -c '"
                           "mount -t tmpfs -o size=6m tmpfs \"$DISK\" && "
                           "head -c 3145728 /dev/zero >\"$DISK/ballast\" && exec \"$0\" \"$@\"' '"
                        << std::getenv("CAROMD_BINARY") << "' \"$@\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const auto server = ServerProcess::Start(
      script, {"--store", "sqlite", "--state-dir", disk + "/state", "--threads", "2"}, 60.0,
      "unix:" + (folder_ / "disk.socket"));
  ASSERT_NE(server, nullptr);
  const auto client = Client::Connect(server->address()).value();
  ASSERT_TRUE(client->CreateScene("scenes/a", std::vector<Polygon>{SquareAt(0, 0)}).ok());

  uint64_t squares = 1, version = 0;
  const auto add = [&](std::vector<SceneEdit> edits) {
    edits.emplace_back(AddPolygon{SquareAt(squares, 2.0 * squares)});
    const auto made = client->CommitEdits("scenes/a", version, edits);
    if (!made.ok()) return made.status();
    version = made->version;
    ++squares;
    return absl::OkStatus();
  };
  absl::Status full;
  for (uint64_t id = 100000; full.ok() && id < 130000;) {
    std::vector<SceneEdit> edits;
    for (int i = 0; i < 300; ++i) edits.emplace_back(AddPolygon{SquareAt(id++, -9, 2000)});
    full = add(std::move(edits));
  }
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted) << full;
  ASSERT_NO_FATAL_FAILURE(ExpectSquares(*client, "scenes/a", squares));
  EXPECT_EQ(client->GetScene("scenes/a")->version, version);

  const std::string seen = absl::StrCat("/proc/", server->pid(), "/root", disk);
  std::filesystem::remove(seen + "/ballast");
  EXPECT_TRUE(add({}).ok());
  std::filesystem::copy(seen + "/state", folder_ / "state");
  ASSERT_NO_FATAL_FAILURE(Start());  // with what the disk has
  EXPECT_EQ(client_->GetScene("scenes/a")->version, version);
  ASSERT_NO_FATAL_FAILURE(ExpectSquares(*client_, "scenes/a", squares));
}

// While scenes are read there is nothing to drain.
TEST_F(CaromdStoreTest, AStopWhileScenesAreRead) {
  ASSERT_NO_FATAL_FAILURE(Start());
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 1000000; ++id) polygons.push_back(SquareAt(id, 2.0 * id));
  ASSERT_TRUE(client_->ImportScene("scenes/a", polygons, ImportMode::kReplace).ok());
  ASSERT_EQ(server_->Stop(), 0);
  // SIGTERM as soon as it is not deadly any more; where the host delays it until the scenes are
  // read, once more.
  carom::testing::ProcessResult stopped;
  const auto was_starting = [&] {
    return absl::StrContains(stopped.standard_error, "stopped during startup");
  };
  for (int attempt = 0; attempt < 3 && !was_starting(); ++attempt) {
    stopped = carom::testing::RunProcess(
        {"sh", "-c",
         "\"$@\" & while kill -0 $! && ! grep -q 'SigBlk:.*4003' /proc/$!/status; do :; done; "
         "kill $!; wait $!",
         "sh", std::getenv("CAROMD_BINARY"), "--address", "127.0.0.1:0", "--store", "sqlite",
         "--state-dir", folder_ / "state"},
        "", 20);
    EXPECT_EQ(stopped.exit_code, 0);
  }
  EXPECT_TRUE(was_starting()) << stopped.standard_error;
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(client_->GetScene("scenes/a")->polygon_count, polygons.size());
}

using Call = std::function<grpc::Status(grpc::ClientContext&)>;

// What each of `calls` ends with, all made at once, by clients that wait for so long.
std::vector<grpc::StatusCode> CodesOf(std::span<const Call> calls, std::chrono::milliseconds time) {
  std::vector<grpc::StatusCode> codes(calls.size());
  std::vector<std::thread> clients;
  for (size_t i = 0; i < codes.size(); ++i) {
    clients.emplace_back([&, i] {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + time);
      codes[i] = calls[i](context).error_code();
    });
  }
  for (std::thread& client : clients) client.join();
  return codes;
}

// The codes of one call of each kind whose client waits for so long.
std::vector<grpc::StatusCode> HastyCalls(const std::shared_ptr<grpc::Channel>& channel,
                                         std::chrono::milliseconds time) {
  const auto scenes = v1::SceneService::NewStub(channel);
  const auto queries = v1::QueryService::NewStub(channel);
  const Call calls[] = {[&](grpc::ClientContext& context) {
                          v1::GetSceneRequest request;
                          request.set_name("scenes/a");
                          v1::GetSceneResponse response;
                          return scenes->GetScene(&context, request, &response);
                        },
                        [&](grpc::ClientContext& context) {
                          v1::CommitEditsRequest request;
                          request.set_name("scenes/a");
                          v1::CommitEditsResponse response;
                          return scenes->CommitEdits(&context, request, &response);
                        },
                        [&](grpc::ClientContext& context) {
                          v1::ImportSceneResponse response;
                          const auto writer = scenes->ImportScene(&context, &response);
                          v1::ImportSceneRequest part;
                          part.set_name("scenes/b");
                          writer->Write(part);
                          writer->WritesDone();
                          return writer->Finish();
                        },
                        [&](grpc::ClientContext& context) {
                          v1::ExportSceneRequest request;
                          request.set_name("scenes/a");
                          v1::ExportSceneResponse response;
                          const auto reader = scenes->ExportScene(&context, request);
                          reader->Read(&response);
                          return reader->Finish();
                        },
                        [&](grpc::ClientContext& context) {
                          v1::WatchSceneRequest request;
                          request.set_name("scenes/a");
                          v1::WatchSceneResponse response;
                          const auto reader = scenes->WatchScene(&context, request);
                          reader->Read(&response);
                          return reader->Finish();
                        },
                        [&](grpc::ClientContext& context) {
                          v1::EvaluateResponse response;
                          return queries->Evaluate(&context, {}, &response);
                        },
                        [&](grpc::ClientContext& context) {
                          v1::StreamResponse response;
                          const auto stream = queries->Stream(&context);
                          stream->Write({});
                          stream->Read(&response);
                          return stream->Finish();
                        }};
  return CodesOf(calls, time);
}

// What clients were answered while a server read its scenes.
struct AnsweredMeanwhile {
  size_t not_serving = 0;  // by the health service
  size_t unavailable = 0;  // to other calls
};

// Calls the server at `address` until `serves` becomes true. A patient call gets `polygon_count`,
// others have `time`.
AnsweredMeanwhile CallUntilServed(const std::string& address, uint64_t polygon_count,
                                  std::chrono::milliseconds time, const std::atomic<bool>& serves) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  const auto channel =
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  const auto health = grpc::health::v1::Health::NewStub(channel);
  const auto scenes = v1::SceneService::NewStub(channel);
  AnsweredMeanwhile answered;
  while (!serves) {
    Context context;
    grpc::health::v1::HealthCheckResponse state;
    if (!health->Check(&context, {}, &state).ok()) continue;
    if (state.status() != grpc::health::v1::HealthCheckResponse::NOT_SERVING) continue;
    ++answered.not_serving;
    const std::vector<grpc::StatusCode> codes = HastyCalls(channel, time);
    // A server that answers a call has read its scenes, also where `serves` is set later.
    if (serves || std::ranges::count(codes, grpc::StatusCode::OK) != 0) break;
    for (const grpc::StatusCode code : codes) {
      // A client that the system gives no time may see its own deadline first.
      EXPECT_TRUE(code == grpc::StatusCode::UNAVAILABLE ||
                  code == grpc::StatusCode::DEADLINE_EXCEEDED)
          << code;
      answered.unavailable += code == grpc::StatusCode::UNAVAILABLE ? 1 : 0;
    }
    Context patient;
    v1::GetSceneRequest request;
    request.set_name("scenes/a");
    v1::GetSceneResponse response;
    EXPECT_TRUE(scenes->GetScene(&patient, request, &response).ok());
    EXPECT_EQ(response.scene().polygon_count(), polygon_count);
  }
  return answered;
}

// From the first connection on health says that nobody is served; a call waits for its answer as
// long as it may, is UNAVAILABLE then, and never learns that a scene is missing. Story: it ended
// as any call that takes too long, so that its client went on waiting for the same server. On a
// busy host a server may have read its scenes before a client connects, and on a fast one before
// the calls end: it is started again then, and calls have half the time.
TEST_F(CaromdStoreTest, CallsWaitWhileScenesAreRead) {
  ASSERT_NO_FATAL_FAILURE(Start());
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 600000; ++id) polygons.push_back(SquareAt(id, 2.0 * id));
  ASSERT_TRUE(client_->ImportScene("scenes/a", polygons, ImportMode::kReplace).ok());
  const std::string address = server_->address();
  AnsweredMeanwhile answered;
  for (int start = 0; start < 8 && answered.unavailable < 5; ++start) {  // of seven
    ASSERT_EQ(server_->Stop(), 0);
    std::atomic<bool> serves{false};
    std::thread starter([&] {
      Start();
      serves = true;
    });
    // As soon as there is somebody to connect to.
    EXPECT_TRUE(Eventually([&] { return std::filesystem::exists(folder_ / "socket"); }));
    const std::chrono::milliseconds time(std::max(30, 400 >> start));
    answered = CallUntilServed(address, polygons.size(), time, serves);
    starter.join();
  }
  EXPECT_GT(answered.not_serving, 0u);
  EXPECT_GE(answered.unavailable, 5u);
  EXPECT_EQ(server_->Stop(), 0);
}

// Nobody has to ask for a store that lasts, nor say where.
TEST_F(CaromdStoreTest, ScenesAreKeptWithoutBeingAsked) {
  const auto start = [&] {
    return ServerProcess::Start(std::getenv("CAROMD_BINARY"), {"--threads", "2"}, 60.0,
                                "unix:" + (folder_ / "socket"));
  };
  unsetenv("CAROM_STORE");
  setenv("STATE_DIRECTORY", (folder_ / "systemd").c_str(), 1);
  auto server = start();
  ASSERT_NE(server, nullptr);
  ASSERT_TRUE((*Client::Connect(server->address()))
                  ->CreateScene("scenes/a", std::vector<Polygon>{SquareAt(1, 0)})
                  .ok());
  kill(server->pid(), SIGKILL);
  server.reset();
  server = start();
  unsetenv("STATE_DIRECTORY");
  ASSERT_NE(server, nullptr);
  EXPECT_TRUE((*Client::Connect(server->address()))->GetScene("scenes/a").ok());
  EXPECT_TRUE(std::filesystem::exists(folder_ / "systemd/scenes.sqlite"));
  EXPECT_EQ(server->Stop(), 0);
}

TEST_F(CaromdStoreTest, ASecondProcessIsRefused) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const auto second =
      carom::testing::RunProcess({std::getenv("CAROMD_BINARY"), "--address", "127.0.0.1:0",
                                  "--store", "sqlite", "--state-dir", folder_ / "state"},
                                 "", 20);
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_EQ(second.standard_error,
            "caromd: the store in " + (folder_ / "state") + " is used by another process\n");
  EXPECT_EQ(server_->Stop(), 0);
}

}  // namespace
}  // namespace carom::server
