// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Working memory that each thread keeps from batch to batch, so that warm queries allocate nothing.
#pragma once

#include <memory>
#include <utility>

namespace carom::internal {

// Takes what this thread keeps of type T, or makes one. A batch within a batch makes its own. Not
// thread-safe.
template <class T>
class ThreadScratch {
 public:
  ThreadScratch() : value_(std::move(kept_)) {
    if (value_ == nullptr) value_ = std::make_unique<T>();
  }
  ThreadScratch(const ThreadScratch&) = delete;
  ThreadScratch& operator=(const ThreadScratch&) = delete;

  T& operator*() const { return *value_; }
  T* operator->() const { return value_.get(); }

  // Keeps it for the next batch; whoever does not call this frees it. Nothing else may follow.
  void Return() { kept_ = std::move(value_); }

 private:
  static thread_local std::unique_ptr<T> kept_;

  std::unique_ptr<T> value_;
};

template <class T>
thread_local std::unique_ptr<T> ThreadScratch<T>::kept_;

}  // namespace carom::internal
