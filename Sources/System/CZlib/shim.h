// SPDX-License-Identifier: Apache-2.0
// zlib on whole buffers. `window` is zlib's window bits, which select the format.
#pragma once
#include <string.h>
#include <zlib.h>

static const int ykit_raw_deflate = -MAX_WBITS;    // RFC 1951, without header and checksum
static const int ykit_gzip = MAX_WBITS + 16;       // RFC 1952
static const int ykit_gzip_or_zlib = MAX_WBITS + 32;  // RFC 1952 or RFC 1950, by the first bytes; for inflating only

// Deflates; returns the number of bytes written, or -1 if they do not fit.
static inline long ykit_deflate(
    int window, int level, const unsigned char *in, unsigned in_size, unsigned char *out, unsigned out_size
) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (deflateInit2(&stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) return -1;
    stream.next_in = (unsigned char *)in;
    stream.avail_in = in_size;
    stream.next_out = out;
    stream.avail_out = out_size;
    int result = deflate(&stream, Z_FINISH);
    long written = (long)stream.total_out;
    deflateEnd(&stream);
    return result == Z_STREAM_END ? written : -1;
}

// Inflates all of the input; returns the number of bytes written, or -1 if the input has another format, is followed by
// other data, or its content does not fit.
static inline long ykit_inflate(
    int window, const unsigned char *in, unsigned in_size, unsigned char *out, unsigned out_size
) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (inflateInit2(&stream, window) != Z_OK) return -1;
    stream.next_in = (unsigned char *)in;
    stream.avail_in = in_size;
    stream.next_out = out;
    stream.avail_out = out_size;
    int result = inflate(&stream, Z_FINISH);
    long written = (long)stream.total_out;
    int left = (int)stream.avail_in;
    inflateEnd(&stream);
    return result == Z_STREAM_END && left == 0 ? written : -1;
}
