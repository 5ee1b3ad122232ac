// SPDX-License-Identifier: Apache-2.0
#include "CBcrypt.h"

#include <pthread.h>
#include <string.h>

// The state of Blowfish: 18 subkeys, then four S-boxes.
enum { SUBKEYS = 18, BOX = 256, WORDS = SUBKEYS + 4 * BOX };

typedef struct {
    uint32_t words[WORDS];
} state;

// The initial state: the fraction of pi.
static state initial;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// A number of one whole word, the fraction, and two words that are cut off with the errors of rounding.
enum { LENGTH = 1 + WORDS + 2 };

// Divides the words from `start` on; those before are 0.
static void divide(uint32_t *number, int start, uint32_t divisor, uint32_t *quotient) {
    uint64_t rest = 0;
    for (int i = start; i < LENGTH; i++) {
        rest = rest << 32 | number[i];
        quotient[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
}

// Adds factor * arctan(1/x), by its Taylor series.
static void add_arctan(uint32_t *sum, uint32_t factor, uint32_t x, int is_negative) {
    uint32_t power[LENGTH] = {factor}, term[LENGTH];
    divide(power, 0, x, power);
    int start = 0;
    for (uint32_t k = 1; start < LENGTH; k += 2, is_negative = !is_negative) {
        divide(power, start, k, term);
        uint64_t carry = is_negative;
        for (int i = LENGTH - 1; i >= 0; i--) {
            uint32_t word = i < start ? 0 : term[i];
            carry += (uint64_t)sum[i] + (is_negative ? ~word : word);
            sum[i] = (uint32_t)carry;
            carry >>= 32;
        }
        divide(power, start, x * x, power);
        while (start < LENGTH && !power[start]) start++;
    }
}

// Machin's formula: pi = 16 arctan(1/5) - 4 arctan(1/239).
static void compute_pi(void) {
    uint32_t sum[LENGTH] = {0};
    add_arctan(sum, 16, 5, 0);
    add_arctan(sum, 4, 239, 1);
    memcpy(initial.words, sum + 1, sizeof initial.words);
}

static void encrypt(const state *s, uint32_t *left, uint32_t *right) {
    const uint32_t *box = s->words + SUBKEYS;
    uint32_t l = *left, r = *right;
    for (int i = 0; i < 16; i++) {
        l ^= s->words[i];
        r ^= ((box[l >> 24] + box[BOX + (l >> 16 & 0xFF)]) ^ box[2 * BOX + (l >> 8 & 0xFF)]) + box[3 * BOX + (l & 0xFF)];
        uint32_t swapped = l;
        l = r;
        r = swapped;
    }
    *left = r ^ s->words[17];
    *right = l ^ s->words[16];
}

static uint32_t word(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// The salted key schedule; without a salt it is Blowfish's own.
static void expand(state *s, const uint8_t *key, const uint8_t *salt) {
    for (int i = 0; i < SUBKEYS; i++) s->words[i] ^= word(key + 4 * i % YKIT_BCRYPT_INPUT);
    uint32_t left = 0, right = 0;
    for (int i = 0; i < WORDS; i += 2) {
        if (salt) {
            left ^= word(salt + 4 * i % YKIT_BCRYPT_INPUT);
            right ^= word(salt + 4 * (i + 1) % YKIT_BCRYPT_INPUT);
        }
        encrypt(s, &left, &right);
        s->words[i] = left;
        s->words[i + 1] = right;
    }
}

void ykit_bcrypt_hash(
    const uint8_t password[YKIT_BCRYPT_INPUT], const uint8_t salt[YKIT_BCRYPT_INPUT], uint8_t out[YKIT_BCRYPT_OUTPUT]) {
    static const uint8_t text[YKIT_BCRYPT_OUTPUT] = "OxychromaticBlowfishSwatDynamite";
    pthread_once(&once, compute_pi);
    state s = initial;
    expand(&s, password, salt);
    for (int i = 0; i < 64; i++) {
        expand(&s, salt, NULL);
        expand(&s, password, NULL);
    }
    for (int block = 0; block < YKIT_BCRYPT_OUTPUT; block += 8) {
        uint32_t halves[2] = {word(text + block), word(text + block + 4)};
        for (int i = 0; i < 64; i++) encrypt(&s, halves, halves + 1);
        // Unlike the text, the result is little-endian.
        for (int i = 0; i < 8; i++) out[block + i] = (uint8_t)(halves[i / 4] >> 8 * (i % 4));
    }
    explicit_bzero(&s, sizeof s);
}
