// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Keeps working memory for each thread from batch to batch, so that warm queries allocate nothing.
#pragma once

#include <memory>
#include <utility>

namespace carom::internal {

// Takes the object of type T that this thread keeps, or makes one if the thread keeps none. A batch
// that runs within another batch makes its own. Not thread-safe.
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

  // Gives the object back for the next batch; without this call the object is freed. The object
  // must not be used afterwards.
  void Return() { kept_ = std::move(value_); }

 private:
  static thread_local std::unique_ptr<T> kept_;

  std::unique_ptr<T> value_;
};

template <class T>
thread_local std::unique_ptr<T> ThreadScratch<T>::kept_;

}  // namespace carom::internal
