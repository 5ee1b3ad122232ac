// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKTransport
import YKWire

/// A report on an OpenPGP card.
public struct OpenPGPReport: Sendable {
    /// The card's identity, PINs and keys.
    public let status: OpenPGPStatus
    /// The cardholder.
    public let cardholder: OpenPGPCardholder
    /// The number of signatures since the signature key was made; `nil` if the card does not report it.
    public let signatures: Int?
    /// Whether PINs are sent as hashes; `nil` if the card does not report it in a known form.
    public let usesKDF: Bool?
    /// The firmware of a YubiKey, if reported.
    public let firmware: FirmwareVersion?
    /// Why other parts cannot be read; parts that a card simply lacks are not listed.
    public let problems: [Problem]

    /// A part for which the card gave an unexpected answer.
    public struct Problem: Sendable, Hashable {
        /// The name of the part.
        public let part: String
        /// The card's answer.
        public let error: OpenPGPError
    }
}

extension OpenPGPService {
    /// Reports everything that is readable without a PIN. An unexpected answer for one part does not prevent the report
    /// of the others; only the application related data (6E) is required.
    public func report() throws(OpenPGPError) -> OpenPGPReport {
        let status = try status()
        var problems: [OpenPGPReport.Problem] = []
        let login = try part("login data", Tag.loginData, &problems) { $0 }
        let url = try part("URL", Tag.url, &problems) { $0 }
        let holder = try part("cardholder", Tag.cardholder, &problems) { bytes throws(WireError) in
            try OpenPGPCardholder(related: bytes, login: login ?? [], url: url ?? [])
        }
        let signatures = try part("signature counter", Tag.securitySupport, &problems) { bytes throws(WireError) in
            try Self.signatureCount(bytes)
        }
        var usesKDF: Bool? = false
        if status.supportsKDF {
            let count = problems.count
            let derivation = try part("key derivation", Tag.kdf, &problems) { bytes throws(WireError) in
                try OpenPGPKDF(decoding: bytes)
            }
            usesKDF = problems.count == count ? (derivation ?? nil) != nil : nil
        }
        return OpenPGPReport(
            status: status,
            cardholder: holder ?? OpenPGPCardholder(name: nil, languages: [], login: login ?? [], url: url ?? []),
            signatures: signatures, usesKDF: usesKDF, firmware: try firmware(), problems: problems)
    }

    /// Reads the number of signatures made since the signature key was generated or imported (GET DATA 7A); `nil` if the
    /// card does not report it.
    public func signatureCount() throws(OpenPGPError) -> Int? {
        try ask(Tag.securitySupport) { bytes throws(WireError) in try Self.signatureCount(bytes) }.value
    }

    private static func signatureCount(_ bytes: [UInt8]) throws(WireError) -> Int {
        var objects = try TLV.list(bytes)
        if let inner = objects.value(Tag.securitySupport) { objects = try TLV.list(inner) }
        let digits = try objects.required(Tag.signatureCounter, "signature counter")
        guard digits.count <= 4 else { throw WireError(.tooLarge, at: 0, "a counter of \(digits.count) bytes") }
        return digits.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads a part; `nil` if it is absent, or the card answers unexpectedly.
    private func part<Value>(
        _ name: String, _ tag: TLV.Tag, _ problems: inout [OpenPGPReport.Problem],
        _ decode: ([UInt8]) throws(WireError) -> Value
    ) throws(OpenPGPError) -> Value? {
        switch try ask(tag, decode) {
        case .answered(let value): return value
        case .refused(let status) where !Self.absent.contains(status):
            problems.append(.init(part: name, error: .card(.status(status, during: GetData.name))))
        case .malformed(let error):
            problems.append(.init(part: name, error: .card(.malformed(error, during: GetData.name))))
        case .refused, .unrecorded: break
        }
        return nil
    }
}
