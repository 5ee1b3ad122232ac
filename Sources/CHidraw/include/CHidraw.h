// SPDX-License-Identifier: Apache-2.0
// The calls on a /dev/hidraw node whose numbers are macros that Swift does not read.
#pragma once
#include <linux/hidraw.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/ioctl.h>

static inline int ykit_hidraw_info(int node, struct hidraw_devinfo *info) { return ioctl(node, HIDIOCGRAWINFO, info); }

static inline int ykit_hidraw_descriptor_size(int node, int *size) { return ioctl(node, HIDIOCGRDESCSIZE, size); }

static inline int ykit_hidraw_descriptor(int node, struct hidraw_report_descriptor *descriptor) {
    return ioctl(node, HIDIOCGRDESC, descriptor);
}

// These four give the number of bytes, or -1.
static inline int ykit_hidraw_name(int node, char *text, size_t room) { return ioctl(node, HIDIOCGRAWNAME(room), text); }

static inline int ykit_hidraw_phys(int node, char *text, size_t room) { return ioctl(node, HIDIOCGRAWPHYS(room), text); }

static inline int ykit_hidraw_uniq(int node, char *text, size_t room) { return ioctl(node, HIDIOCGRAWUNIQ(room), text); }

// The first byte is the report number, in and out.
static inline int ykit_hidraw_get_feature(int node, unsigned char *report, size_t count) {
    return ioctl(node, HIDIOCGFEATURE(count), report);
}

static inline int ykit_hidraw_set_feature(int node, const unsigned char *report, size_t count) {
    return ioctl(node, HIDIOCSFEATURE(count), report);
}

// Takes a lock of the whole node, or fails at once with EWOULDBLOCK.
static inline int ykit_lock(int node) { return flock(node, LOCK_EX | LOCK_NB); }
