// SPDX-License-Identifier: Apache-2.0
// The Public Suffix List as one text: one rule per line, sorted by bytes, in Punycode, each line ending in a line feed.
#pragma once
#include <stddef.h>
#include <stdint.h>

const uint8_t *ykit_public_suffixes(void);
size_t ykit_public_suffixes_length(void);
