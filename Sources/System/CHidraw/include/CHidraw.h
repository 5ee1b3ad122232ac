// SPDX-License-Identifier: Apache-2.0
// The calls on a /dev/hidraw node whose numbers are macros that Swift does not read. No header of the C library is
// included here: what it declares would count as CHidraw's, and Glibc's own would not be found any more.
#pragma once
#include <linux/hidraw.h>
#include <stddef.h>

int ykit_hidraw_info(int node, struct hidraw_devinfo *info);

// The report descriptor, which has at most HID_MAX_DESCRIPTOR_SIZE bytes: how many, or -1.
int ykit_hidraw_descriptor(int node, unsigned char *bytes, size_t room);

// These four give the number of bytes, or -1.
int ykit_hidraw_name(int node, char *text, size_t room);

int ykit_hidraw_phys(int node, char *text, size_t room);

int ykit_hidraw_uniq(int node, char *text, size_t room);

// The first byte is the report number, in and out.
int ykit_hidraw_get_feature(int node, unsigned char *report, size_t count);

int ykit_hidraw_set_feature(int node, const unsigned char *report, size_t count);

// Takes a lock of the whole node, or fails at once with EWOULDBLOCK.
int ykit_lock(int node);

// Keeps other programs of the same user, and core dumps, away from the memory of this process.
int ykit_hide_process(void);

// The access control list of a node as the kernel keeps it: how many bytes, 0 or less when it has none.
long ykit_access_list(const char *path, unsigned char *bytes, size_t room);
