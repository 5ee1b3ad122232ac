// SPDX-License-Identifier: Apache-2.0
#include "CPublicSuffix.h"

static const char rules[] =
#include "rules.inc"
;

const uint8_t *ykit_public_suffixes(void) { return (const uint8_t *)rules; }
size_t ykit_public_suffixes_length(void) { return sizeof rules - 1; }
