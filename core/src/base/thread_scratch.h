// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Keeps working memory for each thread from batch to batch, so that later batches of queries
// allocate nothing.
#pragma once

#include <memory>
#include <utility>

namespace carom::internal {

// Holds the working memory of one batch, an object of type T. The constructor takes the object that
// this thread has kept since an earlier batch, or makes an object if the thread keeps none, as for
// a batch that runs within another batch. Not thread-safe.
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

  // Keeps the object for the next batch of this thread; without this call the destructor frees the
  // object. The object must not be used afterwards.
  void Return() { kept_ = std::move(value_); }

 private:
  static thread_local std::unique_ptr<T> kept_;

  std::unique_ptr<T> value_;
};

template <class T>
thread_local std::unique_ptr<T> ThreadScratch<T>::kept_;

}  // namespace carom::internal
