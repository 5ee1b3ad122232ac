// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKWire

@testable import YKApproval

/// `vectors/privacyidea.json`: signatures that a privacyIDEA server accepted, and some that it made.
struct PushVectors {
    struct Vector {
        let what: String
        let isDevice: Bool
        let text: String
        let signature: String
    }

    let device: PrivateKey
    let server: PrivateKey
    let serverPublicKey: String
    let publicKeyParameter: String
    let link: String
    let vectors: [Vector]

    init() throws {
        let url = try #require(Bundle.module.url(forResource: "vectors/privacyidea", withExtension: "json"))
        let json = try JSONValue(parsing: Array(try Data(contentsOf: url)))
        func key(_ name: String) throws -> PrivateKey {
            try PrivateKey(pem: Array(try #require(json["keys"]?[name]?.string).utf8), password: nil)
        }
        device = try key("device")
        server = try key("server")
        let push = try #require(json["push"])
        serverPublicKey = try #require(push["serverPublicKey"]?.string)
        publicKeyParameter = try #require(push["pubkeyParameter"]?.string)
        link = try #require(json["otpauthURL"]?.array?.first?["url"]?.string)
        vectors = try #require(push["vectors"]?.array).map { vector in
            Vector(
                what: try #require(vector["what"]?.string), isDevice: vector["by"]?.string == "device",
                text: try #require(vector["text"]?.string), signature: try #require(vector["signature"]?.string))
        }
    }

    func vector(_ what: String) throws -> Vector { try #require(vectors.first { $0.what == what }) }

    static let nonce = "NWN6XGVS3QYKAKWJB5UKB2GCR3KBYZ3S"
    static let serial = "PIPU0000CAFE"
    static let url = "https://pi.example/ttype/push"

    /// A signature of the server as it is sent.
    func signed(_ text: String) throws -> String {
        Base32.encode(try server.sign(Array(text.utf8), .sha256), padded: true)
    }

    /// A challenge as a poll lists it, signed over its members unless another signature is given.
    func challenge(
        nonce: String = nonce, url: String = url, serial: String = serial, question: String = "Pay 12.50 CHF to ACME?",
        title: String = "Zürich", numbers: String? = nil, takesReason: Bool = true, sslverify: String = "1",
        signature: String? = nil
    ) throws -> JSONValue {
        var text = "\(nonce)|\(url)|\(serial)|\(question)|\(title)|\(sslverify)"
        if let numbers { text += "|" + numbers }
        var object = JSONValue.Object()
        object["nonce"] = .string(nonce)
        object["question"] = .string(question)
        object["title"] = .string(title)
        object["serial"] = .string(serial)
        object["url"] = .string(url)
        object["sslverify"] = .string(sslverify)
        object["signature"] = .string(try signature ?? signed(text))
        object["capabilities"] = .string("{\"decline_reason\": \(takesReason)}")
        object["capabilities_signature"] = .string(
            try signed("{\"capabilities\":{\"decline_reason\":\(takesReason)},\"nonce\":\"\(nonce)\"}"))
        if let numbers { object["require_presence"] = .string(numbers) }
        return .object(object)
    }

    func request(_ challenge: JSONValue) throws(PushRequestFault) -> PushRequest {
        try PushRequest(challenge, serial: Self.serial, url: Self.url, key: server.publicKey)
    }
}
