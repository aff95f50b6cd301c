// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `std::sort`, `std::stable_sort` and `std::inplace_merge` in a third of the code: that of libc++
// is 2 to 9 kilobytes for each type of element and order, an eighth of the module. The sources of
// the core are compiled with this header in front, and the calls in them choose these overloads,
// which are more constrained than those of the library.

#ifndef CAROM_CLIENT_WEB_CORE_NATIVE_SORT_H_
#define CAROM_CLIENT_WEB_CORE_NATIVE_SORT_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

namespace carom_web {

inline constexpr std::ptrdiff_t kFew = 16;  // elements, which the insertions at the end sort

template <class Iterator, class Less>
void InsertEach(Iterator first, Iterator last, Less& less) {
  if (first == last) {
    return;
  }
  for (Iterator next = first + 1; next != last; ++next) {
    auto element = std::move(*next);
    Iterator hole = next;
    for (; hole != first && less(element, *(hole - 1)); --hole) {
      *hole = std::move(*(hole - 1));
    }
    *hole = std::move(element);
  }
}

template <class Iterator, class Less>
[[gnu::noinline]] void SiftDown(Iterator first, std::ptrdiff_t hole, std::ptrdiff_t size,
                                Less& less) {
  auto element = std::move(first[hole]);
  while (2 * hole + 1 < size) {
    std::ptrdiff_t child = 2 * hole + 1;
    if (child + 1 < size && less(first[child], first[child + 1])) {
      ++child;
    }
    if (!less(element, first[child])) {
      break;
    }
    first[hole] = std::move(first[child]);
    hole = child;
  }
  first[hole] = std::move(element);
}

template <class Iterator, class Less>
void SortByHeap(Iterator first, Iterator last, Less& less) {
  std::ptrdiff_t size = last - first;
  for (std::ptrdiff_t hole = size / 2; hole-- > 0;) {
    SiftDown(first, hole, size, less);
  }
  while (--size > 0) {
    std::iter_swap(first, first + size);
    SiftDown(first, 0, size, less);
  }
}

// Introsort (Musser 1997): quicksort by the middle element, and heapsort of a part that `depth`
// divisions left long. It leaves parts of `kFew` elements unsorted, whose elements are not less
// than those of the parts before them.
template <class Iterator, class Less>
void Divide(Iterator first, Iterator last, Less& less, int depth) {
  while (last - first > kFew) {
    if (depth-- == 0) {
      SortByHeap(first, last, less);
      return;
    }
    std::iter_swap(first, first + (last - first) / 2);
    Iterator left = first;
    Iterator right = last;
    while (true) {
      do {
        ++left;
      } while (left < right && less(*left, *first));
      do {
        --right;
      } while (less(*first, *right));
      if (right <= left) {
        break;
      }
      std::iter_swap(left, right);
    }
    std::iter_swap(first, right);
    Divide(right + 1, last, less, depth);
    last = right;
  }
}

// Merges two sorted parts. Elements of the first one come before equal ones of the second.
template <class Iterator, class Less>
[[gnu::noinline]] void Merge(Iterator first, Iterator middle, Iterator last, Less& less) {
  while (first != middle && middle != last && !less(*middle, *first)) {
    ++first;
  }
  std::vector<std::iter_value_t<Iterator>> left(std::make_move_iterator(first),
                                                std::make_move_iterator(middle));
  for (auto next = left.begin(); next != left.end(); ++first) {
    if (middle != last && less(*middle, *next)) {
      *first = std::move(*middle++);
    } else {
      *first = std::move(*next++);
    }
  }
}

template <class Iterator, class Less>
void SortStably(Iterator first, Iterator last, Less& less) {
  if (last - first <= kFew) {
    InsertEach(first, last, less);
    return;
  }
  const Iterator middle = first + (last - first) / 2;
  SortStably(first, middle, less);
  SortStably(middle, last, less);
  Merge(first, middle, last, less);
}

}  // namespace carom_web

namespace std {

template <class Iterator, class Less>
requires random_access_iterator<Iterator>
void sort(Iterator first, Iterator last, Less less) {
  carom_web::Divide(first, last, less, 2 * bit_width(static_cast<size_t>(last - first)));
  carom_web::InsertEach(first, last, less);
}

template <class Iterator>
requires random_access_iterator<Iterator>
void sort(Iterator first, Iterator last) { std::sort(first, last, less<>()); }

template <class Iterator, class Less>
requires random_access_iterator<Iterator>
void stable_sort(Iterator first, Iterator last, Less less) {
  carom_web::SortStably(first, last, less);
}

template <class Iterator, class Less>
requires random_access_iterator<Iterator>
void inplace_merge(Iterator first, Iterator middle, Iterator last, Less less) {
  carom_web::Merge(first, middle, last, less);
}

}  // namespace std

#endif  // CAROM_CLIENT_WEB_CORE_NATIVE_SORT_H_
