// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A sorted sequence that an edit changes without copying: entries in immutable pages of some
// hundred, each in an order of its own, shared by all versions that hold them. What an edit touches
// is made anew; the rest is a table of pointers. O(n / kPageSize) plus the pages touched, and
// nobody ever waits for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace carom::internal {

inline constexpr size_t kPageSize = 512;  // a full tree of three levels

// A page, and what edits and whoever walks over all pages need to know of it: beside the pointer,
// for each page is likely to miss the cache.
template <class Page>
struct PageRef {
  PageRef(std::shared_ptr<const Page> its_page)  // NOLINT: pages are made as pointers
      : page(std::move(its_page)), head(page->head()) {}

  std::shared_ptr<const Page> page;
  typename Page::Head head;
};

// `Page` has the types Entry, Key, and Head with the member first_key, the function head(), and is
// made of sorted entries.
template <class Page>
using Pages = std::vector<PageRef<Page>>;

// One page of up to twice the page size, or as many of equal size as it takes.
template <class Page, class MakePage>
void AppendPages(std::vector<typename Page::Entry> entries, const MakePage& make_page,
                 Pages<Page>& pages) {
  const size_t count =
      entries.size() <= 2 * kPageSize ? 1 : (entries.size() + kPageSize - 1) / kPageSize;
  for (size_t i = 0; i < count && !entries.empty(); ++i) {
    const auto first = entries.begin() + static_cast<std::ptrdiff_t>(i * entries.size() / count);
    const auto last =
        entries.begin() + static_cast<std::ptrdiff_t>((i + 1) * entries.size() / count);
    pages.push_back(make_page(std::vector<typename Page::Entry>(std::make_move_iterator(first),
                                                                std::make_move_iterator(last))));
  }
}

// What changes in pages: the keys of the entries that go, and the entries that come. Both are
// sorted by key, and no arriving key is among those that stay.
template <class Page>
struct PageEdit {
  std::vector<typename Page::Key> gone;
  std::vector<typename Page::Entry> arriving;
};

// How pages are edited: `key_of(entry)` is the key, `sorted(page)` the entries of a page by key,
// `make_page` makes a page of such. One that stays of ordinary size is `patched(page, gone keys,
// arriving entries)`, which takes the entries.
template <class KeyOf, class Sorted, class MakePage, class Patched>
struct PageRules {
  KeyOf key_of;
  Sorted sorted;
  MakePage make_page;
  Patched patched;
};

// The keys of entries.
template <class Page, class Rules>
std::vector<typename Page::Key> KeysOf(const std::vector<typename Page::Entry>& entries,
                                       const Rules& rules) {
  std::vector<typename Page::Key> keys;
  keys.reserve(entries.size());
  for (const typename Page::Entry& entry : entries) keys.push_back(rules.key_of(entry));
  return keys;
}

// Whether a page is neither split nor joined if it grows so much.
inline bool IsOrdinary(size_t size, std::ptrdiff_t growth) {
  const std::ptrdiff_t after = static_cast<std::ptrdiff_t>(size) + growth;
  return after >= static_cast<std::ptrdiff_t>(kPageSize / 4) &&
         after <= static_cast<std::ptrdiff_t>(2 * kPageSize);
}

// `pages` after the edit. Pages in which nothing changes are shared; those that get small join the
// next, so that edits without end leave no trail of small pages.
template <class Page, class Rules>
Pages<Page> Edited(const Pages<Page>& pages, PageEdit<Page> edit, const Rules& rules) {
  auto& [gone, arriving] = edit;
  using Entry = typename Page::Entry;
  const auto by_key = [&](const Entry& a, const Entry& b) {
    return rules.key_of(a) < rules.key_of(b);
  };
  Pages<Page> result;
  result.reserve(pages.size() + arriving.size() / kPageSize + 1);
  std::vector<Entry> kept;
  const std::vector<typename Page::Key> arriving_keys = KeysOf<Page>(arriving, rules);
  auto next_gone = gone.begin();
  auto next_arriving = arriving.begin();
  for (size_t i = 0; i < pages.size(); ++i) {
    const bool is_last = i + 1 == pages.size();
    const auto is_later = [&](const typename Page::Key& key) {
      return !is_last && !(key < pages[i + 1].head.first_key);
    };
    const auto after_gone = std::find_if(next_gone, gone.end(), is_later);
    const auto after_arriving =
        arriving.begin() + (std::find_if(arriving_keys.begin() + (next_arriving - arriving.begin()),
                                         arriving_keys.end(), is_later) -
                            arriving_keys.begin());
    const bool is_touched = after_gone != next_gone || after_arriving != next_arriving;
    if (!is_touched && kept.empty()) {
      result.push_back(pages[i]);
      continue;
    }
    const std::ptrdiff_t growth = (after_arriving - next_arriving) - (after_gone - next_gone);
    if (kept.empty() && IsOrdinary(pages[i].page->entries().size(), growth)) {
      result.push_back(rules.patched(*pages[i].page, std::span(next_gone, after_gone),
                                     std::span(next_arriving, after_arriving)));
      next_gone = after_gone;
      next_arriving = after_arriving;
      continue;
    }
    const auto middle = static_cast<std::ptrdiff_t>(kept.size());
    for (Entry& entry : rules.sorted(*pages[i].page)) {
      while (next_gone != after_gone && *next_gone < rules.key_of(entry)) ++next_gone;
      if (next_gone == after_gone || rules.key_of(entry) < *next_gone)
        kept.push_back(std::move(entry));
    }
    const auto staying = static_cast<std::ptrdiff_t>(kept.size());
    kept.insert(kept.end(), std::make_move_iterator(next_arriving),
                std::make_move_iterator(after_arriving));
    std::inplace_merge(kept.begin() + middle, kept.begin() + staying, kept.end(), by_key);
    next_gone = after_gone;
    next_arriving = after_arriving;
    if (kept.size() >= kPageSize / 4 || is_last) {
      AppendPages(std::exchange(kept, {}), rules.make_page, result);
    }
  }
  if (next_arriving != arriving.end()) {  // there was no page
    AppendPages(std::vector<Entry>(std::make_move_iterator(next_arriving),
                                   std::make_move_iterator(arriving.end())),
                rules.make_page, result);
  }
  return result;
}

}  // namespace carom::internal
