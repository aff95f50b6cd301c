// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which threads does the kernel schedule first?
//
// When all CPUs are busy, a thread that wakes up waits until the time slice of a running thread
// ends, some milliseconds: longer than the server takes to answer a small batch of queries. From
// Linux 6.12 on, a thread that requests short time slices is scheduled before threads with long
// slices, and each thread still gets an equal share of the CPU. A thread that has used more than
// its share, for example to read a message of some megabytes, loses this precedence for a while.
// Threads with long work therefore also have a higher nice value: if both kinds of threads need a
// CPU, a thread with long work gets a tenth of the time of another thread. Threads with long work
// use short slices, too, because a thread that wakes up preempts only a thread whose slice is over,
// and call `YieldIfSliceIsOver`, because the kernel checks slices only every few milliseconds.
#pragma once

#include "server/base/timer.h"

namespace carom::server {

// Requests short time slices for the calling thread and for threads that it starts. Does nothing if
// the kernel does not support the request.
void RequestShortTimeSlices();

// Makes the kernel check whether the time slice of the calling thread is over, so that it can
// schedule another thread. A thread with long work calls the function again and again, with the
// current time. The kernel itself checks only every 4 ms, or when a thread wakes up; until then,
// threads that need this CPU wait, and so do threads that need a lock which a waiting thread holds.
// Makes a system call at most once in 100 us; other calls cost nothing.
void YieldIfSliceIsOver(Clock::time_point now);

// Raises the nice value of the calling thread, whose work takes long, to 10 above that of the first
// thread of the process. Permanent: only root could lower the nice value again.
void LowerPriority();

}  // namespace carom::server
