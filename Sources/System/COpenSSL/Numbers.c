// SPDX-License-Identifier: Apache-2.0
#include "Functions.h"

int ykit_rsa_complete(
    const uint8_t *p, const uint8_t *q, size_t size, uint8_t *n, size_t *n_size, uint8_t *d, size_t *d_size) {
    if (!fits(size)) return -1;
    BN_CTX *context = ssl()->BN_CTX_new_ex(ssl()->context);
    BIGNUM *first = ssl()->BN_bin2bn(p, (int)size, NULL), *second = ssl()->BN_bin2bn(q, (int)size, NULL);
    BIGNUM *product = ssl()->BN_new(), *phi = ssl()->BN_new(), *e = ssl()->BN_new(), *inverse = ssl()->BN_new();
    long written_n = -1, written_d = -1;
    int ok = context && first && second && product && phi && e && inverse && ssl()->BN_num_bits(first) > 1
        && ssl()->BN_num_bits(second) > 1 && ssl()->BN_mul(product, first, second, context) == 1
        && ssl()->BN_sub_word(first, 1) == 1 && ssl()->BN_sub_word(second, 1) == 1
        && ssl()->BN_mul(phi, first, second, context) == 1 && ssl()->BN_set_word(e, 65537) == 1
        && ssl()->BN_mod_inverse(inverse, e, phi, context) != NULL;
    if (ok) {
        written_n = write_number(product, n, *n_size);
        written_d = write_number(inverse, d, *d_size);
        *n_size = written_n < 0 ? 0 : (size_t)written_n;
        *d_size = written_d < 0 ? 0 : (size_t)written_d;
    }
    BIGNUM *all[] = {first, second, product, phi, e, inverse};
    for (size_t i = 0; i < 6; i++) ssl()->BN_clear_free(all[i]);
    ssl()->BN_CTX_free(context);
    return (int)done(ok && written_n > 0 && written_d > 0 ? 0 : -1);
}

// Computes number^-1 mod (modulus - less) into `size` bytes; returns 0 on success.
static int invert(const BIGNUM *number, const BIGNUM *modulus, BN_ULONG less, uint8_t *out, size_t size) {
    BN_CTX *context = ssl()->BN_CTX_new_ex(ssl()->context);
    BIGNUM *reduced = ssl()->BN_dup(modulus);
    BIGNUM *inverse = ssl()->BN_new();
    int ok = context && reduced && inverse && ssl()->BN_sub_word(reduced, less) == 1
        && ssl()->BN_mod_inverse(inverse, number, reduced, context) != NULL
        && ssl()->BN_bn2binpad(inverse, out, (int)size) == (int)size;
    ssl()->BN_clear_free(inverse);
    ssl()->BN_clear_free(reduced);
    ssl()->BN_CTX_free(context);
    return ok ? 0 : -1;
}

int ykit_rsa_remainders(
    const uint8_t *p, const uint8_t *q, size_t size, uint8_t *dp, uint8_t *dq, uint8_t *inverse) {
    if (!fits(size)) return -1;
    BIGNUM *first = ssl()->BN_bin2bn(p, (int)size, NULL), *second = ssl()->BN_bin2bn(q, (int)size, NULL);
    BIGNUM *e = ssl()->BN_new();
    int ok = first && second && e && ssl()->BN_num_bits(first) > 1 && ssl()->BN_num_bits(second) > 1
        && ssl()->BN_set_word(e, 65537) == 1 && invert(e, first, 1, dp, size) == 0 && invert(e, second, 1, dq, size) == 0
        && invert(second, first, 0, inverse, size) == 0;
    ssl()->BN_clear_free(first);
    ssl()->BN_clear_free(second);
    ssl()->BN_clear_free(e);
    return (int)done(ok ? 0 : -1);
}

long ykit_curve_point(const char *curve, const uint8_t *scalar, size_t size, uint8_t *out, size_t room) {
    if (!fits(size)) return -1;
    BN_CTX *context = ssl()->BN_CTX_new_ex(ssl()->context);
    EC_GROUP *group = ssl()->EC_GROUP_new_by_curve_name_ex(ssl()->context, NULL, ssl()->OBJ_sn2nid(curve));
    EC_POINT *point = group ? ssl()->EC_POINT_new(group) : NULL;
    BIGNUM *number = ssl()->BN_bin2bn(scalar, (int)size, NULL);
    int ok = context && point && number && !ssl()->BN_is_zero(number)
        && ssl()->BN_cmp(number, ssl()->EC_GROUP_get0_order(group)) < 0
        && ssl()->EC_POINT_mul(group, point, number, NULL, NULL, context) == 1;
    size_t written =
        ok ? ssl()->EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, out, room, context) : 0;
    ssl()->BN_clear_free(number);
    ssl()->EC_POINT_clear_free(point);
    ssl()->EC_GROUP_free(group);
    ssl()->BN_CTX_free(context);
    return done(written > 0 ? (long)written : -1);
}

int ykit_p256_scalar(const uint8_t *number, size_t size, const uint8_t *addend, uint8_t *out) {
    if (!fits(size)) return -1;
    BN_CTX *context = ssl()->BN_CTX_new_ex(ssl()->context);
    EC_GROUP *group = ssl()->EC_GROUP_new_by_curve_name_ex(ssl()->context, NULL, NID_X9_62_prime256v1);
    BIGNUM *value = ssl()->BN_bin2bn(number, (int)size, NULL), *other = ssl()->BN_bin2bn(addend, 32, NULL);
    const BIGNUM *order = group ? ssl()->EC_GROUP_get0_order(group) : NULL;
    int ok = context && value && other && order && ssl()->BN_nnmod(value, value, order, context) == 1
        && ssl()->BN_mod_add(value, value, other, order, context) == 1 && ssl()->BN_bn2binpad(value, out, 32) == 32;
    ssl()->BN_clear_free(value);
    ssl()->BN_clear_free(other);
    ssl()->EC_GROUP_free(group);
    ssl()->BN_CTX_free(context);
    return (int)done(ok ? 0 : -1);
}

int ykit_p256_add(const uint8_t *scalar, const uint8_t *point, size_t size, uint8_t *out) {
    if (!fits(size)) return -1;
    BN_CTX *context = ssl()->BN_CTX_new_ex(ssl()->context);
    EC_GROUP *group = ssl()->EC_GROUP_new_by_curve_name_ex(ssl()->context, NULL, NID_X9_62_prime256v1);
    EC_POINT *given = group ? ssl()->EC_POINT_new(group) : NULL, *sum = group ? ssl()->EC_POINT_new(group) : NULL;
    BIGNUM *factor = ssl()->BN_bin2bn(scalar, 32, NULL), *one = ssl()->BN_new();
    int ok = context && given && sum && factor && one && ssl()->BN_set_word(one, 1) == 1
        && ssl()->EC_POINT_oct2point(group, given, point, size, context) == 1
        && ssl()->EC_POINT_mul(group, sum, factor, given, one, context) == 1
        && ssl()->EC_POINT_point2oct(group, sum, POINT_CONVERSION_UNCOMPRESSED, out, 65, context) == 65;
    ssl()->BN_clear_free(factor);
    ssl()->BN_clear_free(one);
    ssl()->EC_POINT_clear_free(given);
    ssl()->EC_POINT_clear_free(sum);
    ssl()->EC_GROUP_free(group);
    ssl()->BN_CTX_free(context);
    return (int)done(ok ? 0 : -1);
}

long ykit_p256_point(const uint8_t *point, size_t size, int compressed, uint8_t *out, size_t room) {
    if (!fits(size)) return -1;
    EC_GROUP *group = ssl()->EC_GROUP_new_by_curve_name_ex(ssl()->context, NULL, NID_X9_62_prime256v1);
    EC_POINT *given = group ? ssl()->EC_POINT_new(group) : NULL;
    point_conversion_form_t form = compressed ? POINT_CONVERSION_COMPRESSED : POINT_CONVERSION_UNCOMPRESSED;
    size_t written = given && ssl()->EC_POINT_oct2point(group, given, point, size, NULL) == 1
        ? ssl()->EC_POINT_point2oct(group, given, form, out, room, NULL)
        : 0;
    ssl()->EC_POINT_clear_free(given);
    ssl()->EC_GROUP_free(group);
    return done(written > 0 ? (long)written : -1);
}
