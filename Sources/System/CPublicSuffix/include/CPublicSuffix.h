// SPDX-License-Identifier: Apache-2.0
// The Public Suffix List: one that is built in, and the system's through libpsl, which is loaded on the first call.
#pragma once
#include <stddef.h>
#include <stdint.h>

// The built-in list as one text: one rule per line, sorted by bytes, in Punycode, each line ending in a line feed.
const uint8_t *ykit_public_suffixes(void);
size_t ykit_public_suffixes_length(void);
// Its date, YYYY-MM-DD.
const char *ykit_public_suffixes_date(void);

// Returns the newest of libpsl's lists, and sets its time, in seconds since 1970: the list in the library, the system's file,
// and `file`, which may be NULL. The time of a file is that of its last change, as for psl_latest. Returns NULL if none is
// newer than `time`, and without libpsl.so.5. The list is never freed.
const void *ykit_psl(const char *file, int64_t *time);
// The length of the public suffix at the end of a domain in lower case and Punycode.
size_t ykit_psl_suffix(const void *list, const char *domain);
