// SPDX-License-Identifier: Apache-2.0
// The types of libudev. The library itself is opened at run time; a machine without it lists what sysfs has.
#pragma once
#include <libudev.h>
