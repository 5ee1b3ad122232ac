// SPDX-License-Identifier: Apache-2.0
// Lets <PCSC/winscard.h> find this header without an extra include path.
#include <PCSC/wintypes.h>
