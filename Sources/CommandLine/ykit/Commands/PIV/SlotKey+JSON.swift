// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKPIV
import YKWire
import YKX509

extension SlotMetadata {
    /// Adds the card's information about a key to the members of an answer.
    func add(to members: inout JSON.Object) {
        members["algorithm"] = .string(algorithm.description)
        members["origin"] = origin.map { .string($0.description) } ?? .null
        members["pinPolicy"] = .string(policies.pin.description)
        members["touchPolicy"] = .string(policies.touch.description)
        members["publicKey"] = publicKey.map { .string(PEM.encode("PUBLIC KEY", $0.subjectPublicKeyInfo)) } ?? .null
    }

    /// The same information for people.
    var words: String {
        var words = [algorithm.description]
        if let origin { words.append(origin.description) }
        words.append("PIN \(policies.pin)")
        if policies.touch != .never { words.append("touch \(policies.touch)") }
        return words.joined(separator: ", ")
    }
}

extension X509Certificate {
    /// The certificate as an object of an answer.
    var json: JSON {
        [
            "subject": .string(subject.description), "issuer": .string(issuer.description),
            "serial": .string(Hex.encode(serial)),
            "notBefore": .int(notBefore), "notAfter": .int(notAfter),
            "alternativeNames": .array(alternativeNameTexts.map(JSON.string)),
            "algorithm": publicKey.flatMap { PIVAlgorithm($0) }.map { .string($0.description) } ?? .null,
            "fingerprint": .string(Hex.encode(fingerprint)),
        ]
    }

    /// The alternative names that have a text form; none if they cannot be read.
    private var alternativeNameTexts: [String] { ((try? alternativeNames) ?? []).compactMap(\.text) }

    /// The certificate as PEM.
    var pem: String { PEM.encode("CERTIFICATE", der) }

    /// The rows of a table that describe the certificate.
    func rows(at now: Int64) -> [[String]] {
        var rows = [["subject", subject.description.printable]]
        if issuer != subject { rows.append(["issuer", issuer.description.printable]) }
        let names = alternativeNameTexts.joined(separator: ", ")
        if !names.isEmpty { rows.append(["names", names.printable]) }
        let state = now < notBefore ? ", not valid yet" : now > notAfter ? ", expired" : ""
        rows.append(["valid", "\(Day.text(notBefore)) to \(Day.text(notAfter))\(state)"])
        rows.append(["fingerprint", Hex.encode(fingerprint)])
        return rows
    }
}
