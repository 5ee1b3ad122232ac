// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKWire

/// A CTAP2 key that says of itself what a test wants, and makes and uses credentials whose signatures nobody checks.
final class TailoredKey: FIDOLink {
    let environment = ServiceEnvironment.instant
    let generation = 0
    let profile = FIDOLinkProfile(carrier: .card, hasCTAP2: true, hasU2F: false)
    private let script: Script

    /// What it says, and what it was asked: a command byte with the parameters.
    final class Script: Sendable {
        let info: CBOR.Map
        /// Extensions in the authenticator data.
        let outputs: CBOR.Map
        let flags: AuthenticatorData.Flags
        let rpID: String
        /// The status for a command, where it is not done.
        let refusal: @Sendable (_ code: UInt8, _ parameters: CBOR.Map) -> UInt8?
        private let log = Mutex<[(code: UInt8, parameters: CBOR.Map)]>([])
        let own = try? P256KeyAgreement(scalar: Secret([UInt8](repeating: 7, count: 32)))

        init(
            _ info: CBOR.Map, outputs: CBOR.Map = CBOR.Map(), flags: AuthenticatorData.Flags = .userPresent,
            rpID: String = "example.com", refusal: @escaping @Sendable (UInt8, CBOR.Map) -> UInt8? = { _, _ in nil }
        ) {
            var info = info
            info[1] = info[1] ?? ["FIDO_2_1"]
            info[3] = .bytes(.init(repeating: 0, count: 16))
            self.info = info
            self.outputs = outputs
            self.flags = flags
            self.rpID = rpID
            self.refusal = refusal
        }

        /// How often a command of this kind was sent.
        func count(of code: UInt8) -> Int { log.withLock { $0.count { $0.code == code } } }

        /// The parameters of the last command of this kind.
        func parameters(of code: UInt8) -> CBOR.Map? {
            log.withLock { $0.last { $0.code == code }?.parameters }
        }

        func note(_ code: UInt8, _ parameters: CBOR.Map) { log.withLock { $0.append((code, parameters)) } }
    }

    init(_ script: Script) { self.script = script }

    /// A client on a key that says this.
    static func client(_ script: Script) async throws -> WebAuthnClient {
        let service = try await FIDOService.open(TailoredKey(script))
        return WebAuthnClient(service: service, origin: try Origin("https://login.example.com"))
    }

    func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        let parameters = (try? CBOR(decoding: Array(payload.dropFirst())))?.map ?? CBOR.Map()
        script.note(payload[0], parameters)
        if let status = script.refusal(payload[0], parameters) { return [status] }
        let answer: CBOR.Map
        switch payload[0] {
        case 1: answer = [1: "packed", 2: .bytes(data(parameters, isNew: true)), 3: ["alg": -7, "sig": .bytes([1])]]
        case 2: answer = [1: ["id": .bytes([1]), "type": "public-key"], 2: .bytes(data(parameters)), 3: .bytes([1])]
        case 4: answer = script.info
        case 6: answer = [1: .map(agreementKey.map)]
        default: return [0x01]
        }
        return [0] + CBOR.map(answer).encoded
    }

    private func data(_ parameters: CBOR.Map, isNew: Bool = false) -> [UInt8] {
        var outputs = script.outputs
        let inputs = parameters[isNew ? 6 : 4]?.map
        for name in ["hmac-secret", "hmac-secret-mc"] {
            if let secrets = inputs?[.text(name)]?.map.flatMap(secrets) { outputs[.text(name)] = .bytes(secrets) }
        }
        let credential = AuthenticatorData.AttestedCredential(
            aaguid: .init(repeating: 0, count: 16), id: [1],
            publicKey: COSEKey(okp: .ed25519, algorithm: .edDSA, x: .init(repeating: 1, count: 32)))
        return AuthenticatorData(
            rpIDHash: HashAlgorithm.sha256.hash(script.rpID.utf8), flags: script.flags, counter: 1,
            credential: isNew ? credential : nil, extensions: outputs.isEmpty ? nil : outputs
        ).bytes
    }

    private var agreementKey: COSEKey {
        let point = script.own?.publicPoint ?? []
        return COSEKey(
            ec2: .p256, algorithm: .ecdhESHKDF256, x: Array(point.prefix(32)), y: Array(point.dropFirst(32)))
    }

    /// The salts themselves as secrets, encrypted as the key does.
    private func secrets(_ input: CBOR.Map) -> [UInt8]? {
        guard let own = script.own, let platform = input[1]?.map, let x = platform[-2]?.bytes,
            let y = platform[-3]?.bytes, let salts = input[2]?.bytes, let common = try? own.shared(with: x + y),
            let shared = try? PINSharedKey(.one, common: common), let plain = try? shared.decrypt(salts)
        else { return nil }
        return try? shared.encrypt(plain, vector: [])
    }

    func rest() {}
    func close() {}
}
