// SPDX-License-Identifier: Apache-2.0
// What Swift's Glibc module lacks of threads and processes: waits on the monotonic clock, processors, the heap that threads
// share, fork, the system's log.
#pragma once
#include <semaphore.h>

// Waits for a semaphore for at most this many milliseconds on the monotonic clock. Returns 0 if it was posted, else -1.
int ykit_semaphore_wait(sem_t *semaphore, int milliseconds);

// Keeps the calling thread, and the threads and processes that it starts, on the processor on which it runs.
void ykit_keep_processor(void);

// Lets all threads of the process run on all processors that the process had before ykit_keep_processor.
void ykit_leave_processor(void);

// Has all threads allocate memory from one heap instead of one for each thread. To be called before any thread starts.
void ykit_share_heap(void);

// Starts a copy of a process that has one thread, as fork does. Returns -1 if there are others, which the copy would lack.
int ykit_fork_alone(void);

// Writes a line to the system's log.
void ykit_log(const char *text);
