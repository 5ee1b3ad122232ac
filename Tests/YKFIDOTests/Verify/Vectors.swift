// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKFIDO
import YKTestSupport
import YKWire

/// The vectors of `Tests/Fixtures/attestation`, one JSON object a line.
enum Vectors {
    /// A credential that somebody attests, and what is to be thought of it.
    struct Attestation: CustomTestStringConvertible, Sendable {
        let what: String
        let verdict: String
        let object: AttestationObject
        let hash: [UInt8]
        let anchors: [[UInt8]]?
        let allowsSHA1: Bool

        var testDescription: String { what }
    }

    /// A signature and the key that made it.
    struct Signature: CustomTestStringConvertible, Sendable {
        let key: COSEKey
        let message: [UInt8]
        let signature: [UInt8]

        var testDescription: String { "\(key.algorithm?.description ?? "?") \(key.map[-1]?.description ?? "")" }
    }

    static func lines(_ name: String) throws -> [JSONValue] {
        try Recordings.lines("attestation/\(name)")
    }

    static func bytes(_ json: JSONValue?) throws -> [UInt8] { try Base64.decode(try #require(json?.string)) }

    static func attestations() throws -> [Attestation] {
        try lines("attestation.jsonl").map { line in
            Attestation(
                what: line["what"]?.string ?? "", verdict: line["verdict"]?.string ?? "",
                object: try AttestationObject(decoding: try bytes(line["object"])), hash: try bytes(line["hash"]),
                anchors: try line["anchors"]?.array?.map { try bytes($0) }, allowsSHA1: line["sha1"]?.bool ?? false)
        }
    }

    static func signatures() throws -> [Signature] {
        try lines("signatures.jsonl").map { line in
            Signature(
                key: try COSEKey(decoding: try bytes(line["key"])), message: try bytes(line["message"]),
                signature: try bytes(line["signature"]))
        }
    }
}

extension VerificationProblem {
    /// The name of the case.
    var kind: String {
        switch self {
        case .badSignature: "badSignature"
        case .otherRelyingParty: "otherRelyingParty"
        case .noPresence: "noPresence"
        case .noUserVerification: "noUserVerification"
        case .unsupportedAlgorithm: "unsupportedAlgorithm"
        case .weakAlgorithm: "weak"
        case .unsupportedFormat: "unsupportedFormat"
        case .malformedStatement: "malformedStatement"
        case .certificate: "certificate"
        case .untrusted: "untrusted"
        case .badKey: "badKey"
        }
    }
}
