// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What operators see: the counters of calls and frames, the pages of the admin port, the log, and a
// reload of settings.
#include "server/base/metrics.h"

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/raw_client.h"
#include "server/base/log.h"
#include "server/base/refusals.h"
#include "server/fixture.h"
#include "server/probe.h"

namespace carom::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Many threads, also such that have ended, and two objects at once.
TEST(MetricsTest, SumsTheCountersOfAllThreads) {
  Metrics first;
  Metrics second;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < 1000; ++n) {
          first.Add(Counter::kWorkUnits, 2);
          second.AddCall(RpcMethod::kStream, absl::StatusCode::kNotFound,
                         std::chrono::microseconds(20));
          first.AddQueries(1, 3);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(first.Sum().of(Counter::kWorkUnits), 24000);
  EXPECT_EQ(first.Sum().queries[1], 36000);
  EXPECT_EQ(second.Sum().of(Counter::kWorkUnits), 0);
  const MetricSums sums = second.Sum();
  const auto stream = static_cast<size_t>(RpcMethod::kStream);
  EXPECT_EQ(sums.calls[stream][5], 12000);
  EXPECT_EQ(sums.call_times[stream].buckets[1], 12000);  // (10 us, 30 us]
  EXPECT_EQ(sums.call_times[stream].sum_ns, 12000 * 20000ull);
}

TEST(MetricsTest, AnObjectMayEndBeforeTheThreadsThatUsedIt) {
  std::thread thread;
  absl::Notification used, gone;
  {
    Metrics metrics;
    thread = std::thread([&] {
      metrics.Add(Counter::kCommits);
      used.Notify();
      gone.WaitForNotification();
    });
    used.WaitForNotification();
  }
  gone.Notify();
  thread.join();
}

class AdminTest : public ::testing::Test {
 protected:
  void Start(ServerOptions options = {}) {
    options.address = "127.0.0.1:0";
    options.admin_address = "127.0.0.1:0";
    options.threads = 2;
    options_ = options;
    auto server = Server::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
  }
  RawResponse Get(const std::string& path, const std::string& headers = "") {
    return RawClient(server_->admin_address()).Request("GET", path, headers);
  }
  // Whether the metrics have this line.
  bool Has(const std::string& line) { return absl::StrContains(Get("/metrics").body, line + "\n"); }
  void CreateScene() {
    Context context;
    v1::CreateSceneResponse response;
    ASSERT_TRUE(v1::SceneService::NewStub(channel_)
                    ->CreateScene(&context,
                                  FromText<v1::CreateSceneRequest>(absl::StrCat(
                                      R"(name: "scenes/a" polygons { )", Square(7, 0, 0), " }")),
                                  &response)
                    .ok());
  }

  ServerOptions options_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

// The RPC has the same lines, for clients that cannot reach the admin port.
TEST_F(AdminTest, MetricsAreAnRpcToo) {
  Start();
  CreateScene();
  Context context;
  v1::GetMetricsResponse response;
  ASSERT_TRUE(v1::SceneService::NewStub(channel_)->GetMetrics(&context, {}, &response).ok());
  EXPECT_THAT(response.text(),
              AllOf(HasSubstr("\ncarom_scenes 1\n"),
                    HasSubstr("\n# TYPE carom_calls_total counter\n"), Not(HasSubstr("scenes/a"))));
}

// Each counter has a cell of its own.
TEST(MetricsTest, CountersCountAlone) {
  for (size_t counter = 0; counter <= static_cast<size_t>(Counter::kJournalBytes); ++counter) {
    Metrics metrics;
    metrics.Add(static_cast<Counter>(counter), 7);
    MetricSums sums = metrics.Sum();
    ASSERT_LT(counter, sums.counters.size());
    EXPECT_EQ(std::exchange(sums.counters[counter], 0), 7u);
    EXPECT_THAT(sums.counters, ::testing::Each(0u));
    EXPECT_THAT(sums.queries, ::testing::Each(0u));
  }
}

TEST_F(AdminTest, CountsWhatHasHappened) {
  Start();
  CreateScene();
  v1::EvaluateResponse response;
  for (int i = 0; i < 3; ++i) {
    Context context;
    ASSERT_TRUE(v1::QueryService::NewStub(channel_)
                    ->Evaluate(&context, FromText<v1::EvaluateRequest>(R"(
            frame { groups { scene: "scenes/a"
                             points { x: [0, 9, nan] y: [0, 9, 0] }
                             segments { ax: -5 ay: 0 bx: 5 by: 0 } } })"),
                               &response)
                    .ok());
  }
  Context context;
  v1::GetSceneResponse missing;
  EXPECT_FALSE(
      v1::SceneService::NewStub(channel_)
          ->GetScene(&context, FromText<v1::GetSceneRequest>(R"(name: "scenes/b")"), &missing)
          .ok());
  // The server counts a call when it has ended, which may be after its client has the answer.
  for (const char* line :
       {R"(carom_calls_total{rpc="GetScene",code="NOT_FOUND"} 1)",
        R"(carom_calls_total{rpc="Evaluate",code="OK"} 3)",
        R"(carom_calls_total{rpc="CreateScene",code="OK"} 1)",
        R"(carom_frames_total{outcome="answered"} 3)", R"(carom_queries_total{kind="points"} 9)",
        R"(carom_queries_total{kind="segments"} 3)",
        R"(carom_items_refused_total{fault="not_accepted"} 3)",
        "carom_frame_duration_seconds_count 3", "carom_scenes 1", "carom_polygons 1",
        "carom_vertices 4", "carom_commits_total 1", "carom_ready 1",
        "carom_shadow_differences_total 0"}) {
    EXPECT_TRUE(Eventually([&] { return Has(line); })) << line;
  }
}

TEST_F(AdminTest, MetricsComeInBothForms) {
  Start();
  const RawResponse text = Get("/metrics");
  EXPECT_THAT(text.header("content-type"), HasSubstr("version=0.0.4"));
  EXPECT_THAT(text.body,
              AllOf(HasSubstr("# TYPE carom_calls_total counter\n"), Not(HasSubstr("# EOF"))));
  const RawResponse open =
      Get("/metrics", "Accept: application/openmetrics-text; version=1.0.0\r\n");
  EXPECT_THAT(open.header("content-type"), HasSubstr("application/openmetrics-text"));
  EXPECT_THAT(open.body, AllOf(HasSubstr("# TYPE carom_calls counter\n"),
                               HasSubstr(R"(carom_calls_total{rpc="Stream",code="OK"} 0)"),
                               HasSubstr(R"(carom_frame_duration_seconds_bucket{le="+Inf"} 0)"),
                               ::testing::EndsWith("# EOF\n")));
}

TEST_F(AdminTest, ShowsStateAndNoSecret) {
  const std::string file = ::testing::TempDir() + absl::StrCat("/admin-credentials-", getpid());
  std::ofstream(file) << "token 5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8 "
                         "acme admin\n";
  ServerOptions options;
  options.credentials = file;
  Start(options);
  EXPECT_EQ(Get("/healthz").body, "ok\n");
  EXPECT_EQ(Get("/readyz").body, "ready\n");
  EXPECT_EQ(Get("/version").body, absl::StrCat(Version(), "\n"));
  const RawResponse config = Get("/config");
  EXPECT_THAT(config.body, AllOf(HasSubstr(absl::StrCat("credentials = \"", file, "\"")),
                                 Not(HasSubstr("5e884898"))));
  EXPECT_EQ(Get("/other").status, 404);
  EXPECT_EQ(RawClient(server_->admin_address()).Request("POST", "/metrics").status, 405);
  EXPECT_TRUE(Probe(server_->admin_address()).ok());
  EXPECT_EQ(Probe("127.0.0.1:1").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Probe("off").code(), absl::StatusCode::kInvalidArgument);
  std::filesystem::remove(file);
}

TEST_F(AdminTest, IsNotReadyWhileItDrains) {
  ServerOptions options;
  options.drain_seconds = 60;
  Start(options);
  Context context;
  auto import = v1::SceneService::NewStub(channel_);
  v1::ImportSceneResponse response;
  const auto writer = import->ImportScene(&context, &response);  // holds the drain up
  ASSERT_TRUE(writer->Write(FromText<v1::ImportSceneRequest>(R"(name: "scenes/c")")));
  CreateScene();  // sent after the import on one connection: the server has received the import
  std::thread drain([&] { server_->Drain(); });
  EXPECT_TRUE(Eventually([&] { return Get("/readyz").status == 503; }));
  EXPECT_THAT(Get("/readyz").body, HasSubstr("draining"));
  EXPECT_EQ(Get("/healthz").status, 200);
  context.TryCancel();
  drain.join();
}

TEST_F(AdminTest, AReloadChangesLimitsAndNamesTheRest) {
  ServerOptions options;
  options.max_queries_per_frame = 10;
  Start(options);
  CreateScene();
  const auto evaluate = [&] {
    Context context;
    v1::EvaluateResponse response;
    return v1::QueryService::NewStub(channel_)
        ->Evaluate(&context, FromText<v1::EvaluateRequest>(R"(
            frame { groups { scene: "scenes/a" points { x: [0, 0, 0] y: [0, 0, 0] } } })"),
                   &response)
        .error_code();
  };
  EXPECT_EQ(evaluate(), grpc::StatusCode::OK);
  options_.max_queries_per_frame = 2;
  options_.max_scenes = 5;
  const ReloadResult result = server_->Reload(options_);
  EXPECT_THAT(result.changed, ::testing::ElementsAre("--max-queries-per-frame"));
  EXPECT_THAT(result.needs_restart, ::testing::ElementsAre("--max-scenes"));
  EXPECT_EQ(evaluate(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(Get("/config").body,
              AllOf(HasSubstr("max_queries_per_frame = 2\n"), HasSubstr("max_scenes = 1024\n")));
  EXPECT_GT(RefusalsBy(Limit::kFrame), 0);
}

TEST(LogTest, LinesAreJsonOrText) {
  ::testing::internal::CaptureStderr();
  SetLogLevel(LogLevel::kInfo);
  const uint64_t before = LoggedLines(LogLevel::kInfo);
  LogLine(LogLevel::kInfo, "an_event").With("text", "a \"b\"\n\xFF").With("number", uint64_t{7});
  LogLine(LogLevel::kDebug, "not_logged");
  SetLogFormat(false);
  LogLine(LogLevel::kInfo, "an_event").With("text", "a b");
  SetLogFormat(true);
  SetLogLevel(LogLevel::kWarning);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr(R"("level":"info","event":"an_event","text":"a \"b\"\n)"));
  EXPECT_THAT(text, HasSubstr(R"(,"number":7})"));
  EXPECT_THAT(text, HasSubstr(R"( info an_event text="a b")"));
  EXPECT_THAT(text, Not(HasSubstr("not_logged")));
  EXPECT_EQ(LoggedLines(LogLevel::kInfo), before + 2);
}

TEST(LogTest, AnEventThatIsOftenIsLimited) {
  LogLimiter limiter;
  uint64_t suppressed = 7;
  EXPECT_TRUE(limiter.Allow(suppressed));
  EXPECT_EQ(suppressed, 0);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(limiter.Allow(suppressed));
}

}  // namespace
}  // namespace carom::server
