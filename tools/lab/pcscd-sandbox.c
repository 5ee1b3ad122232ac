// SPDX-License-Identifier: Apache-2.0
//
// The reader driver of tools/lab/pcscd-sandbox: hands the calls for reader N to a copy of vpcd's driver that lies beside it
// as vpcdN.so (vpcd keeps one state for all readers), and changes four things. A reader has one slot, as a security key
// has (vpcd has two); readers do not wait for each other; a reader answers to the control code 1, which libccid has for
// escapes, with the same bytes (vpcd 3.3 has no codes); and, preloaded into pcscd, it keeps vpcd's listening port on the
// loopback address (vpcd opens it to the network).

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <ifdhandler.h>
#include <reader.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { READERS = 16 };

static void *vpcd_symbol(DWORD lun, const char *name) {
    static void *drivers[READERS];
    unsigned reader = (unsigned)(lun >> 16);
    if (reader >= READERS) return NULL;
    if (!drivers[reader]) {
        Dl_info self;
        char path[4096];
        if (!dladdr(drivers, &self)) return NULL;
        const char *slash = strrchr(self.dli_fname, '/');
        int folder = slash ? (int)(slash - self.dli_fname) : 0;
        snprintf(path, sizeof path, "%.*s/vpcd%u.so", folder, self.dli_fname, reader);
        drivers[reader] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!drivers[reader]) fprintf(stderr, "%s\n", dlerror());
    }
    return drivers[reader] ? dlsym(drivers[reader], name) : NULL;
}

#define FORWARD(name, parameters, arguments)                          \
    RESPONSECODE name parameters {                                    \
        RESPONSECODE(*call) parameters = vpcd_symbol(lun, #name);          \
        return call ? call arguments : IFD_COMMUNICATION_ERROR;       \
    }

FORWARD(IFDHCreateChannel, (DWORD lun, DWORD channel), (lun, channel))
FORWARD(IFDHCreateChannelByName, (DWORD lun, LPSTR name), (lun, name))
FORWARD(IFDHCloseChannel, (DWORD lun), (lun))
FORWARD(IFDHSetCapabilities, (DWORD lun, DWORD tag, DWORD length, PUCHAR value), (lun, tag, length, value))
FORWARD(IFDHSetProtocolParameters,
        (DWORD lun, DWORD protocol, UCHAR flags, UCHAR pts1, UCHAR pts2, UCHAR pts3),
        (lun, protocol, flags, pts1, pts2, pts3))
FORWARD(IFDHPowerICC, (DWORD lun, DWORD action, PUCHAR atr, PDWORD length), (lun, action, atr, length))
FORWARD(IFDHTransmitToICC,
        (DWORD lun, SCARD_IO_HEADER sent, PUCHAR command, DWORD commandLength, PUCHAR reply, PDWORD replyLength,
         PSCARD_IO_HEADER received),
        (lun, sent, command, commandLength, reply, replyLength, received))
FORWARD(IFDHICCPresence, (DWORD lun), (lun))

RESPONSECODE IFDHControl(
    DWORD lun, DWORD code, PUCHAR sent, DWORD sentLength, PUCHAR reply, DWORD room, LPDWORD replyLength) {
    (void)lun;
    *replyLength = 0;
    if (code != SCARD_CTL_CODE(1)) return IFD_ERROR_NOT_SUPPORTED;
    if (sentLength > room) return IFD_ERROR_INSUFFICIENT_BUFFER;
    memcpy(reply, sent, sentLength);
    *replyLength = sentLength;
    return IFD_SUCCESS;
}

RESPONSECODE IFDHGetCapabilities(DWORD lun, DWORD tag, PDWORD length, PUCHAR value) {
    UCHAR own = tag == TAG_IFD_SLOTS_NUMBER || tag == TAG_IFD_THREAD_SAFE ? 1
              : tag == TAG_IFD_SIMULTANEOUS_ACCESS                        ? READERS
                                                                          : 0;
    if (own && length && *length >= 1) {
        *value = own;
        *length = 1;
        return IFD_SUCCESS;
    }
    RESPONSECODE (*call)(DWORD, DWORD, PDWORD, PUCHAR) = vpcd_symbol(lun, "IFDHGetCapabilities");
    return call ? call(lun, tag, length, value) : IFD_COMMUNICATION_ERROR;
}

int bind(int descriptor, const struct sockaddr *address, socklen_t length) {
    int (*call)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
    struct sockaddr_in local;
    if (length == sizeof local && address->sa_family == AF_INET) {
        memcpy(&local, address, sizeof local);
        local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address = (const struct sockaddr *)&local;
    }
    return call(descriptor, address, length);
}
