// SPDX-License-Identifier: Apache-2.0
// Lets <PCSC/winscard.h> find its neighbour without a search path of its own.
#include <PCSC/pcsclite.h>
