// SPDX-License-Identifier: Apache-2.0

import Applications
import TerminalIO
import Verbs
import YKPIV
import YKWire

/// Explains how programs that use PKCS#11 URIs (RFC 7512) access a card's keys through a third-party module: Yubico's
/// ykcs11 or OpenSC's opensc-pkcs11, which use the same slot identifiers.
struct PKCS11Advice {
    let report: PIVReport

    init(_ report: PIVReport) { self.report = report }

    /// A slot and its identifier in the modules.
    struct Entry: Report {
        let slot: PIVSlot
        let id: UInt8
        /// The token name in ykcs11, which contains the serial number.
        let token: String
        let hasCertificate: Bool

        static let members: [Member<Entry>] = [
            Member("slot") { $0.slot.description },
            Member("private", "the key in ykcs11") { $0.uri("private", $0.token) },
            Member("certificate", "the same for the certificate") {
                $0.hasCertificate ? $0.uri("cert", $0.token) : nil
            },
            Member("openscPrivate") { $0.uri("private") },
            Member("openscCertificate") { $0.hasCertificate ? $0.uri("cert") : nil },
        ]

        func uri(_ type: String, _ token: String = "") -> String {
            "pkcs11:\(token)id=%\(Hex.encode([id]).uppercased());type=\(type)"
        }
    }

    var entries: [Entry] {
        report.slots.compactMap { slot in
            guard let id = slot.slot.pkcs11Identifier else { return nil }
            let certificate = slot.certificate.flatMap { try? $0.get() }
            guard slot.metadata != nil || certificate != nil else { return nil }
            return Entry(slot: slot.slot, id: id, token: token, hasCertificate: certificate != nil)
        }
    }

    private var token: String { report.serial.map { "serial=\($0);" } ?? "" }

    var lines: [String] {
        let entries = entries
        guard !entries.isEmpty else { return ["no keys and no certificates in slots that PKCS#11 modules show"] }
        var lines = entries.flatMap { entry in
            [
                "slot \(entry.slot)", "  ykcs11  \(entry.uri("private", entry.token))",
                "  OpenSC  \(entry.uri("private"))",
            ]
                + (entry.hasCertificate
                    ? []
                    : [
                        "  no certificate: OpenSC does not show this key; ykcs11 shows it if it was generated on the key"
                    ])
        }
        guard let first = entries.first(where: \.hasCertificate) else { return lines }
        let (slot, key) = (first.slot, first.uri("private"))
        lines += [
            "", "commands with the key in \(slot); the module is libykcs11.so, or opensc-pkcs11.so:",
            "  ykit piv certificates export \(slot) \(slot).pem",
            "  openssl dgst -sha256 -engine pkcs11 -keyform engine -sign '\(key)' -out FILE.sig FILE",
            "  curl --engine pkcs11 --key-type ENG --key '\(key)' --cert \(slot).pem https://HOST/",
            "  modutil -dbdir sql:$HOME/.pki/nssdb -add ykcs11 -libfile libykcs11.so",
            "  certutil -L -h all -d sql:$HOME/.pki/nssdb",
        ]
        return lines
    }
}
