// SPDX-License-Identifier: Apache-2.0
// The ioctls on a /dev/hidraw node, whose numbers are macros that Swift cannot import. This header includes none from
// the C library: their declarations would count as CHidraw's, and those of Glibc would no longer be found.
#pragma once
#include <linux/hidraw.h>
#include <stddef.h>

int ykit_hidraw_info(int node, struct hidraw_devinfo *info);

// Reads the report descriptor, at most HID_MAX_DESCRIPTOR_SIZE bytes; returns its length or -1.
int ykit_hidraw_descriptor(int node, unsigned char *bytes, size_t room);

// The next four functions return the number of bytes, or -1.
int ykit_hidraw_name(int node, char *text, size_t room);

int ykit_hidraw_phys(int node, char *text, size_t room);

int ykit_hidraw_uniq(int node, char *text, size_t room);

// The first byte is the report number, in both directions.
int ykit_hidraw_get_feature(int node, unsigned char *report, size_t count);

int ykit_hidraw_set_feature(int node, const unsigned char *report, size_t count);

// Locks the whole node, or fails immediately with EWOULDBLOCK.
int ykit_lock(int node);

// Hides the memory of this process from other programs of the same user and keeps it out of core dumps.
int ykit_hide_process(void);

// Reads the access control list of a node as stored by the kernel; returns its length, or 0 or less if there is none.
long ykit_access_list(const char *path, unsigned char *bytes, size_t room);

// Sets the access control list of a file, as the kernel stores it; returns 0 or -1.
int ykit_set_access_list(const char *path, const unsigned char *bytes, size_t count);
