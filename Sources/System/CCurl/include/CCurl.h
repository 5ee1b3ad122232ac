// SPDX-License-Identifier: Apache-2.0
// One HTTP exchange through libcurl. The library is loaded on the first call, so that programs start faster and
// everything else works without it.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *url;
    // Lines of the form "Name: value", each terminated by a NUL, followed by one more NUL.
    const char *headers;
    // GET, POST or another method.
    const char *method;
    // NULL for no body.
    const uint8_t *body;
    size_t body_size;
    // Cookies that libcurl may send, in the format of an earlier answer's `cookies`; NULL to send and store none.
    const char *cookies;
    // The timeout for the whole exchange, in milliseconds.
    long timeout;
    // The maximum size of the response's header and of its body, in bytes.
    size_t header_limit;
    size_t body_limit;
    // A PEM file with the trusted certificates; NULL for the system's.
    const char *authorities;
    // Whether to skip verification of the server's certificate; pins are still verified.
    int unverified;
    // Pinned public keys as "sha256//…;sha256//…" (SubjectPublicKeyInfo, base64); NULL to accept any.
    const char *pins;
    // Whether to connect directly, ignoring proxies set in the environment.
    int direct;
    // Called about once a second; a nonzero result cancels the exchange.
    int (*cancelled)(void *context);
    void *context;
} ykit_http_request;

typedef struct {
    long status;
    // The header of the last response as received, in lines ending with CR LF.
    uint8_t *header;
    size_t header_size;
    uint8_t *body;
    size_t body_size;
    // The cookies after the exchange: lines in the format of cookie files, each terminated by a NUL.
    char *cookies;
    size_t cookies_size;
    // The server's certificate in PEM, if its key matches no pin and the certificate is known.
    char *certificate;
    int is_too_large;
    int is_cancelled;
    char problem[256];
} ykit_http_answer;

// Returns 0 if there is a response, else libcurl's error code (CURLcode), or -1 if libcurl is not installed. Free the
// answer with ykit_http_free in any case.
int ykit_http(const ykit_http_request *request, ykit_http_answer *answer);
void ykit_http_free(ykit_http_answer *answer);

// The parts of a URL; NULL for a missing part. `host` is in the form that libcurl connects to.
typedef struct {
    char *scheme, *host, *port, *path, *query, *user, *fragment;
} ykit_http_parts;

// Returns 0 if libcurl can parse the URL (RFC 3986), 1 if it cannot, -1 if libcurl is not installed. Free the parts
// with ykit_http_parts_free in any case.
int ykit_http_parse(const char *text, ykit_http_parts *parts);
void ykit_http_parts_free(ykit_http_parts *parts);

// libcurl's codes for some failures.
extern const int ykit_http_unresolved, ykit_http_unconnected, ykit_http_timed_out, ykit_http_bad_authorities,
    ykit_http_bad_certificate, ykit_http_bad_pin, ykit_http_tls;
