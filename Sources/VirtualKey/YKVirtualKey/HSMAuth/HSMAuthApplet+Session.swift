// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

extension HSMAuthApplet {
    /// GET CHALLENGE: returns 8 random bytes, or the public half of a new ephemeral key, which requires the password
    /// from firmware 5.7.1 on.
    mutating func challenge(
        _ command: APDU, _ memory: inout HSMAuthMemory, _ version: FirmwareVersion, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let (label, password) = try OATHApplet.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.label), reader.isAtEnd ? nil : try reader.value(Tag.credentialPassword))
        }
        if password != nil, version < FirmwareVersion(5, 7, 1) { throw .status(.incorrectParameters) }
        let index = try find(label, memory)
        let isAsymmetric = memory.credentials[index].algorithm == 39
        if let password {
            try check(password, index, &memory)
        } else if isAsymmetric, version >= FirmwareVersion(5, 7, 1) {
            throw .status(.incorrectParameters)
        }
        guard isAsymmetric else { return try inputs.draw(8) }
        let number = try Self.privateNumber(inputs)
        guard let key = try? P256KeyAgreement(scalar: Secret(number)) else { throw .status(.memoryFailure) }
        pending = (label, number)
        return [0x04] + key.publicPoint
    }

    /// CALCULATE SESSION KEYS: requires the password, and a touch if the credential requires one.
    mutating func calculate(
        _ command: APDU, _ memory: inout HSMAuthMemory, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let request = try OATHApplet.parse(command.data) { reader throws(WireError) in try Request(&reader) }
        let index = try find(request.label, memory)
        let credential = memory.credentials[index]
        guard request.isWellFormed(for: credential.algorithm) else { throw .status(.incorrectParameters) }
        if credential.needsTouch {
            switch inputs.touch(credential.label) {
            case .touched: break
            case .notTouched: throw .status(.securityStatusNotSatisfied)
            case .pending: throw .waitingForTouch
            }
        }
        try check(request.password, index, &memory)
        guard credential.algorithm == 39 else { return try Self.symmetric(credential, request) }
        guard let ephemeral = pending, ephemeral.label == request.label else {
            throw .status(.conditionsNotSatisfied)
        }
        pending = nil
        return try Self.asymmetric(credential, ephemeral.number, request)
    }

    /// The data of CALCULATE, in order.
    struct Request {
        private typealias Tag = HSMAuthProtocol.Tag

        let label: [UInt8]
        let context: [UInt8]
        var publicKey: [UInt8]?
        var cryptogram: [UInt8]?
        let password: [UInt8]

        init(_ reader: inout ByteReader) throws(WireError) {
            label = try reader.value(Tag.label)
            context = try reader.value(Tag.context)
            if reader.peek.map(UInt32.init) == Tag.publicKey.rawValue { publicKey = try reader.value(Tag.publicKey) }
            if reader.peek.map(UInt32.init) == Tag.cryptogram.rawValue { cryptogram = try reader.value(Tag.cryptogram) }
            password = try reader.value(Tag.credentialPassword)
        }

        func isWellFormed(for algorithm: UInt8) -> Bool {
            algorithm == 38
                ? context.count == 16 && publicKey == nil && cryptogram?.count ?? 8 == 8
                : context.count == 130 && publicKey?.count == 65 && cryptogram?.count == 16
        }
    }

    private static func symmetric(
        _ credential: HSMAuthMemory.Credential, _ request: Request
    ) throws(Refusal) -> [UInt8] {
        let encryption = Secret(credential.keys[..<16])
        let mac = Secret(credential.keys[16...])
        do {
            let sessionMAC = try VirtualChannel.derive(mac, 6, request.context)
            if let cryptogram = request.cryptogram {
                let expected = try VirtualChannel.derive(Secret(sessionMAC), 0, request.context, length: 8)
                guard constantTimeEqual(expected, cryptogram) else { throw Refusal.status(.dataInvalid) }
            }
            return try VirtualChannel.derive(encryption, 4, request.context) + sessionMAC
                + VirtualChannel.derive(mac, 7, request.context)
        } catch let refusal as Refusal { throw refusal } catch { throw .status(.memoryFailure) }
    }

    private static func asymmetric(
        _ credential: HSMAuthMemory.Credential, _ ephemeral: [UInt8], _ request: Request
    ) throws(Refusal) -> [UInt8] {
        let (hostPoint, hsmPoint) = (Array(request.context[..<65]), Array(request.context[65...]))
        let hsmKey = request.publicKey ?? []
        let keys: [UInt8]
        let receipt: [UInt8]
        do {
            let own = try P256KeyAgreement(scalar: Secret(ephemeral))
            guard [0x04] + own.publicPoint == hostPoint, hsmPoint[0] == 0x04, hsmKey.first == 0x04 else {
                throw Refusal.status(.incorrectParameters)
            }
            let fixed = try P256KeyAgreement(scalar: Secret(credential.keys))
            let shared = try Secret(
                own.shared(with: Array(hsmPoint.dropFirst())).copyBytes()
                    + fixed.shared(with: Array(hsmKey.dropFirst())).copyBytes())
            keys = try HashAlgorithm.sha256.x963(shared, sharedInfo: [0x3C, 0x88, 0x10], length: 64).copyBytes()
            receipt = try AESCMAC.code(hsmPoint + hostPoint, key: Secret(keys[..<16]))
        } catch let refusal as Refusal { throw refusal } catch { throw .status(.incorrectParameters) }
        guard constantTimeEqual(receipt, request.cryptogram ?? []) else { throw .status(.dataInvalid) }
        return Array(keys[16...])
    }
}
