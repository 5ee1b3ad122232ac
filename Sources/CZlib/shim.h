// SPDX-License-Identifier: Apache-2.0
// zlib's raw DEFLATE (RFC 1951): whole buffers in, whole buffers out, without zlib's header and checksum.
#pragma once
#include <string.h>
#include <zlib.h>

// Deflates; returns how many bytes were written, or -1 when they do not fit.
static inline long ykit_deflate(const unsigned char *in, unsigned in_size, unsigned char *out, unsigned out_size) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) return -1;
    stream.next_in = (unsigned char *)in;
    stream.avail_in = in_size;
    stream.next_out = out;
    stream.avail_out = out_size;
    int result = deflate(&stream, Z_FINISH);
    long written = (long)stream.total_out;
    deflateEnd(&stream);
    return result == Z_STREAM_END ? written : -1;
}

// Inflates all of the input; returns how many bytes were written, or -1 when it is not DEFLATE or does not fit.
static inline long ykit_inflate(const unsigned char *in, unsigned in_size, unsigned char *out, unsigned out_size) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return -1;
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

// Compresses with gzip (RFC 1952); returns how many bytes were written, or -1 when they do not fit.
static inline long ykit_gzip(const unsigned char *in, unsigned in_size, unsigned char *out, unsigned out_size) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    int bits = MAX_WBITS + 16;
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) return -1;
    stream.next_in = (unsigned char *)in;
    stream.avail_in = in_size;
    stream.next_out = out;
    stream.avail_out = out_size;
    int result = deflate(&stream, Z_FINISH);
    long written = (long)stream.total_out;
    deflateEnd(&stream);
    return result == Z_STREAM_END ? written : -1;
}

// Inflates gzip or zlib (RFC 1950); returns how many bytes were written, or -1 when it is neither, does not fit, or
// something follows.
static inline long ykit_inflate_any(const unsigned char *in, unsigned in_size, unsigned char *out, unsigned out_size) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    if (inflateInit2(&stream, MAX_WBITS + 32) != Z_OK) return -1;
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
