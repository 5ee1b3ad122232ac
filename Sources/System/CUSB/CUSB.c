// SPDX-License-Identifier: Apache-2.0
#include "CUSB.h"

void ykit_usb_skip_discovery(void *set_option) {
    int (*call)(libusb_context *, enum libusb_option, ...) = (int (*)(libusb_context *, enum libusb_option, ...))set_option;
    (void)call(NULL, LIBUSB_OPTION_NO_DEVICE_DISCOVERY);
}
