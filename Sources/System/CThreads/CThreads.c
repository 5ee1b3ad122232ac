// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CThreads.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

static int argument_count;
static char **arguments;

static void keep_arguments(int count, char **words, char **environment) {
    (void)environment;
    argument_count = count;
    arguments = words;
}

// glibc passes argc, argv and envp to each function of this section, before main.
__attribute__((section(".init_array"), used)) static void (*keep_arguments_at_start)(int, char **, char **) =
    keep_arguments;

int ykit_argument_count(void) { return argument_count; }

const char *ykit_argument(int index) { return index >= 0 && index < argument_count ? arguments[index] : NULL; }

int ykit_rename_new(const char *old, const char *new_name) {
    if (!renameat2(AT_FDCWD, old, AT_FDCWD, new_name, RENAME_NOREPLACE)) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    // A file system without that flag: a second name, or, where there are no links, a check before.
    if (!link(old, new_name)) return unlink(old);
    if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS) return -1;
    if (!access(new_name, F_OK)) {
        errno = EEXIST;
        return -1;
    }
    return rename(old, new_name);
}

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

int ykit_event_counter(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void ykit_count_event(int counter) {
    int number = errno;
    uint64_t one = 1;
    ssize_t written = write(counter, &one, sizeof one);
    (void)written;  // A full counter is readable, too.
    errno = number;
}

// The processors before ykit_keep_processor; none while the process is not kept on one.
static cpu_set_t usual;

void ykit_keep_processor(void) {
    int current = sched_getcpu();
    if (current < 0 || current >= CPU_SETSIZE || sched_getaffinity(0, sizeof usual, &usual)) {
        CPU_ZERO(&usual);
        return;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(current, &one);
    sched_setaffinity(0, sizeof one, &one);
}

void ykit_leave_processor(void) {
    if (!CPU_COUNT(&usual)) return;
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return;
    // The calling thread first: threads that it starts from now on are free, too.
    sched_setaffinity(0, sizeof usual, &usual);
    // A thread may start another while it is still kept itself, so the list is read until all of it is free.
    for (int kept = 1, turns = 0; kept && turns < 100; turns++) {
        kept = 0;
        rewinddir(threads);
        for (struct dirent *entry; (entry = readdir(threads));) {
            int thread = atoi(entry->d_name);
            cpu_set_t now;
            if (thread <= 0 || sched_getaffinity(thread, sizeof now, &now) || CPU_EQUAL(&now, &usual)) continue;
            kept |= !sched_setaffinity(thread, sizeof usual, &usual);
        }
    }
    closedir(threads);
    CPU_ZERO(&usual);
}

int ykit_run_first(void) {
    struct sched_param first = {.sched_priority = 1};
    return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
}

void ykit_share_heap(void) { mallopt(M_ARENA_MAX, 1); }

int ykit_fork_alone(void) {
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return -1;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(threads));) count += entry->d_name[0] != '.';
    closedir(threads);
    errno = EAGAIN;
    return count == 1 ? fork() : -1;
}

void ykit_log(const char *text) { syslog(LOG_USER | LOG_NOTICE, "%s", text); }
