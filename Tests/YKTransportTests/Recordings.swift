// SPDX-License-Identifier: Apache-2.0

import YKTestSupport

extension Recordings {
    /// Every recording in the repository, by its path under `captures/`.
    static let all: [String] = [
        "fido/canokey-assert", "fido/canokey-info", "fido/canokey-make-credential", "fido/canokey-short-getinfo",
        "fido/canokey-u2f-register-authenticate", "management/canokey-admin", "ndef/canokey-read",
        "oath/canokey-errors", "oath/canokey-extended", "oath/canokey-no-le-stall", "oath/canokey-password-list",
        "oath/canokey-password-set", "oath/canokey-short", "oath/canokey-touch", "piv/canokey-getresponse-loop",
        "piv/canokey-pin-errors", "piv/canokey-short", "piv/canokey-sign-9a", "piv/opensc-list-sign",
        "piv/ykman-access", "piv/ykman-generate", "piv/ykman-info", "piv/ykman-protect", "piv/yubico-piv-tool-attest",
        "piv/yubico-piv-tool-generate", "piv/yubico-piv-tool-import-certificate", "piv/yubico-piv-tool-sign",
        "piv/yubico-piv-tool-status",
    ]
}
