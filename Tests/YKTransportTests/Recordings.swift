// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKCapture
import YKTransport

/// The files that tests read: the recordings under `captures/` and the logs of other tools beside this file.
enum Recordings {
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

    static func bytes(_ name: String) -> [UInt8] { read(root + "/captures/" + name + ".jsonl") }

    static func capture(_ name: String) throws -> Capture { try Capture(parsing: bytes(name)) }

    static func log(_ name: String) -> [UInt8] { read(folder + "/../Fixtures/" + name) }

    private static let folder = String(#filePath.dropLast("/Recordings.swift".count))
    private static let root = folder + "/../.."

    static func read(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return bytes
    }
}
