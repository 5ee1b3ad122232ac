// SPDX-License-Identifier: Apache-2.0
#include "CUSB.h"
#include <errno.h>
#include <linux/usbdevice_fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

// What is sent or received follows it.
struct ykit_usb_transfer {
    struct usbdevfs_urb urb;
};

static unsigned char *data_of(const ykit_usb_transfer *transfer) { return (unsigned char *)(transfer + 1); }

int ykit_usb_claim(int node, unsigned int number) { return ioctl(node, USBDEVFS_CLAIMINTERFACE, &number); }

int ykit_usb_release(int node, unsigned int number) { return ioctl(node, USBDEVFS_RELEASEINTERFACE, &number); }

int ykit_usb_clear_halt(int node, unsigned int endpoint) { return ioctl(node, USBDEVFS_CLEAR_HALT, &endpoint); }

int ykit_usb_reset(int node) { return ioctl(node, USBDEVFS_RESET); }

int ykit_usb_control(int node, unsigned char kind, unsigned char request, unsigned short value, unsigned short index,
                     unsigned int milliseconds) {
    struct usbdevfs_ctrltransfer transfer = {kind, request, value, index, 0, milliseconds, NULL};
    return ioctl(node, USBDEVFS_CONTROL, &transfer);
}

ykit_usb_transfer *ykit_usb_start(int node, int is_interrupt, unsigned char endpoint, const unsigned char *data,
                                  int count) {
    ykit_usb_transfer *transfer = calloc(1, sizeof *transfer + (size_t)count);
    if (!transfer) return NULL;
    transfer->urb.type = is_interrupt ? USBDEVFS_URB_TYPE_INTERRUPT : USBDEVFS_URB_TYPE_BULK;
    transfer->urb.endpoint = endpoint;
    transfer->urb.buffer = data_of(transfer);
    transfer->urb.buffer_length = count;
    if (data) memcpy(data_of(transfer), data, (size_t)count);
    if (ioctl(node, USBDEVFS_SUBMITURB, &transfer->urb) == 0) return transfer;
    int number = errno;
    free(transfer);
    errno = number;
    return NULL;
}

ykit_usb_transfer *ykit_usb_ended(int node) {
    struct usbdevfs_urb *urb = NULL;
    return ioctl(node, USBDEVFS_REAPURBNDELAY, &urb) == 0 ? (ykit_usb_transfer *)urb : NULL;
}

int ykit_usb_discard(int node, ykit_usb_transfer *transfer) { return ioctl(node, USBDEVFS_DISCARDURB, &transfer->urb); }

int ykit_usb_status(const ykit_usb_transfer *transfer) { return -transfer->urb.status; }

int ykit_usb_count(const ykit_usb_transfer *transfer) { return transfer->urb.actual_length; }

const unsigned char *ykit_usb_data(const ykit_usb_transfer *transfer) { return data_of(transfer); }

void ykit_usb_free(ykit_usb_transfer *transfer, int size) {
    explicit_bzero(data_of(transfer), (size_t)size);
    free(transfer);
}
