// SPDX-License-Identifier: Apache-2.0
// The types and constants of libpcsclite. The library itself is opened at run time, so that a machine without it runs
// everything that needs no smart card service.
#pragma once
#include <PCSC/winscard.h>
#include <PCSC/reader.h>
#include <semaphore.h>

// Waits for a semaphore for at most this many milliseconds of the clock that nobody sets: 0 when it was posted, else -1.
int ykit_semaphore_wait(sem_t *semaphore, int milliseconds);
