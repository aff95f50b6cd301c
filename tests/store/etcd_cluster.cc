// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/store/etcd_cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/support/process.h"

extern char** environ;

namespace carom::testing {
namespace {

namespace etcd = ::etcdserverpb;

void SetDeadline(grpc::ClientContext& context, int milliseconds) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(milliseconds));
}

}  // namespace

// A port below those that the system gives to clients, which nobody listens on now, and which was
// not returned before: who got it may not listen on it yet.
uint16_t EtcdCluster::FreePort() {
  static std::mt19937 random(static_cast<uint32_t>(getpid()) * 2654435761u);
  static std::set<uint16_t> returned;
  for (int i = 0; i < 1000; ++i) {
    const auto port = static_cast<uint16_t>(20000 + random() % 12000);
    const int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int bound = bind(socket_fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
    close(socket_fd);
    if (bound == 0 && returned.insert(port).second) return port;
  }
  return 0;
}

std::unique_ptr<EtcdCluster> EtcdCluster::Start(const std::string& folder, int members,
                                                std::vector<std::string> options) {
  std::unique_ptr<EtcdCluster> cluster(new EtcdCluster(folder));
  cluster->options_ = std::move(options);
  std::filesystem::create_directories(folder);
  cluster->members_.resize(static_cast<size_t>(members));
  for (int i = 0; i < members; ++i) {
    Member& member = cluster->members_[static_cast<size_t>(i)];
    member.client_port = FreePort();
    member.peer_port = FreePort();
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
    const auto channel = grpc::CreateCustomChannel(cluster->endpoint(i),
                                                   grpc::InsecureChannelCredentials(), arguments);
    member.kv = etcd::KV::NewStub(channel);
    member.maintenance = etcd::Maintenance::NewStub(channel);
  }
  for (int i = 0; i < members; ++i) cluster->Spawn(i);
  if (cluster->AwaitLeader()) return cluster;
  std::fprintf(stderr, "etcd does not start: see %s/*.log; is etcd-server installed?\n",
               folder.c_str());
  return nullptr;
}

EtcdCluster::~EtcdCluster() {
  for (int i = 0; i < size(); ++i) Kill(i);
}

std::string EtcdCluster::endpoint(int member) const {
  return absl::StrCat("127.0.0.1:", members_[static_cast<size_t>(member)].client_port);
}

std::string EtcdCluster::data_folder(int member) const {
  return absl::StrCat(folder_, "/member", member);
}

std::string EtcdCluster::Url(const std::string& prefix) const {
  std::vector<std::string> endpoints;
  endpoints.reserve(members_.size());
  for (int i = 0; i < size(); ++i) endpoints.push_back(endpoint(i));
  return absl::StrCat("etcd://", absl::StrJoin(endpoints, ","), prefix);
}

void EtcdCluster::Spawn(int member) {
  Member& started = members_[static_cast<size_t>(member)];
  const auto url = [](uint16_t port) { return absl::StrCat("http://127.0.0.1:", port); };
  std::vector<std::string> all;
  all.reserve(members_.size());
  for (int i = 0; i < size(); ++i) {
    all.push_back(absl::StrCat("m", i, "=", url(members_[static_cast<size_t>(i)].peer_port)));
  }
  std::vector<std::string> command{"etcd",
                                   "--name",
                                   absl::StrCat("m", member),
                                   "--data-dir",
                                   data_folder(member),
                                   "--listen-client-urls",
                                   url(started.client_port),
                                   "--advertise-client-urls",
                                   url(started.client_port),
                                   "--listen-peer-urls",
                                   url(started.peer_port),
                                   "--initial-advertise-peer-urls",
                                   url(started.peer_port),
                                   "--initial-cluster",
                                   absl::StrJoin(all, ","),
                                   "--initial-cluster-state",
                                   "new",
                                   "--heartbeat-interval",
                                   "100",
                                   "--election-timeout",
                                   "1000",
                                   "--log-level",
                                   "error"};
  command.insert(command.end(), options_.begin(), options_.end());
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const std::string log = absl::StrCat(folder_, "/member", member, ".log");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (posix_spawnp(&started.pid, "etcd", &actions, nullptr, arguments.data(), environ) != 0) {
    started.pid = -1;
  }
  posix_spawn_file_actions_destroy(&actions);
}

void EtcdCluster::Kill(int member) {
  pid_t& pid = members_[static_cast<size_t>(member)].pid;
  if (pid <= 0) return;
  kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid = -1;
}

void EtcdCluster::Suspend(int member) { kill(members_[static_cast<size_t>(member)].pid, SIGSTOP); }
void EtcdCluster::Resume(int member) { kill(members_[static_cast<size_t>(member)].pid, SIGCONT); }
void EtcdCluster::Restart(int member) { Spawn(member); }
void EtcdCluster::Wipe(int member) { std::filesystem::remove_all(data_folder(member)); }

int EtcdCluster::Leader() {
  std::vector<uint64_t> ids(members_.size(), 0);
  std::vector<int> votes(members_.size(), 0);
  std::vector<uint64_t> leaders;
  for (size_t i = 0; i < members_.size(); ++i) {
    grpc::ClientContext context;
    SetDeadline(context, 500);
    // Who fails at once polls nothing, and connections are made by polling.
    context.set_wait_for_ready(true);
    etcd::StatusResponse response;
    if (members_[i].pid <= 0 || !members_[i].maintenance->Status(&context, {}, &response).ok()) {
      continue;
    }
    ids[i] = response.header().member_id();
    leaders.push_back(response.leader());
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto says = std::count(leaders.begin(), leaders.end(), ids[i]);
    if (ids[i] != 0 && static_cast<size_t>(says) > members_.size() / 2) return static_cast<int>(i);
  }
  return -1;
}

bool EtcdCluster::AwaitLeader() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (Leader() < 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

// A line of the list: the id, and after commas the state, the name and the URLs.
bool EtcdCluster::Replace(int member) {
  const std::string name = absl::StrCat("m", member);
  const std::string list = Control({"member", "list"});
  const size_t at = list.find(absl::StrCat(", ", name, ","));
  if (at == std::string::npos) return false;
  const size_t line = list.rfind('\n', at) + 1;  // 0 of the first one
  const std::string id = list.substr(line, list.find(',', line) - line);
  const std::string peer =
      absl::StrCat("http://127.0.0.1:", members_[static_cast<size_t>(member)].peer_port);
  // The others refuse until they have known each other for some seconds.
  const auto insist = [this](const std::vector<std::string>& command) {
    for (int i = 0; i < 30; ++i) {
      if (!Control(command).empty()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    return false;
  };
  if (!insist({"member", "remove", id}) ||
      !insist({"member", "add", name, absl::StrCat("--peer-urls=", peer)})) {
    return false;
  }
  std::vector<std::string> options = options_;
  options_.insert(options_.end(), {"--initial-cluster-state", "existing"});
  Spawn(member);
  options_ = std::move(options);
  return true;
}

// Since 3.6 this is a command of etcdutl, which 3.4 does not have.
bool EtcdCluster::Restore(int member, const std::string& backup) {
  const Member& restored = members_[static_cast<size_t>(member)];
  const std::string peer = absl::StrCat("http://127.0.0.1:", restored.peer_port);
  const std::string name = absl::StrCat("m", member);
  const std::vector<std::string> arguments = {"snapshot",
                                              "restore",
                                              backup,
                                              "--name",
                                              name,
                                              "--data-dir",
                                              data_folder(member),
                                              "--initial-advertise-peer-urls",
                                              peer,
                                              "--initial-cluster",
                                              absl::StrCat(name, "=", peer)};
  std::vector<std::string> command{"etcdutl"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunProcess(command, "", 60).exit_code == 0 || !Control(arguments).empty();
}

std::string EtcdCluster::Control(const std::vector<std::string>& arguments) const {
  std::vector<std::string> command{"env", "ETCDCTL_API=3", "etcdctl", "--endpoints", endpoint(0)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const ProcessResult result = RunProcess(command, "", 60);
  if (result.exit_code == 0) return result.standard_output + " ";
  std::fprintf(stderr, "etcdctl: %s\n", result.standard_error.c_str());
  return "";
}

int64_t EtcdCluster::Revision(int member) {
  grpc::ClientContext context;
  SetDeadline(context, 5000);
  etcd::RangeRequest request;
  request.set_key("/");
  etcd::RangeResponse response;
  return kv(member).Range(&context, request, &response).ok() ? response.header().revision() : 0;
}

bool EtcdCluster::Compact(int member) {
  grpc::ClientContext context;
  SetDeadline(context, 10000);
  etcd::CompactionRequest request;
  request.set_revision(Revision(member));
  request.set_physical(true);
  etcd::CompactionResponse response;
  return kv(member).Compact(&context, request, &response).ok();
}

}  // namespace carom::testing
