// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

@testable import YKSecureChannel
@testable import YKVirtualKey

/// A channel that was asked for of a card that answers as a list of steps says.
struct Attempt {
    let channel: CardChannel
    let failure: CardError?
    private let log: ScriptedLink.Log

    init(
        _ credential: SecureChannelCredential, _ steps: [ScriptedLink.Step], _ form: APDU.Form = .extended,
        random: [UInt8] = [UInt8](repeating: 1, count: 32), at now: Int64 = 1_800_000_000
    ) {
        let log = ScriptedLink.Log()
        let environment = ServiceEnvironment(
            random: FixedRandom(random), clock: FixedClock(now), timeout: .seconds(5))
        let channel = CardChannel(link: ScriptedLink(steps, form, log: log), environment: environment)
        channel.protect(with: SecureChannel(credential, environment: environment))
        do {
            _ = try channel.select(.oath)
            failure = nil
        } catch { failure = error }
        (self.channel, self.log) = (channel, log)
    }

    var commands: [[UInt8]] { log.commands }

    /// Whether nothing can be sent any more.
    var isEnded: Bool {
        do {
            _ = try channel.transmit(APDU(ins: 0xA1))
            return false
        } catch { return error == .secureChannel(.ended) }
    }
}

extension ScriptedLink.Step {
    init(_ command: [UInt8], _ status: UInt16, _ data: [UInt8] = []) {
        self.init(command: command, reply: ResponseAPDU(StatusWord(status), data: data).encoded)
    }

    static let selection = ScriptedLink.Step([0x00, 0xA4, 0x04, 0x00], 0x9000)
}

/// Certificates as a host or a card has them, made for a test.
enum Chain {
    static func key(_ byte: UInt8) throws -> PrivateKey {
        try PrivateKey(.p256, scalar: Secret([UInt8](repeating: byte, count: 32)))
    }

    static func point(_ byte: UInt8) throws -> [UInt8] {
        [0x04] + (try P256KeyAgreement(scalar: Secret([UInt8](repeating: byte, count: 32)))).publicPoint
    }

    /// An extension 2.5.29.x.
    static func field(_ number: UInt8, _ value: TLV) -> [UInt8] {
        TLV(0x30, [TLV(0x06, [0x55, 0x1D, number]), TLV(0x04, value.encoded)].encoded).encoded
    }

    static let agreement = field(0x0F, TLV(0x03, [0x03, 0x08]))
    static let signature = field(0x0F, TLV(0x03, [0x07, 0x80]))
    static let signing = field(0x0F, TLV(0x03, [0x02, 0x04]))

    static func issuer(_ identifier: [UInt8]) -> [UInt8] {
        field(0x23, TLV(0x30, TLV(0x80, identifier).encoded))
    }

    /// The certificate of a key that another one signed.
    static func certificate(
        of byte: UInt8, by issuer: UInt8, _ extensions: [[UInt8]] = [agreement]
    ) throws -> [UInt8] {
        try VirtualCertificate.make(
            key(byte).publicKey, "\(byte)", signedBy: key(issuer), "\(issuer)", serial: [byte], extensions)
    }

    static let ca = [VirtualCertificate.authority, signing]
}

/// Handshakes that fail: what is refused, and that nothing secret is sent afterwards.
@Suite struct HandshakeTests {
    private let scp03: Vectors
    private let scp11: Vectors

    init() throws {
        scp03 = try Vectors("scp03")
        scp11 = try Vectors("scp11")
    }

    private static let set = SCPKeyReference(id: 0x01, version: 0x00)
    private static let update: [UInt8] = [0x80, 0x50, 0x00, 0x00]

    // MARK: SCP03

    @Test(
        "a status word to INITIALIZE UPDATE ends the handshake",
        arguments: [
            (UInt16(0x6A88), SecureChannelFault.noSuchKey(set)), (0x6983, .blocked(set)), (0x6D00, .unsupported(.oath)),
            (0x6E00, .unsupported(.oath)), (0x6A81, .unsupported(.oath)), (0x6F00, .hostRefused(set, .aborted)),
        ])
    func statusOfUpdate(_ status: UInt16, _ fault: SecureChannelFault) {
        let attempt = Attempt(.scp03(.factory), [.selection, .init(Self.update, status)])
        expect(attempt.failure, is: .secureChannel(fault))
        #expect(attempt.isEnded && attempt.commands.count == 2)
    }

    @Test("a reply of another length proves nothing", arguments: [0, 1, 28, 30, 31, 33, 255])
    func lengthOfUpdate(_ count: Int) {
        let attempt = Attempt(
            .scp03(.factory), [.selection, .init(Self.update, 0x9000, [UInt8](repeating: 1, count: count))])
        guard case .malformed(_, "INITIALIZE UPDATE") = attempt.failure else {
            Issue.record("\(String(describing: attempt.failure))")
            return
        }
        #expect(attempt.isEnded && attempt.commands.count == 2)
    }

    @Test("each bit of the card cryptogram counts, and no host cryptogram follows a wrong one", arguments: 0..<64)
    func cryptogram(_ bit: Int) throws {
        let vector = try scp03["scp03-handshake-extended"]
        var reply = try vector.bytes("initialize_update_response")
        reply[21 + bit / 8] ^= 1 << UInt8(bit % 8)
        let attempt = Attempt(
            .scp03(.factory), [.selection, .init(command: Self.update, reply: reply)],
            random: try vector.bytes("host_challenge"))
        expect(attempt.failure, is: .secureChannel(.wrongKeys(SCPKeyReference(id: 0x01, version: 0xFF))))
        #expect(attempt.isEnded && attempt.commands.count == 2)
    }

    @Test("a card that refuses the host's cryptogram has no channel", arguments: [UInt16(0x6300), 0x6982, 0x6988])
    func refusal(_ status: UInt16) throws {
        let vector = try scp03["scp03-handshake-extended"]
        let attempt = Attempt(
            .scp03(.factory),
            [
                .selection,
                .init(command: Self.update, reply: try vector.bytes("initialize_update_response")),
                .init(try vector.bytes("external_authenticate_command"), status),
            ], random: try vector.bytes("host_challenge"))
        let used = SCPKeyReference(id: 0x01, version: 0xFF)
        expect(attempt.failure, is: .secureChannel(.hostRefused(used, StatusWord(status))))
        #expect(attempt.isEnded && attempt.commands.count == 3)
    }

    // MARK: SCP11

    @Test("variants take a key of the host or none")
    func hostKeys() throws {
        let vector = try scp11["scp11-a-extended"]
        let host = try Self.host(vector)
        for (variant, host) in [(SCP11Variant.a, nil), (.c, nil), (.b, host)] as [(SCP11Variant, SCP11HostKey?)] {
            let attempt = Attempt(.scp11(variant, version: 3, host: host, trust: .unverified), [])
            guard case .secureChannel(.badHostKey) = attempt.failure else {
                Issue.record("\(variant): \(String(describing: attempt.failure))")
                continue
            }
            #expect(attempt.commands.isEmpty)
        }
    }

    private static let authority = SCPKeyReference(id: 0x10, version: 0x03)

    private static func host(_ vector: JSONValue) throws -> SCP11HostKey {
        try SCP11HostKey(
            privateKey: vector.secret("oce_static_private"), certificates: vector.frames("oce_certificates"),
            authority: authority)
    }

    @Test(
        "a refused certificate of the host is named, and nothing follows",
        arguments: [
            (UInt16(0x6A88), SecureChannelFault.noSuchKey(authority)), (0x6983, .blocked(authority)),
            (0x6D00, .unsupported(.oath)), (0x6E00, .unsupported(.oath)),
            (0x6A80, .certificateRefused(1, .incorrectParameters)),
        ])
    func refusedCertificates(_ status: UInt16, _ fault: SecureChannelFault) throws {
        let vector = try scp11["scp11-a-extended"]
        let credential = SecureChannelCredential.scp11(
            .a, version: 3, host: try Self.host(vector), trust: .key(try vector.bytes("sd_static_public")))
        let attempt = Attempt(
            credential,
            [.selection, .init([0x80, 0x2A, 0x03, 0x90], 0x9000), .init([0x80, 0x2A, 0x03, 0x10], status)])
        expect(attempt.failure, is: .secureChannel(fault))
        #expect(attempt.isEnded && attempt.commands.count == 3)
    }

    private static let agreed = SCPKeyReference(id: 0x13, version: 0x03)
    private static let agree: [UInt8] = [0x80, 0x88, 0x03, 0x13]

    @Test(
        "a status word to the key agreement ends the handshake",
        arguments: [
            (UInt16(0x6A88), SecureChannelFault.noSuchKey(agreed)), (0x6983, .blocked(agreed)),
            (0x6D00, .unsupported(.oath)), (0x6A80, .hostRefused(agreed, .incorrectParameters)),
        ])
    func statusOfAgreement(_ status: UInt16, _ fault: SecureChannelFault) throws {
        let attempt = Attempt(
            .scp11(.b, version: 3, trust: .key(try Chain.point(7))), [.selection, .init(Self.agree, status)])
        expect(attempt.failure, is: .secureChannel(fault))
        #expect(attempt.isEnded && attempt.commands.count == 2)
    }

    @Test("each truncation, each tag and each bit of the receipt counts")
    func agreement() throws {
        let vector = try scp11["scp11-b-extended"]
        let whole = Array(try vector.bytes("authenticate_response").dropLast(2))
        let random = try vector.bytes("oce_ephemeral_private")
        let trust = SCP11Trust.key(try vector.bytes("sd_static_public"))
        func failure(_ data: [UInt8]) -> CardError? {
            let attempt = Attempt(
                .scp11(.b, version: 3, trust: trust), [.selection, .init(Self.agree, 0x9000, data)], random: random)
            expect(attempt.commands.count, is: 2)
            if attempt.failure != nil { #expect(attempt.isEnded) }
            return attempt.failure
        }
        expect(failure(whole), is: nil)
        for end in whole.indices {
            guard case .malformed(_, "SCP11 key agreement") = failure(Array(whole[..<end])) else {
                Issue.record("\(end) bytes of a reply were taken")
                return
            }
        }
        guard case .malformed = failure(whole + [0x00]) else {
            Issue.record("a byte after the receipt was taken")
            return
        }
        for place in whole.indices {
            var changed = whole
            changed[place] ^= 0x01
            switch failure(changed) {
            case .malformed, .secureChannel(.wrongReceipt(Self.agreed)): break
            case let other: Issue.record("byte \(place): \(String(describing: other))")
            }
        }
    }

    @Test("a random source without a number below the order of the curve ends the handshake")
    func noEphemeralKey() throws {
        let attempt = Attempt(
            .scp11(.b, version: 3, trust: .key(try Chain.point(7))), [.selection],
            random: [UInt8](repeating: 0xFF, count: 32))
        guard case .link(.failed) = attempt.failure else {
            Issue.record("\(String(describing: attempt.failure))")
            return
        }
        expect(attempt.commands.count, is: 1)
    }

    @Test("a key of the host has a certificate of its own")
    func unusableHostKeys() throws {
        let own = SharedSecret(Secret([UInt8](repeating: 5, count: 32)))
        let leaf = try Chain.certificate(of: 5, by: 9)
        let other = try Chain.certificate(of: 6, by: 9)
        func reason(_ key: SharedSecret, _ certificates: [[UInt8]]) -> String? {
            do {
                _ = try SCP11HostKey(privateKey: key, certificates: certificates, authority: Self.authority)
                return nil
            } catch {
                guard case .badHostKey(let reason) = error else { return "\(error)" }
                return reason
            }
        }
        expect(reason(own, [leaf]), is: nil)
        expect(reason(own, []), is: "the host's key needs 1 to 8 certificates")
        expect(reason(own, Array(repeating: leaf, count: 9)), is: "the host's key needs 1 to 8 certificates")
        expect(reason(own, [leaf, other]), is: "the host's last certificate is for another key")
        expect(reason(own, [[0x30, 0x00]]), is: "the host's certificate cannot be read")
        expect(reason(SharedSecret(Secret([])), [leaf]), is: "the host's key is not on P-256")
        let zero = SharedSecret(Secret([UInt8](repeating: 0, count: 32)))
        expect(reason(zero, [leaf]), is: "the host's key is not on P-256")
    }
}
