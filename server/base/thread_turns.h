// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which threads does the kernel let go first?
//
// Where all processors are busy, a thread that wakes up waits until another one's turn is over,
// some milliseconds: more than a small frame takes from end to end. Linux 6.12 and later lets a
// thread that asks for short turns begin before those with long ones, for the same part of the
// processor; but not while it has had more than its part, as one that has just read some megabytes.
// So threads whose work takes long are nicer, too: where both want a processor, they have a tenth
// of what others have. Their turns are short as well: a thread that wakes up goes before one that
// has had its turn, and turns that are not asked for are only looked at every some milliseconds.
#pragma once

#include "server/base/timer.h"

namespace carom::server {

// For the calling thread and those that it starts. Nothing happens where the kernel does not know
// of turns.
void AskForShortTurns();

// For the calling thread, whose work takes long, again and again: has the kernel look whether its
// turn is over, so that another one begins. By itself it looks every 4 ms, or when a thread wakes
// up, and meanwhile nobody goes on who waits for the processor, or for a lock that a thread that
// waits has. Once in 100 us it is a call of the system, else it costs nothing.
void EndTurnIfOver(Clock::time_point now);

// For the calling thread, whose work takes long: nicer by 10 than the first thread of the process.
// For good: only root could take that back.
void BeNicer();

}  // namespace carom::server
