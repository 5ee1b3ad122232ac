// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKSecurID
import YKWire

/// The client's messages. RSA's servers do not parse XML strictly, so order, spacing and line ends match RSA's client.
enum CTKIPMessages {
    private static let schema = "http://www.rsasecurity.com/rsalabs/otps/schemas/2005"
    private static let instance =
        "xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""
    private static let provisioning =
        "<?xml version=\"1.0\"?><ProvisioningData><Version>5.0.2.440</Version>"
        + "<Manufacturer>RSA Security Inc.</Manufacturer><FormFactor/></ProvisioningData>"

    /// ClientHello (RFC 4758 §4.3).
    static let hello =
        "<ClientHello xmlns=\"\(schema)/11/ct-kip#\" \(instance) Version=\"1.0\">"
        + algorithms("SupportedKeyTypes", "\(schema)/09/otps-wst#SecurID-AES")
        + algorithms("SupportedEncryptionAlgorithms", "http://www.w3.org/2001/04/xmlenc#rsa-1_5")
        + algorithms("SupportedMACAlgorithms", "\(schema)/11/ct-kip#ct-kip-prf-aes") + "</ClientHello>"

    private static func algorithms(_ name: String, _ value: String) -> String {
        "<\(name) xmlns=\"\"><Algorithm xsi:type=\"xsd:anyURI\">\(value)</Algorithm></\(name)>"
    }

    /// ClientNonce (RFC 4758 §4.5).
    static func nonce(session: String, encrypted: [UInt8], _ nonce: [UInt8]) -> String {
        let spaces =
            "xmlns:ds=\"http://www.w3.org/2000/09/xmldsig#\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ClientNonce xmlns=\"\(schema)/11/ct-kip#\" Version=\"1.0\" "
            + "SessionID=\"\(session.xmlEscaped)\"><EncryptedNonce xmlns=\"\">\(Base64.encode(encrypted))\n"
            + "</EncryptedNonce><Extensions xmlns=\"\" \(spaces)><Extension xmlns=\"\" "
            + "xmlns:ct-kip=\"\(schema)/12/ct-kip#\" \(spaces)><Data>\(Base64.encode(nonce))\n"
            + "</Data></Extension></Extensions></ClientNonce>"
    }

    /// Wraps a message in its SOAP 1.1 envelope.
    static func envelope(_ message: String, _ code: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
              <soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" \(instance)>
                <soapenv:Body>
                  <ClientRequest xmlns="http://ctkipservice.rsasecurity.com">
                    <AuthData >\(code.xmlEscaped)</AuthData>
                    <ProvisioningData>\(Base64.encode(Array(provisioning.utf8)))
        </ProvisioningData>
                    <Request>\(Base64.encode(Array(message.utf8)))
        </Request>
                  </ClientRequest>
                </soapenv:Body>
              </soapenv:Envelope>
        """
    }
}

/// A server's reply, extracted from its envelope.
struct CTKIPReply {
    let message: XMLNode
    let provisioning: XMLNode?

    init(_ body: [UInt8], _ code: ActivationCode) throws(CTKIPError) {
        let envelope: XMLNode
        do { envelope = try XMLParser.parse(body) } catch { throw .xml(error) }
        guard envelope.name == "Envelope", let content = envelope.first("Body") else {
            throw .reply("not a SOAP envelope")
        }
        if let fault = content.first("Fault") { throw Self.fault(fault, code) }
        guard let response = content.first("ServerResponse") else { throw .reply("no ServerResponse") }
        guard response.value("AuthData") == code.text else {
            throw .reply("the activation code in the reply is a different one")
        }
        guard let message = try Self.inner(response, "Response") else { throw .reply("no Response") }
        self.message = message
        provisioning = try Self.inner(response, "ProvisioningData")
    }

    private static func inner(_ node: XMLNode, _ name: String) throws(CTKIPError) -> XMLNode? {
        guard let text = node.value(name)?.filter({ !$0.isWhitespace }) else { return nil }
        guard let bytes = try? Base64.decode(text) else { throw .reply("\(name) is not base64") }
        do { return try XMLParser.parse(bytes) } catch { throw .xml(error) }
    }

    /// Returns the error for the class and message of the nested exception at the end of a fault string.
    private static func fault(_ fault: XMLNode, _ code: ActivationCode) -> CTKIPError {
        let text = code.removed(from: fault.value("faultstring") ?? "")
        let mark = "nested exception is:"
        let nested = text.firstRange(of: mark).map { String(text[$0.upperBound...]).trimmed } ?? text.trimmed
        let parts = nested.split(separator: ":", maxSplits: 1).map { String($0).trimmed }
        let hasKind = parts.count == 2 && !parts[0].contains(bytesOf: " ")
        let kind = hasKind ? parts[0] : ""
        let message = String((hasKind ? parts[1] : nested).prefix(300))
        if kind.hasSuffix("InsufficientPrivilegeException") || message.contains(bytesOf: "Invalid authorization code") {
            return .activationRefused
        }
        return .fault(kind: String(kind.prefix(200)), message)
    }
}

/// ServerHello (RFC 4758 §4.4).
struct CTKIPHello {
    let session: String
    let modulus: [UInt8]
    let exponent: [UInt8]
    let nonce: [UInt8]

    init(_ message: XMLNode) throws(CTKIPError) {
        guard message.name == "ServerHello" else { throw .reply("\(message.name.prefix(40)) instead of ServerHello") }
        guard message.attributes["Status"] == "Continue" else { throw .reply("status of ServerHello") }
        guard let session = message.attributes["SessionID"], (1...512).contains(session.utf8.count) else {
            throw .reply("session of ServerHello")
        }
        self.session = session
        guard let key = message.first("EncryptionKey", "KeyValue", "RSAKeyValue") else {
            throw .reply("no RSA key in ServerHello")
        }
        modulus = Array(try key.bytes("Modulus", 64...513).drop { $0 == 0 })
        exponent = Array(try key.bytes("Exponent", 1...9).drop { $0 == 0 })
        guard (128...512).contains(modulus.count), modulus.last.map({ $0 & 1 == 1 }) ?? false,
            exponent.last.map({ $0 & 1 == 1 }) ?? false, exponent != [1], exponent.count <= 8
        else { throw .reply("RSA key of ServerHello") }
        guard let payload = message.first("Payload") else { throw .reply("no Nonce in ServerHello") }
        nonce = try payload.bytes("Nonce", 16...16)
        if let extended = message.first("Extensions", "Extension"), extended.first("Data") != nil {
            guard try extended.bytes("Data", 16...16) == nonce else { throw .reply("two nonces in ServerHello") }
        }
    }
}

/// ServerFinished (RFC 4758 §4.6).
struct CTKIPFinished {
    let mac: [UInt8]
    private let message: XMLNode

    init(_ message: XMLNode, session: String) throws(CTKIPError) {
        guard message.name == "ServerFinished" else {
            throw .reply("\(message.name.prefix(40)) instead of ServerFinished")
        }
        guard message.attributes["Status"] == "Success" else { throw .reply("status of ServerFinished") }
        guard message.attributes["SessionID"] == session else { throw .reply("another session in ServerFinished") }
        mac = try message.bytes("Mac", 16...16)
        self.message = message
    }

    func token(_ seed: SharedSecret, provisioning: XMLNode?) throws(CTKIPError) -> SecurIDToken {
        let serial = String(decoding: try message.bytes("TokenID", 1...12), as: UTF8.self)
        var format: XMLNode?
        for item in message.first("Extensions")?.all("Extension") ?? [] where item.first("OTPLength") != nil {
            format = item
        }
        let digits = format?.value("OTPLength") ?? "8"
        let interval = format?.first("OTPMode", "Time")?.attributes["TimeInterval"] ?? "60"
        guard let digits = Int(digits), let interval = Int(interval) else { throw .reply("OTP format") }
        let expiry = try expiry()
        do {
            return try SecurIDToken(
                serial: SecurIDToken.serial(padding: serial), seed: seed, digits: digits, interval: .seconds(interval),
                type: Self.type(provisioning), expiry: expiry, user: message.value("UserID"))
        } catch { throw .token(error) }
    }

    /// Returns the day on which the key expires; the schema also allows a key that does not expire.
    private func expiry() throws(CTKIPError) -> UTCDate? {
        guard let text = message.value("KeyExpiryDate") else { return nil }
        guard let date = UTCDate(text.prefix(10)) else { throw .reply("KeyExpiryDate") }
        return date
    }

    private static func type(_ provisioning: XMLNode?) -> SecurIDTokenType {
        if provisioning?.value("AddPIN") ?? "1" != "0" { return .pinpad }
        return provisioning?.value("PinType") == "1" ? .pinless : .keyfob
    }
}

extension XMLNode {
    /// Decodes base64 that may contain line breaks.
    fileprivate func bytes(_ name: String, _ sizes: ClosedRange<Int>) throws(CTKIPError) -> [UInt8] {
        guard let text = value(name), let bytes = try? Base64.decode(text.filter { !$0.isWhitespace }),
            sizes.contains(bytes.count)
        else { throw .reply("\(name) is missing or has another length") }
        return bytes
    }
}
