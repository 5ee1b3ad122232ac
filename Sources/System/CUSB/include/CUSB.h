// SPDX-License-Identifier: Apache-2.0
// The calls on a node of /dev/bus/usb (usbdevfs, linux/usbdevice_fs.h). These are what libusb itself makes; without it
// there is no library to look for, no thread and no list of all devices at the start, and a wait ends when it is called
// off. Each call gives 0, or -1 with errno, unless it says otherwise.
#pragma once

// A transfer that was begun. The kernel writes into it only in ykit_usb_ended.
typedef struct ykit_usb_transfer ykit_usb_transfer;

int ykit_usb_claim(int node, unsigned int number);
int ykit_usb_release(int node, unsigned int number);
int ykit_usb_clear_halt(int node, unsigned int endpoint);
int ykit_usb_reset(int node);
// A control transfer without data.
int ykit_usb_control(int node, unsigned char kind, unsigned char request, unsigned short value, unsigned short index,
                     unsigned int milliseconds);

// Begins a transfer of so many bytes; the data is copied. NULL with errno when it cannot.
ykit_usb_transfer *ykit_usb_start(int node, int is_interrupt, unsigned char endpoint, const unsigned char *data,
                                  int count);
// A transfer that has ended, or NULL with errno: EAGAIN when there is none.
ykit_usb_transfer *ykit_usb_ended(int node);
// Calls a transfer off; it has still to end.
int ykit_usb_discard(int node, ykit_usb_transfer *transfer);
// How a transfer ended: 0 or an error number.
int ykit_usb_status(const ykit_usb_transfer *transfer);
int ykit_usb_count(const ykit_usb_transfer *transfer);
const unsigned char *ykit_usb_data(const ykit_usb_transfer *transfer);
// Wipes and frees a transfer that was begun with so many bytes.
void ykit_usb_free(ykit_usb_transfer *transfer, int size);
