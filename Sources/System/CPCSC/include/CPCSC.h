// SPDX-License-Identifier: Apache-2.0
// The types and constants of libpcsclite. The library itself is opened at run time; on a machine without it, everything
// works that needs no smart card service.
#pragma once
#include <PCSC/winscard.h>
#include <PCSC/reader.h>
#include <semaphore.h>

// Waits for a semaphore for at most this many milliseconds on the monotonic clock. Returns 0 if it was posted, else -1.
int ykit_semaphore_wait(sem_t *semaphore, int milliseconds);
