#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""FIDO2 REST peer (FIDO conformance-test API + the Arculus-style /fidoapi paths).  Routes are a thin shell;
all verification is py_webauthn (pip install flask webauthn).   fido_rest_server.py PORT RP_ID ORIGIN [SESSION_SECONDS]
In-memory store, loopback only, test use."""

import json
import os
import sys
import time

import webauthn
from flask import Flask, jsonify, request, session
from webauthn.helpers import base64url_to_bytes as ub64
from webauthn.helpers import bytes_to_base64url as b64

PORT, RP, ORIGIN = int(sys.argv[1]), sys.argv[2], sys.argv[3]
LIFE = float(sys.argv[4]) if len(sys.argv) > 4 else 120
app = Flask(__name__)
app.secret_key = os.urandom(16)
users, creds = {}, {}  # username -> user record ; credential id -> record


def ok(**kw):
    return jsonify(status="ok", errorMessage="", **kw)


def bad(msg, code=400):
    return jsonify(status="failed", errorMessage=msg), code


def take(kind):
    c = session.pop(kind, None)
    if not c or time.time() - c["at"] > LIFE:
        return None
    return c


def begin_reg():
    j = request.get_json(silent=True) or {}
    if not j.get("username") or not j.get("displayName"):
        return bad("Missing username or displayName")
    u = users.setdefault(j["username"], dict(id=b64(os.urandom(32)), name=j["username"], displayName=j["displayName"], creds=[]))
    ch = b64(os.urandom(32))
    sel = j.get("authenticatorSelection") or {}
    session["reg"] = dict(user=j["username"], ch=ch, at=time.time(), uv=sel.get("userVerification", j.get("userVerification", "preferred")))
    return ok(
        rp=dict(id=RP, name="Test RP"),
        user=dict(id=u["id"], name=u["name"], displayName=u["displayName"]),
        challenge=ch,
        pubKeyCredParams=[dict(type="public-key", alg=-7), dict(type="public-key", alg=-8), dict(type="public-key", alg=-257)],
        timeout=int(LIFE * 1000),
        excludeCredentials=[dict(type="public-key", id=c) for c in u["creds"]],
        authenticatorSelection=sel,
        attestation=j.get("attestation", "none"),
        extensions=j.get("extensions", {}),
    )


def end_reg():
    c = take("reg")
    if not c:
        return jsonify(status="false", errorMessage="E0024R Session expired"), 408
    try:
        v = webauthn.verify_registration_response(
            credential=json.dumps(fix(request.get_json())),
            expected_challenge=ub64(c["ch"]),
            expected_rp_id=RP,
            expected_origin=ORIGIN,
            require_user_verification=c["uv"] == "required",
        )
    except Exception as e:
        return bad(f"Can not validate response signature! {type(e).__name__}: {e}")
    i = b64(v.credential_id)
    if i in creds:
        return bad("Credential already registered")
    creds[i] = dict(user=c["user"], key=v.credential_public_key, count=v.sign_count, aaguid=v.aaguid, fmt=str(v.fmt), uv=v.user_verified)
    users[c["user"]]["creds"].append(i)
    return ok()


def begin_auth():
    j = request.get_json(silent=True) or {}
    u = users.get(j.get("username", ""))
    if j.get("username") and not u:
        return bad("User does not exists!", 403)
    ch = b64(os.urandom(32))
    uv = j.get("userVerification", "preferred")
    session["auth"] = dict(user=j.get("username"), ch=ch, at=time.time(), uv=uv)
    return ok(
        challenge=ch,
        timeout=int(LIFE * 1000),
        rpId=RP,
        allowCredentials=[dict(type="public-key", id=c) for c in (u["creds"] if u else [])],
        userVerification=uv,
        extensions=j.get("extensions", {}),
    )


def end_auth():
    c = take("auth")
    if not c:
        return jsonify(status="false", errorMessage="E0024R Session expired"), 408
    j = fix(request.get_json())
    r = creds.get(j.get("id", "").rstrip("="))
    if not r or (c["user"] and r["user"] != c["user"]):
        return bad("E2019R Unknown credential", 401)
    try:
        v = webauthn.verify_authentication_response(
            credential=json.dumps(j),
            expected_challenge=ub64(c["ch"]),
            expected_rp_id=RP,
            expected_origin=ORIGIN,
            credential_public_key=r["key"],
            credential_current_sign_count=r["count"],
            require_user_verification=c["uv"] == "required",
        )
    except Exception as e:
        return bad(f"E2017R Invalid signature: {type(e).__name__}: {e}", 401)
    r["count"] = v.new_sign_count
    return ok()


def fix(j):
    j = dict(j or {})
    j.setdefault("rawId", j.get("id"))
    j.setdefault("clientExtensionResults", j.get("getClientExtensionResults", {}))
    return j


for p in ("", "/fidoapi/certify", "/fidoapi"):
    for path, f in (("/attestation/options", begin_reg), ("/attestation/result", end_reg), ("/assertion/options", begin_auth), ("/assertion/result", end_auth)):
        app.add_url_rule(p + path, p + path, f, methods=["POST"])
for path, f in (
    ("/fidoapi/register/begin", begin_reg),
    ("/fidoapi/register/complete", end_reg),
    ("/fidoapi/authenticate/begin", begin_auth),
    ("/fidoapi/authenticate/complete", end_auth),
):
    app.add_url_rule(path, path, f, methods=["POST"])


@app.get("/test/state")
def state():
    return jsonify(users=users, creds={k: {a: b for a, b in v.items() if a != "key"} for k, v in creds.items()})


app.run(host="127.0.0.1", port=PORT)
