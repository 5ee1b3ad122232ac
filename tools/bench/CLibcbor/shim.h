// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cbor.h>
#include <stdlib.h>

// Reads an item and gives it back: 1 when it was one.
static inline int beside_decode(const unsigned char *bytes, size_t size) {
    struct cbor_load_result result;
    cbor_item_t *item = cbor_load(bytes, size, &result);
    if (!item) return 0;
    cbor_decref(&item);
    return 1;
}

static inline cbor_item_t *beside_load(const unsigned char *bytes, size_t size) {
    struct cbor_load_result result;
    return cbor_load(bytes, size, &result);
}

// Writes an item into memory of its own and gives that back: how many bytes it took.
static inline size_t beside_encode(const cbor_item_t *item) {
    unsigned char *buffer;
    size_t capacity;
    size_t length = cbor_serialize_alloc(item, &buffer, &capacity);
    free(buffer);
    return length;
}
