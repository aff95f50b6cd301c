// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Timer, executor, writer queue and version gate.
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <system_error>

#include "absl/strings/str_join.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "server/base/timer.h"
#include "server/store/memory_store.h"
#include "server/store/version_gate.h"
#include "server/store/writer_queue.h"
#include "server/transport/executor.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

constexpr absl::Duration kWait = absl::Seconds(30);

TEST(TimerTest, CallsInTheOrderOfTimes) {
  std::vector<int> order;
  absl::Notification done;
  Timer timer;
  const Clock::time_point now = Clock::now();
  timer.Schedule(now + milliseconds(30), [&] { done.Notify(); });
  timer.Schedule(now + milliseconds(20), [&] { order.push_back(2); });
  timer.Schedule(now + milliseconds(10), [&] { order.push_back(1); });
  timer.Schedule(now, [&] { order.push_back(0); });
  ASSERT_TRUE(done.WaitForNotificationWithTimeout(kWait));
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  EXPECT_GE(Clock::now() - now, milliseconds(30));
}

// The thread sleeps until the first of the calls that it knows of, dropped or not, and is woken for
// an earlier one alone.
TEST(TimerTest, DroppedCallsNeitherDelayNorHurryOthers) {
  Timer timer;
  const Timer::Id far = timer.Schedule(Clock::now() + hours(1), [] { FAIL(); });
  EXPECT_TRUE(timer.Cancel(far));
  for (const int delay_ms : {20, 1, 10}) {
    // One that is due before it could be dropped says nothing about dropped ones: once more then.
    Clock::time_point when;
    bool dropped = false;
    for (int attempt = 0; attempt < 100 && !dropped; ++attempt) {
      const Clock::time_point due = Clock::now() + milliseconds(delay_ms);
      when = due + milliseconds(1);
      dropped = timer.Cancel(timer.Schedule(due, [] {}));
    }
    ASSERT_TRUE(dropped);
    absl::Notification ran;
    timer.Schedule(when, [&] { ran.Notify(); });
    ASSERT_TRUE(ran.WaitForNotificationWithTimeout(kWait));
    EXPECT_GE(Clock::now(), when);
  }
}

TEST(TimerTest, CancelSaysWhetherItCameInTime) {
  Timer timer;
  const Timer::Id far = timer.Schedule(Clock::now() + hours(1), [] { FAIL(); });
  EXPECT_TRUE(timer.Cancel(far));
  EXPECT_FALSE(timer.Cancel(far));
  absl::Notification ran;
  const Timer::Id near = timer.Schedule(Clock::now(), [&] { ran.Notify(); });
  ASSERT_TRUE(ran.WaitForNotificationWithTimeout(kWait));
  EXPECT_FALSE(timer.Cancel(near));
}

TEST(TimerTest, CancelAndWaitWaitsForARunningCall) {
  Timer timer;
  absl::Notification begun;
  absl::Notification go;
  std::atomic<bool> ended{false};
  const Timer::Id id = timer.Schedule(Clock::now(), [&] {
    begun.Notify();
    go.WaitForNotificationWithTimeout(kWait);
    ended = true;
  });
  ASSERT_TRUE(begun.WaitForNotificationWithTimeout(kWait));
  std::thread releaser([&] { go.Notify(); });
  timer.CancelAndWait(id);
  EXPECT_TRUE(ended);
  releaser.join();
}

class Note final : public Task {
 public:
  void Run() override {
    ++runs_;
    ran_.Notify();
  }
  bool Await() { return ran_.WaitForNotificationWithTimeout(kWait); }
  int runs() const { return runs_; }
  bool has_run() const { return ran_.HasBeenNotified(); }

 private:
  std::atomic<int> runs_{0};
  absl::Notification ran_;
};

TEST(ExecutorTest, RunsWhatIsQueuedBeforeItEnds) {
  std::vector<std::unique_ptr<Note>> notes;
  {
    Executor executor(2);
    EXPECT_EQ(executor.task_count(), 2);
    for (int i = 0; i < 100; ++i) {
      notes.push_back(std::make_unique<Note>());
      executor.Submit(notes.back().get());
    }
  }
  for (const auto& note : notes) EXPECT_EQ(note->runs(), 1);
}

constexpr int64_t kAllWork = 1000000000;

// Runs two streams of tasks on one thread, one of which costs ten times as much. Sets what each has
// got when the other one has got all its work.
void ShareAThread(int64_t& of_light, int64_t& of_heavy) {
  struct Worker final : Task {
    void Run() override {
      absl::MutexLock lock(&mu);
      served += work;
      if (served < kAllWork) return executor->Submit(this, work);
      others = other->served;
      done.Notify();
    }
    Executor* executor = nullptr;
    int64_t work = 0;
    std::atomic<int64_t> served = 0;
    Worker* other = nullptr;
    int64_t others = 0;  // at this one's end
    absl::Mutex mu;
    absl::Notification done;
  };
  Worker light, heavy;
  {
    Executor executor(1);
    light.executor = heavy.executor = &executor;
    light.work = 1000000;
    heavy.work = 10000000;
    light.other = &heavy;
    heavy.other = &light;
    // The thread begins with neither before both are there.
    absl::Notification both;
    struct Gate final : Task {
      explicit Gate(absl::Notification& go) : go(go) {}
      void Run() override { go.WaitForNotificationWithTimeout(kWait); }
      absl::Notification& go;
    } gate(both);
    executor.Submit(&gate);
    executor.Submit(&heavy);
    executor.Submit(&light);
    both.Notify();
    ASSERT_TRUE(light.done.WaitForNotificationWithTimeout(kWait));
    ASSERT_TRUE(heavy.done.WaitForNotificationWithTimeout(kWait));
  }
  EXPECT_EQ(light.served, kAllWork);
  of_heavy = light.others;
  of_light = heavy.others;
}

// Each gets half. The time of a processor counts, too, in which a virtual host may stand still: the
// best of three.
TEST(ExecutorTest, ThreadsAreSharedByWork) {
  int64_t of_light = 0, of_heavy = 0;
  // Who comes first is a first submission ahead.
  constexpr int64_t kLeastOfLight = kAllWork * 8 / 10, kLeastOfHeavy = kAllWork * 9 / 10;
  for (int i = 0; i < 3 && (of_light < kLeastOfLight || of_heavy < kLeastOfHeavy); ++i) {
    ASSERT_NO_FATAL_FAILURE(ShareAThread(of_light, of_heavy));
  }
  EXPECT_GE(of_light, kLeastOfLight);
  EXPECT_GE(of_heavy, kLeastOfHeavy);
}

// A task of `peer` that runs until it is stopped, pausing all the time.
struct Endless final : Task {
  Endless(Executor& executor, const std::string& peer) : executor(executor) { set_peer(peer); }
  void Run() override {
    begun.Notify();
    while (!stop) {
      const auto end = Clock::now() + std::chrono::microseconds(200);
      while (Clock::now() < end) {
      }
      ++slices;
      executor.Pause(this);
    }
    over.Notify();
  }
  void Stop() {
    stop = true;
    EXPECT_TRUE(over.WaitForNotificationWithTimeout(kWait));
  }
  Executor& executor;
  std::atomic<bool> stop{false};
  std::atomic<int> slices{0};
  absl::Notification begun, over;
};

// A task that pauses leaves the thread to others, and goes on where it was.
TEST(ExecutorTest, OthersRunWhileATaskPauses) {
  Executor executor(1);
  Endless endless(executor, "a");
  executor.Submit(&endless);
  ASSERT_TRUE(endless.begun.WaitForNotificationWithTimeout(kWait));
  for (int i = 0; i < 100; ++i) {
    Note note;
    executor.Submit(&note);
    ASSERT_TRUE(note.Await());
  }
  endless.Stop();
}

// Story: two imports of one tenant, which never pause, had all threads that change scenes, and a
// change of another tenant waited until one of them was over.
TEST(ExecutorTest, APeerWithoutATaskDoesNotWaitForThoseOfAnother) {
  struct Blocked final : Task {
    Blocked() { set_peer("a"); }
    void Run() override {
      begun.Notify();
      go.WaitForNotificationWithTimeout(kWait);
    }
    absl::Notification begun, go;
  };
  Executor executor(2);
  Blocked first, second, third;
  for (Blocked* blocked : {&first, &second, &third}) executor.Submit(blocked);
  ASSERT_TRUE(first.begun.WaitForNotificationWithTimeout(kWait));
  ASSERT_TRUE(second.begun.WaitForNotificationWithTimeout(kWait));
  for (int i = 0; i < 20; ++i) {
    Note note;
    executor.Submit(&note);
    ASSERT_TRUE(note.Await());
  }
  EXPECT_FALSE(third.begun.HasBeenNotified());
  for (Blocked* blocked : {&first, &second, &third}) blocked->go.Notify();
  EXPECT_TRUE(third.begun.WaitForNotificationWithTimeout(kWait));
}

// Story: a change of 0.2 ms waited for turns of the threads of another tenant's imports, 4 ms each.
TEST(ExecutorTest, APeerThatWasIdleStartsOnAThreadThatIsNotNicer) {
  struct Work final : Task {
    explicit Work(const char* peer) { set_peer(peer); }
    void Run() override {
      nice = getpriority(PRIO_PROCESS, 0);  // of this thread
      const int64_t begin = ThreadCpuNs();
      while (ThreadCpuNs() - begin < 1000000) {
      }
      ran.Notify();
      go.WaitForNotificationWithTimeout(kWait);
    }
    int nice = 0;
    absl::Notification ran, go;
  };
  const int usual = getpriority(PRIO_PROCESS, static_cast<id_t>(getpid()));
  Executor executor(2);
  Work busy[] = {Work("busy"), Work("busy"), Work("busy")};
  for (Work& work : busy) {
    if (&work != &busy[2]) work.go.Notify();
    executor.Submit(&work);
    ASSERT_TRUE(work.ran.WaitForNotificationWithTimeout(kWait));
    EXPECT_EQ(work.nice, std::min(usual + 10, 19));
  }
  Work idle("idle");
  idle.go.Notify();
  executor.Submit(&idle);
  ASSERT_TRUE(idle.ran.WaitForNotificationWithTimeout(kWait));
  EXPECT_EQ(idle.nice, usual);
  busy[2].go.Notify();
}

// Story: beside an import that went on for half a second, during which nobody was seen to have had
// more, changes of another tenant started on nicer threads, as if they had had as much.
TEST(ExecutorTest, ATaskThatCannotPauseIsChargedMeanwhile) {
  struct Import final : Task {
    Import() { set_peer("a"); }
    void Run() override {
      while (!over) {
        Executor::Checkpoint();
        cpu_ns = ThreadCpuNs();
      }
      nice = getpriority(PRIO_PROCESS, 0);
    }
    std::atomic<bool> over{false};
    std::atomic<int64_t> cpu_ns{0};
    int nice = 0;
  };
  struct Change final : Task {
    Change() { set_peer("b"); }
    void Run() override {
      nice = getpriority(PRIO_PROCESS, 0);
      const int64_t begin = ThreadCpuNs();
      while (ThreadCpuNs() - begin < 1000000) {
      }
      ran.Notify();
    }
    int nice = 0;
    absl::Notification ran;
  };
  const int usual = getpriority(PRIO_PROCESS, static_cast<id_t>(getpid()));
  Import import;
  {
    Executor executor(2);
    executor.Submit(&import);
    int64_t seen = 0;
    for (int i = 0; i < 20; ++i) {
      const auto end = Clock::now() + std::chrono::seconds(20);
      while (import.cpu_ns < seen + 10000000 && Clock::now() < end)
        absl::SleepFor(absl::Milliseconds(1));
      seen = import.cpu_ns;
      Change change;
      executor.Submit(&change);
      ASSERT_TRUE(change.ran.WaitForNotificationWithTimeout(kWait));
      EXPECT_EQ(change.nice, usual) << i;
    }
    import.over = true;
  }
  EXPECT_EQ(import.nice, std::min(usual + 10, 19));
}

// Six tasks of one peer get no more than one of another. A slice is as long as the clock says, also
// where the host runs others meanwhile: the best of three.
TEST(ExecutorTest, PeersGetEqualParts) {
  bool is_fair = false;
  std::string seen;
  for (int attempt = 0; attempt < 3 && !is_fair; ++attempt) {
    Executor executor(1);
    std::vector<std::unique_ptr<Endless>> many;
    for (int i = 0; i < 6; ++i) many.push_back(std::make_unique<Endless>(executor, "many"));
    Endless one(executor, "one");
    for (const auto& endless : many) executor.Submit(endless.get());
    executor.Submit(&one);
    EXPECT_TRUE(Eventually([&] { return one.slices > 300; }));
    std::vector<int> slices;
    for (const auto& endless : many) slices.push_back(endless->slices);
    const int of_many = std::accumulate(slices.begin(), slices.end(), 0);
    const int of_one = one.slices;
    is_fair = of_one > of_many / 2 && of_many > of_one / 2 &&
              std::ranges::min(slices) > of_many / 12;  // fair among themselves too
    seen = absl::StrCat(of_one, " beside ", absl::StrJoin(slices, " "));
    one.Stop();
    for (const auto& endless : many) endless->Stop();
  }
  EXPECT_TRUE(is_fair) << seen;
}

// A peer has so many tasks under way at most; the next ones wait, and others start all the same.
TEST(ExecutorTest, StartedTasksOfAPeerAreBounded) {
  Executor executor(2);
  std::vector<std::unique_ptr<Endless>> many;
  for (int i = 0; i < 20; ++i) many.push_back(std::make_unique<Endless>(executor, "many"));
  for (const auto& endless : many) executor.Submit(endless.get());
  const auto started = [&] {
    return std::count_if(many.begin(), many.end(),
                         [](const auto& endless) { return endless->begun.HasBeenNotified(); });
  };
  ASSERT_TRUE(
      Eventually([&] { return started() == static_cast<int>(Executor::kMaxStartedOfPeer); }));
  for (int i = 0; i < 20; ++i) {
    Note note;
    executor.Submit(&note);
    ASSERT_TRUE(note.Await());
  }
  EXPECT_EQ(started(), static_cast<int>(Executor::kMaxStartedOfPeer));
  for (const auto& endless : many) endless->stop = true;
  for (const auto& endless : many) endless->Stop();
}

// Story: 32 peers with eight endless tasks each had all the tasks that may be started, and nobody
// else's began before one of them was over.
TEST(ExecutorTest, OnePeerMoreStartsBesideManyThatWantAll) {
  Executor executor(2);
  std::vector<std::unique_ptr<Endless>> many;
  for (size_t i = 0; i < 40 * Executor::kMaxStartedOfPeer; ++i) {
    many.push_back(
        std::make_unique<Endless>(executor, absl::StrCat(i / Executor::kMaxStartedOfPeer)));
  }
  for (const auto& endless : many) executor.Submit(endless.get());
  for (int i = 0; i < 5; ++i) {
    Note note;
    executor.Submit(&note);
    ASSERT_TRUE(note.Await());
  }
  for (const auto& endless : many) endless->stop = true;
  for (const auto& endless : many) endless->Stop();
}

// The default size of threads' stacks; what no system can give makes every new thread fail.
class StackSize {
 public:
  explicit StackSize(size_t bytes) {
    pthread_attr_t attributes;
    pthread_getattr_default_np(&before_);
    pthread_getattr_default_np(&attributes);
    pthread_attr_setstacksize(&attributes, bytes);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  ~StackSize() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

// The task that has a thread goes on, whoever waits for one, and they have it after it.
TEST(ExecutorTest, NoMoreThreads) {
  Executor executor(1);
  Endless endless(executor, "a");
  executor.Submit(&endless);
  ASSERT_TRUE(endless.begun.WaitForNotificationWithTimeout(kWait));
  const StackSize stack(size_t{1} << 50);
  ASSERT_THROW(std::thread([] {}), std::system_error);
  Note note;
  executor.Submit(&note);
  const int slices = endless.slices;
  EXPECT_TRUE(Eventually([&] { return endless.slices > slices + 20; }));
  EXPECT_FALSE(note.has_run());
  endless.Stop();
  EXPECT_TRUE(note.Await());
}

// Once there are threads again, one that waited gets its turn.
TEST(ExecutorTest, ThreadsAgain) {
  Executor executor(1);
  Endless endless(executor, "a");
  Note note;
  executor.Submit(&endless);
  ASSERT_TRUE(endless.begun.WaitForNotificationWithTimeout(kWait));
  {
    const StackSize stack(size_t{1} << 50);
    executor.Submit(&note);
    EXPECT_FALSE(note.has_run());
  }
  EXPECT_TRUE(note.Await());
  endless.Stop();
}

// Writers of one scene come one after the other, in their order, and hold no thread meanwhile.
TEST(WriterQueueTest, OneWriterOfASceneAtATime) {
  struct Writer final : Task {
    void Run() override {
      EXPECT_FALSE(busy->exchange(true));
      order->push_back(number);
      EXPECT_TRUE(go == nullptr || go->WaitForNotificationWithTimeout(kWait));
      busy->store(false);
      queue->Done("scenes/a");
      done.Notify();
    }
    WriterQueue* queue = nullptr;
    std::atomic<bool>* busy = nullptr;
    std::vector<int>* order = nullptr;
    absl::Notification* go = nullptr;
    int number = 0;
    absl::Notification done;
  };
  struct Other final : Task {
    void Run() override {
      queue->Done("scenes/b");
      done.Notify();
    }
    WriterQueue* queue = nullptr;
    absl::Notification done;
  } other;
  std::atomic<bool> busy{false};
  std::vector<int> order;
  absl::Notification go;
  std::vector<std::unique_ptr<Writer>> writers;
  Executor executor(2);
  WriterQueue queue(executor);
  for (int i = 0; i < 20; ++i) {
    writers.push_back(std::make_unique<Writer>());
    Writer& writer = *writers.back();
    writer.queue = &queue;
    writer.busy = &busy;
    writer.order = &order;
    writer.go = i == 0 ? &go : nullptr;
    writer.number = i;
    queue.Submit("scenes/a", &writer);
  }
  // Nineteen wait, and a thread is left.
  other.queue = &queue;
  queue.Submit("scenes/b", &other);
  ASSERT_TRUE(other.done.WaitForNotificationWithTimeout(kWait));
  go.Notify();
  for (const auto& writer : writers) {
    ASSERT_TRUE(writer->done.WaitForNotificationWithTimeout(kWait));
  }
  std::vector<int> expected(20);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

class VersionGateTest : public ::testing::Test {
 protected:
  MemoryAccount memory_{1 << 30};
  MemoryStore store_{8, {}, memory_};
  Timer timer_;
  Executor executor_{1};
  VersionGate gate_{store_, executor_, timer_};
  Clock::time_point far_ = Clock::now() + hours(1);
};

TEST_F(VersionGateTest, WakesWhenTheVersionComes) {
  const uint64_t version = (*store_.Create("scenes/a", {}))->version();
  Note note;
  gate_.Park({{"scenes/a", version + 2}}, far_, &note);
  ASSERT_TRUE(store_.Commit("scenes/a", 0, {}).ok());
  EXPECT_FALSE(note.has_run());
  ASSERT_TRUE(store_.Commit("scenes/a", 0, {}).ok());
  EXPECT_TRUE(note.Await());
}

TEST_F(VersionGateTest, WakesAtOnceWhenTheVersionIsThere) {
  const uint64_t version = (*store_.Create("scenes/a", {}))->version();
  Note note;
  gate_.Park({{"scenes/a", version}}, far_, &note);
  EXPECT_TRUE(note.Await());
}

TEST_F(VersionGateTest, WakesWhenTheSceneGoes) {
  const uint64_t version = (*store_.Create("scenes/a", {}))->version();
  Note note;
  gate_.Park({{"scenes/a", version + 9}}, far_, &note);
  ASSERT_TRUE(store_.Delete("scenes/a", 0).ok());
  EXPECT_TRUE(note.Await());
}

TEST_F(VersionGateTest, WakesAtTheDeadline) {
  const uint64_t version = (*store_.Create("scenes/a", {}))->version();
  Note note;
  const Clock::time_point deadline = Clock::now() + milliseconds(20);
  gate_.Park({{"scenes/a", version + 9}}, deadline, &note);
  EXPECT_TRUE(note.Await());
  EXPECT_GE(Clock::now(), deadline);
}

TEST_F(VersionGateTest, WakesOnceHoweverMany) {
  const uint64_t version = (*store_.Create("scenes/a", {}))->version();
  ASSERT_TRUE(store_.Create("scenes/b", {}).ok());
  Note note;
  const VersionGate::Ticket ticket =
      gate_.Park({{"scenes/a", version + 9}, {"scenes/b", version + 9}, {"scenes/a", version + 8}},
                 far_, &note);
  gate_.Wake(ticket);
  gate_.Wake(ticket);
  ASSERT_TRUE(store_.Delete("scenes/a", 0).ok());
  ASSERT_TRUE(store_.Delete("scenes/b", 0).ok());
  EXPECT_TRUE(note.Await());
  EXPECT_EQ(note.runs(), 1);
}

}  // namespace
}  // namespace carom::server
