// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/http/http_server.h"

#include <algorithm>
#include <atomic>
#include <boost/asio.hpp>
#include <list>
#include <new>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "server/access/peer.h"
#include "server/base/log.h"
#include "server/base/refusals.h"
#include "server/http/http_connection.h"
#include "server/http/tls_context.h"
#include "server/transport/connection_acceptor.h"

namespace carom::server {
namespace {

namespace asio = boost::asio;
using Protocol = asio::generic::stream_protocol;
using Acceptor = asio::basic_socket_acceptor<Protocol>;
using Error = boost::system::error_code;

constexpr std::chrono::milliseconds kRetryAccept{100};  // after descriptors have run out

}  // namespace

class HttpServer::Impl {
 public:
  Impl(Listener listener, const HttpOptions& options, HttpHandler& handler, MemoryAccount& memory)
      : options_(options),
        handler_(handler),
        memory_(memory),
        tls_(options.tls),
        counts_({options.max_connections, options.max_connections_per_peer}),
        listener_(std::move(listener)) {
    for (size_t i = 0; i < std::max<size_t>(options.threads, 1); ++i) {
      workers_.push_back(std::make_unique<Worker>(*this));
    }
  }
  ~Impl() {
    Drain(absl::InfinitePast());
    for (const std::unique_ptr<Worker>& worker : workers_) worker->Stop();
  }

  absl::Status Start() {
    if (!options_.tls.certificate.empty()) {
      if (absl::Status status = tls_.Load(); !status.ok()) return status;
    }
    for (FileDescriptor& socket : listener_.sockets) {
      acceptors_.push_back(std::make_unique<Accepting>(*workers_[0]));
      acceptors_.back()->acceptor.assign(Protocol(FamilyOf(socket.get()), 0), socket.Release());
      Accept(*acceptors_.back());
    }
    for (const std::unique_ptr<Worker>& worker : workers_) worker->Start();
    return absl::OkStatus();
  }

  const std::string& address() const { return listener_.address; }

  HttpUsage usage() const {
    absl::MutexLock lock(&mu_);
    return {counts_.total(), accepted_, refused_, evicted_};
  }

  void Drain(absl::Time deadline) {
    asio::post(workers_[0]->context, [this] {
      Error ignored;
      for (const std::unique_ptr<Accepting>& accepting : acceptors_) {
        std::ignore = accepting->acceptor.close(ignored);
      }
    });
    draining_ = true;
    for (const std::unique_ptr<Worker>& worker : workers_) worker->CloseAll(false);
    AwaitNoConnection(deadline);
    for (const std::unique_ptr<Worker>& worker : workers_) worker->CloseAll(true);
    AwaitNoConnection(absl::InfiniteFuture());
    const Listener closing = std::move(listener_);  // deletes the file of a Unix socket
    listener_.address = closing.address;
  }

 private:
  // An I/O context, its thread, and the connections that the thread serves.
  struct Worker final : HttpConnection::Owner {
    explicit Worker(Impl& impl) : owner(impl) {}

    void Start() {
      thread = std::thread([this] { Run(); });
    }
    // Runs the handlers of the connections. A handler for which there is no memory ends, and the
    // time limits of its connection close the connection.
    void Run() {
      for (;;) {
        try {
          context.run();
          return;
        } catch (const std::bad_alloc&) {
          LogLine(LogLevel::kError, "out_of_memory").With("detail", "an HTTP request is dropped");
        }
      }
    }
    void Stop() {
      work.reset();
      context.stop();
      if (thread.joinable()) thread.join();
    }
    // Closes the connections that have no request in progress, or all.
    void CloseAll(bool at_once) {
      asio::post(context, [this, at_once] {
        std::vector<std::shared_ptr<HttpConnection>> all;
        for (const auto& [key, connection] : connections) all.push_back(connection);
        for (const auto& connection : all) {
          at_once ? connection->Close() : connection->CloseSoon();
        }
      });
    }
    void SetIdle(HttpConnection& connection, bool is_idle) override {
      if (const auto it = idle_at.find(&connection); it != idle_at.end()) {
        idle.erase(it->second);
        idle_at.erase(it);
      }
      if (is_idle) idle_at[&connection] = idle.insert(idle.end(), &connection);
      idle_count.store(idle.size(), std::memory_order_relaxed);
    }
    void OnClosed(HttpConnection& connection) override {
      owner.Leave(connection.peer());
      connections.erase(&connection);
    }

    Impl& owner;
    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
    std::thread thread;
    absl::flat_hash_map<HttpConnection*, std::shared_ptr<HttpConnection>> connections;
    // connections without a request in progress, by the time when they began to wait
    std::list<HttpConnection*> idle;
    std::atomic<size_t> idle_count{0};  // size of `idle`, for the other threads
    absl::flat_hash_map<HttpConnection*, std::list<HttpConnection*>::iterator> idle_at;
  };

  struct Accepting {
    explicit Accepting(Worker& worker) : acceptor(worker.context), retry(worker.context) {}
    Acceptor acceptor;
    asio::steady_timer retry;
  };

  static int FamilyOf(int socket) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    return address.ss_family;
  }

  // Accepts the next connection, for the worker whose turn it is.
  void Accept(Accepting& accepting) {
    Worker& worker = *workers_[next_worker_++ % workers_.size()];
    accepting.acceptor.async_accept(
        worker.context, [this, &accepting, &worker](Error error, Protocol::socket socket) {
          if (error == asio::error::operation_aborted || draining_) return;
          if (error) {
            accepting.retry.expires_after(kRetryAccept);
            accepting.retry.async_wait([this, &accepting](Error stopped) {
              if (!stopped && !draining_) Accept(accepting);
            });
            return;
          }
          asio::post(worker.context, [this, &worker, socket = std::move(socket)]() mutable {
            Serve(worker, std::move(socket));
          });
          Accept(accepting);
        });
  }

  // Serves a connection on the thread of `worker`. If a limit is reached, closes an idle
  // connection, the one that has been idle longest on its worker, and tries once more.
  void Serve(Worker& worker, Protocol::socket socket, bool may_evict = true) {
    Error error;
    const Protocol::endpoint remote = socket.remote_endpoint(error);
    if (error || draining_) return;
    const std::string peer = PeerOfConnection(*remote.data());
    if (!Enter(peer)) {
      Worker* const other = may_evict ? WorkerWithIdle() : nullptr;
      if (other == nullptr) return NoteRefused(peer);
      asio::post(other->context, [this, other, &worker, socket = std::move(socket)]() mutable {
        if (!other->idle.empty()) {
          other->idle.front()->Close();
          absl::MutexLock lock(&mu_);
          ++evicted_;
        }
        asio::post(worker.context, [this, &worker, socket = std::move(socket)]() mutable {
          Serve(worker, std::move(socket), false);
        });
      });
      return;
    }
    if (remote.data()->sa_family != AF_UNIX) {
      std::ignore = socket.set_option(asio::ip::tcp::no_delay(true), error);
    }
    auto connection = std::make_shared<HttpConnection>(
        SocketStream(std::move(socket), tls_.Get()),
        HttpConnection::Port{options_, handler_, memory_}, worker, peer, ++next_id_);
    worker.connections.emplace(connection.get(), connection);
    connection->Start();
  }

  bool Enter(const std::string& peer) {
    absl::MutexLock lock(&mu_);
    if (!counts_.Enter(peer)) return false;
    ++accepted_;
    return true;
  }

  void NoteRefused(const std::string& peer) {
    CountRefusal(Limit::kHttpConnections,
                 absl::StrCat("a connection of ", peer.empty() ? "this machine" : peer));
    absl::MutexLock lock(&mu_);
    ++refused_;
  }

  // Returns a worker with an idle connection, or null.
  Worker* WorkerWithIdle() {
    for (const std::unique_ptr<Worker>& worker : workers_) {
      if (worker->idle_count.load(std::memory_order_relaxed) != 0) return worker.get();
    }
    return nullptr;
  }

  void Leave(const std::string& peer) {
    absl::MutexLock lock(&mu_);
    counts_.Leave(peer);
  }

  void AwaitNoConnection(absl::Time deadline) {
    absl::MutexLock lock(&mu_);
    const auto is_empty = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return counts_.total() == 0; };
    mu_.AwaitWithDeadline(absl::Condition(&is_empty), deadline);
  }

  const HttpOptions options_;
  HttpHandler& handler_;
  MemoryAccount& memory_;
  TlsContext tls_;
  std::atomic<bool> draining_{false};
  std::atomic<uint64_t> next_id_{0};
  size_t next_worker_ = 0;  // used by the thread of `workers_[0]`, and before it starts
  mutable absl::Mutex mu_;
  ConnectionCounts counts_ ABSL_GUARDED_BY(mu_);
  uint64_t accepted_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t refused_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t evicted_ ABSL_GUARDED_BY(mu_) = 0;
  Listener listener_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Accepting>> acceptors_;  // destroyed before their I/O contexts
};

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(Listener listener,
                                                              const HttpOptions& options,
                                                              HttpHandler& handler,
                                                              MemoryAccount& memory) {
  std::unique_ptr<HttpServer> server(
      new HttpServer(std::make_unique<Impl>(std::move(listener), options, handler, memory)));
  if (absl::Status status = server->impl_->Start(); !status.ok()) return status;
  return server;
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

const std::string& HttpServer::address() const { return impl_->address(); }
HttpUsage HttpServer::usage() const { return impl_->usage(); }
void HttpServer::Drain(absl::Time deadline) { impl_->Drain(deadline); }

}  // namespace carom::server
