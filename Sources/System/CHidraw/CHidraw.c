// SPDX-License-Identifier: Apache-2.0
#include "CHidraw.h"
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/xattr.h>

int ykit_hidraw_info(int node, struct hidraw_devinfo *info) { return ioctl(node, HIDIOCGRAWINFO, info); }

int ykit_hidraw_descriptor(int node, unsigned char *bytes, size_t room) {
    struct hidraw_report_descriptor descriptor;
    int size = 0;
    if (ioctl(node, HIDIOCGRDESCSIZE, &size) < 0) return -1;
    if (size < 0 || size > HID_MAX_DESCRIPTOR_SIZE || (size_t)size > room) return -1;
    descriptor.size = (unsigned)size;
    if (ioctl(node, HIDIOCGRDESC, &descriptor) < 0) return -1;
    memcpy(bytes, descriptor.value, (size_t)size);
    return size;
}

int ykit_hidraw_name(int node, char *text, size_t room) { return ioctl(node, HIDIOCGRAWNAME(room), text); }

int ykit_hidraw_phys(int node, char *text, size_t room) { return ioctl(node, HIDIOCGRAWPHYS(room), text); }

int ykit_hidraw_uniq(int node, char *text, size_t room) { return ioctl(node, HIDIOCGRAWUNIQ(room), text); }

int ykit_hidraw_get_feature(int node, unsigned char *report, size_t count) {
    return ioctl(node, HIDIOCGFEATURE(count), report);
}

int ykit_hidraw_set_feature(int node, const unsigned char *report, size_t count) {
    return ioctl(node, HIDIOCSFEATURE(count), report);
}

int ykit_lock(int node) { return flock(node, LOCK_EX | LOCK_NB); }

long ykit_access_list(const char *path, unsigned char *bytes, size_t room) {
    return getxattr(path, "system.posix_acl_access", bytes, room);
}

int ykit_set_access_list(const char *path, const unsigned char *bytes, size_t count) {
    return setxattr(path, "system.posix_acl_access", bytes, count, 0);
}

int ykit_hide_process(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
