// SPDX-License-Identifier: Apache-2.0
// What Swift's Glibc module lacks of threads and processes: the arguments, waits on the monotonic clock, event counters,
// processors, the heap that threads share, fork, a file's new name, the system's log.
#pragma once
#include <semaphore.h>

// The number of words on the command line, the program's name included.
int ykit_argument_count(void);

// A word of the command line as the kernel passed it, or a null pointer after the last one. Needs neither /proc nor the
// environment, unlike Swift's CommandLine.
const char *ykit_argument(int index);

// Renames a file unless the new name is in use. Returns 0, or -1 with errno (EEXIST for a name in use).
int ykit_rename_new(const char *old, const char *new_name);

// Waits for a semaphore for at most this many milliseconds on the monotonic clock. Returns 0 if it was posted, else -1.
int ykit_semaphore_wait(sem_t *semaphore, int milliseconds);

// Creates an event counter (eventfd(2)) that is closed on exec and does not block; -1 with errno.
int ykit_event_counter(void);

// Makes an event counter readable. Async-signal-safe; errno stays.
void ykit_count_event(int counter);

// Keeps the calling thread, and the threads and processes that it starts, on the processor on which it runs.
void ykit_keep_processor(void);

// Lets all threads of the process run on all processors that the process had before ykit_keep_processor.
void ykit_leave_processor(void);

// Has the calling thread run before all threads of usual priority, as soon as what it waits for has come. Returns 0, or -1
// with errno where the system does not allow that.
int ykit_run_first(void);

// Has all threads allocate memory from one heap instead of one for each thread. To be called before any thread starts.
void ykit_share_heap(void);

// Starts a copy of a process that has one thread, as fork does. Returns -1 if there are others, which the copy would lack.
int ykit_fork_alone(void);

// Writes a line to the system's log.
void ykit_log(const char *text);
