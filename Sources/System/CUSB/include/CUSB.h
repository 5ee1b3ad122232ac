// SPDX-License-Identifier: Apache-2.0
// The types of libusb-1.0. The library itself is opened at run time; on a machine without it, everything works except
// card readers without pcscd.
#pragma once
#include <libusb-1.0/libusb.h>

// Keeps libusb from listing all devices and from starting a thread for each context. `set_option` is its
// libusb_set_option, which Swift cannot call because it is variadic.
void ykit_usb_skip_discovery(void *set_option);
