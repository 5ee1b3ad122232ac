// SPDX-License-Identifier: Apache-2.0
// One HTTP exchange by libcurl. The library is opened at the first call, so that a start without any of it does not pay
// for it, and a machine without it does everything else.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *url;
    // Lines "Name: value", each ended by a NUL, and one more NUL.
    const char *headers;
    // GET, POST and others.
    const char *method;
    // NULL for none.
    const uint8_t *body;
    size_t body_size;
    // Cookies that libcurl may send, as `cookies` of an earlier answer; NULL for none, and to keep none.
    const char *cookies;
    // The whole exchange, in milliseconds.
    long timeout;
    // The most bytes that are read of the answer's header and of its body.
    size_t header_limit;
    size_t body_limit;
    // Certificates that are trusted instead of the system's, a file in PEM; NULL for the system's.
    const char *authorities;
    // Whether the server's certificate is not verified; pins still are.
    int unverified;
    // "sha256//…;sha256//…" of public keys (SubjectPublicKeyInfo, base 64); NULL for any.
    const char *pins;
    // Whether the way is direct, without a proxy that the environment names.
    int direct;
    // Asked about once a second whether to give up.
    int (*cancelled)(void *context);
    void *context;
} ykit_http_request;

typedef struct {
    long status;
    // The header of the last answer as it came, lines that end with CR LF.
    uint8_t *header;
    size_t header_size;
    uint8_t *body;
    size_t body_size;
    // The cookies afterwards, lines in the format of cookie files, each ended by a NUL.
    char *cookies;
    size_t cookies_size;
    // The server's certificate in PEM, where its key is none of those that are pinned and the certificate is known.
    char *certificate;
    int is_too_large;
    int is_cancelled;
    char problem[256];
} ykit_http_answer;

// What libcurl says: 0 when there is an answer, else its number (CURLcode); -1 when libcurl is not installed. The answer
// is freed with ykit_http_free in any case.
int ykit_http(const ykit_http_request *request, ykit_http_answer *answer);
void ykit_http_free(ykit_http_answer *answer);

// The parts of an address; NULL for those that it does not have. `host` is in the form that libcurl connects to.
typedef struct {
    char *scheme, *host, *port, *path, *query, *user, *fragment;
} ykit_http_parts;

// 0 when libcurl can read the address (RFC 3986), 1 when it cannot, -1 when libcurl is not installed. The parts are freed
// with ykit_http_parts_free in any case.
int ykit_http_parse(const char *text, ykit_http_parts *parts);
void ykit_http_parts_free(ykit_http_parts *parts);

// What libcurl calls some failures.
extern const int ykit_http_unresolved, ykit_http_unconnected, ykit_http_timed_out, ykit_http_bad_authorities,
    ykit_http_bad_certificate, ykit_http_bad_pin, ykit_http_tls;
