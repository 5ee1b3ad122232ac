// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CPCSC.h"
#include <errno.h>
#include <time.h>

int ykit_semaphore_wait(sem_t *semaphore, int milliseconds) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec += 1;
        until.tv_nsec -= 1000000000;
    }
    int failed;
    do {
        failed = sem_clockwait(semaphore, CLOCK_MONOTONIC, &until);
    } while (failed && errno == EINTR);
    return failed;
}
