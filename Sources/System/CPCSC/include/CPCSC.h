// SPDX-License-Identifier: Apache-2.0
// The types and constants of libpcsclite. The library itself is opened at run time; on a machine without it, everything
// works that needs no smart card service.
#pragma once
#include <PCSC/winscard.h>
#include <PCSC/reader.h>
